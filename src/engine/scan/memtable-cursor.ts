// A memtable's part in a scan: where it stands, its next row, and the lists of rows that lookups
// and filters find in it.

import type { CoreMemtable, RangeSet, StepBounds } from '../../core/index.ts';
import type { RowKey } from '../types.ts';
import { before, type ScanView } from './scan-view.ts';

/**
 * A lookup and a filter hold their rows as a list; a range is sought anew at each step, since the
 * order may move.
 */
export interface MemtableCursor {
  memtable: CoreMemtable;
  lsn: number;
  hidden: ReadonlySet<number> | undefined;
  /** Rows found, with the place of the next one. */
  rows: Uint32Array | undefined;
  next: number;
  /** Of the next row; with `isBound` no row before it is left, and it was not looked at yet. */
  key: RowKey;
  isBound: boolean;
  done: boolean;
  lastBucket: number;
  /** While a filter looks for rows: where it goes on, and what it has found. */
  listing: { low: RowKey; found: Uint32Array[] } | undefined;
  /** The buckets of its rows are counted before they are given: a filter looks at all rows. */
  counted: boolean;
}

/**
 * A cursor for each memtable of the view that has rows. With nodes its rows are found at once, with
 * ranges alone by `listMore`.
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

/**
 * Rows that are hidden, one behind the other: so many are looked at for the next one that is not,
 * then many.
 */
const FEW_ROWS = 32;

/**
 * Finds the next row and sets `key`; false at the end. Bounded: where very many rows are hidden it
 * finds a bound only, and goes on at the next call.
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
  // What others write meanwhile is not seen: the next row stays the next one.
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
