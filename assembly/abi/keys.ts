// The ABI of the key dictionary: numbers and keys of the nodes of node tables, and row text with
// keys. An instance has one dictionary.

import {
  addNode,
  findNumber,
  holdKey,
  isUnborn,
  killNumber,
  liveCount,
  makeLive,
  nextNumber,
  raiseNext,
  releaseNumbers,
  reserveKeys,
  setLimit,
} from '../keys/dictionary';
import { DEAD, E_KEY, E_STATE, entryOf, keyBytesOf, kindOf, LIVE } from '../keys/entry';
import { setKind } from '../keys/kinds';
import { addRecords, writeNodeRecords } from '../keys/node-records';
import { setHashKey } from '../keys/siphash';
import { hashKey } from '../keys/table';
import { translateMarks } from '../keys/translate';
import { get, put } from '../memory/cells';
import { BAD_ARGUMENT, OUT_OF_MEMORY, setPointer } from '../status';

/**
 * Sets the secret key of the hash: 128 random bits. Call it before the first key is added. Results
 * do not depend on it.
 */
export function hg_keys_seed(a: u32, b: u32, c: u32, d: u32): void {
  setHashKey(a, b, c, d);
}

/** Registers or renames a kind; `prefix` is the text before a key in object form. */
export function hg_keys_kind(kind: u32, isInteger: u32, prefix: u32, bytes: u32): i32 {
  if (kind > 0xffff) return BAD_ARGUMENT;
  return setKind(kind, isInteger != 0, prefix, bytes) ? 0 : OUT_OF_MEMORY;
}

export function hg_keys_next(): f64 {
  return <f64>nextNumber();
}

/** Raises the number of the next new node. */
export function hg_keys_raise(next: f64): i32 {
  return next >= 1 && next <= 4294967296 ? raiseNext(<u64>next) : BAD_ARGUMENT;
}

/** Sets the greatest number that is given out. */
export function hg_keys_limit(limit: u32): void {
  setLimit(limit);
}

export function hg_keys_live(): u32 {
  return liveCount();
}

export function hg_keys_find(kind: u32, key: u32, bytes: u32): u32 {
  return findNumber(kind, key, bytes);
}

export function hg_keys_hold(kind: u32, key: u32, bytes: u32): f64 {
  return <f64>holdKey(kind, key, bytes, hashKey(kind, key, bytes), 0);
}

export function hg_keys_release(numbers: u32, n: u32): void {
  releaseNumbers(numbers, n);
}

export function hg_keys_reserve(nodes: u32, keyBytes: u32, last: u32): i32 {
  return reserveKeys(nodes, keyBytes, last) ? 0 : OUT_OF_MEMORY;
}

export function hg_keys_make_live(numbers: u32, n: u32): i32 {
  return makeLive(numbers, n);
}

export function hg_keys_add(kind: u32, key: u32, bytes: u32, number: u32): i32 {
  return addNode(kind, key, bytes, number);
}

export function hg_keys_add_records(kind: u32, records: u32, count: u32, column: u32): i32 {
  return addRecords(kind, records, count, column);
}

export function hg_keys_kill(number: u32): void {
  killNumber(number);
}

/** Returns 4 kind + state, with the states 1 held, 2 live, 3 dead; 0 for a number without entry. */
export function hg_keys_state(number: u32): u32 {
  const entry = entryOf(number);
  if (!entry) return 0;
  const state = load<u32>(entry + E_STATE);
  return (kindOf(entry) * 4) | (state & LIVE ? 2 : state & DEAD ? 3 : 1);
}

/** Returns the size of the number's key in bytes, 0 if it has no entry; `hg_result_pointer`. */
export function hg_keys_key(number: u32): u32 {
  const entry = entryOf(number);
  setPointer(entry + E_KEY);
  return entry ? keyBytesOf(entry) : 0;
}

/**
 * Keeps the numbers (u32[n]) that are held and not live, in place; writes the kind of each.
 * Returns how many they are.
 */
export function hg_keys_unborn(numbers: u32, n: u32, kinds: u32): u32 {
  let count: u32 = 0;
  for (let i: u32 = 0; i < n; i++) {
    const number = get<u32>(numbers, i);
    if (!isUnborn(number)) continue;
    put<u32>(numbers, count, number);
    put<u32>(kinds, count, kindOf(entryOf(number)));
    count++;
  }
  return count;
}

export function hg_keys_records(numbers: u32, n: u32, kind: u32, column: u32, out: u32, capacity: u32): i32 {
  return writeNodeRecords(numbers, n, kind, column, out, capacity);
}

export function hg_keys_translate(text: u32, bytes: u32, form: u32, out: u32, capacity: u32): i32 {
  return translateMarks(text, bytes, form, out, capacity);
}
