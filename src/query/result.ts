// The result of a statement: columns, rows in chunks, and the figures of its plan.

import { OPTION_FIELDS } from '../model/options.ts';
import type { Value } from './binder/bound.ts';
import type { ResultForm } from './binder/column-types.ts';
import type { Batches } from './executor/context.ts';
import type { ResultChunk } from './executor/run-match.ts';
import type { Vector } from './executor/values/vector.ts';
import type { Strategy } from './planner/plan.ts';
import type { ResultType } from './result-types.ts';

/** The field `query_plan` of an answer. */
export interface QueryPlanFigures {
  readonly strategy: Strategy;
  readonly buckets_scanned: number;
  readonly total_buckets: number;
  readonly speedup_factor: number;
  readonly elapsed_us: number;
}

/**
 * The caller must read `steps` to the end or call `close`; either releases the snapshots and memory
 * of the result. A second `close` does nothing.
 */
export interface StatementResult {
  readonly columns: readonly string[];
  /** Types of the columns, in the same order. */
  readonly columnTypes: readonly ResultType[];
  /** The same as `columnTypes`, with the item types of lists. */
  readonly forms: readonly ResultForm[];
  /** Chunks of rows; null means that nothing is ready yet and other work may run. */
  readonly steps: Batches<ResultChunk>;
  /**
   * Returns figures that are complete only after the last step, or null if nothing was searched.
   */
  plan(): QueryPlanFigures | null;
  /** The log position that the rows reflect. */
  readonly lsn: number;
  /**
   * Charges the bytes of collected rows to the statement's memory. Throws `query_too_large` or
   * `overloaded`.
   */
  readonly charge?: ((bytes: number) => void) | undefined;
  /** True if the statement's writes are staged in an open transaction and not committed. */
  readonly pending?: boolean;
  /** True if later rows may still fail, because computing one of their values may overflow. */
  readonly computes?: boolean;
  /** The table read or written, for logs; undefined if there are several or none. */
  readonly table: string | undefined;
  close(): void;
}

/**
 * Returns a result that behaves like `result` and also calls `end` exactly once: when the steps end
 * or fail, or when the result is closed.
 */
export function whenDone(result: StatementResult, end: () => void): StatementResult {
  let isDone = false;
  const done = () => {
    if (isDone) return;
    isDone = true;
    end();
  };
  return {
    ...result,
    steps: thenDone(result.steps, done),
    close: () => {
      try {
        // Ending the generator releases its scans, which would stay open if the rest were never
        // read.
        result.steps.return();
        result.close();
      } finally {
        done();
      }
    },
  };
}

function* thenDone<T>(steps: Batches<T>, done: () => void): Batches<T> {
  try {
    yield* steps;
  } finally {
    done();
  }
}

/** Makes a result from a few rows that already exist. */
export function rowsResult(
  rows: readonly object[],
  columns: readonly string[],
  lsn: number,
  table?: string,
): StatementResult {
  return {
    columns,
    ...typed(columns),
    steps: chunkOf(rows, columns),
    plan: () => null,
    lsn,
    table,
    close() {},
  };
}

/** Makes a result whose pages of rows are taken from `pages` one by one as the result is read. */
export function pagedResult(
  pages: Iterable<readonly object[]>,
  columns: readonly string[],
  lsn: number,
): StatementResult {
  return {
    columns,
    ...typed(columns),
    steps: chunksOf(pages, columns),
    plan: () => null,
    lsn,
    table: undefined,
    close() {},
  };
}

function typed(columns: readonly string[]): Pick<StatementResult, 'columnTypes' | 'forms'> {
  const columnTypes = typesOfAnswer(columns);
  return { columnTypes, forms: columnTypes.map((type) => ({ type })) };
}

/**
 * Column types of answers that are not rows of a MATCH. Times in these answers are epoch seconds in
 * every format, so their type is INTEGER: TIME is for times of edges.
 */
const ANSWER_TYPES: Readonly<Record<string, ResultType>> = {
  operation: 'TEXT',
  rows_affected: 'INTEGER',
  first_id: 'INTEGER',
  last_id: 'INTEGER',
  path: 'TEXT',
  status: 'TEXT',
  transaction_id: 'TEXT',
  expires_at: 'INTEGER',
  name: 'TEXT',
  member_tables: 'LIST',
  nodes: 'TEXT',
  roles: 'LIST',
  intervals: 'BOOLEAN',
  ...(Object.fromEntries(OPTION_FIELDS.map((field) => [field, 'INTEGER'])) as Record<string, 'INTEGER'>),
  key: 'LIST',
  row_count: 'INTEGER',
  columns: 'LIST',
  created_at: 'INTEGER',
  primary: 'BOOLEAN',
  dropped: 'BOOLEAN',
  table: 'TEXT',
  column: 'TEXT',
  kind: 'TEXT',
  language: 'TEXT',
  compacted: 'BOOLEAN',
  tables: 'LIST',
  ttl_seconds: 'INTEGER',
  wal_pending_before: 'INTEGER',
  wal_pending_after: 'INTEGER',
  buckets_dropped: 'INTEGER',
  edges_dropped: 'INTEGER',
  tombstones_reconciled: 'INTEGER',
  elapsed_ms: 'REAL',
  corrupt_tables: 'LIST',
  strategy: 'TEXT',
  index_type: 'TEXT',
  buckets_scanned: 'INTEGER',
  total_buckets: 'INTEGER',
  speedup_factor: 'REAL',
  estimated_rows: 'REAL',
  plan: 'LIST',
  actual_rows: 'INTEGER',
  elapsed_us: 'INTEGER',
};

/** Returns the types of the named columns of an answer that is not rows of a MATCH. */
export function typesOfAnswer(columns: readonly string[]): ResultType[] {
  return columns.map((name) => {
    const type = Object.hasOwn(ANSWER_TYPES, name) ? ANSWER_TYPES[name] : undefined;
    if (type === undefined) throw new Error(`the column ${name} of an answer has no type`);
    return type;
  });
}

function* chunksOf(pages: Iterable<readonly object[]>, columns: readonly string[]): Batches<ResultChunk> {
  for (const rows of pages) yield* chunkOf(rows, columns);
}

function* chunkOf(rows: readonly object[], columns: readonly string[]): Batches<ResultChunk> {
  if (rows.length === 0) return;
  const items = columns.map(
    (name): Vector => ({
      kind: 'value',
      values: rows.map((row) => (row as Readonly<Record<string, Value>>)[name]!),
    }),
  );
  yield { count: rows.length, items };
}
