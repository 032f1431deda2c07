// Stable LSD radix sort of 64-bit keys with a 32-bit payload, 11 bits a pass.

const DIGIT_BITS: u32 = 11;
const BINS: u32 = 1 << DIGIT_BITS;
const counts: usize = memory.data(2048 * 4, 16);

function insertionSort(keys: usize, values: usize, n: u32): void {
  for (let i: u32 = 1; i < n; i++) {
    const key = load<u64>(keys + ((<usize>i) << 3));
    const value = load<u32>(values + ((<usize>i) << 2));
    let j = i;
    while (j > 0 && load<u64>(keys + ((<usize>(j - 1)) << 3)) > key) {
      store<u64>(keys + ((<usize>j) << 3), load<u64>(keys + ((<usize>(j - 1)) << 3)));
      store<u32>(values + ((<usize>j) << 2), load<u32>(values + ((<usize>(j - 1)) << 2)));
      j--;
    }
    store<u64>(keys + ((<usize>j) << 3), key);
    store<u32>(values + ((<usize>j) << 2), value);
  }
}

function pass(keys: usize, values: usize, n: u32, toKeys: usize, toValues: usize, shift: u64): void {
  memory.fill(counts, 0, BINS * 4);
  for (let i: u32 = 0; i < n; i++) {
    const bin = counts + ((<usize>((load<u64>(keys + ((<usize>i) << 3)) >> shift) & (BINS - 1))) << 2);
    store<u32>(bin, load<u32>(bin) + 1);
  }
  let sum: u32 = 0;
  for (let b: u32 = 0; b < BINS; b++) {
    const bin = counts + ((<usize>b) << 2);
    const here = load<u32>(bin);
    store<u32>(bin, sum);
    sum += here;
  }
  for (let i: u32 = 0; i < n; i++) {
    const key = load<u64>(keys + ((<usize>i) << 3));
    const bin = counts + ((<usize>((key >> shift) & (BINS - 1))) << 2);
    const at = load<u32>(bin);
    store<u32>(bin, at + 1);
    store<u64>(toKeys + ((<usize>at) << 3), key);
    store<u32>(toValues + ((<usize>at) << 2), load<u32>(values + ((<usize>i) << 2)));
  }
}

/**
 * Sorts n keys (u64) and their values (u32) ascending by key, stable. Only the low `bits` bits of the keys may be set.
 * tmpKeys, tmpValues: as large as keys and values. The result is in keys and values.
 */
export function radixSort(keys: usize, values: usize, n: u32, tmpKeys: usize, tmpValues: usize, bits: u32): void {
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
    memory.copy(keys, tmpKeys, (<usize>n) << 3);
    memory.copy(values, tmpValues, (<usize>n) << 2);
  }
}

/** How many low bits hold `range`. */
export function bitsOf(range: u64): u32 {
  return 64 - <u32>clz(range);
}
