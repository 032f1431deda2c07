// The keys of lines of a named table: finds or holds their numbers in the key dictionary of the
// instance, and lists the holds.

import { findLive, holdKey, releaseNumbers, tookHold } from '../keys/dictionary';
import { E_SHAPE } from '../keys/entry';
import { isIntegerKind } from '../keys/kinds';
import { firstEntry, hashKey } from '../keys/table';
import { cell, get, put } from '../memory/cells';

/** In place of a kind: members are numbers. */
const NUMBERS: u32 = 0xffffffff;

/** How many keys are looked up together. */
const GROUP: u32 = 16;
const hashes: usize = memory.data(16 * 8, 8);
const loaded: usize = memory.data(16 * 4, 4);

let kind: u32 = NUMBERS;
let mayHold: bool = false;
/** u32 number of holds, then a u32 for each. */
let holds: usize = 0;

/** Begins a text whose members are keys of a known kind; `held` becomes the list of holds. */
export function beginKeys(ofKind: u32, create: bool, held: usize): void {
  kind = ofKind;
  mayHold = create;
  holds = held;
  store<u32>(held, 0);
}

/** Ends the text; members are numbers again. */
export function endKeys(): void {
  kind = NUMBERS;
}

export function hasKeys(): bool {
  return kind != NUMBERS;
}

export function hasIntegerKeys(): bool {
  return isIntegerKind(kind);
}

/** Number of holds taken so far. */
export function holdCount(): u32 {
  return load<u32>(holds);
}

/** Writes a key in place of a member: its address and, in the upper half, its size in bytes. */
export function putKey(members: usize, index: u32, key: usize, end: usize): void {
  put<u64>(members, index, <u64>key | ((<u64>(end - key)) << 32));
}

/**
 * Replaces n keys by their numbers (i64); returns false if a key has no number and cannot get one.
 * The holds that were taken are in the list in either case.
 *
 * In a large dictionary, the bucket and the entry of a key are rarely in the processor's cache. So
 * the ones of a group of keys are loaded first, without waiting for one before the next.
 */
export function numberKeys(members: usize, n: u32): bool {
  for (let from: u32 = 0; from < n; from += GROUP) {
    const group = cell<u64>(members, from);
    const count = min(GROUP, n - from);
    for (let i: u32 = 0; i < count; i++) {
      const key = get<u64>(group, i);
      const hash = hashKey(kind, keyAt(key), keyBytes(key));
      put<u64>(hashes, i, hash);
      put<u32>(loaded, i, <u32>firstEntry(hash));
    }
    for (let i: u32 = 0; i < count; i++) put<u32>(loaded, i, load<u32>(get<u32>(loaded, i) + E_SHAPE));
    for (let i: u32 = 0; i < count; i++) {
      const number = numberOf(get<u64>(group, i), get<u64>(hashes, i));
      if (number <= 0) return false;
      put<i64>(group, i, number);
    }
  }
  return true;
}

function keyAt(key: u64): usize {
  return <usize>(<u32>key);
}

function keyBytes(key: u64): u32 {
  return <u32>(key >> 32);
}

function numberOf(key: u64, hash: u64): i64 {
  if (!mayHold) return <i64>findLive(kind, keyAt(key), keyBytes(key), hash);
  const number = holdKey(kind, keyAt(key), keyBytes(key), hash);
  if (number > 0 && tookHold) {
    const count = holdCount() + 1;
    store<u32>(holds, count);
    put<u32>(holds, count, <u32>number);
  }
  return number;
}

/** Takes back the holds after the first `count`. */
export function releaseAfter(count: u32): void {
  releaseNumbers(cell<u32>(holds, count + 1), holdCount() - count);
  store<u32>(holds, count);
}
