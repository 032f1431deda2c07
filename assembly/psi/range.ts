// Finds the rows of a segment whose value in a numeric column is in a range, by binary search in
// the column's stored (value, row) order.

import { cell, get } from '../memory/cells';
import { numericValue, openColumn, STATE_VALUES } from '../segment/columns';
import { E_COUNT, E_OFFSET, findEntry, K_PSI, S_BASE, S_ROWS } from '../segment/layout';
import { BAD_ARGUMENT, tooSmall } from '../status';

const cursor: usize = memory.data(32, 16);
const bitmap: usize = memory.data(8192, 16);

/**
 * Returns the number of entries in the order whose value is below `value` or, if `orEqual` is true,
 * at most `value`.
 */
function bound(order: usize, count: u32, value: f64, orEqual: bool): u32 {
  let base: u32 = 0;
  let length = count;
  while (length > 0) {
    const half = length >> 1;
    const found = numericValue(cursor, get<u16>(order, base + half));
    if (found < value || (orEqual && found == value)) {
      base += half + 1;
      length -= half + 1;
    } else length = half;
  }
  return base;
}

/**
 * Returns the number of rows with `low` <= value <= `high`, where an open bound is excluded.
 * Returns BAD_ARGUMENT if the segment has no order for the column.
 */
export function psiCount(s: usize, column: u32, low: f64, high: f64, lowOpen: bool, highOpen: bool): i32 {
  const base = <usize>load<u32>(s + S_BASE);
  const entry = findEntry(base, K_PSI, column);
  if (!entry || openColumn(base, load<u32>(s + S_ROWS), column, cursor) != STATE_VALUES) return BAD_ARGUMENT;
  const order = base + load<u32>(entry + E_OFFSET);
  const from = bound(order, load<u32>(entry + E_COUNT), low, lowOpen);
  const to = bound(order, load<u32>(entry + E_COUNT), high, !highOpen);
  return from < to ? <i32>(to - from) : 0;
}

/**
 * Writes the rows that `psiCount` counts, ascending, as u32 at `out`. Returns their number,
 * BAD_ARGUMENT or TOO_SMALL; `hg_result_needed` then returns the number of rows.
 */
export function psiRange(
  s: usize,
  column: u32,
  low: f64,
  high: f64,
  lowOpen: bool,
  highOpen: bool,
  out: usize,
  capacity: u32,
): i32 {
  const count = psiCount(s, column, low, high, lowOpen, highOpen);
  if (count <= 0) return count;
  if (<u32>count > capacity) return tooSmall(count);
  const base = <usize>load<u32>(s + S_BASE);
  const entry = findEntry(base, K_PSI, column);
  const order = base + load<u32>(entry + E_OFFSET);
  const from = bound(order, load<u32>(entry + E_COUNT), low, lowOpen);
  memory.fill(bitmap, 0, 8192);
  for (let i: u32 = 0; i < <u32>count; i++) {
    const row = <u32>get<u16>(order, from + i);
    const word = cell<u64>(bitmap, row >> 6);
    store<u64>(word, load<u64>(word) | ((<u64>1) << (row & 63)));
  }
  let at = out;
  for (let w: u32 = 0; w < 1024; w++) {
    let word = get<u64>(bitmap, w);
    while (word) {
      store<u32>(at, (w << 6) + <u32>ctz(word));
      at += 4;
      word &= word - 1;
    }
  }
  return count;
}
