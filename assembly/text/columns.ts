// Columns of frequencies: how often a frequent word occurs in each document of a block, 4 bits
// each, 0: not at all, 15: that or more.
//
// In the postings of a word that is in every third document, finding the frequency of one document
// costs as much as unpacking its block, and a search for the best looks into almost every block. A
// column gives it with one load, and 32 documents are compared at once. Its price is half a byte
// per document, so the columns of a block may take as much memory as the block. A column is made
// from the postings when a search first needs it. A search pins its columns. Behind a column are
// the bounds of its groups (groups.ts).
//
// When there is no place left, a word takes that of the one that was not used for longest only if
// it was itself wanted since: with more words in turn than there are places, searches would do
// little else than make columns.
//
// A group of 32 documents has 16 bytes: byte i has document i in its lower half, and document
// 16 + i in its upper half.

import { alloc, free } from '../memory/alloc';
import { bytesOf, cell, element, get, put } from '../memory/cells';
import { C_BLOCKS, C_COUNT, C_DOCUMENTS, C_ROWS, C_SKIPS, frequenciesOfBlock, rewind, skipOf, turnTo } from './cursor';
import { groupsIn, makeBounds, serves } from './groups';
import {
  classAt,
  GROUP_COLUMN_BYTES,
  MOST_IN_COLUMN,
  MOST_STORED,
  NONE,
  T_BYTES,
  X_FREQUENCY,
  X_LENGTH,
} from './layout';
import {
  cursorOf,
  onlyTerm,
  ordered,
  P_COLUMN,
  P_GROUPS,
  P_PIN,
  P_ROLE,
  partOf,
  Q_AVERAGE,
  Q_BASE,
  Q_CLASSES,
  Q_DOCUMENTS,
  Q_LENGTHS,
  Q_PARTS,
  Q_SCORED,
  Q_WIDTH,
  ROLE_NOT,
} from './query';

/** A word has a column if at least every LEAST_SHARE-th document contains it. */
const LEAST_SHARE: u32 = 64;
/** Smaller blocks have none. */
const LEAST_DOCUMENTS: u32 = 32;
/**
 * A word has no column if more than one in MOST_CAPPED documents has it MOST_IN_COLUMN times or
 * more: the column could not tell these apart, as the postings can.
 */
const MOST_CAPPED: u32 = 64;
/** Columns that one search makes at most. Each costs up to 0.3 ms. */
const MOST_MADE: u32 = 4;
/** Bounds of the number of places for columns. Both are even. */
const LEAST_PLACES: u32 = 16;
const MOST_PLACES: u32 = 256;
/** How many words without a place are known. */
const WANTED: u32 = 32;

/**
 * Offsets in a set: u32 clock; u32 address of the classes of the lengths, u8 each, or 0 (a block
 * whose lengths are bytes has them); u32 class of the length of the longest document (needed.ts),
 * 0: it is not known; u32 number of places and their address, 0 until the first is needed; u32 how
 * many words were wanted that had no place.
 */
const K_CLOCK: usize = 0;
const K_CLASSES: usize = 4;
export const K_LONGEST: usize = 8;
const K_PLACES: usize = 12;
const K_TERMS: usize = 16;
const K_WANTED: usize = 20;
const SET_BYTES: usize = 24;
/**
 * The places: u32[places] term + 1 or 0; u32[WANTED] term + 1 or 0 of words without a place, and
 * u32[WANTED] when they were wanted; and the columns, each u32 address or 0, u32 time of use, u32
 * pins, the greatest frequency and the least length in the postings, as in the entries of their
 * blocks, and f64 the average length for which the bounds are, 0: there are none.
 */
const K_ADDRESS: usize = 0;
const K_USED: usize = 4;
const K_PINS: usize = 8;
export const K_MOST: usize = 12;
export const K_LEAST: usize = 16;
const K_AVERAGE: usize = 24;
const COLUMN_BYTES: usize = 32;

/** Makes a set without columns, for one block. Returns 0 if out of memory. */
export function makeColumns(): usize {
  const set = alloc(<u32>SET_BYTES);
  if (set) memory.fill(set, 0, SET_BYTES);
  return set;
}

/** Frees a set, of which no search may have a column pinned, and its columns. */
export function freeColumns(set: usize): void {
  if (!set) return;
  for (let i: u32 = 0; i < load<u32>(set + K_PLACES); i++) free(load<u32>(columnAt(set, i) + K_ADDRESS));
  free(load<u32>(set + K_TERMS));
  free(load<u32>(set + K_CLASSES));
  free(set);
}

/** Makes the places of a set, if there are none. Returns false if out of memory. */
function makePlaces(q: usize, set: usize, documents: u32): bool {
  if (load<u32>(set + K_TERMS)) return true;
  const most = load<u32>(load<u32>(q + Q_BASE) + T_BYTES) / columnBytes(documents);
  const places = max(LEAST_PLACES, min(MOST_PLACES, most & ~1));
  const bytes = bytesOf<u32>(places + 2 * WANTED) + element(0, places, COLUMN_BYTES);
  const terms = alloc(<u32>bytes);
  if (!terms) return false;
  memory.fill(terms, 0, bytes);
  store<u32>(set + K_TERMS, <u32>terms);
  store<u32>(set + K_PLACES, places);
  return true;
}

/** Returns the bytes of a column and its bounds, of which 8 are read at once. */
function columnBytes(documents: u32): u32 {
  const groups = groupsIn(documents);
  return <u32>element(0, groups, GROUP_COLUMN_BYTES) + groups + 8;
}

function columnAt(set: usize, index: u32): usize {
  const columns = cell<u32>(load<u32>(set + K_TERMS), load<u32>(set + K_PLACES) + 2 * WANTED);
  return element(columns, index, COLUMN_BYTES);
}

/** Returns whether both of the last two parts in the order of a query have columns. */
export function isPair(q: usize): bool {
  const n = load<u32>(q + Q_SCORED);
  return n > 1 && load<u32>(ordered(q, n - 1) + P_COLUMN) != 0 && load<u32>(ordered(q, n - 2) + P_COLUMN) != 0;
}

/** Returns the address of the group of a document. */
export function groupOf(column: usize, document: u32): usize {
  return column + <usize>(document >> 5) * GROUP_COLUMN_BYTES;
}

/** Returns the frequency of a document, at most MOST_IN_COLUMN. */
export function inColumn(column: usize, document: u32): u32 {
  const byte = <u32>load<u8>(groupOf(column, document) + <usize>(document & 15));
  return (byte >> ((document & 16) >> 2)) & 15;
}

/**
 * Pins the columns of the scored parts that are frequent words, and makes those that are not there,
 * as far as there is memory. `set`: of the block of the query; 0: no part gets a column.
 */
export function pinColumns(q: usize, set: usize): void {
  unpinColumns(q);
  const documents = load<u32>(q + Q_DOCUMENTS);
  if (!set || documents < LEAST_DOCUMENTS) return;
  let left = MOST_MADE;
  for (let i: u32 = 0; i < load<u32>(q + Q_PARTS); i++) {
    const part = partOf(q, i);
    const c = cursorOf(part);
    if (load<u32>(part + P_ROLE) == ROLE_NOT || load<u32>(c + C_DOCUMENTS) < documents / LEAST_SHARE) continue;
    const term = onlyTerm(part);
    // A list of one block has no entry, and is unpacked once.
    if (term == NONE || !load<u32>(c + C_SKIPS)) continue;
    if (!findClasses(q, set, documents) || !makePlaces(q, set, documents)) return;
    store<u32>(set + K_CLOCK, load<u32>(set + K_CLOCK) + 1);
    let column = findColumn(set, term);
    if (!column && left) {
      column = makeColumn(set, term, part, documents);
      left -= u32(column != 0);
    }
    if (!column) continue;
    store<u32>(column + K_USED, load<u32>(set + K_CLOCK));
    if (!load<u32>(column + K_ADDRESS)) continue;
    if (ASC_FEATURE_SIMD) store<u32>(part + P_GROUPS, <u32>boundsFor(q, column, documents));
    store<u32>(column + K_PINS, load<u32>(column + K_PINS) + 1);
    store<u32>(part + P_PIN, <u32>column);
    store<u32>(part + P_COLUMN, load<u32>(column + K_ADDRESS));
  }
}

/** Finds the classes of the lengths as bytes, or makes them. Returns false if out of memory. */
function findClasses(q: usize, set: usize, documents: u32): bool {
  const width = load<u32>(q + Q_WIDTH);
  if (width == 1) return true;
  let classes = <usize>load<u32>(set + K_CLASSES);
  if (!classes) {
    // 32 documents are read at once.
    classes = alloc(documents + 32);
    if (!classes) return false;
    store<u32>(set + K_CLASSES, <u32>classes);
    const lengths = <usize>load<u32>(q + Q_LENGTHS);
    for (let d: u32 = 0; d < documents; d++) put<u8>(classes, d, <u8>classAt(lengths, width, d));
  }
  store<u32>(q + Q_CLASSES, <u32>classes);
  return true;
}

/** Gives back the columns that a search has pinned. */
export function unpinColumns(q: usize): void {
  for (let i: u32 = 0; i < load<u32>(q + Q_PARTS); i++) {
    const part = partOf(q, i);
    const column = <usize>load<u32>(part + P_PIN);
    if (column) store<u32>(column + K_PINS, load<u32>(column + K_PINS) - 1);
    store<u32>(part + P_PIN, 0);
    store<u32>(part + P_COLUMN, 0);
    store<u32>(part + P_GROUPS, 0);
  }
}

/**
 * Returns the address of the bounds of a column for a search. Makes those that there are not, or
 * that do not serve it, unless another search uses them: then returns 0.
 */
function boundsFor(q: usize, column: usize, documents: u32): usize {
  const base = <usize>load<u32>(column + K_ADDRESS);
  const bounds = element(base, groupsIn(documents), GROUP_COLUMN_BYTES);
  if (serves(load<f64>(column + K_AVERAGE), load<f64>(q + Q_AVERAGE))) return bounds;
  if (load<u32>(column + K_PINS)) return 0;
  store<f64>(column + K_AVERAGE, makeBounds(q, base, bounds, documents));
  return bounds;
}

function findColumn(set: usize, term: u32): usize {
  const at = placeOf(load<u32>(set + K_TERMS), load<u32>(set + K_PLACES), term);
  return at == NONE ? 0 : columnAt(set, at);
}

/** Returns the place of a term in a list of terms + 1, or NONE. */
function placeOf(terms: usize, n: u32, term: u32): u32 {
  for (let i: u32 = 0; i < n; i++) if (get<u32>(terms, i) == term + 1) return i;
  return NONE;
}

/**
 * Returns a place for the column of a term that has none: a free one, or that of the column which
 * was not used for longest and is not pinned, if the term was wanted since. Otherwise NONE.
 */
function placeFor(set: usize, term: u32): u32 {
  const terms = <usize>load<u32>(set + K_TERMS);
  const places = load<u32>(set + K_PLACES);
  let oldest = NONE;
  let used = u32.MAX_VALUE;
  for (let i: u32 = 0; i < places; i++) {
    if (!get<u32>(terms, i)) return i;
    const column = columnAt(set, i);
    if (load<u32>(column + K_PINS) || load<u32>(column + K_USED) >= used) continue;
    oldest = i;
    used = load<u32>(column + K_USED);
  }
  return wasWantedSince(set, term, used) ? oldest : NONE;
}

/** Returns whether a term without a place was wanted after a time, and remembers that it is now. */
function wasWantedSince(set: usize, term: u32, time: u32): bool {
  const wanted = cell<u32>(load<u32>(set + K_TERMS), load<u32>(set + K_PLACES));
  const times = cell<u32>(wanted, WANTED);
  let at = placeOf(wanted, WANTED, term);
  const was = at != NONE && get<u32>(times, at) > time;
  if (at == NONE) {
    const n = load<u32>(set + K_WANTED);
    store<u32>(set + K_WANTED, n + 1);
    at = n % WANTED;
    put<u32>(wanted, at, term + 1);
  }
  put<u32>(times, at, load<u32>(set + K_CLOCK));
  return was;
}

/**
 * Makes the column of a term from its postings; without memory, if a column is of no use for it.
 * Returns 0 if there is no place for it.
 */
function makeColumn(set: usize, term: u32, part: usize, documents: u32): usize {
  const c = cursorOf(part);
  const place = placeFor(set, term);
  if (place == NONE) return 0;
  const column = columnAt(set, place);
  let base = <usize>load<u32>(column + K_ADDRESS);
  if (!base) base = alloc(columnBytes(documents));
  if (!base) return 0;
  store<u32>(column + K_ADDRESS, <u32>base);
  put<u32>(load<u32>(set + K_TERMS), place, term + 1);
  store<f64>(column + K_AVERAGE, 0);
  let capped: u32 = 0;
  let most: u32 = 0;
  let least: u32 = MOST_STORED;
  memory.fill(base, 0, element(0, groupsIn(documents), GROUP_COLUMN_BYTES));
  for (let b: u32 = 0; b < load<u32>(c + C_BLOCKS); b++) {
    most = max(most, <u32>load<u16>(skipOf(c, b) + X_FREQUENCY));
    least = min(least, <u32>load<u16>(skipOf(c, b) + X_LENGTH));
    turnTo(c, b);
    const rows = <usize>load<u32>(c + C_ROWS);
    const from = frequenciesOfBlock(c);
    for (let i: u32 = 0; i < load<u32>(c + C_COUNT); i++) {
      const d = <u32>get<u16>(rows, i);
      const at = groupOf(base, d) + <usize>(d & 15);
      const frequency = min(<u32>get<u8>(from, i) + 1, MOST_IN_COLUMN);
      store<u8>(at, load<u8>(at) | <u8>(frequency << ((d & 16) >> 2)));
      capped += u32(frequency == MOST_IN_COLUMN);
    }
  }
  store<u32>(column + K_MOST, most);
  store<u32>(column + K_LEAST, least);
  rewind(c);
  if (capped > documents / MOST_CAPPED) {
    free(base);
    store<u32>(column + K_ADDRESS, 0);
  }
  return column;
}
