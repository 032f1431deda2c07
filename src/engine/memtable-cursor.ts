// A memtable's part in a scan: where it stands, its next row, and the lists of rows that lookups and filters find in it.

import type { CoreMemtable, RangeSet, StepBounds } from '../core/index.ts';
import { before, type ScanView } from './scan-view.ts';
import type { RowKey } from './types.ts';

/** A lookup and a filter hold their rows as a list; a range is sought anew at each step, since the order may move. */
export interface MemtableCursor {
  memtable: CoreMemtable;
  lsn: number;
  hidden: ReadonlySet<number> | undefined;
  /** Rows found, with the place of the next one. */
  rows: Uint32Array | undefined;
  next: number;
  key: RowKey;
  done: boolean;
  lastBucket: number;
  /** While a filter looks for rows: where it goes on, and what it has found. */
  listing: { low: RowKey; found: Uint32Array[] } | undefined;
  /** The buckets of its rows are counted before they are given: a filter looks at all rows. */
  counted: boolean;
}

/** A cursor for each memtable of the view that has rows. With nodes its rows are found at once, with ranges alone by `listMore`. */
export function openCursors(
  { version, lsn, overlay }: ScanView,
  nodes: readonly number[],
  bounds: StepBounds,
  ranges: RangeSet | undefined,
): MemtableCursor[] {
  const cursors: MemtableCursor[] = [];
  for (const { memtable } of version.memtables) {
    if (memtable.rows > 0) cursors.push(openCursor(memtable, lsn, overlay?.hidden(memtable)));
  }
  if (overlay?.memtable) cursors.push(openCursor(overlay.memtable, Infinity, undefined));
  for (const cursor of cursors) {
    if (nodes.length > 0) lookUp(cursor, nodes, bounds, ranges);
    else if (ranges !== undefined) {
      cursor.listing = { low: { eventTs: bounds.lowTs, id: bounds.lowId }, found: [] };
      cursor.counted = true;
    }
  }
  return cursors;
}

function openCursor(memtable: CoreMemtable, lsn: number, hidden: ReadonlySet<number> | undefined): MemtableCursor {
  return {
    memtable,
    lsn,
    hidden: hidden !== undefined && hidden.size > 0 ? hidden : undefined,
    rows: undefined,
    next: 0,
    key: { eventTs: 0, id: 0 },
    done: false,
    lastBucket: Number.NaN,
    listing: undefined,
    counted: false,
  };
}

/** Finds the rows that hold all nodes, and lie in the ranges. */
function lookUp(
  cursor: MemtableCursor,
  nodes: readonly number[],
  bounds: StepBounds,
  ranges: RangeSet | undefined,
): void {
  const { memtable, lsn, hidden } = cursor;
  let rows = memtable.lookup(nodes, bounds.lowTs, bounds.lowId, bounds.endTs, lsn);
  if (ranges !== undefined) rows = memtable.filter(rows, ranges);
  cursor.rows = hidden === undefined ? rows : rows.filter((row) => !hidden.has(row));
}

/**
 * Looks at the rows of one step and keeps those in the ranges. Returns how many buckets it looked at for the first time. When all rows are looked at the
 * cursor is open: its listing is gone, its rows are there.
 */
export function listMore(cursor: MemtableCursor, endTs: number, ranges: RangeSet, bucketSeconds: number): number {
  const { memtable, hidden } = cursor;
  const { low, found } = cursor.listing!;
  const to = memtable.seek(endTs, Infinity);
  const { rows, next, buckets } = memtable.visibleRows(memtable.seek(low.eventTs, low.id), to, cursor.lsn);
  const kept = memtable.filter(rows, ranges);
  found.push(hidden === undefined ? kept : kept.filter((row) => !hidden.has(row)));
  if (next < to) cursor.listing = { low: memtable.keyAt(next), found };
  else {
    cursor.listing = undefined;
    cursor.rows = joined(found);
  }
  if (rows.length === 0) return 0;
  const bucketOf = (row: number): number => Math.floor(memtable.keyOf(row).eventTs / bucketSeconds);
  const seen = bucketOf(rows[0]!) === cursor.lastBucket ? 1 : 0;
  cursor.lastBucket = bucketOf(rows[rows.length - 1]!);
  return buckets - seen;
}

function joined(lists: readonly Uint32Array[]): Uint32Array {
  const all = new Uint32Array(lists.reduce((sum, list) => sum + list.length, 0));
  let at = 0;
  for (const list of lists) {
    all.set(list, at);
    at += list.length;
  }
  return all;
}

/** Finds the next row and sets `key`; false at the end. A range may stop at a hidden row. */
export function peek(cursor: MemtableCursor, bounds: StepBounds): boolean {
  const { memtable, rows } = cursor;
  if (rows !== undefined) {
    if (cursor.next >= rows.length) cursor.done = true;
    else cursor.key = memtable.keyOf(rows[cursor.next]!);
    return !cursor.done;
  }
  const from = memtable.seek(bounds.lowTs, bounds.lowId);
  const to = memtable.seek(bounds.endTs, Infinity);
  cursor.done = memtable.peek(from, to, cursor.lsn, cursor.key) < 0;
  return !cursor.done;
}

/** Whether a row is left. */
export function hasNext(cursor: MemtableCursor, bounds: StepBounds): boolean {
  const { memtable, lsn, hidden, rows, key } = cursor;
  if (cursor.done) return false;
  if (rows !== undefined || hidden === undefined) return peek(cursor, bounds);
  const to = memtable.seek(bounds.endTs, Infinity);
  let position = memtable.peek(memtable.seek(bounds.lowTs, bounds.lowId), to, lsn, key);
  while (position >= 0 && hidden.has(memtable.rowAt(position))) position = memtable.peek(position + 1, to, lsn, key);
  return position >= 0;
}

/** First place of the found rows whose key is not below `stop`. */
export function placeBelow(cursor: MemtableCursor, stop: RowKey): number {
  let low = cursor.next;
  let high = cursor.rows!.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (before(cursor.memtable.keyOf(cursor.rows![middle]!), stop)) low = middle + 1;
    else high = middle;
  }
  return Math.max(low, cursor.next + 1);
}
