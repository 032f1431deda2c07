// Helpers for tests of backends. They make data files with DuckDB in a temporary folder, and read
// all rows of a query.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import type { BackendSession, QueryOptions, SqlRow } from '../../src/virtual/backend.ts';
import { type Backends, type BackendsOptions, openBackends } from '../../src/virtual/backends/index.ts';

export interface World {
  /** Root folder of the virtual graphs. */
  readonly root: string;
  /** A folder next to the root, whose files must not be readable. */
  readonly outside: string;
  readonly backends: Backends;
  close(): Promise<void>;
}

/** Like `describe`, but skips the tests, with a warning, if DuckDB is not installed. */
export const describeDuckDb = isInstalled() ? describe : describe.skip;

function isInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve('@duckdb/node-api');
    return true;
  } catch {
    console.warn(
      'skipped: these backends need @duckdb/node-api, which is not installed (npm install @duckdb/node-api)',
    );
    return false;
  }
}

export function openWorld(options: Partial<BackendsOptions> = {}): World {
  const folder = mkdtempSync(join(tmpdir(), 'hedgerow-backends-'));
  const root = join(folder, 'root');
  const outside = join(folder, 'outside');
  mkdirSync(root);
  mkdirSync(outside);
  const backends = openBackends({ root, dsns: new Map(), ...options });
  return {
    root,
    outside,
    backends,
    async close() {
      await backends.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Makes the files that a test reads, by running statements on a database file or on a database in
 * memory.
 */
export async function makeFiles(statements: readonly string[], database = ':memory:'): Promise<void> {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const instance = await DuckDBInstance.create(database);
  const connection = await instance.connect();
  try {
    for (const statement of statements) await connection.run(statement);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

export async function rowsOf(
  session: BackendSession,
  sql: string,
  parameters: readonly (number | string | boolean)[] = [],
  options: QueryOptions = {},
): Promise<SqlRow[]> {
  const rows: SqlRow[] = [];
  for await (const batch of session.query({ sql, parameters }, options)) rows.push(...batch);
  return rows;
}

/** Returns the code and the message with which `work` rejects, or `ok` if it resolves. */
export async function outcome(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'ok';
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return `${code ?? 'no code'}: ${message}`;
  }
}
