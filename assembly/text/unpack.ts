// Unpacks the lists of a block of postings: numbers of a fixed width in bits, lowest bits first.
//
// With SIMD and widths up to 8, eight numbers are unpacked at once. They are in `width` bytes, and
// number i begins in byte (i width) / 8 at bit s = (i width) % 8. A swizzle puts this byte and the
// next one into lane i of 16 bits. A multiplication by 2^(8 - s) moves the number to bit 8, a shift
// to bit 0, and a mask removes the bits above it.

import { cell, put } from '../memory/cells';
import { bitsAt } from './layout';

/** Greatest width for which eight numbers are unpacked at once. */
const NARROW: u32 = 8;
/** Frequencies less 1 from here on are unpacked as this number. */
export const MOST_UNPACKED: u32 = 254;

/** Returns the bytes of lane i for eight numbers: those in which number i begins, and the next. */
function bytesOfLanes(width: u32): v128 {
  const bits = i16x8.mul(i16x8(0, 1, 2, 3, 4, 5, 6, 7), i16x8.splat(<i16>width));
  return i16x8.add(i16x8.mul(i16x8.shr_u(bits, 3), i16x8.splat(257)), i16x8.splat(256));
}

/** Returns 2^(8 - s) for each lane. */
function factorsOfLanes(width: u32): v128 {
  const bits = i16x8.mul(i16x8(0, 1, 2, 3, 4, 5, 6, 7), i16x8.splat(<i16>width));
  const shifts = i16x8.mul(v128.and(bits, i16x8.splat(7)), i16x8.splat(257));
  // Bytes of 2^8, 2^7, ...: the upper bytes and the lower ones.
  const high = i8x16.swizzle(i8x16(1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), shifts);
  const low = i8x16.swizzle(i8x16(0, -128, 64, 32, 16, 8, 4, 2, 0, 0, 0, 0, 0, 0, 0, 0), shifts);
  return v128.bitselect(low, high, i16x8.splat(0xff));
}

/** Returns the eight numbers at `list`. */
function numbersAt(list: usize, bytes: v128, factors: v128, mask: v128): v128 {
  const lanes = i16x8.mul(i8x16.swizzle(v128.load_zero<u64>(list), bytes), factors);
  return v128.and(i16x8.shr_u(lanes, 8), mask);
}

/**
 * Writes the `n` documents (u16) of a block at `out`, and up to 7 numbers more: each is the sum of
 * the one before, 1 and a number of the list. `before`: the document before the first one, or NONE.
 * Cost: 0.2 to 1.2 ns per document.
 */
export function unpackRows(list: usize, n: u32, width: u32, before: u32, out: usize): void {
  if (ASC_FEATURE_SIMD) {
    if (width && width <= NARROW) {
      unpackNarrowRows(list, n, width, before, out);
      return;
    }
  }
  const mask = ((<u32>1) << width) - 1;
  let row = before;
  let bit: u32 = 0;
  const end = cell<u16>(out, n);
  for (; out < end; out += 2) {
    row += 1 + ((load<u32>(list + <usize>(bit >> 3)) >> (bit & 7)) & mask);
    bit += width;
    store<u16>(out, <u16>row);
  }
}

function unpackNarrowRows(list: usize, n: u32, width: u32, before: u32, out: usize): void {
  const bytes = bytesOfLanes(width);
  const factors = factorsOfLanes(width);
  const mask = i16x8.splat(<i16>(((<u32>1) << width) - 1));
  const end = cell<u16>(out, n);
  let last = i16x8.splat(<i16>before);
  for (; out < end; out += 16) {
    let sums = i16x8.add(numbersAt(list, bytes, factors, mask), i16x8.splat(1));
    // Adds the lanes 1, 2 and 4 below, so that each lane has the sum of all up to it.
    sums = i16x8.add(sums, i8x16.swizzle(sums, i8x16(-1, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13)));
    sums = i16x8.add(sums, i8x16.swizzle(sums, i8x16(-1, -1, -1, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)));
    sums = i16x8.add(sums, i8x16.swizzle(sums, i8x16(-1, -1, -1, -1, -1, -1, -1, -1, 0, 1, 2, 3, 4, 5, 6, 7)));
    sums = i16x8.add(sums, last);
    v128.store(out, sums);
    last = i8x16.swizzle(sums, i8x16(14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15, 14, 15));
    list += <usize>width;
  }
}

/**
 * Writes `n` numbers of a list, at most MOST_UNPACKED each, at `out` (u8), and up to 7 more. Cost:
 * 0.1 to 1 ns per number.
 */
export function unpackBytes(list: usize, n: u32, width: u32, out: usize): void {
  if (!width) {
    memory.fill(out, 0, n);
    return;
  }
  if (ASC_FEATURE_SIMD) {
    if (width <= NARROW) {
      const bytes = bytesOfLanes(width);
      const factors = factorsOfLanes(width);
      const mask = i16x8.splat(<i16>(((<u32>1) << width) - 1));
      const end = out + <usize>n;
      for (; out < end; out += 8) {
        const most = i16x8.min_u(numbersAt(list, bytes, factors, mask), i16x8.splat(<i16>MOST_UNPACKED));
        v128.store_lane<u64>(out, i8x16.narrow_i16x8_u(most, most), 0);
        list += <usize>width;
      }
      return;
    }
  }
  for (let i: u32 = 0; i < n; i++) put<u8>(out, i, <u8>min(bitsAt(list, i, width), MOST_UNPACKED));
}
