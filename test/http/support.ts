// Starts the service on a free loopback port over a new database, and talks to it: with fetch, and with raw sockets.

import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Database, openDatabase } from '../../src/engine/index.ts';
import { type Service, startService } from '../../src/http/service.ts';
import type { Logger } from '../../src/observe/log.ts';
import { routes } from '../../src/routes/index.ts';

export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly service: Service;
  readonly database: Database;
  /** Messages of error lines logged so far. */
  readonly errors: string[];
  close(): Promise<void>;
}

export interface ServerOptions {
  maxBodyBytes?: number;
  maxMembers?: number;
  /** Default true: the service knows the database when this returns. */
  open?: boolean;
}

export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const dir = await mkdtemp(join(tmpdir(), 'hedgerow-http-'));
  const database = await openDatabase({ dir, maxMembers: options.maxMembers ?? 64, memoryBudgetMb: 64 });
  const errors: string[] = [];
  const silent = () => {};
  const log: Logger = {
    debug: silent,
    info: silent,
    warn: silent,
    error: (message, fields) => errors.push(`${message} ${JSON.stringify(fields)}`),
  };
  const service = await startService({
    routes,
    host: '127.0.0.1',
    port: 0,
    maxBodyBytes: options.maxBodyBytes ?? 64 * 2 ** 20,
    version: '1.2.3',
    authDisabled: true,
    log,
  });
  if (options.open !== false) service.open(database);
  return {
    url: `http://127.0.0.1:${service.port}`,
    port: service.port,
    service,
    database,
    errors,
    close: async () => {
      await service.close(1000);
      await database.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every form.
  json: any;
}

/** One request; `body` other than a string is sent as JSON. */
export async function send(
  server: TestServer,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(server.url + path, {
    method,
    headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type') === 'application/json' && text !== '';
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
}

/** Sends raw pieces (a number waits so many ms) and gives everything received within `waitMs` after the last, with a mark when closed. */
export async function raw(server: TestServer, pieces: readonly (string | number)[], waitMs = 300): Promise<string> {
  const socket = connect(server.port, '127.0.0.1');
  let received = '';
  socket.on('data', (data) => {
    received += data.toString('latin1');
  });
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
  let isClosed = false;
  void closed.then(() => {
    isClosed = true;
  });
  for (const piece of pieces) {
    if (typeof piece === 'number') await sleep(piece);
    else if (!isClosed) socket.write(piece);
  }
  await Promise.race([closed, sleep(waitMs)]);
  socket.destroy();
  return isClosed ? `${received}[closed]` : received;
}

export function openSocket(server: TestServer): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, '127.0.0.1', () => resolve(socket));
    socket.once('error', reject);
  });
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Many edges as NDJSON: times 0, 1, 2, ..., members [i % 100, 1000 + i]. */
export function manyEdges(count: number, from = 0): string {
  let text = '';
  for (let i = from; i < from + count; i++) text += `{"event_ts":${i},"members":[${i % 100},${1000 + i}]}\n`;
  return text;
}

export const NDJSON = { 'content-type': 'application/x-ndjson' };
