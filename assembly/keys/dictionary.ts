// The key dictionary: numbers, keys and states of the nodes of all node tables. An instance has
// one.
//
// A number is held (its node is about to be created by one or more writers), live (a node row is
// applied) or dead (deleted). Live and held keys are in the hash table. Numbers are given out in
// ascending order. A number without holds that was never live is forgotten.

import { get } from '../memory/cells';
import { BAD_ARGUMENT, EXHAUSTED, failAt, OUT_OF_MEMORY } from '../status';
import { forgetEntries, giveEntry, MAX_ENTRY_BYTES, reserveEntries, takeEntry } from './arena';
import {
  cellOf,
  DEAD,
  E_KEY,
  E_NUMBER,
  E_SHAPE,
  E_STATE,
  entryBytes,
  entryOf,
  forgetPages,
  HELD_BY_TEXT,
  HOLDS,
  isSame,
  keyBytesOf,
  LIVE,
  makePage,
  makePages,
  QUOTED,
  setCell,
  shapeOf,
  TAKEN_BACK,
} from './entry';
import { forgetKinds, isIntegerKind, isKnownKind } from './kinds';
import { findEntry, forgetTable, hashKey, linkEntry, openTable, unlinkEntry } from './table';

/** Maximum size of a key in bytes. */
export const MAX_KEY_BYTES: u32 = 512;
const MOST_NUMBERS: u64 = 0xffffffff;

let next: u64 = 1;
let limit: u64 = MOST_NUMBERS;
let live: u32 = 0;

/** Forgets everything, after the allocator has forgotten all regions. */
export function forgetKeys(): void {
  next = 1;
  limit = MOST_NUMBERS;
  live = 0;
  forgetEntries();
  forgetPages();
  forgetTable();
  forgetKinds();
}

/** Returns the number of the next new node. */
export function nextNumber(): u64 {
  return next;
}

/** Raises the next number; returns BAD_ARGUMENT if it would sink, or is above 2^32. */
export function raiseNext(number: u64): i32 {
  if (number < next || number > MOST_NUMBERS + 1) return BAD_ARGUMENT;
  next = number;
  return 0;
}

export function setLimit(number: u32): void {
  limit = number;
}

export function liveCount(): u32 {
  return live;
}

/** Returns the number of the live or held node of this kind and key, or 0. */
export function findNumber(kind: u32, key: usize, bytes: u32): u32 {
  const entry = findEntry(kind, key, bytes, hashKey(kind, key, bytes));
  return entry ? load<u32>(entry + E_NUMBER) : 0;
}

/** Returns the number of the live node of this kind and key, which have this hash, or 0. */
export function findLive(kind: u32, key: usize, bytes: u32, hash: u64): u32 {
  return liveNumber(findEntry(kind, key, bytes, hash));
}

/** Returns the number of an entry if its node is live, or 0; the entry may be 0. */
export function liveNumber(entry: usize): u32 {
  return entry && load<u32>(entry + E_STATE) & LIVE ? load<u32>(entry + E_NUMBER) : 0;
}

/**
 * Returns flags for the state of an entry with this key (QUOTED or 0), or -1 if the bytes cannot be
 * a key: 1 to 512 bytes without control characters (U+0000 to U+001F, U+007F to U+009F). They are
 * valid UTF-8.
 */
function keyFlags(kind: u32, key: usize, bytes: u32): i32 {
  if (!bytes || bytes > MAX_KEY_BYTES) return -1;
  let flags = isIntegerKind(kind) ? 0 : <i32>QUOTED;
  for (let i: u32 = 0; i < bytes; i++) {
    const byte = <u32>load<u8>(key + i);
    if (byte < 0x20 || byte == 0x7f) return -1;
    if (byte == 0xc2 && i + 1 < bytes && load<u8>(key + i + 1) < 0xa0) return -1;
    if (byte == 0x22 || byte == 0x5c) flags = 0;
  }
  return flags;
}

/** Makes an entry and links it; returns 0, BAD_ARGUMENT or OUT_OF_MEMORY, with nothing changed. */
function createEntry(kind: u32, key: usize, bytes: u32, hash: u64, number: u32, state: u32): i32 {
  const flags = isKnownKind(kind) ? keyFlags(kind, key, bytes) : -1;
  if (flags < 0) return BAD_ARGUMENT;
  if (!openTable() || !makePage(number)) return OUT_OF_MEMORY;
  const size = entryBytes(bytes);
  const entry = takeEntry(size);
  if (!entry) return OUT_OF_MEMORY;
  store<u32>(entry + size - 4, 0);
  store<u32>(entry + E_NUMBER, number);
  store<u32>(entry + E_STATE, state | <u32>flags);
  store<u32>(entry + E_SHAPE, shapeOf(kind, bytes));
  memory.copy(entry + E_KEY, key, bytes);
  linkEntry(entry, hash);
  setCell(number, <u32>entry);
  return 0;
}

/** Whether the last `holdKey` took a hold: false if the node was live, or the text had one. */
export let tookHold: bool = false;

/**
 * Returns the number of the key, which has this hash: of the live node, or of a held one with one
 * more hold, or a new number, held once. `mark` is HELD_BY_TEXT or 0: a text takes one hold of a
 * number, however often it has the key, and ends with `unmark`. Returns BAD_ARGUMENT if the bytes
 * are not a key of a known kind, OUT_OF_MEMORY, or EXHAUSTED if all numbers are used; nothing is
 * changed then.
 */
export function holdKey(kind: u32, key: usize, bytes: u32, hash: u64, mark: u32): i64 {
  const entry = findEntry(kind, key, bytes, hash);
  tookHold = false;
  if (entry) {
    const state = load<u32>(entry + E_STATE);
    if (!(state & (LIVE | mark))) {
      if ((state & HOLDS) == HOLDS) return OUT_OF_MEMORY;
      store<u32>(entry + E_STATE, (state + 1) | mark);
      tookHold = true;
    }
    return <i64>load<u32>(entry + E_NUMBER);
  }
  if (next > limit) return EXHAUSTED;
  const status = createEntry(kind, key, bytes, hash, <u32>next, 1 | mark);
  if (status < 0) return status;
  tookHold = true;
  next++;
  return <i64>(next - 1);
}

/** Takes the marks of held numbers (u32[n]) away. */
export function unmark(numbers: usize, n: u32): void {
  for (let i: u32 = 0; i < n; i++) {
    const entry = entryOf(get<u32>(numbers, i));
    if (!ASC_NO_ASSERT) assert(entry != 0, 'a number that is held has an entry');
    store<u32>(entry + E_STATE, load<u32>(entry + E_STATE) & ~HELD_BY_TEXT);
  }
}

/**
 * Takes back one hold per occurrence in numbers (u32[n]). A held number without holds is forgotten.
 * If forgotten numbers are the last ones given out, the next number sinks.
 */
export function releaseNumbers(numbers: usize, n: u32): void {
  for (let i: u32 = 0; i < n; i++) releaseNumber(get<u32>(numbers, i));
  sinkNext();
}

/** Takes back one hold of one number, without lowering the next number. */
function releaseNumber(number: u32): void {
  const entry = entryOf(number);
  if (!entry) return;
  const state = load<u32>(entry + E_STATE);
  if (!(state & HOLDS)) return;
  store<u32>(entry + E_STATE, state - 1);
  if ((state & (HOLDS | LIVE | DEAD)) == 1) forgetEntry(entry);
}

function forgetEntry(entry: usize): void {
  unlinkEntry(entry);
  setCell(load<u32>(entry + E_NUMBER), TAKEN_BACK);
  giveEntry(entry, entryBytes(keyBytesOf(entry)));
}

/** Only numbers that this instance gave out and took back are given out again. */
function sinkNext(): void {
  while (cellOf(<u32>(next - 1)) == TAKEN_BACK) {
    next--;
    setCell(<u32>next, 0);
  }
}

/**
 * Ensures that `nodes` nodes with keys of a total of `keyBytes` bytes and numbers up to `last` can
 * be added; returns false if out of memory.
 */
export function reserveKeys(nodes: u32, keyBytes: u32, last: u32): bool {
  if (!openTable() || !reserveEntries(<u64>nodes * <u64>(E_KEY + 3) + <u64>keyBytes + MAX_ENTRY_BYTES)) return false;
  return next > <u64>last || makePages(<u32>next, last);
}

/**
 * Marks held numbers (u32[n]) as live. Returns 0, or BAD_ARGUMENT at the index of a number that is
 * neither held nor live; the ones before it are live then.
 */
export function makeLive(numbers: usize, n: u32): i32 {
  for (let i: u32 = 0; i < n; i++) {
    const entry = entryOf(get<u32>(numbers, i));
    if (!entry || load<u32>(entry + E_STATE) & DEAD) return failAt(BAD_ARGUMENT, i);
    setLive(entry);
  }
  return 0;
}

function setLive(entry: usize): void {
  const state = load<u32>(entry + E_STATE);
  if (!(state & LIVE)) live++;
  store<u32>(entry + E_STATE, (state | LIVE) & ~DEAD);
}

/**
 * Adds a live node, or makes the node live that has this number and key; raises the next number
 * above it. Returns 0, OUT_OF_MEMORY, or BAD_ARGUMENT if the bytes are not a key of a known kind,
 * the number is 0 or has another key, or another number has the key. Nothing is changed then.
 */
export function addNode(kind: u32, key: usize, bytes: u32, number: u32): i32 {
  if (!number) return BAD_ARGUMENT;
  const known = entryOf(number);
  const hash = hashKey(kind, key, bytes);
  const found = findEntry(kind, key, bytes, hash);
  if (known) {
    if (load<u32>(known + E_SHAPE) != shapeOf(kind, bytes) || !isSame(known + E_KEY, key, bytes)) return BAD_ARGUMENT;
    if (found && found != known) return BAD_ARGUMENT;
    if (!found) linkEntry(known, hash);
    setLive(known);
  } else {
    if (found) return BAD_ARGUMENT;
    const status = createEntry(kind, key, bytes, hash, number, LIVE);
    if (status < 0) return status;
    live++;
  }
  if (<u64>number >= next) next = <u64>number + 1;
  return 0;
}

/** Makes a live node dead: its key is free, and its number keeps the key. */
export function killNumber(number: u32): void {
  const entry = entryOf(number);
  if (!entry || !(load<u32>(entry + E_STATE) & LIVE)) return;
  unlinkEntry(entry);
  live--;
  store<u32>(entry + E_STATE, (load<u32>(entry + E_STATE) & ~LIVE) | DEAD);
}

/** Returns whether a number is held and not live. */
export function isUnborn(number: u32): bool {
  const entry = entryOf(number);
  return entry != 0 && !(load<u32>(entry + E_STATE) & (LIVE | DEAD));
}
