// Sorts rows of numbers that stand for constants: by the first column, then the second, and so on.

import type { Steps } from '../schedule/steps.ts';

/** Number of rows that one step handles. This takes some tenths of a millisecond. */
const STEP_ROWS = 20_000;
/** Number of constants that one step handles. */
const STEP_CONSTANTS = 500_000;
/**
 * Rows are sorted by comparing if there are few of them and many constants: at most `MOST_COMPARED`
 * rows, and more than `COUNTING_SHARE` constants per row. Otherwise they are sorted by counting.
 */
const COUNTING_SHARE = 8;
const MOST_COMPARED = 4096;

/** Returns the numbers from `from` up to `to`, exclusive. */
export function rowsFrom(from: number, to: number): Int32Array<ArrayBuffer> {
  const rows = new Int32Array(to - from);
  for (let place = 0; place < rows.length; place++) rows[place] = from + place;
  return rows;
}

/**
 * Returns `rows` in sorted order and may overwrite `rows`, which must ascend. Equal rows keep their
 * order. `constants` is greater than every number in the columns.
 */
export function* sortRows(
  columns: readonly Int32Array[],
  rows: Int32Array<ArrayBuffer>,
  constants: number,
): Steps<Int32Array<ArrayBuffer>> {
  if (yield* areSorted(columns, rows)) return rows;
  if (rows.length <= MOST_COMPARED && rows.length * COUNTING_SHARE < constants)
    return rows.sort((a, b) => compareRows(columns, a, b) || a - b);
  let from = rows;
  let to = new Int32Array(rows.length);
  // The last column is sorted first; each later pass keeps the order of equal values.
  for (let at = columns.length - 1; at >= 0; at--) {
    yield* sortByColumn(columns[at]!, from, to, constants);
    [from, to] = [to, from];
  }
  return from;
}

function* sortByColumn(values: Int32Array, from: Int32Array, to: Int32Array, constants: number): Steps<void> {
  const offsets = new Int32Array(constants + 1);
  for (let place = 0; place < from.length; place++) {
    offsets[values[from[place]!]! + 1]!++;
    if (place % STEP_ROWS === STEP_ROWS - 1) yield;
  }
  for (let value = 0; value < constants; value++) {
    offsets[value + 1]! += offsets[value]!;
    if (value % STEP_CONSTANTS === STEP_CONSTANTS - 1) yield;
  }
  for (let place = 0; place < from.length; place++) {
    const row = from[place]!;
    to[offsets[values[row]!]!++] = row;
    if (place % STEP_ROWS === STEP_ROWS - 1) yield;
  }
  yield;
}

function* areSorted(columns: readonly Int32Array[], rows: Int32Array): Steps<boolean> {
  for (let at = 1; at < rows.length; at++) {
    if (compareRows(columns, rows[at - 1]!, rows[at]!) > 0) return false;
    if (at % STEP_ROWS === 0) yield;
  }
  return true;
}

function compareRows(columns: readonly Int32Array[], a: number, b: number): number {
  for (const column of columns) if (column[a] !== column[b]) return column[a]! - column[b]!;
  return 0;
}
