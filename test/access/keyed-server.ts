// Starts the service with keys enabled and a new database on a free loopback port, and records the
// events that its audit log receives.

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeyStore } from '../../src/access/keys.ts';
import { type Database, openDatabase } from '../../src/engine/index.ts';
import { startService } from '../../src/http/service.ts';
import { SILENT } from '../../src/observe/log.ts';
import { type AuditFacts, UNOBSERVED } from '../../src/observe/observer.ts';
import { routes, routesApplication } from '../../src/routes/index.ts';
import { roomsOf } from '../support/rooms.ts';

export const ADMIN_KEY = 'hgr_the-first-admin-key-of-a-test';

export interface KeyedServer {
  readonly url: string;
  readonly dir: string;
  readonly database: Database;
  readonly keys: KeyStore;
  readonly audits: AuditFacts[];
  close(): Promise<void>;
}

export interface KeyedAnswer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every form.
  json: any;
}

/** Starts the service. It requires keys unless `authDisabled` is set. */
export async function startKeyedServer({ authDisabled = false, now = () => Date.now() } = {}): Promise<KeyedServer> {
  const dir = await mkdtemp(join(tmpdir(), 'hedgerow-keys-'));
  const database = await openDatabase({ dir, memoryBudgetMb: 64 });
  const { keys } = await KeyStore.open({ documents: database.documents, now, randomBytes, bootstrapKey: ADMIN_KEY });
  const audits: AuditFacts[] = [];
  const service = await startService({
    routes,
    application: routesApplication(),
    host: '127.0.0.1',
    port: 0,
    maxBodyBytes: 2 ** 20,
    version: '1.2.3',
    authDisabled,
    rateLimitQpm: 0,
    corsOrigins: [],
    queryTimeoutMs: 0,
    backupRoot: join(dir, 'backups'),
    observer: { ...UNOBSERVED, audit: (facts) => void audits.push({ ...facts }) },
    log: SILENT,
  });
  service.open({ database, keys: authDisabled ? undefined : keys, ...roomsOf(database) });
  return {
    url: `http://127.0.0.1:${service.port}`,
    dir,
    database,
    keys,
    audits,
    close: async () => {
      await service.close(1000);
      await database.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Sends one request. A `body` that is not a string is sent as JSON. */
export async function ask(
  server: KeyedServer,
  method: string,
  path: string,
  { key = ADMIN_KEY, body }: { key?: string | null; body?: unknown } = {},
): Promise<KeyedAnswer> {
  const response = await fetch(server.url + path, {
    method,
    headers: { 'content-type': 'application/json', ...(key === null ? {} : { 'x-api-key': key }) },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, json: await response.json() };
}
