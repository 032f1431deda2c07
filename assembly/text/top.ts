// Finds the k best documents of a query without scoring all that match: MaxScore in windows of
// documents (Turtle, Flood 1995; Ding, Suel 2011), with a filter by length.
//
// In a window, each part adds at most the greatest of the bounds of its blocks. If the sum of the
// bounds does not reach the k-th best score so far, the whole window is passed without unpacking a
// block. The parts are in a fixed order, ascending by what they can add. As long as the first of
// them together do not reach that score, a document that has only these cannot be among the best:
// they are not essential, and the candidates are the documents of the others. Most of these are
// excluded by their length and frequencies (needed.ts, candidates.ts); what is left is scored. With
// must parts, the candidates are the documents of the rarest of them, and a candidate is given up
// as soon as its score so far and the bounds of what is left do not reach the k-th best score.
//
// The best so far are in a heap whose root is the worst of them. A better document has a higher
// score, or the same score and a lower number. Candidates ascend, so with k documents known, a
// candidate must have a higher score than the worst. The caller's threshold, the k-th best score in
// other blocks, must be reached only: equal scores are for the caller to order.

import { alloc, free } from '../memory/alloc';
import { bytesOf, cell, get, put } from '../memory/cells';
import { MORE } from '../segment/check-state';
import { OUT_OF_MEMORY } from '../status';
import {
  candidateAt,
  collect,
  collectPair,
  makeWorkspace,
  mark,
  refine,
  sumAt,
  takeMarked,
  valueAt,
  windowFor,
} from './candidates';
import { isPair, pinColumns } from './columns';
import { C_DOCUMENTS, C_ROW, rewind, seek } from './cursor';
import { findGreatest, greatestAt, groupsLeft, hasBounds } from './groups';
import { isAllowed, NONE, nextAllowed } from './layout';
import { orderParts, renewTables, SLACK } from './needed';
import {
  cursorOf,
  ordered,
  P_BELOW,
  P_BOUND,
  P_ROLE,
  P_VALUE,
  partOf,
  Q_ALLOWED,
  Q_BEST,
  Q_DOCUMENTS,
  Q_DRIVER,
  Q_FLOOR,
  Q_FOUND,
  Q_MOST,
  Q_NEXT,
  Q_ORDER,
  Q_PARTS,
  Q_SCORED,
  Q_SEED,
  Q_SET,
  Q_THRESHOLD,
  ROLE_MUST,
  ROLE_NOT,
} from './query';
import { boundIn } from './scores';

/** Factor above the rounding errors of a bound and of a sum of bounds. */
const ROUNDING: f64 = 1 + 1e-12;

/** Maximum number of best documents for which some groups are looked at first. */
const MOST_SEEDED: u32 = 64;

/** Work that is left in the call. */
const L_LEFT: usize = 0;
const local: usize = memory.data(8, 16);

function spend(units: i32): void {
  store<i32>(local + L_LEFT, load<i32>(local + L_LEFT) - units);
}

function rowsOf(q: usize): usize {
  return cell<f64>(load<u32>(q + Q_BEST), load<u32>(q + Q_MOST));
}

/**
 * Begins a search for the `k` best documents in the bitmap `allowed` (0: all), which must stay
 * unchanged until the search is done. The query is prepared and weighed. `columns`: the set of the
 * block, which keeps the columns that are made (columns.ts), or 0. Returns 0 or OUT_OF_MEMORY. Uses
 * 12 bytes for each of the k documents until the next search, and without must parts 27 KB, both at
 * most until the query is freed.
 */
export function beginTop(q: usize, allowed: usize, k: u32, columns: usize): i32 {
  free(load<u32>(q + Q_BEST));
  const most = min(k, load<u32>(q + Q_DOCUMENTS));
  const best = alloc(<u32>(bytesOf<f64>(most) + bytesOf<u32>(most)));
  store<u32>(q + Q_BEST, <u32>best);
  store<u32>(q + Q_FOUND, 0);
  store<u32>(q + Q_MOST, best ? most : 0);
  store<u32>(q + Q_ALLOWED, <u32>allowed);
  store<u32>(q + Q_NEXT, 0);
  store<u32>(q + Q_DRIVER, 0);
  store<f64>(q + Q_SEED, NaN);
  if (!best) return OUT_OF_MEMORY;
  const order = <usize>load<u32>(q + Q_ORDER);
  let scored: u32 = 0;
  let fewest: u32 = NONE;
  for (let i: u32 = 0; i < load<u32>(q + Q_PARTS); i++) {
    const part = partOf(q, i);
    const c = cursorOf(part);
    rewind(c);
    if (load<u32>(part + P_ROLE) == ROLE_NOT) continue;
    put<u32>(order, scored++, <u32>part);
    if (load<u32>(part + P_ROLE) != ROLE_MUST || load<u32>(c + C_DOCUMENTS) >= fewest) continue;
    fewest = load<u32>(c + C_DOCUMENTS);
    store<u32>(q + Q_DRIVER, <u32>part);
  }
  store<u32>(q + Q_SCORED, scored);
  if (!load<u32>(q + Q_DRIVER)) {
    if (!makeWorkspace(q)) {
      store<u32>(q + Q_MOST, 0);
      return OUT_OF_MEMORY;
    }
    store<u32>(q + Q_SET, <u32>columns);
    pinColumns(q, columns);
  }
  orderParts(q);
  return 0;
}

/**
 * Sets the least score that may still be among the best: the threshold, that of the seed or, with k
 * documents known, the next number above the score of the worst of them.
 */
function setFloor(q: usize): void {
  let least = max(load<f64>(q + Q_THRESHOLD), load<f64>(q + Q_SEED));
  if (load<u32>(q + Q_FOUND) == load<u32>(q + Q_MOST)) {
    const worst = load<f64>(load<u32>(q + Q_BEST));
    if (!ASC_NO_ASSERT) assert(worst >= 0, 'no score is negative');
    least = max(least, reinterpret<f64>(reinterpret<u64>(worst) + 1));
  }
  store<f64>(q + Q_FLOOR, least);
}

/** Returns whether a score may be among the best, if its bound is this. */
function reaches(q: usize, bound: f64): bool {
  return bound * ROUNDING >= load<f64>(q + Q_FLOOR);
}

/** Returns whether entry a of the heap is worse than entry b. */
function isWorse(scores: usize, rows: usize, a: u32, b: u32): bool {
  const x = get<f64>(scores, a);
  const y = get<f64>(scores, b);
  return x < y || (x == y && get<u32>(rows, a) > get<u32>(rows, b));
}

function swap(scores: usize, rows: usize, a: u32, b: u32): void {
  const score = get<f64>(scores, a);
  const row = get<u32>(rows, a);
  put<f64>(scores, a, get<f64>(scores, b));
  put<u32>(rows, a, get<u32>(rows, b));
  put<f64>(scores, b, score);
  put<u32>(rows, b, row);
}

/** Moves entry `at` of a heap of n entries down to its place. */
function sink(scores: usize, rows: usize, at: u32, n: u32): void {
  while (true) {
    let child = at * 2 + 1;
    if (child >= n) return;
    if (child + 1 < n && isWorse(scores, rows, child + 1, child)) child++;
    if (!isWorse(scores, rows, child, at)) return;
    swap(scores, rows, child, at);
    at = child;
  }
}

/** Moves the last entry of a heap, which is entry `at`, up to its place. */
function rise(scores: usize, rows: usize, at: u32): void {
  while (at) {
    const parent = (at - 1) >> 1;
    if (!isWorse(scores, rows, at, parent)) return;
    swap(scores, rows, at, parent);
    at = parent;
  }
}

/** Adds a document with its exact score, if it is among the best so far. */
function add(q: usize, row: u32, score: f64): void {
  if (score < load<f64>(q + Q_FLOOR)) return;
  const scores = <usize>load<u32>(q + Q_BEST);
  const rows = rowsOf(q);
  const n = load<u32>(q + Q_FOUND);
  if (n == load<u32>(q + Q_MOST)) {
    store<f64>(scores, score);
    store<u32>(rows, row);
    sink(scores, rows, 0, n);
  } else {
    put<f64>(scores, n, score);
    put<u32>(rows, n, row);
    store<u32>(q + Q_FOUND, n + 1);
    rise(scores, rows, n);
  }
  setFloor(q);
}

/** Returns whether a not part contains the document. */
function isExcluded(q: usize, row: u32): bool {
  const parts = load<u32>(q + Q_PARTS);
  if (load<u32>(q + Q_SCORED) == parts) return false;
  for (let i: u32 = 0; i < parts; i++) {
    const part = partOf(q, i);
    if (load<u32>(part + P_ROLE) != ROLE_NOT) continue;
    const c = cursorOf(part);
    seek(c, row);
    spend(1);
    if (load<u32>(c + C_ROW) == row) return true;
  }
  return false;
}

/** Adds a candidate whose values are all known. They are added in the order of the parts. */
function addCandidate(q: usize, row: u32): void {
  let score: f64 = 0;
  const parts = load<u32>(q + Q_PARTS);
  for (let i: u32 = 0; i < parts; i++) {
    const part = partOf(q, i);
    if (load<u32>(part + P_ROLE) != ROLE_NOT) score += load<f64>(part + P_VALUE);
  }
  if (reaches(q, score) && !isExcluded(q, row)) add(q, row, score);
}

/** Returns the last document of the window from `row` on. It has at most 64 groups of 32. */
function endOf(q: usize, row: u32): u32 {
  return min((row & ~31) + windowFor(load<u32>(q + Q_SCORED)), load<u32>(q + Q_DOCUMENTS)) - 1;
}

/**
 * Moves all shallow positions to `row`, and sets the bounds of the parts in the window [row, end].
 * Returns whether a document from `row` on can match.
 */
function openWindow(q: usize, row: u32, end: u32): bool {
  const n = load<u32>(q + Q_SCORED);
  let sum: f64 = 0;
  for (let i: u32 = 0; i < n; i++) {
    const part = ordered(q, i);
    const bound = boundIn(q, part, row, end);
    if (bound < 0 && load<u32>(part + P_ROLE) == ROLE_MUST) return false;
    store<f64>(part + P_BOUND, max(bound, 0));
    store<f64>(part + P_BELOW, sum);
    sum += max(bound, 0);
  }
  spend(<i32>n);
  return true;
}

/** Returns how many parts, at least `known`, together do not reach the k-th best score. */
function notEssential(q: usize, known: u32): u32 {
  const n = load<u32>(q + Q_SCORED);
  while (known < n) {
    const part = ordered(q, known);
    if (reaches(q, load<f64>(part + P_BELOW) + load<f64>(part + P_BOUND))) break;
    known++;
  }
  return known;
}

/** Scores a candidate, beginning with the part of the greatest bound, until it cannot be a best. */
function scoreCandidate(q: usize, row: u32): void {
  const order = <usize>load<u32>(q + Q_ORDER);
  const least = load<f64>(q + Q_FLOOR);
  const n = load<u32>(q + Q_SCORED);
  let sum: f64 = 0;
  for (let i = n; i > 0; i--) {
    const part = <usize>get<u32>(order, i - 1);
    if ((sum + (load<f64>(part + P_BELOW) + load<f64>(part + P_BOUND))) * ROUNDING < least) return;
    const value = valueAt(q, part, row);
    store<f64>(part + P_VALUE, value);
    sum += value;
  }
  spend(<i32>n);
  if (sum * ROUNDING >= least) addCandidate(q, row);
}

/** Searches the window [row, end] without must parts, all of it. */
function searchShould(q: usize, row: u32, end: u32): void {
  const n = load<u32>(q + Q_SCORED);
  const first = notEssential(q, 0);
  renewTables(q);
  const known = first + 1 == n;
  let found: u32 = 0;
  let work: u32 = 0;
  let from = first;
  let groups = u64.MAX_VALUE;
  if (ASC_FEATURE_SIMD) {
    groups = groupsLeft(q, row, end);
    if (!groups) return spend(<i32>n);
    if (known && isPair(q)) {
      found = collectPair(q, row, end, groups);
      work = 8 + found;
      from = n;
    }
  }
  for (let i = from; i < n; i++) {
    found = collect(q, ordered(q, i), row, end, groups);
    if (!known) mark(q, found, row);
    work += 8 + found;
  }
  if (!known) found = takeMarked(q, row);
  spend(<i32>(work + (found * n) / 4));
  if (found) tryCandidates(q, refine(q, found, row, end, known));
}

/**
 * Looks at the groups with the greatest bounds first, if no threshold is known: the k-th best score
 * of some documents is at most that of all, and most of what the search would look at until it has
 * found k good ones is passed over. All cursors are at their first documents before and after.
 */
function seed(q: usize): void {
  const n = findGreatest(q);
  for (let i: u32 = 0; i < n; i++) {
    const row = greatestAt(i) << 5;
    const end = min(row + 32, load<u32>(q + Q_DOCUMENTS)) - 1;
    if (openWindow(q, row, end) && notEssential(q, 0) < load<u32>(q + Q_SCORED)) searchShould(q, row, end);
  }
  if (load<u32>(q + Q_FOUND) == load<u32>(q + Q_MOST)) store<f64>(q + Q_SEED, load<f64>(load<u32>(q + Q_BEST)));
  store<u32>(q + Q_FOUND, 0);
  for (let i: u32 = 0; i < load<u32>(q + Q_PARTS); i++) rewind(cursorOf(partOf(q, i)));
  setFloor(q);
}

/** Sets the floor of a step; in the first step, looks for a seed where that helps. */
function begin(q: usize): void {
  const isFirst = isNaN(load<f64>(q + Q_SEED));
  if (isFirst) store<f64>(q + Q_SEED, -Infinity);
  setFloor(q);
  if (ASC_FEATURE_SIMD) {
    const isOpen = load<f64>(q + Q_THRESHOLD) == -Infinity && load<u32>(q + Q_MOST) <= MOST_SEEDED;
    if (isFirst && isOpen && hasBounds(q)) seed(q);
  }
}

/** Scores those of the first `n` candidates that may be among the best. */
function tryCandidates(q: usize, n: u32): void {
  const allowed = <usize>load<u32>(q + Q_ALLOWED);
  for (let i: u32 = 0; i < n; i++) {
    const row = candidateAt(q, i);
    if (sumAt(q, i) >= load<f64>(q + Q_FLOOR) * SLACK && isAllowed(allowed, row)) scoreCandidate(q, row);
  }
}

/** Searches the window [row, end] with must parts. Returns the document to continue from. */
function searchMust(q: usize, row: u32, end: u32): u32 {
  if (!ASC_NO_ASSERT) assert(end < load<u32>(q + Q_DOCUMENTS), 'a window ends among the documents');
  const c = cursorOf(load<u32>(q + Q_DRIVER));
  const allowed = <usize>load<u32>(q + Q_ALLOWED);
  do {
    row = nextAllowed(allowed, row, end + 1);
    if (row == NONE) return end + 1;
    seek(c, row);
    row = load<u32>(c + C_ROW);
    if (row > end) return end + 1;
    const met = isAllowed(allowed, row) ? meetMust(q, row) : row + 1;
    if (met == row) scoreCandidate(q, row);
    row = max(met, row + 1);
    spend(1);
  } while (load<i32>(local + L_LEFT) >= 0);
  return row;
}

/** Returns `row` if all must parts contain it, otherwise a later row before which none matches. */
function meetMust(q: usize, row: u32): u32 {
  const n = load<u32>(q + Q_SCORED);
  for (let i: u32 = 0; i < n; i++) {
    const part = ordered(q, i);
    if (load<u32>(part + P_ROLE) != ROLE_MUST) continue;
    const c = cursorOf(part);
    seek(c, row);
    spend(1);
    if (load<u32>(c + C_ROW) > row) return load<u32>(c + C_ROW);
  }
  return row;
}

/**
 * Continues a search. `threshold`: the k-th best score that is known elsewhere, -Infinity if none;
 * documents with a lower score may be left out, those with the same score are not. Does about
 * `work` units, each a seek or a score, 5 to 40 ns; at least one document or window. Returns MORE
 * (call again), or 0: `takeBest` gives the result.
 */
export function top(q: usize, threshold: f64, work: u32): i32 {
  store<f64>(q + Q_THRESHOLD, threshold);
  store<i32>(local + L_LEFT, <i32>min(work, 0x7fffffff));
  const documents = load<u32>(q + Q_MOST) ? load<u32>(q + Q_DOCUMENTS) : 0;
  if (documents) begin(q);
  const driver = <usize>load<u32>(q + Q_DRIVER);
  let row = load<u32>(q + Q_NEXT);
  while (row < documents) {
    if (load<i32>(local + L_LEFT) < 0) {
      store<u32>(q + Q_NEXT, row);
      return MORE;
    }
    row = nextAllowed(load<u32>(q + Q_ALLOWED), row, documents);
    if (driver) {
      seek(cursorOf(driver), row);
      row = load<u32>(cursorOf(driver) + C_ROW);
    }
    const end = row == NONE ? NONE : endOf(q, row);
    if (row == NONE || !openWindow(q, row, end)) break;
    const n = load<u32>(q + Q_SCORED);
    if (notEssential(q, 0) == n) row = end + 1;
    else if (driver) row = searchMust(q, row, end);
    else {
      searchShould(q, row, end);
      row = end + 1;
    }
  }
  store<u32>(q + Q_NEXT, documents);
  return 0;
}

/**
 * Writes the best documents, best first, at `rows` (u32[k]) and their scores at `scores` (f64[k]).
 * Returns how many. Can be called once after each search. Cost: k log2 k.
 */
export function takeBest(q: usize, rows: usize, scores: usize): u32 {
  const n = load<u32>(q + Q_FOUND);
  const heap = <usize>load<u32>(q + Q_BEST);
  const heapRows = rowsOf(q);
  for (let left = n; left > 1; left--) {
    swap(heap, heapRows, 0, left - 1);
    sink(heap, heapRows, 0, left - 1);
  }
  memory.copy(scores, heap, bytesOf<f64>(n));
  memory.copy(rows, heapRows, bytesOf<u32>(n));
  store<u32>(q + Q_FOUND, 0);
  store<u32>(q + Q_MOST, 0);
  return n;
}
