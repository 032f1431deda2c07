// Data files for tests of backends, made by DuckDB in a temporary folder, and ways to read a whole
// session.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import type { BackendSession, QueryOptions, SqlRow } from '../../src/virtual/backend.ts';
import { type Backends, type BackendsOptions, openBackends } from '../../src/virtual/backends/index.ts';

export interface World {
  /** Root of the virtual graphs; files next to it must stay out of reach. */
  readonly root: string;
  readonly outside: string;
  readonly backends: Backends;
  close(): Promise<void>;
}

/** Tests that need DuckDB are skipped, with a note, where it is not installed. */
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

/** Runs statements on a database file, or in memory, to make the files that a test reads. */
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

/** The code and the message of a refusal; `ok` if there was none. */
export async function outcome(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'ok';
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return `${code ?? 'no code'}: ${message}`;
  }
}
