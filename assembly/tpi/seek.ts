// The time-partitioned index (TPI) of a segment: finds the row for a time and id, and counts
// non-empty buckets exactly.

import { cell, get } from '../memory/cells';
import {
  BLOCK_BYTES,
  packed,
  S_BLOCKS,
  S_ROWS,
  S_TIME_MAX,
  S_TIME_MIN,
  S_TIME_WIDTH,
  S_TIMES,
} from '../segment/layout';
import { rowId } from '../segment/reader';

/** Returns how many of the n u32 values at `ptr` are below `target`; n <= 64, in any order. */
function countBelow32(ptr: usize, n: u32, target: u32): u32 {
  let count: u32 = 0;
  let i: u32 = 0;
  if (ASC_FEATURE_SIMD) {
    const bound = i32x4.splat(<i32>(target ^ 0x80000000));
    const bias = i32x4.splat(<i32>0x80000000);
    let sums = i32x4.splat(0);
    for (; i + 4 <= n; i += 4) {
      const values = v128.xor(v128.load(cell<u32>(ptr, i)), bias);
      sums = i32x4.sub(sums, i32x4.lt_s(values, bound));
    }
    count =
      i32x4.extract_lane(sums, 0) +
      i32x4.extract_lane(sums, 1) +
      i32x4.extract_lane(sums, 2) +
      i32x4.extract_lane(sums, 3);
  }
  for (; i < n; i++) count += u32(get<u32>(ptr, i) < target);
  return count;
}

function lowerBoundTimes32(times: usize, rows: u32, target: u32): u32 {
  let base: u32 = 0;
  let length = rows;
  while (length > 64) {
    const half = length >> 1;
    base += select<u32>(half, 0, get<u32>(times, base + half - 1) < target);
    length -= half;
  }
  return base + countBelow32(cell<u32>(times, base), length, target);
}

/** Returns the first row whose time is >= `time`; the row count if there is none. */
export function lowerBoundTime(s: usize, time: i64): u32 {
  const rows = load<u32>(s + S_ROWS);
  const least = load<i64>(s + S_TIME_MIN);
  if (time <= least) return 0;
  if (time > load<i64>(s + S_TIME_MAX)) return rows;
  const relative = <u64>(time - least);
  const times = <usize>load<u32>(s + S_TIMES);
  const width = load<u32>(s + S_TIME_WIDTH);
  if (width == 4) return lowerBoundTimes32(times, rows, <u32>relative);
  let base: u32 = 0;
  let length = rows;
  while (length > 0) {
    const half = length >> 1;
    if (packed(times, width, base + half) < relative) {
      base += half + 1;
      length -= half + 1;
    } else length = half;
  }
  return base;
}

/** Returns the first row whose (time, id) is >= the key; the row count if there is none. */
export function seekRow(s: usize, time: i64, id: i64): u32 {
  let base = lowerBoundTime(s, time);
  const rows = load<u32>(s + S_ROWS);
  if (base == rows || rowId(s, base) >= id) return base;
  let length = lowerBoundTime(s, time + 1) - base;
  while (length > 0) {
    const half = length >> 1;
    if (rowId(s, base + half) < id) {
      base += half + 1;
      length -= half + 1;
    } else length = half;
  }
  return base;
}

/** Returns the first row whose time is above `time`; the row count if there is none. */
export function seekBehind(s: usize, time: i64): u32 {
  // One search. seekRow with the greatest id would search for the time and for the next one.
  return lowerBoundTime(s, time + 1);
}

/** Returns the number of buckets that start in rows [0, row]. */
function bucketRank(s: usize, row: u32): u32 {
  const block = <usize>load<u32>(s + S_BLOCKS) + <usize>(row >> 6) * BLOCK_BYTES;
  const mask = u64.MAX_VALUE >> (63 - <u64>(row & 63));
  return load<u32>(block + 4) + <u32>popcnt(load<u64>(block + 8) & mask);
}

/** Returns the number of buckets that contain rows of [from, to). */
export function bucketsOfRows(s: usize, from: u32, to: u32): u32 {
  if (from >= to) return 0;
  if (!ASC_NO_ASSERT) assert(to <= load<u32>(s + S_ROWS), 'rows are those of the segment');
  return bucketRank(s, to - 1) - bucketRank(s, from) + 1;
}

/** Returns the number of distinct buckets that contain rows of an ascending list (u32[n]). */
export function bucketsOfList(s: usize, rows: usize, n: u32): u32 {
  let count: u32 = 0;
  let previous: u32 = 0;
  for (let i: u32 = 0; i < n; i++) {
    const rank = bucketRank(s, get<u32>(rows, i));
    count += u32(rank != previous);
    previous = rank;
  }
  return count;
}
