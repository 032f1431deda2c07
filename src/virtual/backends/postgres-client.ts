// Connections to PostgreSQL and what speaks its protocol: read-only transactions, rows by a cursor, statements cancelled when their time is over.

import pg from 'pg';
import Cursor from 'pg-cursor';
import type { Deadline } from '../../schedule/deadline.ts';
import { Semaphore } from '../../schedule/locks.ts';
import type { QueryOptions, SqlRow, SqlStatement } from '../backend.ts';
import { before, openDeadline } from './deadline.ts';
import { readerOf } from './postgres-values.ts';

export interface PostgresClients {
  run(statement: SqlStatement, options: QueryOptions): AsyncGenerator<readonly SqlRow[]>;
  close(): Promise<void>;
}

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly address: string;
  /** Statements at once; default 4. */
  readonly most?: number | undefined;
}

const BATCH_ROWS = 2000;
const CONNECT_MS = 5000;
const IDLE_MS = 10_000;
const SETTINGS =
  "SET LOCAL standard_conforming_strings = on; SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL extra_float_digits = 1";

const types = { getTypeParser: (oid: number) => readerOf(oid) } as unknown as pg.CustomTypesConfig;

export function openPostgres({ address, most = 4 }: PostgresOptions): PostgresClients {
  const pool = new pg.Pool({
    connectionString: address,
    max: most + 1, // one more, to cancel what the others do
    connectionTimeoutMillis: CONNECT_MS,
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
    application_name: 'hedgerow',
  });
  // A client that dies at rest leaves the pool; the next question takes a new one.
  pool.on('error', () => undefined);
  // One that dies at work is told by the statement that it works on.
  pool.on('connect', (client) => client.on('error', () => undefined));

  const places = new Semaphore(most);

  async function* run({ sql, parameters }: SqlStatement, options: QueryOptions): AsyncGenerator<readonly SqlRow[]> {
    const deadline = openDeadline(options);
    let leavePlace = () => {};
    let client: pg.PoolClient | undefined;
    let reading = false;
    let failed = true;
    try {
      leavePlace = await places.take(deadline.signal);
      client = await begin(pool, deadline);
      const cursor = client.query(new Cursor<SqlRow>(sql, [...parameters], { rowMode: 'array', types }));
      for (;;) {
        reading = true;
        const rows = await before(cursor.read(BATCH_ROWS), deadline.signal);
        reading = false;
        if (rows.length > 0) yield rows;
        if (rows.length < BATCH_ROWS) break;
      }
      failed = false;
    } finally {
      deadline.end();
      if (client !== undefined) await leave(pool, client, reading && deadline.signal.aborted, failed);
      leavePlace();
    }
  }

  return {
    run,
    close: () => pool.end(),
  };
}

/** A connection in a transaction. One that died at rest is found out here, and replaced once. */
async function begin(pool: pg.Pool, deadline: Deadline): Promise<pg.PoolClient> {
  for (let attempt = 1; ; attempt++) {
    const client = await connect(pool, deadline);
    const left = deadline.left();
    const limit = left === undefined ? '' : `; SET LOCAL statement_timeout = ${Math.max(1, Math.ceil(left))}`;
    try {
      await before(client.query(`BEGIN READ ONLY; ${SETTINGS}${limit}`), deadline.signal);
      return client;
    } catch (error) {
      client.release(true);
      if (attempt > 1 || deadline.signal.aborted || !isConnectionError(error)) throw error;
    }
  }
}

async function connect(pool: pg.Pool, { signal }: Deadline): Promise<pg.PoolClient> {
  const coming = pool.connect();
  try {
    return await before(coming, signal);
  } catch (error) {
    // It may still come, when nobody waits any more.
    if (signal.aborted) coming.then((client) => client.release()).catch(() => undefined);
    throw error;
  }
}

/** What went through goes back to the others. Everything else is thrown away: dropping the connection ends its transaction. */
async function leave(pool: pg.Pool, client: pg.PoolClient, cancel: boolean, failed: boolean): Promise<void> {
  if (failed) {
    const { processID } = client as pg.PoolClient & { processID?: number | null };
    client.release(true);
    if (cancel && processID) pool.query('SELECT pg_cancel_backend($1)', [processID]).catch(() => undefined);
    return;
  }
  // Never COMMIT: large objects, for one, can be made in a transaction that is called read-only.
  await client.query('ROLLBACK').then(
    () => client.release(),
    () => client.release(true),
  );
}

/** Of the system, of the library, or of a server that is going or coming. */
export function isConnectionError(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  if (code === undefined)
    return /connection|timeout|terminated|socket|SASL|server does not support SSL/i.test(message ?? '');
  return /^E[A-Z_]+$/.test(code) || /^(08|57P0[1-5])/.test(code);
}
