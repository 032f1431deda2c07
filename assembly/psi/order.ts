// Sorts a property's (key, row) pairs and finds positions in the sorted keys.

import { bytesOf, cell, get, put } from '../memory/cells';

/** Below this number of rows, insertion sort is faster than the fixed cost of the histograms. */
const SMALL: u32 = 48;
/** Eight histograms of 256 u32, one per byte of a key. */
const HISTOGRAMS: usize = memory.data(8192, 16);

/**
 * Sorts `keys` (f64[n], no NaN) and `rows` (u32[n], ascending before the call) together by (key,
 * row), in place. Normalises zero: -0 becomes 0.
 *
 * `scratch` has 12 * n bytes and is aligned to 8 bytes. Cost: one pass if the keys are already in
 * order. Otherwise, unless n is small: one pass for all histograms, one pass for each of the 8
 * bytes in which the keys differ (stable LSD radix sort; integers and prices need 2 to 4), and one
 * pass to convert the keys back.
 */
export function psiOrder(keys: usize, rows: usize, n: u32, scratch: usize): void {
  if (inOrder(keys, n)) return;
  if (n < SMALL) return insertionOrder(keys, rows, n);
  toBits(keys, n);
  let fromKeys = keys;
  let fromRows = rows;
  let toKeys = scratch;
  let toRows = cell<u64>(scratch, n);
  for (let digit: u32 = 0; digit < 8; digit++) {
    if (!startOffsets(HISTOGRAMS + (digit << 10), n)) continue;
    scatter(fromKeys, fromRows, toKeys, toRows, n, digit);
    const heldKeys = fromKeys;
    const heldRows = fromRows;
    fromKeys = toKeys;
    fromRows = toRows;
    toKeys = heldKeys;
    toRows = heldRows;
  }
  if (fromRows != rows) memory.copy(rows, fromRows, bytesOf<u32>(n));
  fromBits(fromKeys, keys, n);
  if (!ASC_NO_ASSERT) assert(inOrder(keys, n), 'sorted keys ascend');
}

/**
 * Returns the number of keys below `value`, which is the first position whose key is not below it.
 * `keys` f64[n] is ascending. Cost: log2(n) loads.
 */
export function psiLower(keys: usize, n: u32, value: f64): u32 {
  let base = keys;
  while (n > 1) {
    const half = n >> 1;
    base += select<usize>(bytesOf<u64>(half), 0, get<f64>(base, half - 1) < value);
    n -= half;
  }
  if (n == 1 && load<f64>(base) < value) base += 8;
  return <u32>((base - keys) >> 3);
}

/**
 * Returns the number of keys at or below `value`. `keys` f64[n] is ascending. Cost: log2(n) loads.
 */
export function psiUpper(keys: usize, n: u32, value: f64): u32 {
  let base = keys;
  while (n > 1) {
    const half = n >> 1;
    base += select<usize>(bytesOf<u64>(half), 0, get<f64>(base, half - 1) <= value);
    n -= half;
  }
  if (n == 1 && load<f64>(base) <= value) base += 8;
  return <u32>((base - keys) >> 3);
}

/**
 * Returns whether the keys already ascend. Replaces each -0 that it examines by 0, so that
 * ascending keys need no further work.
 */
function inOrder(keys: usize, n: u32): bool {
  let last = -Infinity;
  for (const end = cell<u64>(keys, n); keys < end; keys += 8) {
    const key = load<f64>(keys) + 0.0;
    if (key < last) return false;
    store<f64>(keys, key);
    last = key;
  }
  return true;
}

function insertionOrder(keys: usize, rows: usize, n: u32): void {
  for (let i: u32 = 0; i < n; i++) {
    const key = get<f64>(keys, i) + 0.0;
    const row = get<u32>(rows, i);
    let at = i;
    while (at > 0 && get<f64>(keys, at - 1) > key) {
      put<f64>(keys, at, get<f64>(keys, at - 1));
      put<u32>(rows, at, get<u32>(rows, at - 1));
      at--;
    }
    put<f64>(keys, at, key);
    put<u32>(rows, at, row);
  }
}

/** Converts keys to u64 values in the same order, and counts the values of each of their bytes. */
function toBits(keys: usize, n: u32): void {
  memory.fill(HISTOGRAMS, 0, 8192);
  for (const end = cell<u64>(keys, n); keys < end; keys += 8) {
    const raw = reinterpret<i64>(load<f64>(keys) + 0.0);
    const bits = <u64>(raw ^ ((raw >> 63) | i64.MIN_VALUE));
    store<u64>(keys, bits);
    count(0, bits);
    count(1, bits >> 8);
    count(2, bits >> 16);
    count(3, bits >> 24);
    count(4, bits >> 32);
    count(5, bits >> 40);
    count(6, bits >> 48);
    count(7, bits >> 56);
  }
}

function count(digit: u32, bits: u64): void {
  const slot = cell<u32>(HISTOGRAMS + (digit << 10), <u32>bits & 255);
  store<u32>(slot, load<u32>(slot) + 1);
}

/**
 * Converts counts to start offsets. Returns false if all keys have the same byte; the pass can then
 * be skipped.
 */
function startOffsets(histogram: usize, n: u32): bool {
  let sum: u32 = 0;
  for (const end = histogram + 1024; histogram < end; histogram += 4) {
    const rows = load<u32>(histogram);
    if (rows == n) return false;
    store<u32>(histogram, sum);
    sum += rows;
  }
  return true;
}

function scatter(fromKeys: usize, fromRows: usize, toKeys: usize, toRows: usize, n: u32, digit: u32): void {
  const histogram = HISTOGRAMS + (digit << 10);
  const shift = <u64>(digit * 8);
  for (const end = cell<u64>(fromKeys, n); fromKeys < end; fromKeys += 8, fromRows += 4) {
    const bits = load<u64>(fromKeys);
    const slot = cell<u32>(histogram, <u32>(bits >> shift) & 255);
    const at = load<u32>(slot);
    if (!ASC_NO_ASSERT) assert(at < n, 'the places of a digit are those of the rows');
    store<u32>(slot, at + 1);
    put<u64>(toKeys, at, bits);
    put<u32>(toRows, at, load<u32>(fromRows));
  }
}

function fromBits(from: usize, to: usize, n: u32): void {
  for (const end = cell<u64>(from, n); from < end; from += 8, to += 8) {
    const bits = load<i64>(from);
    store<i64>(to, bits ^ (~(bits >> 63) | i64.MIN_VALUE));
  }
}
