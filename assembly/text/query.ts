// A query over a text block: its parts, each with a cursor over the documents that contain it.
//
// A part is a word, all terms with a prefix, or a phrase. A word is read from its postings. For a
// prefix or a phrase, a list of documents and frequencies is made first (prefix.ts, phrase.ts), in
// steps. After that, all parts are cursors of the same kind, and can be counted, matched and scored
// any number of times.

import { alloc, free } from '../memory/alloc';
import { bytesOf, element, get } from '../memory/cells';
import { MORE } from '../segment/check-state';
import { OUT_OF_MEMORY, setPointer } from '../status';
import { unpinColumns } from './columns';
import { CURSOR_BYTES, openEmpty, openTerm } from './cursor';
import { badAt, LENGTH_CLASSES, NONE, T_DOCUMENTS, T_TERMS, T_WIDTH, TEXT_HEADER_BYTES } from './layout';
import { preparePhrase } from './phrase';
import { preparePrefix } from './prefix';

const KIND_WORD: u32 = 0;
const KIND_PREFIX: u32 = 1;
const KIND_PHRASE: u32 = 2;
export const ROLE_SHOULD: u32 = 0;
export const ROLE_MUST: u32 = 1;
export const ROLE_NOT: u32 = 2;
export const MOST_PARTS: u32 = 256;
export const MOST_PHRASE: u32 = 1024;

/** Offsets in a part of the request: u32 kind, role, first, count. */
const A_KIND: usize = 0;
const A_ROLE: usize = 4;
const A_FIRST: usize = 8;
const A_COUNT: usize = 12;
const REQUEST_PART_BYTES: usize = 16;

/** Offsets in a query. */
export const Q_BASE: usize = 0;
export const Q_DOCUMENTS: usize = 4;
export const Q_LENGTHS: usize = 8;
export const Q_WIDTH: usize = 12;
export const Q_PARTS: usize = 16;
/** Index of the next part to prepare. */
const Q_PREPARED: usize = 20;
/** What is being prepared: the address of its work (0: none), and how far it is. */
export const Q_WORK: usize = 24;
export const Q_WORK_AT: usize = 28;
export const Q_WORK_FOUND: usize = 32;
/** The must part with the fewest documents, as an address; 0: no part is a must. */
export const Q_DRIVER: usize = 36;
/** Next part to match (matches.ts). */
export const Q_MATCHED: usize = 40;
/** State of the search for the best (top.ts). */
export const Q_ALLOWED: usize = 44;
export const Q_NEXT: usize = 48;
export const Q_MOST: usize = 52;
export const Q_FOUND: usize = 56;
export const Q_BEST: usize = 60;
/** Address of the order of parts by their bounds, u32 each; and how many are scored. */
export const Q_ORDER: usize = 64;
export const Q_SCORED: usize = 68;
export const Q_THRESHOLD: usize = 72;
export const Q_AVERAGE: usize = 80;
/** The least score that may still be among the best (top.ts). */
export const Q_FLOOR: usize = 88;
/** The score for which the tables of needed frequencies are (needed.ts); NaN: there are none. */
export const Q_TABLES: usize = 96;
/** The workspace of the search for the best (candidates.ts), or 0. */
export const Q_WORKSPACE: usize = 104;
/** Class of the length of the longest document (needed.ts), 0: not known, if there is no set. */
export const Q_LONGEST: usize = 108;
/**
 * f64 per class of lengths: the part of the BM25 formula that depends on the length only, for the
 * least length of the class.
 */
export const Q_NORMS: usize = 112;
/**
 * v128: the greatest class with which a document may be among the best, by its frequencies in the
 * last two parts in the order: 4 times that in the last, and that in the one before (needed.ts).
 */
export const Q_PAIR: usize = 2160;
/** The class of lengths below which no document has a scored part (needed.ts). */
export const Q_SHORTEST: usize = 2176;
/** Address of the class of the length of each document, u8 each; 0: they are not known as bytes. */
export const Q_CLASSES: usize = 2180;
/** The set of columns of the block (columns.ts), or 0. */
export const Q_SET: usize = 2184;
/**
 * The k-th best score of some documents that were looked at first (top.ts), -Infinity if there were
 * not so many; NaN before the first step.
 */
export const Q_SEED: usize = 2192;
const QUERY_BYTES: usize = 2200;

/** Offsets in a part of a query. `first` and `count` are as in the request. */
export const P_KIND: usize = 0;
export const P_ROLE: usize = 4;
export const P_FIRST: usize = 8;
export const P_COUNT: usize = 12;
export const P_WEIGHT: usize = 16;
export const P_VALUE: usize = 24;
/** Address of the list that was made for the part, or 0. */
export const P_LIST: usize = 32;
/** The column of frequencies that the part has pinned (columns.ts), and its address; 0: none. */
export const P_PIN: usize = 36;
export const P_COLUMN: usize = 60;
/** Bound of the part in the window (top.ts), and sum of the bounds of the parts before it. */
export const P_BOUND: usize = 40;
export const P_BELOW: usize = 48;
/**
 * Greatest frequency, at most MOST_STORED; and by class of lengths the needed one less 1 (u8), and
 * a bound of what the parts before it add (f32): needed.ts.
 */
export const P_MOST: usize = 56;
export const P_NEED: usize = 64;
export const P_UNDER: usize = P_NEED + <usize>LENGTH_CLASSES;
/** v128: the greatest class with which a document may be among the best, by its frequency. */
export const P_LIMITS: usize = P_UNDER + bytesOf<f32>(LENGTH_CLASSES);
/** The greatest value that the part has in any document, at most. */
export const P_GREATEST: usize = P_LIMITS + 16;
/** Address of the bounds of groups in the column of the part (groups.ts), or 0. */
export const P_GROUPS: usize = P_GREATEST + 8;
const P_CURSOR: usize = P_GROUPS + 8;
const PART_BYTES: usize = P_CURSOR + CURSOR_BYTES;

export function partOf(q: usize, index: u32): usize {
  return element(q + QUERY_BYTES, index, PART_BYTES);
}

/** Returns the part at a place in the order of the search for the best. */
export function ordered(q: usize, index: u32): usize {
  return get<u32>(load<u32>(q + Q_ORDER), index);
}

export function cursorOf(part: usize): usize {
  return part + P_CURSOR;
}

/** Returns whether the ordinals of a part of the request are in their ranges. */
function isPart(base: usize, part: usize, ordinals: usize, n: u32): bool {
  const terms = load<u32>(base + T_TERMS);
  const kind = load<u32>(part + A_KIND);
  const first = load<u32>(part + A_FIRST);
  const count = load<u32>(part + A_COUNT);
  if (kind > KIND_PHRASE || load<u32>(part + A_ROLE) > ROLE_NOT) return false;
  if (kind == KIND_WORD) return first < terms || first == NONE;
  if (kind == KIND_PREFIX) return first <= terms && count <= terms - first;
  if (!count || count > MOST_PHRASE || first > n || count > n - first) return false;
  for (let i: u32 = 0; i < count; i++) {
    const ordinal = get<u32>(ordinals, first + i);
    if (ordinal >= terms && ordinal != NONE) return false;
  }
  return true;
}

/**
 * Makes a query over the checked block at `base`, which must not move as long as the query exists.
 * `parts`: {u32 kind, role, first, count}[k], 1 to MOST_PARTS. A word: `first` is the ordinal of
 * its term, or NONE if the block does not have it. A prefix: its terms are [first, first + count).
 * A phrase: the ordinals of its words (or NONE) are `ordinals`[first, first + count), u32[n].
 *
 * Returns 0, and the address of the query in `hg_result_pointer`; BAD_ARGUMENT with the index of
 * the part; or OUT_OF_MEMORY. `prepare` must be called next, and `freeQuery` at last.
 */
export function makeQuery(base: usize, parts: usize, k: u32, ordinals: usize, n: u32): i32 {
  if (!k || k > MOST_PARTS) return badAt(k);
  for (let i: u32 = 0; i < k; i++)
    if (!isPart(base, element(parts, i, REQUEST_PART_BYTES), ordinals, n)) return badAt(i);
  const partsBytes = element(0, k, PART_BYTES);
  const q = alloc(<u32>(QUERY_BYTES + partsBytes + bytesOf<u32>(k) + bytesOf<u32>(n)));
  if (!q) return OUT_OF_MEMORY;
  memory.fill(q, 0, QUERY_BYTES + partsBytes);
  const order = q + QUERY_BYTES + partsBytes;
  const words = order + bytesOf<u32>(k);
  memory.copy(words, ordinals, bytesOf<u32>(n));
  store<u32>(q + Q_BASE, <u32>base);
  store<u32>(q + Q_DOCUMENTS, load<u32>(base + T_DOCUMENTS));
  store<u32>(q + Q_LENGTHS, <u32>(base + TEXT_HEADER_BYTES));
  store<u32>(q + Q_WIDTH, load<u32>(base + T_WIDTH));
  if (load<u32>(base + T_WIDTH) == 1) store<u32>(q + Q_CLASSES, load<u32>(q + Q_LENGTHS));
  store<u32>(q + Q_PARTS, k);
  store<u32>(q + Q_ORDER, <u32>order);
  for (let i: u32 = 0; i < k; i++) {
    const part = partOf(q, i);
    memory.copy(part, element(parts, i, REQUEST_PART_BYTES), REQUEST_PART_BYTES);
    openEmpty(cursorOf(part));
    const kind = load<u32>(part + P_KIND);
    if (kind == KIND_PHRASE) store<u32>(part + P_FIRST, <u32>words + <u32>bytesOf<u32>(load<u32>(part + P_FIRST)));
    if (kind == KIND_WORD) store<u32>(part + P_COUNT, 1);
  }
  setPointer(q);
  return 0;
}

/** Returns the term whose postings are those of the part, or NONE if a list must be made for it. */
export function onlyTerm(part: usize): u32 {
  if (load<u32>(part + P_COUNT) != 1) return NONE;
  const first = load<u32>(part + P_FIRST);
  return load<u32>(part + P_KIND) == KIND_PHRASE ? load<u32>(first) : first;
}

/**
 * Prepares the parts, in steps of about `work` units, at least one per call: a unit is a document
 * of a posting list, or two positions of a phrase's word. Returns MORE (call again), 0, or
 * OUT_OF_MEMORY: the query can then be prepared further, or freed. Makes lists of 6 bytes per
 * document of each phrase and prefix; a prefix needs 4 bytes per document of the block meanwhile, a
 * phrase 1 KB per word.
 */
export function prepare(q: usize, work: u32): i32 {
  let left: i32 = <i32>min(work, 0x7fffffff);
  const parts = load<u32>(q + Q_PARTS);
  for (let i = load<u32>(q + Q_PREPARED); i < parts; i++) {
    if (left < 0) return MORE;
    const part = partOf(q, i);
    const term = onlyTerm(part);
    if (term != NONE) {
      openTerm(cursorOf(part), load<u32>(q + Q_BASE), term);
      left--;
    } else if (load<u32>(part + P_COUNT) > 1) {
      const kind = load<u32>(part + P_KIND);
      left = kind == KIND_PREFIX ? preparePrefix(q, part, left) : preparePhrase(q, part, left);
      if (left == PREPARE_MORE) return MORE;
      if (left == PREPARE_NO_MEMORY) return OUT_OF_MEMORY;
    }
    store<u32>(q + Q_PREPARED, i + 1);
  }
  return 0;
}

/** Results of the preparation of a part other than the work that is left. */
export const PREPARE_MORE: i32 = i32.MIN_VALUE;
export const PREPARE_NO_MEMORY: i32 = i32.MIN_VALUE + 1;

/** Frees the work of the part that is being prepared. */
export function dropWork(q: usize): void {
  free(load<u32>(q + Q_WORK));
  store<u32>(q + Q_WORK, 0);
  store<u32>(q + Q_WORK_AT, 0);
  store<u32>(q + Q_WORK_FOUND, 0);
}

/** Frees a query and everything that was made for it. */
export function freeQuery(q: usize): void {
  dropWork(q);
  unpinColumns(q);
  for (let i: u32 = 0; i < load<u32>(q + Q_PARTS); i++) free(load<u32>(partOf(q, i) + P_LIST));
  free(load<u32>(q + Q_BEST));
  free(load<u32>(q + Q_WORKSPACE));
  free(q);
}
