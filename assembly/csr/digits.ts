// Sorts keys by radix sort, one digit at a time from the least significant, in slices that the
// caller drives.

import { cell, get, put } from '../memory/cells';

export const DIGIT_BITS: u32 = 11;
/** Number of different values of a digit; tables of counts are u32[DIGITS]. */
export const DIGITS: u32 = 1 << DIGIT_BITS;

/**
 * Counts the values of the digit at bit `shift` in n u64 keys, and adds the counts to `counts`. The
 * caller zeroes `counts` before the first slice.
 */
export function countDigits(keys: usize, n: u32, shift: u32, counts: usize): void {
  for (const end = cell<u64>(keys, n); keys < end; keys += 8) {
    const count = cell<u32>(counts, <usize>((load<u64>(keys) >> shift) & (DIGITS - 1)));
    store<u32>(count, load<u32>(count) + 1);
  }
}

/**
 * Moves n keys and their values (u32) to the places that the digit at bit `shift` gives them; equal
 * digits keep their order. `cursors`: prefix sums of the counts.
 */
export function placeDigits(
  keys: usize,
  values: usize,
  n: u32,
  shift: u32,
  cursors: usize,
  toKeys: usize,
  toValues: usize,
): void {
  for (let i: u32 = 0; i < n; i++) {
    const key = get<u64>(keys, i);
    const cursor = cell<u32>(cursors, <usize>((key >> shift) & (DIGITS - 1)));
    const at = load<u32>(cursor);
    store<u32>(cursor, at + 1);
    put<u64>(toKeys, at, key);
    put<u32>(toValues, at, get<u32>(values, i));
  }
}
