// Joins rows that share at least s items, without storing pairs of rows. Counts the items that rows
// share or, for s = 2, uses the pairs of items in each row.

import { after, bytesOf, cell, get, put } from '../memory/cells';
import { unite } from './components';

/** Cost, in steps, of accessing an item of a row or a row of an item: a random memory access. */
export const ITEM_STEPS: u64 = 8;

/**
 * For each row from `from` on, counts the items that it shares with each later row, and joins two
 * rows when the count reaches s (`least`). `cursors` u32[items] contains the item starts at first.
 * `counts` u32[rows] is zero before and after the call; `met` u32[rows] is scratch memory. Stops
 * when `work` steps are done; returns the row to continue from. Cost: the number of pairs of rows,
 * summed over the items.
 */
export function joinByCounts(
  rowStarts: usize,
  rowItems: usize,
  itemStarts: usize,
  itemRows: usize,
  rows: u32,
  from: u32,
  least: u32,
  work: u32,
  cursors: usize,
  counts: usize,
  met: usize,
  parents: usize,
): u32 {
  let done: u64 = 0;
  let row = from;
  for (; row < rows && done <= work; row++) {
    const end = cell<u32>(rowItems, after<u32>(rowStarts, row));
    let item = cell<u32>(rowItems, get<u32>(rowStarts, row));
    const enough = end - item >= bytesOf<u32>(least);
    done += ITEM_STEPS * <u64>((end - item) >> 2) + 1;
    let behind = met;
    for (; item < end; item += 4) {
      const cursor = cell<u32>(cursors, load<u32>(item));
      const next = load<u32>(cursor) + 1;
      store<u32>(cursor, next);
      if (!enough) continue;
      const last = cell<u32>(itemRows, after<u32>(itemStarts, load<u32>(item)));
      done += <u64>((last - cell<u32>(itemRows, next)) >> 2);
      for (let at = cell<u32>(itemRows, next); at < last; at += 4) {
        const other = load<u32>(at);
        const count = cell<u32>(counts, other);
        const shared = load<u32>(count) + 1;
        store<u32>(count, shared);
        if (shared == 1) {
          store<u32>(behind, other);
          behind += 4;
        }
        if (shared == least) unite(parents, row, other);
      }
    }
    for (let at = met; at < behind; at += 4) put<u32>(counts, load<u32>(at), 0);
  }
  return row;
}

/**
 * Joins rows that share at least 2 items: for each item a from `from` on and each later item b,
 * joins the rows that contain both. `cursors` u32[rows] contains the row starts at first. `marks`
 * u64[items] is zero at first; marks[b] receives {u32 a + 1, u32 the first row that contains a and
 * b}. Stops when `work` steps are done; returns the item to continue from. Cost: the number of
 * pairs of items, summed over the rows.
 */
export function joinByPairs(
  rowStarts: usize,
  rowItems: usize,
  itemStarts: usize,
  itemRows: usize,
  items: u32,
  from: u32,
  work: u32,
  cursors: usize,
  marks: usize,
  parents: usize,
): u32 {
  let done: u64 = 0;
  let item = from;
  for (; item < items && done <= work; item++) {
    const end = cell<u32>(itemRows, after<u32>(itemStarts, item));
    done++;
    for (let at = cell<u32>(itemRows, get<u32>(itemStarts, item)); at < end; at += 4) {
      const row = load<u32>(at);
      const cursor = cell<u32>(cursors, row);
      const next = load<u32>(cursor) + 1;
      store<u32>(cursor, next);
      const last = cell<u32>(rowItems, after<u32>(rowStarts, row));
      done += ITEM_STEPS + <u64>((last - cell<u32>(rowItems, next)) >> 2);
      markItems(cell<u32>(rowItems, next), last, row, item + 1, marks, parents);
    }
  }
  return item;
}

/**
 * For each item in [at, last), joins `row` with the first row that marked the item with `stamp`. If
 * no row has, `row` marks it.
 */
export function markItems(at: usize, last: usize, row: u32, stamp: u32, marks: usize, parents: usize): void {
  for (; at < last; at += 4) {
    const mark = cell<u64>(marks, load<u32>(at));
    if (load<u32>(mark) == stamp) unite(parents, row, load<u32>(mark, 4));
    else {
      store<u32>(mark, stamp);
      store<u32>(mark, row, 4);
    }
  }
}
