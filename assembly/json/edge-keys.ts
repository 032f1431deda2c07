// The keys of lines of a named table: finds or holds their numbers in the key dictionary of the
// instance, and lists the holds.

import { findLive, holdKey, releaseNumbers, tookHold } from '../keys/dictionary';
import { isIntegerKind } from '../keys/kinds';
import { cell, get, put } from '../memory/cells';

/** In place of a kind: members are numbers. */
const NUMBERS: u32 = 0xffffffff;

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
 */
export function numberKeys(members: usize, n: u32): bool {
  for (let i: u32 = 0; i < n; i++) {
    const number = numberOf(get<u64>(members, i));
    if (number <= 0) return false;
    put<i64>(members, i, number);
  }
  return true;
}

function numberOf(key: u64): i64 {
  const at = <usize>(<u32>key);
  const bytes = <u32>(key >> 32);
  if (!mayHold) return <i64>findLive(kind, at, bytes);
  const number = holdKey(kind, at, bytes);
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
