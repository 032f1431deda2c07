// Makes every pair of items that several rows contain a new item: two rows that share k items share
// k (k - 1) / 2 pairs. This saves time, because a single item may be in very many rows, but a pair
// of items rarely is.

import { after, cell, get, put } from '../memory/cells';
import { setRows } from '../status';

/** Cost of accessing a row, in steps: finding the row's items is a random memory access. */
const ITEM_STEPS: u64 = 8;

// Offsets of the fields, each a u32, in the block of `hg_graph_pairs` (README.md).
const B_ROW_STARTS: usize = 0;
const B_ROW_ITEMS: usize = 4;
const B_ITEM_STARTS: usize = 8;
const B_ITEM_ROWS: usize = 12;
const B_ITEMS: usize = 16;
const B_CURSORS: usize = 20;
const B_MARKS: usize = 24;
const B_PAIR_STARTS: usize = 28;
const B_PAIR_ROWS: usize = 32;
// State, zero at first: the number of pairs written, and the total number of rows written for them.
const B_PAIRS: usize = 36;
const B_ENTRIES: usize = 40;
export const PAIRS_BLOCK_BYTES: u32 = 44;

/**
 * Counts, for each later item, the rows that contain both this item and `item`. The mark of the
 * later item receives {u32 item + 1, u32 count}. Moves the cursor of each row beyond `item`.
 * Returns the number of steps.
 */
function countBehind(block: usize, item: u32, from: usize, to: usize): u64 {
  const rowStarts = <usize>load<u32>(block, B_ROW_STARTS);
  const rowItems = <usize>load<u32>(block, B_ROW_ITEMS);
  const cursors = <usize>load<u32>(block, B_CURSORS);
  const marks = <usize>load<u32>(block, B_MARKS);
  const stamp = item + 1;
  let steps: u64 = 1;
  for (let at = from; at < to; at += 4) {
    const row = load<u32>(at);
    const next = get<u32>(cursors, row) + 1;
    put<u32>(cursors, row, next);
    const last = cell<u32>(rowItems, after<u32>(rowStarts, row));
    steps += ITEM_STEPS + <u64>((last - cell<u32>(rowItems, next)) >> 2);
    for (let other = cell<u32>(rowItems, next); other < last; other += 4) {
      const mark = cell<u64>(marks, load<u32>(other));
      const count: u32 = load<u32>(mark) == stamp ? load<u32>(mark, 4) + 1 : 1;
      store<u32>(mark, stamp);
      store<u32>(mark, count, 4);
    }
  }
  return steps;
}

/**
 * Takes each later item that at least two rows contain together with `item`, and writes these rows
 * as the rows of the pair. The mark of the later item becomes {u32 0, u32 place of the next row}.
 */
function writePairs(block: usize, item: u32, from: usize, to: usize): void {
  const rowStarts = <usize>load<u32>(block, B_ROW_STARTS);
  const rowItems = <usize>load<u32>(block, B_ROW_ITEMS);
  const cursors = <usize>load<u32>(block, B_CURSORS);
  const marks = <usize>load<u32>(block, B_MARKS);
  const pairStarts = <usize>load<u32>(block, B_PAIR_STARTS);
  const pairRows = <usize>load<u32>(block, B_PAIR_ROWS);
  let pairs = load<u32>(block, B_PAIRS);
  let entries = load<u32>(block, B_ENTRIES);
  const stamp = item + 1;
  for (let at = from; at < to; at += 4) {
    const row = load<u32>(at);
    const last = cell<u32>(rowItems, after<u32>(rowStarts, row));
    for (let other = cell<u32>(rowItems, get<u32>(cursors, row)); other < last; other += 4) {
      const mark = cell<u64>(marks, load<u32>(other));
      let place = load<u32>(mark, 4);
      if (load<u32>(mark) == stamp) {
        if (place < 2) continue;
        put<u32>(pairStarts, pairs, entries);
        pairs++;
        const count = place;
        place = entries;
        entries += count;
        store<u32>(mark, 0);
      }
      store<u32>(mark, place + 1, 4);
      put<u32>(pairRows, place, row);
    }
  }
  put<u32>(pairStarts, pairs, entries);
  store<u32>(block, pairs, B_PAIRS);
  store<u32>(block, entries, B_ENTRIES);
}

/**
 * Lists the pairs {a, b} of items that at least two rows contain, for items a from `from` on.
 * Writes the start of each pair and its rows (ascending within each pair). Stops when `work` steps
 * are done and returns the item to continue from; `hg_result_rows` returns the number of pairs so
 * far. Space needed: one row entry for each pair of items in each row, and half as many starts plus
 * one.
 */
export function pairItems(block: usize, from: u32, work: u32): u32 {
  const items = load<u32>(block, B_ITEMS);
  const itemStarts = <usize>load<u32>(block, B_ITEM_STARTS);
  const itemRows = <usize>load<u32>(block, B_ITEM_ROWS);
  let done: u64 = 0;
  let item = from;
  for (; item < items && done <= work; item++) {
    const start = cell<u32>(itemRows, get<u32>(itemStarts, item));
    const end = cell<u32>(itemRows, after<u32>(itemStarts, item));
    const steps = countBehind(block, item, start, end);
    writePairs(block, item, start, end);
    done += steps * 2;
  }
  setRows(load<u32>(block, B_PAIRS));
  return item;
}

/** Replaces each of n counts of shared pairs, k (k - 1) / 2, by k, the number of shared items. */
export function itemsOfPairs(counts: usize, n: u32): void {
  for (const end = cell<u32>(counts, n); counts < end; counts += 4) {
    store<u32>(counts, <u32>((1.0 + sqrt<f64>(1.0 + 8.0 * <f64>load<u32>(counts))) * 0.5 + 0.5));
  }
}
