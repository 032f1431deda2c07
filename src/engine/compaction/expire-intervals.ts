// Applies a TTL to a table with intervals: deletes the edges that have ended.
//
// Elsewhere a TTL drops all rows before a time. In a table with intervals, an edge that began long
// ago may still hold, so an edge expires by its end: it is deleted if it began before the time and
// ended at or before it. These edges may lie between others that stay, so they are deleted one by
// one, by ordinary transactions of a thousand edges. Followers and readers of changes see deletes.

import { buildColumnPlan, readColumnBlocks } from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';
import { END_COLUMN } from '../../model/columns.ts';
import type { Table } from '../table/table.ts';
import { Transaction } from '../transaction/transaction.ts';
import type { RowKey, ScanBounds } from '../types.ts';

export interface ExpiredEdges {
  edges: number;
  /** Number of buckets before the time that had expired edges and have no edge any more. */
  buckets: number;
}

/** Maximum number of edges in a transaction; staging and committing them takes a few ms. */
const EDGES_AT_ONCE = 1024;
/** After this many conflicts in a row, the edges that other writers change are left alone. */
const MOST_CONFLICTS = 8;

const KEYS = buildColumnPlan({ times: true, ids: true, members: false, columns: [] });

/**
 * Deletes the edges that began before `cutoffTs` and ended at or before it. Resolves when the
 * deletions are durable. Rejects with the errors of `Transaction.commit`, except for a conflict,
 * after which the edges are read again.
 */
export async function expireIntervals(table: Table, cutoffTs: number): Promise<ExpiredEdges> {
  const buckets = new Set<number>();
  let edges = 0;
  let conflicts = 0;
  for (;;) {
    table.assertUsable();
    const transaction = new Transaction(table.context);
    try {
      const keys = await expired(transaction, table, cutoffTs);
      if (keys.length === 0) break;
      for (const key of keys) transaction.deleteRow(table, key);
      await transaction.commit();
      for (const { eventTs } of keys) buckets.add(Math.floor(eventTs / table.bucketSeconds));
      edges += keys.length;
      conflicts = 0;
    } catch (error) {
      if (!(error instanceof HedgerowError) || error.code !== 'conflict' || ++conflicts > MOST_CONFLICTS) throw error;
    } finally {
      transaction.rollback();
    }
  }
  if (edges > 0)
    await eachTime(table, { endTs: cutoffTs - 1 }, (time) => buckets.delete(Math.floor(time / table.bucketSeconds)));
  return { edges, buckets: buckets.size };
}

async function expired(transaction: Transaction, table: Table, cutoffTs: number): Promise<RowKey[]> {
  const where = [{ column: END_COLUMN, high: cutoffTs }];
  const scan = transaction.scan(table, {
    format: 'columns',
    columns: KEYS,
    endTs: cutoffTs - 1,
    where,
    limit: EDGES_AT_ONCE,
  });
  const keys: RowKey[] = [];
  try {
    for (let slice = scan.next(); slice !== null; slice = scan.next()) {
      for (const { rows, times, ids } of readColumnBlocks(slice, KEYS))
        for (let row = 0; row < rows; row++) keys.push({ eventTs: times[row]!, id: ids[row]! });
      await table.context.pauses.compaction();
    }
  } finally {
    scan.close();
  }
  return keys;
}

async function eachTime(table: Table, bounds: ScanBounds, take: (time: number) => void): Promise<void> {
  const snapshot = table.snapshot();
  const scan = table.scan({ format: 'columns', columns: KEYS, ...bounds }, snapshot);
  try {
    for (let slice = scan.next(); slice !== null; slice = scan.next()) {
      for (const { times } of readColumnBlocks(slice, KEYS)) for (const time of times) take(time);
      await table.context.pauses.compaction();
    }
  } finally {
    scan.close();
    snapshot.release();
  }
}
