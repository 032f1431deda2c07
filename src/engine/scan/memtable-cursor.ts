// A scan's cursor over one memtable: its position, its next row, and the list of rows that a lookup
// or a filter has found.

import { assert } from '../../assert.ts';
import type { CoreMemtable, RangeSet, StepBounds } from '../../core/index.ts';
import { joined } from '../texts/memtable-words.ts';
import type { RowKey } from '../types.ts';
import { before, type ScanView } from './scan-view.ts';

/**
 * With a lookup or a filter, the cursor keeps the list of rows found. For a plain range of time it
 * keeps a key and seeks again at each step, because positions shift as rows are inserted.
 */
export interface MemtableCursor {
  memtable: CoreMemtable;
  lsn: number;
  hidden: ReadonlySet<number> | undefined;
  /** The rows found by a lookup or filter; `next` is the index of the next row to return. */
  rows: Uint32Array | undefined;
  next: number;
  /**
   * Key of the next row. If `isBound` is true, `key` is only a lower bound: no row before it is
   * left, but the row at this key has not been examined yet.
   */
  key: RowKey;
  isBound: boolean;
  done: boolean;
  lastBucket: number;
  /** While a filter collects rows: the key at which it continues, and the rows found so far. */
  listing: { low: RowKey; found: Uint32Array[] } | undefined;
  /** While a search collects rows: its next steps. */
  searching: Generator<null, Uint32Array, void> | undefined;
  /**
   * Whether the buckets are counted before rows are returned, because a filter examines all rows
   * first.
   */
  counted: boolean;
}

/**
 * Opens a cursor for each memtable of the view that has rows. With nodes, the matching rows are
 * looked up immediately. With ranges but no nodes, and with a search, `listRows` must be called to
 * collect the rows. `search` begins a search for the words of a request.
 */
export function openCursors(
  { version, lsn, overlay }: ScanView,
  nodes: readonly number[],
  bounds: StepBounds,
  ranges: RangeSet | undefined,
  anyOf?: Float64Array,
  search?: (cursor: MemtableCursor) => MemtableCursor['searching'],
): MemtableCursor[] {
  const cursors: MemtableCursor[] = [];
  for (const { memtable } of version.memtables) {
    if (memtable.rows > 0 && mayHaveEnds(memtable, ranges))
      cursors.push(openCursor(memtable, lsn, overlay?.hidden(memtable)));
  }
  if (overlay?.memtable) cursors.push(openCursor(overlay.memtable, Infinity, undefined));
  for (const cursor of cursors) {
    if (anyOf !== undefined) lookUpAny(cursor, anyOf, bounds, ranges!);
    else if (nodes.length > 0) lookUp(cursor, nodes, bounds, ranges);
    else if (ranges !== undefined && search === undefined) {
      cursor.listing = { low: { eventTs: bounds.lowTs, id: bounds.lowId }, found: [] };
      cursor.counted = true;
    }
    cursor.searching = search?.(cursor);
  }
  return cursors;
}

/** For each memtable that was read at a time: the greatest end among its first rows. */
const GREATEST_ENDS = new WeakMap<CoreMemtable, { rows: number; end: number }>();

/**
 * Returns whether a memtable may have an edge that holds, by the greatest of its ends. Each row is
 * read once for it. If there may be one, a filter reads every row that begins by then: some 20 ns
 * for a row and 100 ns for one that is kept, so a few milliseconds for a full memtable.
 */
function mayHaveEnds(memtable: CoreMemtable, ranges: RangeSet | undefined): boolean {
  const held = ranges?.ranges.find(({ nullIsIn }) => nullIsIn);
  if (held === undefined) return true;
  const { rows } = memtable;
  const known = GREATEST_ENDS.get(memtable) ?? { rows: 0, end: Number.NEGATIVE_INFINITY };
  if (known.rows === 0) GREATEST_ENDS.set(memtable, known);
  if (known.rows < rows) known.end = Math.max(known.end, memtable.greatestFrom(held.column, known.rows));
  known.rows = rows;
  return known.end > held.low;
}

/** Number of rows that a lookup indexes between two readings of the clock; takes about 1 ms. */
const INDEX_ROWS = 8192;

/**
 * Brings the node indexes of the view's memtables up to date. Returns false if it takes longer than
 * `mostUs`; the next call continues.
 */
export function indexMemtables({ version }: ScanView, nowUs: () => number, mostUs: number): boolean {
  const begunUs = nowUs();
  for (const { memtable } of version.memtables)
    while (!memtable.index(INDEX_ROWS)) if (nowUs() - begunUs > mostUs) return false;
  return true;
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
    searching: undefined,
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

/** Finds the rows that contain at least one of the nodes and match the ranges. */
function lookUpAny(cursor: MemtableCursor, nodes: Float64Array, bounds: StepBounds, ranges: RangeSet): void {
  const { memtable, lsn, hidden } = cursor;
  const found = new Set<number>();
  for (const node of nodes)
    for (const row of memtable.lookup([node], bounds.lowTs, bounds.lowId, bounds.endTs, lsn)) found.add(row);
  let rows = [...found].filter((row) => hidden?.has(row) !== true);
  if (ranges.ranges.length > 0) rows = [...memtable.filter(Uint32Array.from(rows), ranges)];
  const keyed = rows.map((row) => ({ row, key: memtable.keyOf(row) }));
  keyed.sort((a, b) => (before(a.key, b.key) ? -1 : 1));
  cursor.rows = Uint32Array.from(keyed, ({ row }) => row);
}

/**
 * Collects the rows of cursors with a filter or a search, until `isLate`. Returns the number of
 * buckets that were examined for the first time, and whether all rows are collected.
 */
export function listRows(
  cursors: readonly MemtableCursor[],
  { endTs }: StepBounds,
  ranges: RangeSet,
  bucketSeconds: number,
  limit: number,
  isLate: () => boolean,
): { buckets: number; isDone: boolean } {
  let buckets = 0;
  for (const cursor of cursors) {
    while (cursor.listing !== undefined || cursor.searching !== undefined) {
      if (cursor.searching === undefined) buckets += listMore(cursor, endTs, ranges, bucketSeconds, limit);
      else searchMore(cursor, cursor.searching);
      const isDone = cursor.listing === undefined && cursor.searching === undefined;
      if (!isDone && isLate()) return { buckets, isDone };
    }
  }
  return { buckets, isDone: true };
}

function searchMore(cursor: MemtableCursor, searching: Generator<null, Uint32Array, void>): void {
  const step = searching.next();
  if (step.done !== true) return;
  cursor.rows = step.value;
  cursor.searching = undefined;
}

/**
 * Examines the rows of one step and keeps those in the ranges. Returns the number of buckets that
 * were examined for the first time. When all rows have been examined, or more rows than `limit`
 * were found, the cursor is ready: `listing` is undefined and `rows` is set. One row after the
 * limit shows that there are more.
 */
function listMore(
  cursor: MemtableCursor,
  endTs: number,
  ranges: RangeSet,
  bucketSeconds: number,
  limit: number,
): number {
  const { memtable, hidden } = cursor;
  const { low, found } = cursor.listing!;
  const to = memtable.seek(endTs, Infinity);
  const { rows, next, buckets } = memtable.visibleRows(memtable.seek(low.eventTs, low.id), to, cursor.lsn);
  const kept = memtable.filter(rows, ranges);
  found.push(hidden === undefined ? kept : kept.filter((row) => !hidden.has(row)));
  const isEnough = found.reduce((sum, list) => sum + list.length, 0) > limit;
  if (next < to && !isEnough) cursor.listing = { low: memtable.keyAt(next), found };
  else {
    cursor.listing = undefined;
    cursor.rows = joined(found);
  }
  if (rows.length === 0) return 0;
  const bucketOf = (row: number): number => Math.floor(memtable.keyOf(row).eventTs / bucketSeconds);
  const seen = bucketOf(rows[0]!) === cursor.lastBucket ? 1 : 0;
  cursor.lastBucket = bucketOf(rows[rows.length - 1]!);
  assert(buckets >= 1, 'rows are in at least one bucket');
  return buckets - seen;
}

/**
 * To find a row that is not hidden, this many rows are fetched first; if all are hidden, many more.
 */
const FEW_ROWS = 32;

/**
 * Finds the next row and sets `key`; returns false at the end. The work per call is bounded: if
 * very many rows are hidden, it only sets a lower bound, and the next call continues.
 */
function peek(cursor: MemtableCursor, bounds: StepBounds): boolean {
  const { memtable, rows, key } = cursor;
  if (cursor.done) return false;
  if (rows !== undefined) {
    if (cursor.next >= rows.length) cursor.done = true;
    else cursor.key = memtable.keyOf(rows[cursor.next]!);
    return !cursor.done;
  }
  const isAhead = key.eventTs > bounds.lowTs || (key.eventTs === bounds.lowTs && key.id >= bounds.lowId);
  // The next row is known already. It stays the next row, because this scan does not see later
  // writes.
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

/** Returns the cursor with the smallest next key, with its `key` set, or undefined at the end. */
export function nextCursor(cursors: readonly MemtableCursor[], bounds: StepBounds): MemtableCursor | undefined {
  let best: MemtableCursor | undefined;
  for (const cursor of cursors) {
    if (cursor.done || !peek(cursor, bounds)) continue;
    if (best === undefined || before(cursor.key, best.key)) best = cursor;
  }
  return best;
}

/** Returns whether a row is left. */
export function hasNext(cursor: MemtableCursor, bounds: StepBounds): boolean {
  while (peek(cursor, bounds)) if (cursor.rows !== undefined || !cursor.isBound) return true;
  return false;
}

/** Returns the index of the first found row whose key is not below `stop`; at least `next` + 1. */
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
