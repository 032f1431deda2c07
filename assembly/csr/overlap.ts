// Builds the graph in which two rows are neighbours if they share at least s items, and counts the
// shared items. For a hypergraph this is the co-member graph (rows are nodes, items are edges) or
// the line graph (rows are edges, items are nodes).

import { after, bytesOf, cell, get, put } from '../memory/cells';
import { BAD_ARGUMENT, setRows } from '../status';

// Offsets of the fields, each a u32, in the block of `hg_graph_overlaps` (README.md).
const B_ROWS: usize = 0;
const B_LEAST: usize = 4;
const B_ROW_STARTS: usize = 8;
const B_ROW_ITEMS: usize = 12;
const B_ITEM_STARTS: usize = 16;
const B_ITEM_ROWS: usize = 20;
const B_COUNTS: usize = 24;
const B_MET: usize = 28;
const B_BITS: usize = 32;
const B_LENGTHS: usize = 36;
export const OVERLAP_BLOCK_BYTES: u32 = 40;

/** Lists up to this length are sorted by insertion, longer lists through a bitmap. */
const INSERTION: u32 = 24;
/**
 * Initial count of the current row: it is not 0, so the row is never listed as its own neighbour.
 */
const SELF: u32 = 0x80000000;
/** Cost of accessing an item, in steps: finding the item's rows is a random memory access. */
const ITEM_STEPS: u64 = 8;

function bitsAt(base: usize, index: u32): usize {
  return cell<u64>(base, index);
}

/**
 * Returns the size in bytes of the bitmaps for `rows` rows: one bit per row, then one summary bit
 * per 64 of these bits. Both parts consist of whole u64.
 */
export function bitmapBytes(rows: u32): u32 {
  return bytesOf<u64>((rows >> 6) + 1) + bytesOf<u64>((rows >> 12) + 1);
}

/** Returns the sum, over all items of `row`, of the number of rows that contain the item. */
function pairsOf(block: usize, row: u32): u64 {
  const itemStarts = <usize>load<u32>(block, B_ITEM_STARTS);
  const rowItems = <usize>load<u32>(block, B_ROW_ITEMS);
  const start = cell<u32>(load<u32>(block, B_ROW_STARTS), row);
  const end = cell<u32>(rowItems, load<u32>(start, 4));
  let pairs: u64 = 0;
  for (let at = cell<u32>(rowItems, load<u32>(start)); at < end; at += 4) {
    const item = cell<u32>(itemStarts, load<u32>(at));
    pairs += load<u32>(item, 4) - load<u32>(item);
  }
  return pairs;
}

/**
 * Counts, for each other row, how many items it shares with `row`. Lists at `met` (u32) the rows
 * that share at least one item; returns the end of this list.
 */
function countRow(block: usize, row: u32, met: usize): usize {
  const counts = <usize>load<u32>(block, B_COUNTS);
  const itemRows = <usize>load<u32>(block, B_ITEM_ROWS);
  const itemStarts = <usize>load<u32>(block, B_ITEM_STARTS);
  const rowItems = <usize>load<u32>(block, B_ROW_ITEMS);
  const start = cell<u32>(load<u32>(block, B_ROW_STARTS), row);
  const end = cell<u32>(rowItems, load<u32>(start, 4));
  put<u32>(counts, row, SELF);
  for (let at = cell<u32>(rowItems, load<u32>(start)); at < end; at += 4) {
    const item = cell<u32>(itemStarts, load<u32>(at));
    const last = cell<u32>(itemRows, load<u32>(item, 4));
    for (let other = cell<u32>(itemRows, load<u32>(item)); other < last; other += 4) {
      const count = cell<u32>(counts, load<u32>(other));
      const before = load<u32>(count);
      store<u32>(count, before + 1);
      if (before) continue;
      store<u32>(met, load<u32>(other));
      met += 4;
    }
  }
  put<u32>(counts, row, 0);
  return met;
}

/**
 * Removes the rows whose count is below `least` from the list of u32 [list, end), and zeroes their
 * counts. Returns the new end.
 */
function dropFew(list: usize, end: usize, counts: usize, least: u32): usize {
  let kept = list;
  for (let at = list; at < end; at += 4) {
    const row = load<u32>(at);
    const count = cell<u32>(counts, row);
    if (load<u32>(count) >= least) {
      store<u32>(kept, row);
      kept += 4;
    } else store<u32>(count, 0);
  }
  return kept;
}

function insertionSort(list: usize, end: usize): void {
  for (let next = list + 4; next < end; next += 4) {
    const value = load<u32>(next);
    let at = next;
    while (at > list && load<u32>(at - 4) > value) {
      store<u32>(at, load<u32>(at - 4));
      at -= 4;
    }
    store<u32>(at, value);
  }
}

/**
 * Writes the rows of the short list [list, end) in ascending order, with their counts; zeroes the
 * counts.
 */
function emitFew(list: usize, end: usize, counts: usize, neighbours: usize, shared: usize): void {
  insertionSort(list, end);
  for (; list < end; list += 4) {
    const count = cell<u32>(counts, load<u32>(list));
    store<u32>(neighbours, load<u32>(list));
    store<u32>(shared, load<u32>(count));
    store<u32>(count, 0);
    neighbours += 4;
    shared += 4;
  }
}

/**
 * Same as `emitFew` for a long list. Sorts it by means of bitmaps for `rows` rows, which are all
 * zero before and after the call.
 */
function emitMany(
  list: usize,
  end: usize,
  counts: usize,
  neighbours: usize,
  shared: usize,
  bits: usize,
  rows: u32,
): void {
  const summary = bitsAt(bits, (rows >> 6) + 1);
  let low: u32 = -1;
  let high: u32 = 0;
  for (; list < end; list += 4) {
    const row = load<u32>(list);
    const word = bitsAt(bits, row >> 6);
    store<u64>(word, load<u64>(word) | ((<u64>1) << (row & 63)));
    const top = row >> 12;
    const sum = bitsAt(summary, top);
    store<u64>(sum, load<u64>(sum) | ((<u64>1) << ((row >> 6) & 63)));
    low = min(low, top);
    high = max(high, top);
  }
  for (let top = low; top <= high; top++) {
    const sum = bitsAt(summary, top);
    for (let words = load<u64>(sum); words; words &= words - 1) {
      const index = (top << 6) + <u32>ctz(words);
      const word = bitsAt(bits, index);
      for (let found = load<u64>(word); found; found &= found - 1) {
        const row = (index << 6) + <u32>ctz(found);
        const count = cell<u32>(counts, row);
        store<u32>(neighbours, row);
        store<u32>(shared, load<u32>(count));
        store<u32>(count, 0);
        neighbours += 4;
        shared += 4;
      }
      store<u64>(word, 0);
    }
    store<u64>(sum, 0);
  }
}

/**
 * Finds the neighbours of each row from `from` on: the other rows that share at least s items with
 * the row. Writes them in ascending order to `neighbours` and the numbers of shared items to
 * `shared` (u32 each, space for `capacity` entries). Writes the number of neighbours of each row to
 * the array whose address is in the field B_LENGTHS. Stops when `work` steps are done or the next
 * row might not fit; `hg_result_rows` returns the row to continue from. Returns the number of
 * entries written, or BAD_ARGUMENT if not even one row might fit (space for all other rows is
 * always enough).
 */
export function overlapRows(block: usize, from: u32, work: u32, neighbours: usize, shared: usize, capacity: u32): i32 {
  const rows = load<u32>(block, B_ROWS);
  const least = load<u32>(block, B_LEAST);
  const starts = <usize>load<u32>(block, B_ROW_STARTS);
  const counts = <usize>load<u32>(block, B_COUNTS);
  const met = <usize>load<u32>(block, B_MET);
  let written: u32 = 0;
  let done: u64 = 0;
  let row = from;
  for (; row < rows && done <= work; row++) {
    const size = after<u32>(starts, row) - get<u32>(starts, row);
    const length = cell<u32>(load<u32>(block, B_LENGTHS), row);
    store<u32>(length, 0);
    done++;
    if (size < least) continue;
    const pairs = pairsOf(block, row);
    if (min(pairs - size, <u64>(rows - 1)) > capacity - written) break;
    let end = countRow(block, row, met);
    if (least > 1) end = dropFew(met, end, counts, least);
    const n = <u32>((end - met) >> 2);
    if (n <= INSERTION) emitFew(met, end, counts, cell<u32>(neighbours, written), cell<u32>(shared, written));
    else {
      const bits = <usize>load<u32>(block, B_BITS);
      emitMany(met, end, counts, cell<u32>(neighbours, written), cell<u32>(shared, written), bits, rows);
    }
    store<u32>(length, n);
    written += n;
    done += pairs + ITEM_STEPS * size;
  }
  setRows(row);
  return row == from && row < rows ? BAD_ARGUMENT : <i32>written;
}
