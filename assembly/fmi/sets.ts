// Computes intersections, unions, differences and positions in ascending lists of row ordinals.

import { bytesOf, cell } from '../memory/cells';

/**
 * Number of bytes that `intersect32` and `intersect16` may overwrite after the space for the
 * largest possible result. If `out` is `a`, they overwrite nothing outside of `a`.
 */
export const OUT_SLACK: u32 = 16;
/** Length ratio above which lists are searched (galloping) instead of merged. */
const GALLOP_RATIO: u64 = 32;

/**
 * For each of 16 masks of lanes: the byte shuffle that moves the u32 lanes in the mask to the
 * front.
 */
const PACK32: usize = memory.data(256, 16);
/**
 * For each of 256 masks of lanes: the byte shuffle that moves the u16 lanes in the mask to the
 * front.
 */
const PACK16: usize = memory.data(4096, 16);

/**
 * Writes the values that are in both of two strictly ascending u32 lists; returns their number.
 * `out` needs space for min(na, nb) u32 and OUT_SLACK bytes. It may be `a`, and then needs no
 * slack.
 *
 * Cost: with SIMD, 4 x 4 values are compared per step (Schlegel, Willhalm and Lehner, 2011);
 * without SIMD, a branchless merge. If the lengths differ more than 32-fold: min * log2(max / min).
 */
export function intersect32(a: usize, na: u32, b: usize, nb: u32, out: usize): u32 {
  if (na == 0 || nb == 0) return 0;
  if (<u64>na > <u64>nb * GALLOP_RATIO) return gallop<u32>(b, nb, a, na, out);
  if (<u64>nb > <u64>na * GALLOP_RATIO) return gallop<u32>(a, na, b, nb, out);
  if (ASC_FEATURE_SIMD) return blocks32(a, na, b, nb, out, 0);
  else return mergeCommon<u32>(a, cell<u32>(a, na), b, cell<u32>(b, nb), out, out);
}

/** Same as `intersect32`, for u16 ordinals: 8 x 8 values per step with SIMD. */
export function intersect16(a: usize, na: u32, b: usize, nb: u32, out: usize): u32 {
  if (na == 0 || nb == 0) return 0;
  if (<u64>na > <u64>nb * GALLOP_RATIO) return gallop<u16>(b, nb, a, na, out);
  if (<u64>nb > <u64>na * GALLOP_RATIO) return gallop<u16>(a, na, b, nb, out);
  if (ASC_FEATURE_SIMD) return blocks16(a, na, b, nb, out);
  else return mergeCommon<u16>(a, cell<u16>(a, na), b, cell<u16>(b, nb), out, out);
}

/**
 * Writes the values of `a` that are not in `b`, both strictly ascending u32 lists; returns their
 * number. `out` needs space for na u32; it may be `a`. Cost: like `intersect32`; if `a` is much
 * longer, also one copy of `a`.
 */
export function difference32(a: usize, na: u32, b: usize, nb: u32, out: usize): u32 {
  if (<u64>na > <u64>nb * GALLOP_RATIO) return cutRuns(a, na, b, nb, out);
  if (<u64>nb > <u64>na * GALLOP_RATIO) return gallopMissing(a, na, b, nb, out);
  if (ASC_FEATURE_SIMD) return blocks32(a, na, b, nb, out, 15);
  else return mergeMissing(a, cell<u32>(a, na), b, cell<u32>(b, nb), out, out);
}

/**
 * Writes the values that are in at least one of two strictly ascending u32 lists, each once;
 * returns their number. `out` needs space for na + nb u32, separate from both lists. Cost: at most
 * one branchless step per value.
 */
export function union32(a: usize, na: u32, b: usize, nb: u32, out: usize): u32 {
  const start = out;
  const aEnd = cell<u32>(a, na);
  const bEnd = cell<u32>(b, nb);
  while (a < aEnd && b < bEnd) {
    const x = load<u32>(a);
    const y = load<u32>(b);
    store<u32>(out, select(x, y, x < y));
    out += 4;
    a += bytesOf<u32>(usize(x <= y));
    b += bytesOf<u32>(usize(y <= x));
  }
  memory.copy(out, a, aEnd - a);
  out += aEnd - a;
  memory.copy(out, b, bEnd - b);
  return <u32>((out + (bEnd - b) - start) >> 2);
}

/** Writes n u16 ordinals as u32. `out` needs 4 * n bytes, separate from `a`. */
export function widen16(a: usize, n: u32, out: usize): void {
  const end = cell<u16>(a, n);
  if (ASC_FEATURE_SIMD) {
    for (; a + 16 <= end; a += 16, out += 32) {
      const ordinals = v128.load(a);
      v128.store(out, v128.extend_low<u16>(ordinals));
      v128.store(out, v128.extend_high<u16>(ordinals), 16);
    }
  }
  for (; a < end; a += 2, out += 4) store<u32>(out, load<u16>(a));
}

/**
 * Returns how many values of an ascending u16 list are below `value`. Cost: about log2(n) loads;
 * only the last one decides a branch.
 */
export function lowerBound16(ptr: usize, n: u32, value: u32): u32 {
  return <u32>((seek<u16>(ptr, n, value) - ptr) >> 1);
}

/**
 * Returns how many values of an ascending u32 list are below `value`. Cost: about log2(n) loads;
 * only the last one decides a branch.
 */
export function lowerBound32(ptr: usize, n: u32, value: u32): u32 {
  return <u32>((seek<u32>(ptr, n, value) - ptr) >> 2);
}

/** Returns the address of the first of n values that is not below `value`, or the end. */
function seek<T>(list: usize, n: u32, value: u32): usize {
  while (n > 1) {
    const half = n >> 1;
    const last = cell<T>(list, half - 1);
    list += select<usize>(bytesOf<T>(half), 0, <u32>load<T>(last) < value);
    n -= half;
  }
  if (n == 1 && <u32>load<T>(list) < value) list += sizeof<T>();
  return list;
}

/**
 * Returns the address of the first value at or after `list` that is not below `value`, or the end.
 * Takes steps of doubling length until it is past the value, then searches the last step by binary
 * search.
 */
function leap<T>(list: usize, end: usize, value: u32): usize {
  let step: usize = sizeof<T>();
  let low = list;
  while (low + step < end && <u32>load<T>(low + step) < value) {
    low += step;
    step <<= 1;
  }
  const high = min(low + step, end);
  return seek<T>(low, <u32>((high - low) >> alignof<T>()), value);
}

/** Writes the values of the short list that are in the long list; returns their number. */
function gallop<T>(short: usize, shortCount: u32, long: usize, longCount: u32, out: usize): u32 {
  const start = out;
  const end = cell<T>(long, longCount);
  for (const shortEnd = cell<T>(short, shortCount); short < shortEnd; short += sizeof<T>()) {
    const value = <u32>load<T>(short);
    long = leap<T>(long, end, value);
    if (long >= end) break;
    const found = <u32>load<T>(long);
    // Stored only if found: `out` may be the long list, whose next value is still to be read.
    if (found != value) continue;
    store<T>(out, <T>value);
    out += sizeof<T>();
  }
  return <u32>((out - start) >> alignof<T>());
}

/**
 * Writes the values of the short list `a` that are not in the long list `b`; returns their number.
 */
function gallopMissing(a: usize, na: u32, b: usize, nb: u32, out: usize): u32 {
  const start = out;
  const end = cell<u32>(b, nb);
  for (const aEnd = cell<u32>(a, na); a < aEnd; a += 4) {
    const value = load<u32>(a);
    b = leap<u32>(b, end, value);
    if (b < end && load<u32>(b) == value) continue;
    store<u32>(out, value);
    out += 4;
  }
  return <u32>((out - start) >> 2);
}

/** Writes the long list `a` without the few values of `b`, by copying the runs between them. */
function cutRuns(a: usize, na: u32, b: usize, nb: u32, out: usize): u32 {
  const start = out;
  const aEnd = cell<u32>(a, na);
  for (const bEnd = cell<u32>(b, nb); b < bEnd && a < aEnd; b += 4) {
    const value = load<u32>(b);
    const cut = leap<u32>(a, aEnd, value);
    if (out != a) memory.copy(out, a, cut - a);
    out += cut - a;
    a = cut;
    if (cut < aEnd && load<u32>(cut) == value) a += 4;
  }
  if (out != a) memory.copy(out, a, aEnd - a);
  return <u32>((out + (aEnd - a) - start) >> 2);
}

/**
 * Appends at `out` the common values, found by a branchless merge. Returns the length of the
 * complete result, which begins at `start`.
 */
function mergeCommon<T>(a: usize, aEnd: usize, b: usize, bEnd: usize, out: usize, start: usize): u32 {
  while (a < aEnd && b < bEnd) {
    const x = <u32>load<T>(a);
    const y = <u32>load<T>(b);
    store<T>(out, <T>x);
    out += bytesOf<T>(usize(x == y));
    a += bytesOf<T>(usize(x <= y));
    b += bytesOf<T>(usize(y <= x));
  }
  return <u32>((out - start) >> alignof<T>());
}

/**
 * Appends at `out` the values that are only in `a`. Returns the length of the complete result,
 * which begins at `start`.
 */
function mergeMissing(a: usize, aEnd: usize, b: usize, bEnd: usize, out: usize, start: usize): u32 {
  while (a < aEnd && b < bEnd) {
    const x = load<u32>(a);
    const y = load<u32>(b);
    store<u32>(out, x);
    out += bytesOf<u32>(usize(x < y));
    a += bytesOf<u32>(usize(x <= y));
    b += bytesOf<u32>(usize(y <= x));
  }
  if (out != a) memory.copy(out, a, aEnd - a);
  return <u32>((out + (aEnd - a) - start) >> 2);
}

/**
 * Compares blocks of 4 values of `a` with blocks of 4 values of `b`. Keeps the values of `a` that
 * are in `b` (`flip` 0) or are not (`flip` 15, which inverts a mask of 4 lanes). The matches of a
 * block are collected in a register, and the kept values are written before the next block of `a`
 * is read. So `out` never overtakes the part of `a` that has been read.
 */
function blocks32(a: usize, na: u32, b: usize, nb: u32, out: usize, flip: i32): u32 {
  if (load<u32>(PACK16 + 4080) == 0) fillPacks();
  const start = out;
  const aEnd = cell<u32>(a, na);
  const bEnd = cell<u32>(b, nb);
  let matched: v128 = i32x4.splat(0);
  while (a + 16 <= aEnd && b + 16 <= bEnd) {
    const block = v128.load(a);
    matched = v128.or(matched, anyEqual32(block, v128.load(b)));
    const aLast = v128.extract_lane<u32>(block, 3);
    const bLast = load<u32>(b, 12);
    if (aLast <= bLast) {
      const lanes = v128.bitmask<i32>(matched) ^ flip;
      v128.store(out, v128.swizzle(block, v128.load(PACK32 + ((<usize>lanes) << 4))));
      out += bytesOf<u32>(popcnt(lanes));
      a += 16;
      matched = i32x4.splat(0);
    }
    b += usize(bLast <= aLast) << 4;
  }
  // If the loop ended within a block of `a`, handles its values up to the last match. They are
  // below all remaining values of `b`.
  for (let lanes = v128.bitmask<i32>(matched); lanes != 0; lanes >>= 1, a += 4) {
    if (((lanes ^ flip) & 1) == 0) continue;
    store<u32>(out, load<u32>(a));
    out += 4;
  }
  if (flip == 0) return mergeCommon<u32>(a, aEnd, b, bEnd, out, start);
  return mergeMissing(a, aEnd, b, bEnd, out, start);
}

/** Same as `blocks32`, for intersections of blocks of 8 u16. */
function blocks16(a: usize, na: u32, b: usize, nb: u32, out: usize): u32 {
  if (load<u32>(PACK16 + 4080) == 0) fillPacks();
  const start = out;
  const aEnd = cell<u16>(a, na);
  const bEnd = cell<u16>(b, nb);
  let matched: v128 = i32x4.splat(0);
  while (a + 16 <= aEnd && b + 16 <= bEnd) {
    const block = v128.load(a);
    matched = v128.or(matched, anyEqual16(block, v128.load(b)));
    const aLast = <u32>load<u16>(a, 14);
    const bLast = <u32>load<u16>(b, 14);
    if (aLast <= bLast) {
      const lanes = v128.bitmask<i16>(matched);
      v128.store(out, v128.swizzle(block, v128.load(PACK16 + ((<usize>lanes) << 4))));
      out += bytesOf<u16>(popcnt(lanes));
      a += 16;
      matched = i32x4.splat(0);
    }
    b += usize(bLast <= aLast) << 4;
  }
  for (let lanes = v128.bitmask<i16>(matched); lanes != 0; lanes >>= 1, a += 2) {
    if ((lanes & 1) == 0) continue;
    store<u16>(out, load<u16>(a));
    out += 2;
  }
  return mergeCommon<u16>(a, aEnd, b, bEnd, out, start);
}

/** Returns all ones in the lanes of `a` whose value is in any lane of `b`. */
function anyEqual32(a: v128, b: v128): v128 {
  const near = v128.or(v128.eq<u32>(a, b), v128.eq<u32>(a, v128.shuffle<u32>(b, b, 1, 2, 3, 0)));
  const far = v128.eq<u32>(a, v128.shuffle<u32>(b, b, 3, 0, 1, 2));
  return v128.or(near, v128.or(far, v128.eq<u32>(a, v128.shuffle<u32>(b, b, 2, 3, 0, 1))));
}

/** Returns all ones in the lanes of `a` whose value is in any lane of `b`. */
function anyEqual16(a: v128, b: v128): v128 {
  const first = v128.or(v128.eq<u16>(a, b), v128.eq<u16>(a, v128.shuffle<u16>(b, b, 1, 2, 3, 4, 5, 6, 7, 0)));
  const second = v128.or(
    v128.eq<u16>(a, v128.shuffle<u16>(b, b, 2, 3, 4, 5, 6, 7, 0, 1)),
    v128.eq<u16>(a, v128.shuffle<u16>(b, b, 3, 4, 5, 6, 7, 0, 1, 2)),
  );
  const third = v128.or(
    v128.eq<u16>(a, v128.shuffle<u16>(b, b, 4, 5, 6, 7, 0, 1, 2, 3)),
    v128.eq<u16>(a, v128.shuffle<u16>(b, b, 5, 6, 7, 0, 1, 2, 3, 4)),
  );
  const fourth = v128.or(
    v128.eq<u16>(a, v128.shuffle<u16>(b, b, 6, 7, 0, 1, 2, 3, 4, 5)),
    v128.eq<u16>(a, v128.shuffle<u16>(b, b, 7, 0, 1, 2, 3, 4, 5, 6)),
  );
  return v128.or(v128.or(first, second), v128.or(third, fourth));
}

function fillPacks(): void {
  fillPack(PACK32, 16, 4);
  fillPack(PACK16, 256, 2);
}

/**
 * Writes, for each mask, the byte numbers of the lanes in the mask, in order. The other bytes of
 * the shuffle stay 0; what they select is ignored.
 */
function fillPack(table: usize, masks: u32, laneBytes: u32): void {
  for (let mask: u32 = 0; mask < masks; mask++) {
    let at = table + (mask << 4);
    for (let lane: u32 = 0; mask >> lane != 0; lane++) {
      if (((mask >> lane) & 1) == 0) continue;
      for (let byte: u32 = 0; byte < laneBytes; byte++, at++) store<u8>(at, lane * laneBytes + byte);
    }
  }
}
