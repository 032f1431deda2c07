// Connects to PostgreSQL and compatible servers. Runs statements in read-only transactions, reads
// rows through a cursor, and cancels statements at their deadline.

import Cursor from 'pg-cursor';
import pg from '../../postgres/driver.ts';
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
  /** Maximum number of concurrent statements; default 4. */
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
    max: most + 1, // one more, to cancel the statements of the others
    connectionTimeoutMillis: CONNECT_MS,
    idleTimeoutMillis: IDLE_MS,
    allowExitOnIdle: true,
    application_name: 'hedgerow',
  });
  // An idle client that dies is removed from the pool, and the next question gets a new client.
  pool.on('error', () => undefined);
  // The death of a busy client is reported by its running statement.
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

/**
 * Returns a connection with an open transaction. If a pooled connection died while it was idle, it
 * is replaced, but only once.
 */
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
    // The connection may still arrive later, when nobody waits for it any more.
    if (signal.aborted) coming.then((client) => client.release()).catch(() => undefined);
    throw error;
  }
}

/**
 * Gives the connection back to the pool after success. After a failure it drops the connection,
 * which ends the transaction, and also cancels the running statement if `cancel` is true.
 */
async function leave(pool: pg.Pool, client: pg.PoolClient, cancel: boolean, failed: boolean): Promise<void> {
  if (failed) {
    const { processID } = client as pg.PoolClient & { processID?: number | null };
    client.release(true);
    if (cancel && processID) pool.query('SELECT pg_cancel_backend($1)', [processID]).catch(() => undefined);
    return;
  }
  // Never COMMIT: even a read-only transaction can create some things, such as large objects.
  await client.query('ROLLBACK').then(
    () => client.release(),
    () => client.release(true),
  );
}

/**
 * Returns whether the error comes from the operating system, the client library, or a server that
 * is starting or stopping.
 */
export function isConnectionError(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  if (code === undefined)
    return /connection|timeout|terminated|socket|SASL|server does not support SSL/i.test(message ?? '');
  return /^E[A-Z_]+$/.test(code) || /^(08|57P0[1-5])/.test(code);
}
