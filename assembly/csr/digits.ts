// Contains the two steps of a radix sort of keys: counting and placing. The caller performs both
// steps for each digit, from the least significant on. A call handles one slice of the keys.

import { cell, get, put } from '../memory/cells';

export const DIGIT_BITS: u32 = 11;
/** Number of different values of a digit; tables of counts are u32[DIGITS]. */
export const DIGITS: u32 = 1 << DIGIT_BITS;

/**
 * Counts how often the digit at bit `shift` has each value in n u64 keys, and adds this to
 * `counts`. The caller zeroes `counts` before the first slice.
 */
export function countDigits(keys: usize, n: u32, shift: u32, counts: usize): void {
  for (const end = cell<u64>(keys, n); keys < end; keys += 8) {
    const count = cell<u32>(counts, <usize>((load<u64>(keys) >> shift) & (DIGITS - 1)));
    store<u32>(count, load<u32>(count) + 1);
  }
}

/**
 * Copies n keys and their values (u32) to places in ascending order of the digit at bit `shift`.
 * Keys with equal digits keep their order. `cursors` contains the next place for each value of the
 * digit. At first these are the prefix sums of the counts.
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
