import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TransportName } from '../../src/http/transport.ts';
import { transportsHere } from '../support/transport.ts';
import { ADMIN_KEY, type ChildServer, startChild } from './child.ts';
import { bodies, chunks, lengths } from './raw-bodies.ts';
import { type Conversation, converse } from './raw-connection.ts';
import { leavers, pipelines, protocols, waiters } from './raw-connections.ts';
import { headers, lines, paths } from './raw-heads.ts';
import { OVER_NODE } from './raw-over-node.ts';
import type { RawCase } from './raw-request.ts';

const BULK_EDGES = 50_000;
const FIRST_EDGE = 1000;
const auth = { authorization: `Bearer ${ADMIN_KEY}` };

const GROUPS: Readonly<Record<string, readonly RawCase[]>> = {
  'a request line': lines,
  'a path': paths,
  headers,
  'a length': lengths,
  chunks,
  'a body': bodies,
  'another protocol': protocols,
  'a pipeline of': pipelines,
  'a client': leavers,
};

/** Returns the cases of a group with their results over this transport. */
function casesOver(transport: TransportName, group: string, cases: readonly RawCase[]): RawCase[] {
  const differences = transport === 'node' ? (OVER_NODE[group] ?? {}) : {};
  return cases.map((raw) => ({ ...raw, ...differences[raw.name] }) as RawCase);
}

test('every difference over node:http belongs to an existing case', () => {
  const names = (group: string) => (group === 'waiters' ? waiters : (GROUPS[group] ?? [])).map(({ name }) => name);
  for (const [group, differences] of Object.entries(OVER_NODE)) {
    expect(names(group)).toEqual(expect.arrayContaining(Object.keys(differences)));
  }
});

describe.each(transportsHere())('over %s', (transport) => {
  const environment = { HEDGEROW_TRANSPORT: transport };
  const groups = Object.fromEntries(
    Object.entries(GROUPS).map(([group, cases]) => [group, casesOver(transport, group, cases)]),
  );
  const slow = casesOver(transport, 'waiters', waiters);
  let server: ChildServer;
  /** The slow cases. They are started first, because they take longest, and checked last. */
  let waiting: Promise<Conversation[]>;
  beforeAll(async () => {
    server = await startChild({ environment });
    await send('/v1/tables', '{"name":"bulk"}');
    let text = '';
    for (let i = 0; i < BULK_EDGES; i++) text += `{"event_ts":${i},"members":[${i}]}\n`;
    await send('/v1/hyperedges?table=bulk', text, 'application/x-ndjson');
    await send('/v1/hyperedges', `{"event_ts":${FIRST_EDGE},"members":[1]}`);
    waiting = Promise.all(slow.map((raw) => converse(server.port, raw.send, raw.outcome)));
  });
  afterAll(async () => {
    await server.stop('SIGKILL');
    await rm(server.dir, { recursive: true, force: true });
  });

  async function send(path: string, body: string, type = 'application/json'): Promise<void> {
    const answer = await fetch(server.url + path, { method: 'POST', body, headers: { 'content-type': type, ...auth } });
    expect(answer.status, await answer.text()).toBe(201);
  }

  /** Checks that the process is still alive and answers a normal request on a new connection. */
  async function expectWhole(): Promise<void> {
    expect(server.ended, server.output.error).toBeUndefined();
    const answer = await fetch(`${server.url}/v1/hyperedges?start_ts=${FIRST_EDGE}&end_ts=${FIRST_EDGE}`, {
      headers: auth,
    });
    expect([answer.status, ((await answer.json()) as { num_tuples: number }).num_tuples]).toEqual([200, 1]);
  }

  async function check({ send, outcome, orElse = outcome, says, saysNot }: RawCase): Promise<void> {
    const found = await converse(server.port, send, outcome);
    if (found.outcome !== orElse) expect(found.outcome, found.text.slice(0, 2000)).toBe(outcome);
    if (says !== undefined) expect(found.text).toContain(says);
    if (saysNot !== undefined) expect(found.text).not.toContain(saysNot);
  }

  describe.each(Object.entries(groups))('%s', (_, cases) => {
    test.each(cases.map((raw) => [raw.name, raw] as const))('the result is as expected: %s', async (_, raw) => {
      await check(raw);
      await expectWhole();
    });
  });

  test('requests that stall a connection are cut off', async () => {
    const found = await waiting;
    expect(found.map(({ outcome }) => outcome)).toEqual(slow.map(({ outcome }) => outcome));
    await expectWhole();
  });

  test('600 connections that are opened and reset at once do no harm', async () => {
    const half = 'POST /v1/hyperedges HTTP/1.1\r\nHost: x\r\nContent-Length: 99';
    await Promise.all(
      Array.from({ length: 600 }, (_, i) =>
        converse(server.port, [half.slice(0, i % half.length) || 'P', 'RESET'], 'gone'),
      ),
    );
    await expectWhole();
  });

  describe('after all cases', () => {
    const all = [...Object.values(groups).flat(), ...slow];
    const certain = all.flatMap((raw) => raw.stores ?? []);
    const possible = all.flatMap((raw) => raw.mayStore ?? []);

    async function expectStored(): Promise<number[]> {
      const range = (table: string) =>
        fetch(`${server.url}/v1/hyperedges?table=${table}&start_ts=0&end_ts=9999999`, { headers: auth });
      const { hyperedges } = (await (await range('hyperedges')).json()) as { hyperedges: { event_ts: number }[] };
      const times = hyperedges.map((edge) => edge.event_ts);
      const expected = [FIRST_EDGE, ...certain, ...possible.filter((time) => times.includes(time))];
      expect(times).toEqual(expected.sort((a, b) => a - b));
      expect(((await (await range('bulk')).json()) as { num_tuples: number }).num_tuples).toBe(BULK_EDGES);
      return times;
    }

    test('all acknowledged writes are stored, and no unexpected ones', async () => {
      expect(all.length).toBeGreaterThanOrEqual(60);
      expect(new Set(all.map((raw) => raw.name)).size).toBeGreaterThan(150);
      await expectStored();
    });

    test('the same edges are stored after a restart, and no request has caused an internal error', async () => {
      const before = await expectStored();
      const bugs = server.output.error
        .split('\n')
        .filter((line) => /"(error|fatal)"|uncaught|at .*\.(js|ts):\d+/i.test(line));
      expect(bugs).toEqual([]);
      const { dir } = server;
      server.process.kill('SIGTERM');
      const again = server;
      await expect.poll(() => again.ended, { timeout: 20_000 }).toBe('exit code 0');
      server = await startChild({ dir, environment });
      expect(await expectStored()).toEqual(before);
    });
  });
});
