// Sorts 64-bit keys with a 32-bit payload: a stable radix sort from the least significant digit, 11
// bits per pass.

import { bytesOf, cell, get, put } from './cells';

const DIGIT_BITS: u32 = 11;
const BINS: u32 = 1 << DIGIT_BITS;
const counts: usize = memory.data(2048 * 4, 16);

function insertionSort(keys: usize, values: usize, n: u32): void {
  for (let i: u32 = 1; i < n; i++) {
    const key = get<u64>(keys, i);
    const value = get<u32>(values, i);
    let j = i;
    while (j > 0 && get<u64>(keys, j - 1) > key) {
      put<u64>(keys, j, get<u64>(keys, j - 1));
      put<u32>(values, j, get<u32>(values, j - 1));
      j--;
    }
    put<u64>(keys, j, key);
    if (!ASC_NO_ASSERT) assert(!j || get<u64>(keys, j - 1) <= key, 'keys ascend after a step');
    put<u32>(values, j, value);
  }
}

function pass(keys: usize, values: usize, n: u32, toKeys: usize, toValues: usize, shift: u64): void {
  memory.fill(counts, 0, BINS * 4);
  for (let i: u32 = 0; i < n; i++) {
    const bin = cell<u32>(counts, <usize>((get<u64>(keys, i) >> shift) & (BINS - 1)));
    store<u32>(bin, load<u32>(bin) + 1);
  }
  let sum: u32 = 0;
  for (let b: u32 = 0; b < BINS; b++) {
    const bin = cell<u32>(counts, b);
    const here = load<u32>(bin);
    store<u32>(bin, sum);
    sum += here;
  }
  if (!ASC_NO_ASSERT) assert(sum == n, 'each key is counted once');
  for (let i: u32 = 0; i < n; i++) {
    const key = get<u64>(keys, i);
    const bin = cell<u32>(counts, <usize>((key >> shift) & (BINS - 1)));
    const at = load<u32>(bin);
    if (!ASC_NO_ASSERT) assert(at < n, 'a key is placed inside of the result');
    store<u32>(bin, at + 1);
    put<u64>(toKeys, at, key);
    put<u32>(toValues, at, get<u32>(values, i));
  }
}

/**
 * Sorts n keys (u64) and their values (u32) in ascending order of the keys, stably and in place.
 * Only the low `bits` bits of the keys may be set. `tmpKeys` and `tmpValues` are as large as `keys`
 * and `values`.
 */
export function radixSort(keys: usize, values: usize, n: u32, tmpKeys: usize, tmpValues: usize, bits: u32): void {
  if (!ASC_NO_ASSERT) assert(bits <= 64, 'keys have 64 bits');
  if (n <= 48) {
    insertionSort(keys, values, n);
    return;
  }
  let swapped = false;
  for (let shift: u32 = 0; shift < bits; shift += DIGIT_BITS) {
    if (swapped) pass(tmpKeys, tmpValues, n, keys, values, shift);
    else pass(keys, values, n, tmpKeys, tmpValues, shift);
    swapped = !swapped;
  }
  if (swapped) {
    memory.copy(keys, tmpKeys, bytesOf<u64>(n));
    memory.copy(values, tmpValues, bytesOf<u32>(n));
  }
  if (!ASC_NO_ASSERT) assert(get<u64>(keys, 0) <= get<u64>(keys, n - 1), 'the sort covers all bits that are set');
}

/** Returns the number of low bits needed to represent `range`. */
export function bitsOf(range: u64): u32 {
  return 64 - <u32>clz(range);
}
