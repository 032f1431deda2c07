// Tests `hedgerow mcp` with raw JSON-RPC instead of a client library: its input lines, its output
// lines, and the end of its process.

import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import { type McpFlags, mcpCommand } from '../../src/cli/mcp/command.ts';
import { ROW_TOOLS } from '../../src/cli/mcp/row-tools.ts';
import { openDatabase } from '../../src/engine/index.ts';
import { MAIN } from '../service/child.ts';
import { PipeWorld } from './mcp-session.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every form.
type Value = any;

const closers: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type End = { code: number | null; signal: string | null };

class Session {
  readonly stdin: Writable;
  readonly #stdout: Readable;
  readonly ended: Promise<End>;
  readonly kill: (signal: NodeJS.Signals) => void;
  out = '';
  readonly #errors: () => string;

  private constructor(
    streams: { stdin: Writable; stdout: Readable },
    errors: () => string,
    ended: Promise<End>,
    kill: (signal: NodeJS.Signals) => void = () => expect.fail('no process to kill'),
  ) {
    this.stdin = streams.stdin;
    this.#stdout = streams.stdout;
    this.#errors = errors;
    this.ended = ended;
    this.kill = kill;
    this.#stdout.on('data', (text) => {
      this.out += text;
    });
  }

  /** Runs the command as a separate process. */
  static process(flags: readonly string[]): Session {
    const child = spawn(process.execPath, [MAIN, 'mcp', ...flags], { env: { PATH: process.env.PATH ?? '' } });
    const ended = new Promise<End>((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
    let errors = '';
    child.stderr.on('data', (text) => {
      errors += text;
    });
    closers.push(() => child.kill('SIGKILL'));
    return new Session(
      child,
      () => errors,
      ended,
      (signal) => child.kill(signal),
    );
  }

  /** Runs the command in this process. */
  static here(flags: McpFlags): Session {
    const world = new PipeWorld();
    const ended = mcpCommand(flags, world).then((code) => ({ code, signal: null }));
    closers.push(() => {
      world.stdin.end();
      return ended;
    });
    return new Session(world, () => world.err, ended);
  }

  get errors(): string {
    return this.#errors();
  }

  write(text: string): void {
    this.stdin.write(text);
  }

  send(message: object): void {
    this.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  call(id: number, name: string, given: object = {}): void {
    this.send({ id, method: 'tools/call', params: { name, arguments: given } });
  }

  /** Returns all messages received. Throws if a line is not a message. */
  messages(): Value[] {
    return this.out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  }

  /** Waits for the response to a request and returns it. */
  async answer(id: number | string): Promise<Value> {
    for (;;) {
      const found = this.messages().find((message) => message.id === id);
      if (found !== undefined) return found;
      await new Promise((heard, failed) => {
        this.#stdout.once('data', heard);
        void this.ended.then(() => failed(new Error(`the process ended: ${this.errors}`)));
      });
    }
  }

  async begin(protocolVersion = '2025-06-18'): Promise<Value> {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
    this.send({ id: 'begin', method: 'initialize', params });
    const answer = await this.answer('begin');
    this.send({ method: 'notifications/initialized' });
    return answer;
  }
}

async function filledDirectory(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'hedgerow-mcp-raw-'));
  closers.push(() => rmSync(dir, { recursive: true, force: true }));
  const database = await openDatabase({ dir, memoryBudgetMb: 64 });
  const table = await database.createTable({ name: 'meetings' });
  const bulk = table.bulk();
  for (let i = 0; i < 200; i++) bulk.add({ event_ts: 1704067200 + 60 * i, members: [7, i % 20, 20 + (i % 9)] });
  await bulk.commit();
  await database.close();
  return dir;
}

/**
 * Starts a service that never answers. `asked` resolves when a request has arrived, and `left` when
 * the client of a request has disconnected.
 */
async function silentService(): Promise<{ url: string; asked: Promise<void>; left: Promise<void> }> {
  let ask: (() => void) | undefined;
  let leave: (() => void) | undefined;
  const asked = new Promise<void>((resolve) => {
    ask = resolve;
  });
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const server: Server = createServer((_request, response: ServerResponse) => {
    response.once('close', () => leave?.());
    ask?.();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, left };
}

describe('input lines', () => {
  test('are answered with the fault when they are not messages, and the session continues', async () => {
    const session = Session.here({ data: await filledDirectory() });
    session.send({ id: 'early', method: 'ping' });
    expect((await session.answer('early')).result).toEqual({});
    expect((await session.begin('1999-01-01')).result.protocolVersion).toMatch(/^20\d\d-\d\d-\d\d$/);
    const cases: [string, number | null, number, RegExp][] = [
      ['this is not JSON', null, -32700, /not JSON/],
      ['[{"jsonrpc":"2.0","id":8,"method":"ping"}]', null, -32600, /batches/],
      ['null', null, -32600, /not a message/],
      ['{"jsonrpc":"1.0","id":5,"method":"ping"}', 5, -32600, /not a message/],
      ['{"jsonrpc":"2.0","id":6}', 6, -32600, /not a message/],
      ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', null, -32600, /"id" that is a text or an integer/],
      ['x'.repeat(10 * 1024 * 1024 + 1), null, -32600, /longer than/],
      ['{"jsonrpc":"2.0","id":20,"method":"tools/nope"}', 20, -32601, /Method not found/],
      ['{"jsonrpc":"2.0","id":21,"method":"tools/call"}', 21, -32602, /^The request .* params: expected object/],
      [
        '{"jsonrpc":"2.0","id":22,"method":"tools/call","params":{"name":5}}',
        22,
        -32602,
        /params\.name: expected string/,
      ],
      [
        '{"jsonrpc":"2.0","id":23,"method":"tools/call","params":{"name":"query","arguments":"x"}}',
        23,
        -32602,
        /params\.arguments: /,
      ],
      [
        '{"jsonrpc":"2.0","id":24,"method":"tools/call","params":{"name":"nope"}}',
        24,
        -32602,
        /^There is no tool nope; /,
      ],
      [
        '{"jsonrpc":"2.0","id":25,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}',
        25,
        -32002,
        /^There is no resource/,
      ],
      ['{"jsonrpc":"2.0","id":26,"method":"initialize","params":{}}', 26, -32602, /params\.protocolVersion: /],
    ];
    for (const [at, [line, id, code, sentence]] of cases.entries()) {
      const before = session.messages().length;
      session.write(`${line}\r\n\n`);
      session.send({ id: 1000 + at, method: 'ping' });
      await session.answer(1000 + at);
      const answer = session
        .messages()
        .slice(before)
        .find((message) => message.error !== undefined);
      expect([line.slice(0, 80), answer?.id, answer?.error.code]).toEqual([line.slice(0, 80), id, code]);
      expect(answer.error.message).toMatch(sentence);
      expect(answer.error.message).not.toContain('\n');
    }
    // None of these gets a response.
    for (const params of [{}, { requestId: 99 }, { requestId: { x: 1 } }])
      session.send({ method: 'notifications/cancelled', params });
    session.send({ method: 'notifications/nothing' });
    const count = session.messages().length;
    session.send({ id: 'last', method: 'ping' });
    await session.answer('last');
    expect(session.messages()).toHaveLength(count + 1);
    expect(session.errors).toBe('');
  });

  test('are all answered when hundreds arrive at the same time', async () => {
    const session = Session.here({ data: await filledDirectory() });
    await session.begin();
    for (let id = 0; id < 300; id++) session.call(id, 'node', { table: 'meetings', node_id: id % 30, limit: 2 });
    session.stdin.end();
    expect(await session.ended).toEqual({ code: 0, signal: null });
    const answers = session.messages().filter(({ id }) => typeof id === 'number');
    expect(answers.map(({ id }) => id).sort((a, b) => a - b)).toEqual([...Array(300).keys()]);
    expect(answers.filter(({ result }) => result.isError === true)).toEqual([]);
    expect(session.errors).toBe('');
  });
});

describe('the session', () => {
  test('answers all requests and unlocks the directory when its input ends', async () => {
    const dir = await filledDirectory();
    const session = Session.process(['--data', dir]);
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
    session.send({ id: 1, method: 'initialize', params });
    session.send({ method: 'notifications/initialized' });
    session.send({ id: 2, method: 'tools/list' });
    session.call(3, 'list_tables');
    session.stdin.end('{"jsonrpc":"2.0","id":4,"meth');
    expect(await session.ended).toEqual({ code: 0, signal: null });
    expect(session.messages().map(({ id }) => id)).toEqual([1, 2, 3]);
    expect([session.errors, readdirSync(dir)]).toEqual(['', ['log', 'manifest']]);
  });

  test.each(['SIGTERM', 'SIGINT'] as const)('shuts down cleanly at %s during a request', async (signal) => {
    const { url, asked, left } = await silentService();
    const session = Session.process(['--url', url]);
    await session.begin();
    session.call(1, 'list_tables');
    await asked;
    session.kill(signal);
    expect(await session.ended).toEqual({ code: 0, signal: null });
    await left;
    expect([session.messages().map(({ id }) => id), session.errors]).toEqual([['begin'], '']);
  });

  test('stops a long request when its input ends', async () => {
    const { url, asked, left } = await silentService();
    const session = Session.here({ url });
    await session.begin();
    session.call(1, 'query', { statement: 'SHOW TABLES' });
    await asked;
    session.stdin.end();
    expect(await session.ended).toEqual({ code: 0, signal: null });
    await left;
  });
});

test('a cancelled call stops its work and has no answer, and a waiting call that is cancelled never begins', async () => {
  const { url, asked, left } = await silentService();
  const session = Session.here({ url });
  await session.begin();
  session.call(1, 'query', { statement: 'SHOW TABLES' });
  await asked;
  session.send({ method: 'notifications/cancelled', params: { requestId: 1, reason: 'enough' } });
  await left;
  for (let id = 100; id < 140; id++) session.call(id, 'list_tables');
  for (let id = 100; id < 140; id++) session.send({ method: 'notifications/cancelled', params: { requestId: id } });
  session.send({ id: 2, method: 'ping' });
  expect((await session.answer(2)).result).toEqual({});
  session.stdin.end();
  expect(await session.ended).toEqual({ code: 0, signal: null });
  expect(session.messages().map(({ id }) => id)).toEqual(['begin', 2]);
});

test('every statement in the description of the tool query can be run', async () => {
  const { description, writing } = ROW_TOOLS.find(({ name }) => name === 'query')!;
  const reads = description.split('\n').filter((line) => /^(MATCH \((?!alias)|SHOW)/.test(line));
  expect(reads.length).toBe(7);
  const writes = [...writing!.matchAll(/(INSERT INTO|UPDATE meetings|DELETE FROM) [^;.]+/g)].map(([text]) => text);
  expect(writes.length).toBe(3);
  const session = Session.here({ data: await filledDirectory(), allowWrites: true });
  await session.begin();
  for (const [id, statement] of [...reads, ...writes].entries()) {
    session.call(id, 'query', { statement });
    const { result } = await session.answer(id);
    expect([statement, result.isError, result.content[0].text]).toEqual([statement, undefined, expect.any(String)]);
    if (statement.startsWith('MATCH'))
      expect([statement, result.structuredContent.rows.length > 0]).toEqual([statement, true]);
  }
});
