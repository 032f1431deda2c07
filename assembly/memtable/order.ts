// The (event_ts, id) order of a memtable: sorts rows when they are first needed in order, searches
// by key, and lists the rows that are visible at an LSN.
//
// Rows are kept in the order of arrival. `order` lists their indexes by key; only its first
// M_ORDERED entries are filled and sorted. A row that arrives in key order extends the sorted part
// at once. After the first row that arrives late, this row and all later rows stay unsorted until
// `memtableSort` is called, which every read in key order does first. It sorts them among
// themselves (radix sort by id, then by time) and merges them into the sorted part from the back,
// so that only entries with a key above the least late key move. If there are at most four of these
// rows, each is inserted by binary search instead.

import { R_COUNT, R_ID, R_MEMBERS, R_TIME } from '../codec/record';
import { skipMembers } from '../codec/vbyte';
import { alloc, free } from '../memory/alloc';
import { bytesOf, cell, get, put } from '../memory/cells';
import { bitsOf, radixSort } from '../memory/radix';
import { floorDivide } from '../segment/layout';
import { setRows } from '../status';
import { isVisible, lsnOffset, M_BUCKET_SECONDS, M_ORDER, M_ORDERED, M_ROWS, recordOf } from './layout';
import { keyBefore } from './rows';

/**
 * Sorts row indexes (u32[n]) stably by one i64 field of their records. `keys` has 20 bytes of
 * scratch memory per row. Cost: one pass if the rows are already in order.
 */
function sortByField(m: usize, list: usize, n: u32, field: usize, keys: usize): void {
  let least = i64.MAX_VALUE;
  let greatest = i64.MIN_VALUE;
  let sorted = true;
  for (let i: u32 = 0; i < n; i++) {
    const value = load<i64>(recordOf(m, get<u32>(list, i)) + field);
    put<i64>(keys, i, value);
    sorted = sorted && value >= greatest;
    least = min(least, value);
    greatest = max(greatest, value);
  }
  if (sorted) return;
  for (let i: u32 = 0; i < n; i++) put<u64>(keys, i, <u64>(get<i64>(keys, i) - least));
  radixSort(keys, list, n, cell<u64>(keys, n), keys + ((<usize>n) << 4), bitsOf(<u64>(greatest - least)));
}

/**
 * Sorts row indexes (u32[n]) by (event_ts, id). Returns false if out of memory. Rows mostly arrive
 * in id order, so the first sort is usually a single pass.
 */
export function sortByKey(m: usize, list: usize, n: u32): bool {
  if (n < 2) return true;
  const keys = alloc(n * 20);
  if (!keys) return false;
  sortByField(m, list, n, R_ID, keys);
  sortByField(m, list, n, R_TIME, keys);
  free(keys);
  return true;
}

/** Merges a sorted list (u32[n]) into the first `ordered` entries of the order, from the back. */
function mergeTail(m: usize, order: usize, ordered: u32, list: usize, n: u32): void {
  let i = ordered;
  let j = n;
  let k = ordered + n;
  while (j > 0) {
    const row = get<u32>(list, j - 1);
    const record = recordOf(m, row);
    while (i > 0 && keyBefore(record, recordOf(m, get<u32>(order, i - 1)))) {
      i--;
      k--;
      put<u32>(order, k, get<u32>(order, i));
    }
    j--;
    k--;
    put<u32>(order, k, row);
  }
  if (!ASC_NO_ASSERT) assert(i == k, 'the rows before the first late one stay where they are');
}

/** Inserts one late row: one binary search, then one move of the later entries. */
function insertOne(m: usize, order: usize, ordered: u32, row: u32): void {
  const record = recordOf(m, row);
  let base: u32 = 0;
  let length = ordered;
  while (length > 0) {
    const half = length >> 1;
    if (keyBefore(recordOf(m, get<u32>(order, base + half)), record)) {
      base += half + 1;
      length -= half + 1;
    } else length = half;
  }
  if (!ASC_NO_ASSERT)
    assert(!base || !keyBefore(record, recordOf(m, get<u32>(order, base - 1))), 'rows are in key order');
  if (!ASC_NO_ASSERT)
    assert(base == ordered || !keyBefore(recordOf(m, get<u32>(order, base)), record), 'rows are in key order');
  const at = cell<u32>(order, base);
  memory.copy(at + 4, at, bytesOf<u32>(ordered - base));
  store<u32>(at, row);
}

/**
 * Sorts the rows that are not yet in order. Returns false if out of memory; the order is then
 * unchanged.
 */
export function memtableSort(m: usize): bool {
  const rows = load<u32>(m + M_ROWS);
  const ordered = load<u32>(m + M_ORDERED);
  if (ordered == rows) return true;
  const order = <usize>load<u32>(m + M_ORDER);
  if (!ASC_NO_ASSERT) assert(ordered < rows, 'no more rows are in order than there are');
  const n = rows - ordered;
  if (n <= 4) {
    for (let row = ordered; row < rows; row++) insertOne(m, order, row, row);
    store<u32>(m + M_ORDERED, rows);
    return true;
  }
  const list = alloc(bytesOf<u32>(n));
  if (!list) return false;
  for (let i: u32 = 0; i < n; i++) put<u32>(list, i, ordered + i);
  const sorted = sortByKey(m, list, n);
  if (sorted) {
    mergeTail(m, order, ordered, list, n);
    store<u32>(m + M_ORDERED, rows);
  }
  free(list);
  return sorted;
}

/**
 * Returns the first position in the order whose key is >= (time, id). The order must be up to date.
 */
export function memtableSeek(m: usize, time: i64, id: i64): u32 {
  const order = <usize>load<u32>(m + M_ORDER);
  let base: u32 = 0;
  let length = load<u32>(m + M_ORDERED);
  while (length > 0) {
    const half = length >> 1;
    const record = recordOf(m, get<u32>(order, base + half));
    const found = load<i64>(record + R_TIME);
    if (found < time || (found == time && load<i64>(record + R_ID) < id)) {
      base += half + 1;
      length -= half + 1;
    } else length = half;
  }
  return base;
}

/** Returns the row index at a position of the order. */
export function orderAt(m: usize, position: u32): u32 {
  if (!ASC_NO_ASSERT) assert(position < load<u32>(m + M_ORDERED), 'a position of the order is up to date');
  return get<u32>(load<u32>(m + M_ORDER), position);
}

/**
 * Lists the rows at positions [from, to) that are visible to a snapshot at `lsn`, in key order
 * (u32[capacity]). Returns their number; `hg_result_rows` returns the position to continue from.
 */
export function memtableRows(m: usize, from: u32, to: u32, lsn: f64, out: usize, capacity: u32): u32 {
  const at = lsnOffset(m, lsn);
  let position = from;
  let count: u32 = 0;
  for (; position < to && count < capacity; position++) {
    const row = orderAt(m, position);
    if (!isVisible(m, row, at)) continue;
    put<u32>(out, count, row);
    count++;
  }
  setRows(position);
  return count;
}

/** Returns the live row with exactly this key, or -1. */
export function memtableFind(m: usize, time: i64, id: i64): i32 {
  for (let position = memtableSeek(m, time, id); position < load<u32>(m + M_ORDERED); position++) {
    const row = orderAt(m, position);
    const record = recordOf(m, row);
    if (load<i64>(record + R_TIME) != time || load<i64>(record + R_ID) != id) return -1;
    if (isVisible(m, row, u32.MAX_VALUE)) return <i32>row;
  }
  return -1;
}

/**
 * Lists the rows alive at `lsn` that have the record's time and member set (u32[capacity]). Returns
 * their total number, but writes at most `capacity`.
 */
export function memtableMatch(m: usize, record: usize, lsn: f64, out: usize, capacity: u32): u32 {
  const time = load<i64>(record + R_TIME);
  const n = load<u8>(record + R_COUNT);
  const at = lsnOffset(m, lsn);
  const bytes = skipMembers(record + R_MEMBERS, n) - (record + R_MEMBERS);
  let count: u32 = 0;
  for (let position = memtableSeek(m, time, i64.MIN_VALUE); position < load<u32>(m + M_ORDERED); position++) {
    const row = orderAt(m, position);
    const candidate = recordOf(m, row);
    if (load<i64>(candidate + R_TIME) != time) break;
    if (load<u8>(candidate + R_COUNT) != n || !isVisible(m, row, at)) continue;
    if (skipMembers(candidate + R_MEMBERS, n) - (candidate + R_MEMBERS) != bytes) continue;
    if (memory.compare(candidate + R_MEMBERS, record + R_MEMBERS, bytes)) continue;
    if (count < capacity) put<u32>(out, count, row);
    count++;
  }
  return count;
}

/**
 * Returns the number of distinct buckets that contain rows of a list (u32[n]), which must be in key
 * order.
 */
export function bucketsOfOrder(m: usize, rows: usize, n: u32): u32 {
  const width = load<i64>(m + M_BUCKET_SECONDS);
  let bucketEnd = i64.MIN_VALUE;
  let count: u32 = 0;
  for (let i: u32 = 0; i < n; i++) {
    const time = load<i64>(recordOf(m, get<u32>(rows, i)) + R_TIME);
    if (time < bucketEnd) continue;
    count++;
    bucketEnd = (floorDivide(time, width) + 1) * width;
  }
  return count;
}
