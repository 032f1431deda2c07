// Opens a backend that DuckDB reads: a database file, or Parquet, CSV or JSON files as one table.

import { HedgerowError, refusal } from '../../errors.ts';
import type { BackendSession, QueryOptions, RowBatch, SqlStatement } from '../backend.ts';
import type { FileBackend } from '../spec/spec.ts';
import { asking } from './ask.ts';
import { DuckDbFailure } from './duckdb-child.ts';
import type { DuckDbHost } from './duckdb-host.ts';
import type { DuckDbSource } from './duckdb-messages.ts';
import { readDuckDbSchema } from './duckdb-schema.ts';
import { findFiles } from './files.ts';

export interface DuckDbSessionOptions {
  readonly root: string;
  readonly backend: FileBackend;
  readonly host: DuckDbHost;
  /** Returns the time in milliseconds, to limit the time spent on counting. */
  readonly now: () => number;
}

export function openDuckDbSession({ root, backend, host, now }: DuckDbSessionOptions): BackendSession {
  async function* run(sql: SqlStatement, ours: boolean, options: QueryOptions): AsyncGenerator<RowBatch> {
    const source = await sourceOf(root, backend);
    try {
      yield* host.run({ source, sql: sql.sql, parameters: sql.parameters, ours }, options);
    } catch (error) {
      throw error instanceof DuckDbFailure ? explained(error.message, source, backend) : error;
    }
  }

  return {
    dialect: 'duckdb',
    query: (statement, options) => run(statement, false, options),
    schema: (options = {}) =>
      asking(
        options,
        (sql, limits) => run({ sql, parameters: [] }, true, limits),
        (ask) => readDuckDbSchema(ask, now, options.counts ?? true),
      ),
    fingerprint: async () => (await findFiles(root, backend)).fingerprint,
    close: async () => undefined,
  };
}

async function sourceOf(root: string, backend: FileBackend): Promise<DuckDbSource> {
  const { files, log, table, bytes, fingerprint } = await findFiles(root, backend);
  const { type } = backend;
  const key = `${type}\n${table}\n${fingerprint}`;
  if (type === 'duckdb') return { key, files, opened: { kind: 'database', log } };
  // DuckDB treats these characters as wildcards, and they cannot be escaped.
  const odd = files.find(({ path }) => /[*?[{]/.test(path));
  if (odd !== undefined)
    throw refusal('backend_failed', `A file of ${backend.path} has one of * ? [ { in its path: rename it.`);
  return { key, files, opened: { kind: 'files', format: type, table, bytes } };
}

/** Makes an error from DuckDB's message, without the paths of this machine. */
function explained(reason: string, { files }: DuckDbSource, { path, type }: FileBackend): HedgerowError {
  const first = reason.split('\n', 1)[0]!;
  const known = files.map((file) => file.path).sort((a, b) => b.length - a.length);
  let shown = known.reduce(
    (text, place) => text.replaceAll(place, files.length === 1 ? path : `a file of ${path}`),
    first,
  );
  shown = shown.replaceAll(/(?<![\w.])\/(?:[^\s"',:;()/]+\/)+[^\s"',:;()]*/g, 'a file of the server');
  const cut = shown.length > 300 ? `${shown.slice(0, 300)}...` : shown;
  if (/^out of memory/i.test(shown)) {
    return refusal(
      'backend_failed',
      `${path} (${type}): the query needs more memory than a backend is given. Ask for less (WHERE, LIMIT).`,
    );
  }
  return new HedgerowError('backend_failed', `${path} (${type}): ${cut.replace(/[.!?]*$/, '')}.`);
}
