// Finds terms in the dictionary of a text block (FORMAT.md section 3), and reads their entries.
//
// The first terms of the groups are whole, so a binary search over them finds the group. In the
// group, terms are compared with the key without being put together. With n the number of bytes
// that the key shares with the term before, which is below the key: a term that shares more than n
// bytes with the term before is below the key too; one that shares fewer is above it; and one
// that shares n is compared from byte n on.

import { element } from '../memory/cells';
import { hg_result_rows as resultRows, setRows } from '../status';
import { GROUP_BYTES, GROUP_TERMS, NONE, T_DICTIONARY, T_DIRECTORY, T_POSTINGS, T_TERMS, takeVarint } from './layout';

/** Offsets in a walk: addresses of the next entry and of the postings that come next. */
const W_AT: usize = 0;
const W_POSTINGS: usize = 4;
export const WALK_BYTES: usize = 8;

/**
 * Offsets in an entry that was read: bytes shared with the term before, address and number of the
 * other bytes, documents, address of the postings. Without postings (address 0): the only document,
 * and the only position in it.
 */
const E_SHARED: usize = 0;
export const E_BYTES: usize = 4;
const E_SIZE: usize = 8;
export const E_DOCUMENTS: usize = 12;
export const E_POSTINGS: usize = 16;
export const E_ROW: usize = 20;
export const E_POSITION: usize = 24;
export const ENTRY_BYTES: usize = 32;

const walk: usize = memory.data(WALK_BYTES, 16);
const read: usize = memory.data(ENTRY_BYTES, 16);

/** Moves a walk to the first term of a group. */
function startWalk(base: usize, group: u32, to: usize): void {
  const entry = element(base + load<u32>(base + T_DIRECTORY), group, GROUP_BYTES);
  store<u32>(to + W_AT, <u32>(base + load<u32>(base + T_DICTIONARY) + load<u32>(entry)));
  store<u32>(to + W_POSTINGS, <u32>(base + load<u32>(base + T_POSTINGS) + load<u32>(entry + 4)));
}

/** Reads the entry at a walk into `entry`, and moves the walk to the next term. */
export function nextEntry(at: usize, entry: usize): void {
  store<u32>(entry + E_SHARED, takeVarint(at + W_AT));
  const size = takeVarint(at + W_AT);
  const bytes = load<u32>(at + W_AT);
  store<u32>(entry + E_BYTES, bytes);
  store<u32>(entry + E_SIZE, size);
  store<u32>(at + W_AT, bytes + size);
  const documents = takeVarint(at + W_AT);
  if (documents) {
    const postings = load<u32>(at + W_POSTINGS);
    const postingBytes = takeVarint(at + W_AT);
    store<u32>(entry + E_DOCUMENTS, documents);
    store<u32>(entry + E_POSTINGS, postings);
    store<u32>(at + W_POSTINGS, postings + postingBytes);
    return;
  }
  const row = load<u32>(at + W_AT);
  store<u32>(entry + E_DOCUMENTS, 1);
  store<u32>(entry + E_POSTINGS, 0);
  store<u32>(entry + E_ROW, <u32>load<u16>(row));
  store<u32>(at + W_AT, row + 2);
  store<u32>(entry + E_POSITION, takeVarint(at + W_AT));
}

/** Moves a walk to a term; `nextEntry` then reads it. Cost: up to 15 entries. */
export function walkTo(base: usize, ordinal: u32, to: usize): void {
  if (!ASC_NO_ASSERT) assert(ordinal < load<u32>(base + T_TERMS), 'a term has an ordinal of its block');
  startWalk(base, ordinal / GROUP_TERMS, to);
  for (let i = ordinal % GROUP_TERMS; i > 0; i--) nextEntry(to, read);
}

/** Returns how many bytes two texts share at their beginnings. */
function sharedBytes(a: usize, b: usize, most: u32): u32 {
  let n: u32 = 0;
  while (n < most && load<u8>(a + n) == load<u8>(b + n)) n++;
  return n;
}

/**
 * Returns the ordinal of the first term that is not below the key or, if `behind` is true, of the
 * first that is above all terms beginning with the key. `hg_result_rows` then returns 1 if this
 * term is the key. Cost: log2 groups, then up to 16 entries.
 */
function lowerBound(base: usize, key: usize, bytes: u32, behind: bool): u32 {
  setRows(0);
  const terms = load<u32>(base + T_TERMS);
  let low: u32 = 0;
  let high: u32 = (terms + GROUP_TERMS - 1) / GROUP_TERMS;
  // Finds the last group whose first term is below the bound.
  while (low < high) {
    const middle = (low + high) >> 1;
    startWalk(base, middle, walk);
    nextEntry(walk, read);
    const shared = sharedBytes(load<u32>(read + E_BYTES), key, min(load<u32>(read + E_SIZE), bytes));
    if (isBelow(key, bytes, shared, 0, behind)) low = middle + 1;
    else high = middle;
  }
  if (!low) {
    if (terms) matchFirst(base, 0, key, bytes);
    return 0;
  }
  startWalk(base, low - 1, walk);
  const end = min(terms, low * GROUP_TERMS);
  let shared: u32 = 0;
  for (let ordinal = (low - 1) * GROUP_TERMS; ordinal < end; ordinal++) {
    nextEntry(walk, read);
    const before = load<u32>(read + E_SHARED);
    if (before > shared) continue;
    if (before < shared) return ordinal;
    const rest = min(load<u32>(read + E_SIZE), bytes - shared);
    shared += sharedBytes(load<u32>(read + E_BYTES), key + shared, rest);
    if (isBelow(key, bytes, shared, before, behind)) continue;
    if (shared == bytes && before + load<u32>(read + E_SIZE) == bytes) setRows(1);
    return ordinal;
  }
  if (end < terms) matchFirst(base, low, key, bytes);
  return end;
}

/** Sets `hg_result_rows` to 1 if the first term of a group is the key. */
function matchFirst(base: usize, group: u32, key: usize, bytes: u32): void {
  startWalk(base, group, walk);
  nextEntry(walk, read);
  const isKey = load<u32>(read + E_SIZE) == bytes && memory.compare(load<u32>(read + E_BYTES), key, bytes) == 0;
  setRows(u32(isKey));
}

/**
 * Returns whether the term in `read`, whose other bytes begin at byte `before` and which shares
 * `shared` bytes with the key, is below the bound.
 */
function isBelow(key: usize, bytes: u32, shared: u32, before: u32, behind: bool): bool {
  if (shared == bytes) return behind;
  if (shared == before + load<u32>(read + E_SIZE)) return true;
  return load<u8>(<usize>load<u32>(read + E_BYTES) + (shared - before)) < load<u8>(key + shared);
}

/** Returns the ordinal of a term, or NONE. Cost: log2 terms. */
export function findTerm(base: usize, key: usize, bytes: u32): u32 {
  const ordinal = lowerBound(base, key, bytes, false);
  return resultRows() ? ordinal : NONE;
}

/**
 * Returns the ordinal of the first term that begins with the key; `hg_result_rows` returns how many
 * terms do. Cost: log2 terms.
 */
export function findPrefix(base: usize, key: usize, bytes: u32): u32 {
  const first = lowerBound(base, key, bytes, false);
  const end = lowerBound(base, key, bytes, true);
  setRows(end - first);
  return first;
}
