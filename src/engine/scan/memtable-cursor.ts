// A scan's cursor over one memtable: its position, its next row, and the lists of rows that lookups
// and filters find in it.

import { assert } from '../../assert.ts';
import type { CoreMemtable, RangeSet, StepBounds } from '../../core/index.ts';
import type { RowKey } from '../types.ts';
import { before, type ScanView } from './scan-view.ts';

/**
 * Lookups and filters keep their rows as a list; a plain range seeks again at each step, because
 * positions shift as rows are inserted.
 */
export interface MemtableCursor {
  memtable: CoreMemtable;
  lsn: number;
  hidden: ReadonlySet<number> | undefined;
  /** Rows found, and the index of the next one. */
  rows: Uint32Array | undefined;
  next: number;
  /**
   * Key of the next row. With `isBound` it is only a lower bound: no row before it is left, and the
   * row itself has not been examined yet.
   */
  key: RowKey;
  isBound: boolean;
  done: boolean;
  lastBucket: number;
  /** While a filter is collecting rows: where it continues, and what it has found so far. */
  listing: { low: RowKey; found: Uint32Array[] } | undefined;
  /**
   * Whether the buckets of its rows were counted before the rows are returned, because a filter
   * examines all rows.
   */
  counted: boolean;
}

/**
 * Opens a cursor for each memtable of the view that has rows. With nodes, its rows are looked up at
 * once; with ranges alone, `listMore` collects them.
 */
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
    key: { eventTs: -Infinity, id: -Infinity },
    isBound: true,
    done: false,
    lastBucket: Number.NaN,
    listing: undefined,
    counted: false,
  };
}

/** Finds the rows that contain all nodes and match the ranges. */
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
 * Examines the rows of one step and keeps those in the ranges. Returns the number of buckets
 * examined for the first time. Once all rows are examined the cursor is ready: `listing` is
 * undefined and `rows` is set.
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
  assert(buckets >= 1, 'rows lie in a bucket or more');
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

/** Rows fetched first in search of one that is not hidden; if all of them are, many are fetched. */
const FEW_ROWS = 32;

/**
 * Finds the next row and sets `key`; false at the end. Bounded: if very many rows are hidden it
 * only sets a lower bound, and the next call continues.
 */
export function peek(cursor: MemtableCursor, bounds: StepBounds): boolean {
  const { memtable, rows, key } = cursor;
  if (cursor.done) return false;
  if (rows !== undefined) {
    if (cursor.next >= rows.length) cursor.done = true;
    else cursor.key = memtable.keyOf(rows[cursor.next]!);
    return !cursor.done;
  }
  const isAhead = key.eventTs > bounds.lowTs || (key.eventTs === bounds.lowTs && key.id >= bounds.lowId);
  // Concurrent writes are not visible to this scan, so the next row stays the next one.
  if (isAhead && !cursor.isBound) return true;
  const from = isAhead ? memtable.seek(key.eventTs, key.id) : memtable.seek(bounds.lowTs, bounds.lowId);
  const to = memtable.seek(bounds.endTs, Infinity);
  if (cursor.hidden !== undefined) peekBehindHidden(cursor, cursor.hidden, from, to);
  else {
    cursor.done = memtable.peek(from, to, cursor.lsn, key) < 0;
    cursor.isBound = false;
  }
  return !cursor.done;
}

function peekBehindHidden(cursor: MemtableCursor, hidden: ReadonlySet<number>, from: number, to: number): void {
  const { memtable, lsn } = cursor;
  let at = from;
  for (const limit of [FEW_ROWS, Infinity]) {
    const { rows, next } = memtable.visibleRows(at, to, lsn, limit);
    const row = rows.find((each) => !hidden.has(each));
    cursor.isBound = row === undefined;
    cursor.done = row === undefined && next >= to;
    if (row !== undefined) cursor.key = memtable.keyOf(row);
    if (row !== undefined || cursor.done) return;
    at = next;
  }
  cursor.key = memtable.keyAt(at);
}

/** Whether a row is left. */
export function hasNext(cursor: MemtableCursor, bounds: StepBounds): boolean {
  while (peek(cursor, bounds)) if (cursor.rows !== undefined || !cursor.isBound) return true;
  return false;
}

/** Index of the first found row whose key is not below `stop`; at least `next` + 1. */
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
