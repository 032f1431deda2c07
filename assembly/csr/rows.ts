// Computes prefix sums, transposes and selections of rows for compressed sparse rows (CSR), a slice
// of rows [from, to) at a time.

import { cell, get, put } from '../memory/cells';

/** Replaces each of n u32 by `first` plus the sum of the values before it; returns the total. */
export function runningSums(values: usize, n: u32, first: u32): u32 {
  for (const end = cell<u32>(values, n); values < end; values += 4) {
    const value = load<u32>(values);
    if (!ASC_NO_ASSERT) assert(first + value >= first, 'a running sum fits 32 bits');
    store<u32>(values, first);
    first += value;
  }
  return first;
}

/**
 * Counts the occurrences of each item in a list of n items, and adds the counts to `counts` (u32).
 */
export function tally(items: usize, n: u32, counts: usize): void {
  for (const end = cell<u32>(items, n); items < end; items += 4) {
    const count = cell<u32>(counts, load<u32>(items));
    store<u32>(count, load<u32>(count) + 1);
  }
}

/**
 * Writes the rows that contain each item. `cursors` (u32, one per item) contains the place of the
 * next entry of each item, and advances as entries are written. When all rows are done, the cursor
 * of an item is the place where the rows of the next item begin.
 */
export function transpose(starts: usize, items: usize, from: u32, to: u32, cursors: usize, out: usize): void {
  let at = cell<u32>(items, get<u32>(starts, from));
  for (let row = from; row < to; row++) {
    if (!ASC_NO_ASSERT) assert(get<u32>(starts, row) <= get<u32>(starts, row + 1), 'offsets of rows ascend');
    const end = cell<u32>(items, get<u32>(starts, row + 1));
    for (; at < end; at += 4) {
      const cursor = cell<u32>(cursors, load<u32>(at));
      const place = load<u32>(cursor);
      store<u32>(cursor, place + 1);
      put<u32>(out, place, row);
    }
  }
}

/** Copies the items of rows list[from, to) to the places given by `toStarts`. */
export function pickRows(
  starts: usize,
  items: usize,
  list: usize,
  from: u32,
  to: u32,
  toStarts: usize,
  toItems: usize,
): void {
  let at = cell<u32>(toItems, get<u32>(toStarts, from));
  for (let i = from; i < to; i++) {
    const start = cell<u32>(starts, get<u32>(list, i));
    if (!ASC_NO_ASSERT) assert(load<u32>(start) <= load<u32>(start, 4), 'offsets of rows ascend');
    const end = cell<u32>(items, load<u32>(start, 4));
    for (let item = cell<u32>(items, load<u32>(start)); item < end; item += 4) {
      store<u32>(at, load<u32>(item));
      at += 4;
    }
  }
}

/** Writes values[list[i]] (f64) at out[i] for i in [from, to). */
export function pickNumbers(values: usize, list: usize, from: u32, to: u32, out: usize): void {
  for (let i = from; i < to; i++) {
    const row = get<u32>(list, i);
    put<f64>(out, i, get<f64>(values, row));
  }
}

/** Writes n u32 values, each increased by `by`, to `out`. */
export function shifted(values: usize, n: u32, by: u32, out: usize): void {
  for (const end = cell<u32>(values, n); values < end; values += 4) {
    store<u32>(out, load<u32>(values) + by);
    out += 4;
  }
}
