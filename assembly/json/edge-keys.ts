// The keys of lines of a named table: finds or holds their numbers in the key dictionary of the
// instance, and lists the holds.

import { findLive, holdKey, liveNumber, releaseNumbers, tookHold, unmark } from '../keys/dictionary';
import { E_SHAPE, HELD_BY_TEXT } from '../keys/entry';
import { isIntegerKind } from '../keys/kinds';
import { findFrom, firstEntry, hashKey } from '../keys/table';
import { cell, get, put } from '../memory/cells';

/** In place of a kind: members are numbers. */
const NUMBERS: u32 = 0xffffffff;

/** Maximum number of keys that are looked up together. */
export const MOST_HASHED: u32 = 512;
const hashes: usize = memory.data(512 * 8, 8);
/** u32 address of the first entry of each key's bucket, or 0. */
const firsts: usize = memory.data(512 * 4, 4);
/** Keeps the loads of entries from being left out. */
let loaded: u32 = 0;

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
  unmark(cell<u32>(holds, 1), holdCount());
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
 * Prepares the look-up of n keys, at most MOST_HASHED.
 *
 * In a large dictionary, the bucket and the entry of a key are rarely in the processor's cache. So
 * those of all keys are loaded first, in loops so short that many loads are under way at once.
 */
export function hashKeys(keys: usize, n: u32): void {
  if (!ASC_NO_ASSERT) assert(n <= MOST_HASHED, 'the hashes of the keys have space');
  for (let i: u32 = 0; i < n; i++) {
    const key = get<u64>(keys, i);
    put<u64>(hashes, i, hashKey(kind, keyAt(key), keyBytes(key)));
  }
  for (let i: u32 = 0; i < n; i++) put<u32>(firsts, i, <u32>firstEntry(get<u64>(hashes, i)));
  for (let i: u32 = 0; i < n; i++) loaded ^= load<u32>(get<u32>(firsts, i) + E_SHAPE);
}

/**
 * Replaces the n keys from `first` on, which `hashKeys` has prepared, by their numbers (i64);
 * returns false if a key has no number and cannot get one. The holds that were taken are in the
 * list in either case.
 */
export function numberKeys(keys: usize, first: u32, n: u32): bool {
  for (let i = first; i < first + n; i++) {
    const number = numberOf(get<u64>(keys, i), get<u64>(hashes, i), <usize>get<u32>(firsts, i));
    if (number <= 0) return false;
    put<i64>(keys, i, number);
  }
  return true;
}

function keyAt(key: u64): usize {
  return <usize>(<u32>key);
}

function keyBytes(key: u64): u32 {
  return <u32>(key >> 32);
}

/**
 * `first` was the first entry of the key's bucket. Others may be before it now, or in its place; an
 * entry with the key is still the right one.
 */
function numberOf(key: u64, hash: u64, first: usize): i64 {
  const known = liveNumber(findFrom(first, kind, keyAt(key), keyBytes(key)));
  if (known) return <i64>known;
  if (!mayHold) return <i64>findLive(kind, keyAt(key), keyBytes(key), hash);
  const number = holdKey(kind, keyAt(key), keyBytes(key), hash, HELD_BY_TEXT);
  if (number > 0 && tookHold) {
    const count = holdCount() + 1;
    store<u32>(holds, count);
    put<u32>(holds, count, <u32>number);
  }
  return number;
}

/** Takes back the holds after the first `count`. */
export function releaseAfter(count: u32): void {
  const released = cell<u32>(holds, count + 1);
  unmark(released, holdCount() - count);
  releaseNumbers(released, holdCount() - count);
  store<u32>(holds, count);
}
