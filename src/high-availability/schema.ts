// The tables in PostgreSQL: their migrations, and what identifies the database that they hold.
// src/storage/README.md describes the tables. A migration is never changed once it was released;
// another one is added at the end.

import { HedgerowError } from '../errors.ts';
import { type Connection, sqlStateOf } from './connection.ts';

/** The statements of each version of the schema, from version 1. */
const MIGRATIONS: readonly (readonly string[])[] = [
  [
    `CREATE TABLE hedgerow_database (
      one boolean PRIMARY KEY DEFAULT true CHECK (one),
      id text NOT NULL,
      cursor_secret text NOT NULL)`,
    `INSERT INTO hedgerow_database (id, cursor_secret)
      SELECT gen_random_uuid()::text, replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')`,
    `CREATE TABLE hedgerow_log (
      first_lsn bigint PRIMARY KEY,
      last_lsn bigint NOT NULL CHECK (last_lsn >= first_lsn),
      seconds bigint NOT NULL,
      epoch bigint NOT NULL,
      previous bigint NOT NULL,
      crc bigint NOT NULL,
      payload bytea NOT NULL)`,
    // A large payload is read in pieces, which is quick only if it is not compressed.
    'ALTER TABLE hedgerow_log ALTER COLUMN payload SET STORAGE EXTERNAL',
    // The key is the epoch, so that a change of it waits for the appends of the epoch before it.
    `CREATE TABLE hedgerow_lease (
      epoch bigint PRIMARY KEY,
      one boolean NOT NULL UNIQUE DEFAULT true CHECK (one),
      holder text NOT NULL,
      url text NOT NULL,
      expires_at timestamptz NOT NULL)`,
    "INSERT INTO hedgerow_lease (epoch, holder, url, expires_at) VALUES (0, '', '', '-infinity')",
    `CREATE TABLE hedgerow_followers (
      id text PRIMARY KEY,
      url text NOT NULL,
      lsn bigint NOT NULL,
      needed_lsn bigint NOT NULL,
      seen_at timestamptz NOT NULL)`,
    `CREATE TABLE hedgerow_snapshot (
      lsn bigint PRIMARY KEY,
      log_lsn bigint NOT NULL,
      object oid,
      file text,
      bytes bigint NOT NULL,
      made_at timestamptz NOT NULL,
      CHECK ((object IS NULL) <> (file IS NULL)))`,
  ],
];

/** Any number that other programs do not use for advisory locks of the same database. */
const INIT_LOCK = 4_738_290_165;

export interface DatabaseIdentity {
  /** Random; the directories of all processes name it. */
  readonly id: string;
  /** Signs cursors, so that a cursor of one process is valid at the others. */
  readonly cursorSecret: Uint8Array;
}

/** Makes the tables, or brings them up to date. Resolves with the versions before and after. */
export async function initSchema(connection: Connection): Promise<{ from: number; to: number }> {
  await connection.run('BEGIN');
  try {
    await connection.run(`SELECT pg_advisory_xact_lock(${INIT_LOCK})`);
    await connection.run('CREATE TABLE IF NOT EXISTS hedgerow_schema (version int PRIMARY KEY, made_at timestamptz)');
    const from = await versionOf(connection);
    for (let version = from + 1; version <= MIGRATIONS.length; version++) {
      for (const statement of MIGRATIONS[version - 1]!) await connection.run(statement);
      await connection.run('INSERT INTO hedgerow_schema VALUES ($1, clock_timestamp())', [version]);
    }
    await connection.run('COMMIT');
    return { from, to: Math.max(from, MIGRATIONS.length) };
  } catch (error) {
    await connection.run('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/**
 * Returns what identifies the database. Rejects with `invalid_input` if the tables are missing or
 * of another version.
 */
export async function readIdentity(connection: Connection): Promise<DatabaseIdentity> {
  let version = 0;
  try {
    version = await versionOf(connection);
  } catch (error) {
    // 42P01: the table does not exist.
    if (sqlStateOf(error) !== '42P01') throw error;
  }
  if (version !== MIGRATIONS.length) {
    const what =
      version === 0
        ? 'has no tables for the log'
        : `has the tables of version ${version}, but this build needs version ${MIGRATIONS.length}`;
    const advice =
      version < MIGRATIONS.length
        ? 'Run "hedgerow ha init" with the same address.'
        : 'Use a newer version of Hedgerow.';
    throw new HedgerowError('invalid_input', `The PostgreSQL database ${what}. ${advice}`, {
      fields: { settings: ['logDsn'] },
    });
  }
  const [row] = await connection.run('SELECT id, cursor_secret FROM hedgerow_database');
  return { id: row![0]!, cursorSecret: Buffer.from(row![1]!, 'hex') };
}

async function versionOf(connection: Connection): Promise<number> {
  const [row] = await connection.run('SELECT max(version) FROM hedgerow_schema');
  return Number(row![0] ?? 0);
}

/**
 * Checks what the durability of the log rests on. Rejects with `invalid_input` if commits are
 * confirmed before they are durable. Resolves with warnings.
 */
export async function checkDurability(connection: Connection): Promise<string[]> {
  const [row] = await connection.run(
    `SELECT current_setting('synchronous_commit'), current_setting('synchronous_standby_names'),
      current_setting('fsync'), current_setting('full_page_writes')`,
  );
  const [commit, standbys, fsync, pages] = row!;
  if (commit !== 'on' && commit !== 'remote_apply')
    throw new HedgerowError(
      'invalid_input',
      `PostgreSQL has synchronous_commit = ${commit}, so it would confirm writes that a failure can undo. Set it to on or remote_apply for this user or database.`,
      { fields: { settings: ['logDsn'] } },
    );
  const warnings: string[] = [];
  if (standbys === '')
    warnings.push(
      'PostgreSQL names no synchronous standby (synchronous_standby_names is empty): a write that was acknowledged is lost if the server and its disk are.',
    );
  if (fsync !== 'on' || pages !== 'on')
    warnings.push(
      `PostgreSQL has fsync = ${fsync} and full_page_writes = ${pages}: a power loss can destroy the log. Set both to on.`,
    );
  return warnings;
}
