// Handles a request to compact one table or all of them, and reports the result.

import { HedgerowError } from '../../errors.ts';
import type { Table } from '../table/table.ts';
import type { CompactionResult } from '../types.ts';
import type { Compactor } from './compactor.ts';
import { expireIntervals } from './expire-intervals.ts';

export interface CompactionRequest {
  /** The table to compact, or undefined for all tables. */
  one: Table | undefined;
  /** All tables, ordered by name. */
  all: () => Table[];
  /**
   * Buckets that are completely before now - ttlSeconds are dropped; if it is undefined, none. In a
   * table with intervals, only edges that have ended by then are dropped.
   */
  ttlSeconds: number | undefined;
  /** Epoch milliseconds. */
  now: () => number;
  /** Monotonic microseconds. */
  nowUs: () => number;
}

/** Returns the age in seconds. Throws `invalid_input` if it is neither 1 or more nor undefined. */
export function assertTtl(seconds: number | undefined): number | undefined {
  if (seconds === undefined || (Number.isSafeInteger(seconds) && seconds > 0)) return seconds;
  throw new HedgerowError('invalid_input', 'ttl_seconds must be an integer of 1 or more.', {
    errors: [{ loc: ['ttl_seconds'], msg: 'must be an integer of 1 or more' }],
  });
}

/**
 * Compacts the requested tables and resolves with the result. Rejects with the first error. The
 * tables before the one that failed have been compacted, unless their manifest could not be
 * installed.
 */
export async function compactTables(compactor: Compactor, request: CompactionRequest): Promise<CompactionResult> {
  const { one, all, ttlSeconds, now, nowUs } = request;
  const startUs = nowUs();
  const nowSeconds = Math.floor(now() / 1000);
  const wanted = one === undefined ? all().filter((table) => table.corrupt === null) : [one];
  const limitOf = ({ bucketSeconds: width }: Table): number =>
    ttlSeconds === undefined ? -Infinity : Math.floor((nowSeconds - ttlSeconds) / width) * width;
  // Nodes have no time.
  const cutoffOf = (table: Table): number => (hasIntervals(table) || table.isOfNodes ? -Infinity : limitOf(table));
  const pendingOf = () => wanted.reduce((sum, table) => sum + (table.dropped ? 0 : table.pending), 0);
  const expired = { edges: 0, buckets: 0 };
  for (const table of ttlSeconds === undefined ? [] : wanted.filter(hasIntervals)) {
    if (table.dropped) continue;
    const { edges, buckets } = await expireIntervals(table, limitOf(table));
    expired.edges += edges;
    expired.buckets += buckets;
  }
  const pendingBefore = pendingOf();
  const done =
    one === undefined
      ? await compactor.compactAll(wanted, cutoffOf)
      : { tables: wanted, ...(await compactor.compact(one, cutoffOf(one))) };
  return {
    tables: done.tables.map((table) => table.name),
    wal_pending_before: pendingBefore,
    wal_pending_after: pendingOf(),
    buckets_dropped: done.bucketsDropped + expired.buckets,
    edges_dropped: done.edgesDropped + expired.edges,
    tombstones_reconciled: done.tombstones,
    elapsed_ms: Math.round((nowUs() - startUs) / 10) / 100,
    ...(one === undefined ? leftOut(all()) : {}),
  };
}

function hasIntervals({ definition }: Table): boolean {
  return definition.intervals !== undefined;
}

/**
 * Returns the corrupt tables, which are skipped when all tables are compacted. They are reported so
 * that nobody believes they were compacted.
 */
function leftOut(tables: readonly Table[]): Pick<CompactionResult, 'corrupt_tables'> {
  const corrupt = tables.filter((table) => table.corrupt !== null);
  if (corrupt.length === 0) return {};
  return { corrupt_tables: Object.fromEntries(corrupt.map((table) => [table.name, table.corrupt!.message])) };
}
