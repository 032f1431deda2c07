// Rows of one table as columns. Scans return rows in this form, and operators process them.

import type { ColumnBlock, NumberColumn, TextColumn } from '../../../core/index.ts';
import type { HeldBytes } from '../memory.ts';

export type PropertyColumn = NumberColumn | TextColumn;

/** Columns that were not requested are empty or missing. */
export interface RowSet {
  readonly rows: number;
  readonly times: Float64Array;
  readonly ids: Float64Array;
  /**
   * The members of row i are `members[offsets[i]]` up to `members[offsets[i + 1]]`, exclusive, in
   * ascending order.
   */
  readonly offsets: Uint32Array;
  readonly members: Float64Array;
  /** Role masks, parallel to the members. */
  readonly masks: Uint16Array;
  /** By column id. */
  readonly columns: ReadonlyMap<number, PropertyColumn>;
  /**
   * Set if this set is a view of consecutive rows of another set: all rows between two times.
   * `first` is the row of `whole` with which the view begins.
   */
  readonly part?: { readonly whole: RowSet; readonly first: number };
}

/**
 * Rows of several patterns side by side: combination i consists of row `rows[i]` of every side.
 * Sides are indexed by pattern.
 */
export interface Batch {
  readonly count: number;
  readonly sides: readonly (Side | undefined)[];
}

export interface Side {
  readonly set: RowSet;
  /** Undefined: rows 0 to count - 1. */
  readonly rows: Uint32Array | undefined;
}

export function rowSetOf(block: ColumnBlock, columnIds: readonly number[]): RowSet {
  const columns = new Map<number, PropertyColumn>();
  for (const [place, id] of columnIds.entries()) columns.set(id, block.columns[place]!);
  return {
    rows: block.rows,
    times: block.times,
    ids: block.ids,
    offsets: offsetsOf(block.sizes),
    members: block.members,
    masks: block.masks,
    columns,
  };
}

/** Returns the first row with a time >= `time`, or `to` if there is none; `times` must ascend. */
export function lowerBound(times: Float64Array, time: number, from = 0, to = times.length): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Returns the rows of a set between two times, both inclusive. The set must be in ascending order
 * of time. Nothing is copied.
 */
export function partOf(whole: RowSet, startTs: number, endTs: number): RowSet {
  const first = lowerBound(whole.times, startTs);
  // Times are integers, or infinite.
  const end = lowerBound(whole.times, endTs + 1, first);
  return { ...consecutiveRows(whole, first, end), part: { whole, first } };
}

function consecutiveRows(set: RowSet, first: number, end: number): RowSet {
  const columns = new Map<number, PropertyColumn>();
  for (const [id, column] of set.columns) columns.set(id, partOfColumn(column, first, end));
  return {
    rows: end - first,
    times: set.times.subarray(first, end),
    ids: set.ids.subarray(first, end),
    offsets: set.offsets.length > 1 ? set.offsets.subarray(first, end + 1) : set.offsets,
    members: set.members,
    masks: set.masks,
    columns,
  };
}

function partOfColumn(column: PropertyColumn, first: number, end: number): PropertyColumn {
  const nulls = column.nulls.subarray(first, end);
  if (column.kind === 'number') return { kind: 'number', nulls, values: column.values.subarray(first, end) };
  return { kind: 'text', nulls, codes: column.codes.subarray(first, end), texts: column.texts };
}

function offsetsOf(sizes: Uint32Array): Uint32Array {
  const offsets = new Uint32Array(sizes.length + 1);
  let sum = 0;
  for (let i = 0, end = sizes.length; i < end; i++) {
    offsets[i] = sum;
    sum += sizes[i]!;
  }
  offsets[sizes.length] = sum;
  return offsets;
}

/** Returns a batch of all rows of a set, as rows of one pattern. */
export function batchOf(set: RowSet, pattern: number): Batch {
  const sides: (Side | undefined)[] = [];
  sides[pattern] = { set, rows: undefined };
  return { count: set.rows, sides };
}

/** Returns the selected combinations of a batch. */
export function selectFrom(batch: Batch, selection: Uint32Array): Batch {
  return { count: selection.length, sides: batch.sides.map((side) => side && pick(side, selection)) };
}

/**
 * Returns `count` consecutive combinations of a batch, beginning with `from`. Nothing is copied.
 */
export function consecutive(batch: Batch, from: number, count: number): Batch {
  const slice = ({ set, rows }: Side): Side =>
    rows === undefined
      ? { set: consecutiveRows(set, from, from + count), rows }
      : { set, rows: rows.subarray(from, from + count) };
  return { count, sides: batch.sides.map((side) => side && slice(side)) };
}

/** Returns the values of a side's column, in the order of the batch. */
export function gather(values: Float64Array, rows: Uint32Array | undefined, count: number): Float64Array {
  if (rows === undefined) return values.length === count ? values : values.subarray(0, count);
  const picked = new Float64Array(count);
  for (let i = 0; i < count; i++) picked[i] = values[rows[i]!]!;
  return picked;
}

function pick({ set, rows }: Side, selection: Uint32Array): Side {
  if (rows === undefined) return { set, rows: selection };
  const picked = new Uint32Array(selection.length);
  for (let i = 0, end = selection.length; i < end; i++) picked[i] = rows[selection[i]!]!;
  return { set, rows: picked };
}

/**
 * Returns the approximate size in bytes of a set. Texts that were counted before are not counted
 * again.
 */
export function rowSetBytes(set: RowSet, held: HeldBytes): number {
  let bytes = set.times.byteLength + set.ids.byteLength + set.offsets.byteLength + set.members.byteLength;
  bytes += set.masks.byteLength;
  for (const column of set.columns.values()) {
    bytes += column.nulls.byteLength;
    if (column.kind === 'number') bytes += column.values.byteLength;
    else bytes += column.codes.byteLength + held.ofTexts(column.texts);
  }
  return bytes;
}

export const NO_ROWS: RowSet = {
  rows: 0,
  times: new Float64Array(0),
  ids: new Float64Array(0),
  offsets: new Uint32Array(1),
  members: new Float64Array(0),
  masks: new Uint16Array(0),
  columns: new Map(),
};
