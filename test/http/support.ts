// Starts the service with a new database on a free loopback port, and sends requests to it through
// fetch and through raw sockets.

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeyStore } from '../../src/access/keys.ts';
import { type Database, type LogHistory, openDatabase } from '../../src/engine/index.ts';
import type { LoadLimits } from '../../src/http/load.ts';
import { startService } from '../../src/http/service.ts';
import type { TlsFiles, TransportName } from '../../src/http/transport.ts';
import { DEFAULT_HISTORY } from '../../src/limits.ts';
import type { Logger } from '../../src/observe/log.ts';
import { type AuditFacts, type Observer, type QueryFacts, UNOBSERVED } from '../../src/observe/observer.ts';
import { type Route, routes, routesApplication, type Service } from '../../src/routes/index.ts';
import { type RoomOptions, roomsOf } from '../support/rooms.ts';
import { testTransport } from '../support/transport.ts';

export type TestRole = 'readonly' | 'readwrite' | 'admin';

export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly service: Service;
  readonly database: Database;
  /** Messages of the error lines logged so far. */
  readonly errors: string[];
  /** A key for each role. The service does not know them without `auth`. */
  readonly keys: Readonly<Record<TestRole, string>>;
  close(): Promise<void>;
}

export interface ServerOptions extends RoomOptions {
  maxBodyBytes?: number;
  maxMembers?: number;
  /** Whether the database is already attached when `startServer` returns (default true). */
  open?: boolean;
  /** Whether requests need a key (default false). */
  auth?: boolean;
  /** Requests per minute. Default 0: no limit. */
  qpm?: number;
  observer?: Observer;
  cors?: string[];
  /**
   * The host names that requests without a key may use. By default x and y, the names in the raw
   * requests of the tests.
   */
  publicHosts?: string[];
  socketsPerAddress?: number;
  proxyAddresses?: string[];
  tls?: TlsFiles;
  /** Default: the transport that all tests use. */
  transport?: TransportName;
  queryTimeoutMs?: number;
  streamMaxSeconds?: number;
  limits?: Partial<LoadLimits>;
  /** Default: all routes of the service. */
  routes?: readonly Route[];
  /** Default: a new directory, which is removed together with the server. */
  dir?: string;
  /** How long changes are kept. Default: as the service does by default. */
  history?: LogHistory | null;
  /** The directory that COPY reads and writes. By default there is none. */
  copyRoot?: string;
}

export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'hedgerow-http-')));
  const { maxMembers = 64, history = DEFAULT_HISTORY } = options;
  const database = await openDatabase({ dir, maxMembers, memoryBudgetMb: 64, history });
  const errors: string[] = [];
  const silent = () => {};
  const log: Logger = {
    debug: silent,
    info: silent,
    warn: silent,
    error: (message, fields) => errors.push(`${message} ${JSON.stringify(fields)}`),
  };
  const removeDir = async () => {
    if (options.dir === undefined) await rm(dir, { recursive: true, force: true });
  };
  try {
    const { store, keys } = options.auth === true ? await openKeys(database) : NO_KEYS;
    const service = await startService({
      routes: options.routes ?? routes,
      application: routesApplication(),
      host: '127.0.0.1',
      port: 0,
      tls: options.tls,
      transport: testTransport(options.transport),
      maxBodyBytes: options.maxBodyBytes ?? 64 * 2 ** 20,
      version: '1.2.3',
      authDisabled: options.auth !== true,
      rateLimitQpm: options.qpm ?? 0,
      corsOrigins: options.cors ?? [],
      socketsPerAddress: options.socketsPerAddress ?? 0,
      proxyAddresses: options.proxyAddresses ?? [],
      publicHosts: options.publicHosts ?? ['x', 'y'],
      queryTimeoutMs: options.queryTimeoutMs ?? 30_000,
      streamMaxSeconds: options.streamMaxSeconds ?? 0,
      backupRoot: join(dir, 'backups'),
      observer: options.observer ?? UNOBSERVED,
      log,
      limits: options.limits ?? {},
    });
    if (options.open !== false) service.open({ database, keys: store, ...roomsOf(database, options) });
    return {
      url: `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${service.port}`,
      port: service.port,
      service,
      database,
      errors,
      keys,
      close: async () => {
        await service.close(1000);
        await database.close();
        await removeDir();
      },
    };
  } catch (error) {
    await database.close();
    await removeDir();
    throw error;
  }
}

const NO_KEYS = { store: undefined, keys: { readonly: 'hgr_none', readwrite: 'hgr_none', admin: 'hgr_none' } };

async function openKeys({ documents }: Database): Promise<{ store: KeyStore; keys: Record<TestRole, string> }> {
  const admin = 'hgr_test_admin';
  const now = () => Date.now();
  const { keys: store } = await KeyStore.open({ documents, now, randomBytes, bootstrapKey: admin });
  const keyOf = async (role: TestRole) => (await store.create({ role })).plaintext_key;
  return { store, keys: { readonly: await keyOf('readonly'), readwrite: await keyOf('readwrite'), admin } };
}

/** An observer that records each event as one value. */
export class Recorder implements Observer {
  readonly routes: string[] = [];
  readonly requests: { route: string; status: number; durationUs: number }[] = [];
  readonly queries: (QueryFacts & { requestId: string })[] = [];
  readonly audits: AuditFacts[] = [];
  readonly refusals: string[] = [];

  addRoute(method: string, path: string): number {
    return this.routes.push(`${method} ${path}`) - 1;
  }

  requestDone(route: number, status: number, durationUs: number): void {
    this.requests.push({ route: this.routes[route]!, status, durationUs });
  }

  queryDone({ strategy, table, records }: QueryFacts, _durationUs: number, requestId: string): void {
    this.queries.push({ strategy, table, records, requestId });
  }

  audit(facts: AuditFacts): void {
    this.audits.push(facts);
  }

  refused(code: string): void {
    this.refusals.push(code);
  }

  async metrics(): Promise<{ contentType: string; text: string }> {
    return { contentType: 'text/plain', text: '' };
  }

  error(): void {}
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every form.
  json: any;
}

/** Sends one request. A `body` is sent as JSON unless it is a string or bytes. */
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
    ...(body === undefined
      ? {}
      : { body: typeof body === 'string' || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type') === 'application/json' && text !== '';
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
}

/**
 * Sends texts unchanged over a new connection. A number among them is a pause in ms. Returns
 * everything received until `waitMs` after the last piece, followed by `[closed]` if the connection
 * was closed.
 */
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

/**
 * Returns edges as NDJSON. Edge i has the time i and the members i % 100 and 1000 + i. The first i
 * is `from`.
 */
export function manyEdges(count: number, from = 0): string {
  let text = '';
  for (let i = from; i < from + count; i++) text += `{"event_ts":${i},"members":[${i % 100},${1000 + i}]}\n`;
  return text;
}

export const NDJSON = { 'content-type': 'application/x-ndjson' };
