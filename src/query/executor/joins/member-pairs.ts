// Finds the pairs of rows that have members in common (member join).
//
// The nodes of the left rows get codes 0, 1, 2, ... For each code there is a posting list: the
// right rows that contain the node, ascending. To find the partners of a left row, the join goes
// through the posting lists of the row's members and counts how often each right row occurs. The
// rows that occur at least `least` times are the partners. Then the counters are reset. The cost is
// the total length of the lists. With a time band, each list is entered by binary search and left
// at the first row that is too late, since right rows ascend by time.
//
// Example: left row {1, 2}, lists 1: [r0, r3], 2: [r3]. The counts are r0: 1, r3: 2; with least = 2
// the partner is r3.
//
// If both sides are parts of one set (see shared-scans.ts) and the left part has at least a quarter
// of its rows, they share one index of the whole set, and partners outside the right part are
// dropped. If a left row may occur in several combinations, its partners are kept for the next
// ones, unless the time bounds depend on another pattern.

import { NumberTable } from '../rows/number-table.ts';
import type { RowSet } from '../rows/row-set.ts';
import { BUILD_STEP, CHUNK_PAIRS, type PairFinder, type Pairs, pairsFor, WORK_STEP } from './join-pairs.ts';

/**
 * The left side: for each combination, its row of the pattern that the condition links to the right
 * side.
 */
export interface MemberSide {
  readonly set: RowSet;
  /** Undefined: rows 0 to count - 1. */
  readonly rows: Uint32Array | undefined;
  readonly count: number;
}

/**
 * Bounds for times: `low <= right time - left time <= high`. The right rows are in ascending order
 * of time.
 */
export interface TimeBounds {
  /** Left times, by combination. */
  readonly times: Float64Array;
  /**
   * True if these are times of the linked pattern. Combinations with the same row of this pattern
   * then have the same time.
   */
  readonly ofRow: boolean;
  readonly low: number;
  readonly high: number;
}

interface MemberIndex {
  /**
   * Codes of the members of the left set: the code at index i belongs to the set's
   * `members[first + i]`.
   */
  readonly leftCodes: Int32Array;
  readonly first: number;
  /**
   * The right rows that contain the node with code c, ascending: `rows[starts[c]]` up to
   * `rows[starts[c + 1]]`, exclusive.
   */
  readonly starts: Uint32Array;
  readonly rows: Uint32Array;
}

/** Maximum number of partners that one `KeptRows` stores. */
const MOST_KEPT = 2 ** 20;

/** Indexes and partners that the member joins of one statement share. */
export class MemberMemory {
  /** True if several joins may need the partners of the same left row. */
  readonly #severalJoins: boolean;
  readonly #indexes = new Map<RowSet, MemberIndex>();
  readonly #between = new Map<RowSet, Map<RowSet, MemberIndex>>();
  readonly #kept = new Map<RowSet, Map<string, KeptRows>>();

  constructor(severalJoins: boolean) {
    this.#severalJoins = severalJoins;
  }

  /**
   * Returns the index between two sets. It is built only once, since the left side may arrive in
   * blocks.
   */
  *indexBetween(left: RowSet, right: RowSet, charge: Charge): Generator<null, MemberIndex, void> {
    const known = this.#between.get(left)?.get(right);
    if (known !== undefined) return known;
    const index = yield* buildIndex(left, right, charge);
    const ofLeft = this.#between.get(left) ?? new Map<RowSet, MemberIndex>();
    this.#between.set(left, ofLeft.set(right, index));
    return index;
  }

  *indexOf(whole: RowSet, charge: Charge): Generator<null, MemberIndex, void> {
    const known = this.#indexes.get(whole);
    if (known !== undefined) return known;
    const index = yield* buildIndex(whole, whole, charge);
    this.#indexes.set(whole, index);
    return index;
  }

  /**
   * Returns the store of partners that joins within `whole` with the same `least` and bounds share.
   * Returns undefined if there is only one join, if there are no bounds, or if the bounds depend on
   * another pattern's time.
   */
  keptOf(whole: RowSet, least: number, bounds: TimeBounds | undefined): KeptRows | undefined {
    if (!this.#severalJoins || bounds?.ofRow !== true) return undefined;
    let ofWhole = this.#kept.get(whole);
    if (ofWhole === undefined) {
      ofWhole = new Map();
      this.#kept.set(whole, ofWhole);
    }
    const key = `${least} ${bounds.low} ${bounds.high}`;
    let kept = ofWhole.get(key);
    if (kept === undefined) {
      kept = new KeptRows(whole.rows);
      ofWhole.set(key, kept);
    }
    return kept;
  }
}

/** Charges held bytes to the statement's memory. */
export type Charge = (bytes: number) => void;

/**
 * Yields pairs with right rows that have at least `least` members in common with the left row and,
 * if there are bounds, times within them.
 */
export function* memberPairs(
  left: MemberSide,
  right: RowSet,
  least: number,
  bounds: TimeBounds | undefined,
  memory: MemberMemory,
  charge: Charge,
): PairFinder {
  // If `whole` is defined, partners are searched in the whole set, and `append` skips partners
  // outside the right part.
  const whole = wholeOf(left.set, right);
  const leftFirst = whole === undefined ? 0 : left.set.part!.first;
  const rightFirst = whole === undefined ? 0 : right.part!.first;
  const index =
    whole === undefined ? yield* memory.indexBetween(left.set, right, charge) : yield* memory.indexOf(whole, charge);
  const walk = new Walk(left.set, whole ?? right, index, least, windowOf(right, whole, bounds));
  const kept = (whole && memory.keptOf(whole, least, bounds)) ?? ownKept(left, leftFirst, bounds);
  let pairs = pairsFor(0);
  let work = 0;
  for (let place = 0; place < left.count; place++) {
    const row = left.rows === undefined ? place : left.rows[place]!;
    let rows = walk.found;
    let from = 0;
    let end: number;
    const at = kept === undefined ? -1 : kept.starts[leftFirst + row]!;
    if (at >= 0) {
      rows = kept!.rows;
      from = at;
      end = at + kept!.counts[leftFirst + row]!;
    } else {
      end = walk.find(row, bounds === undefined ? 0 : bounds.times[place]!);
      work += walk.looked;
      kept?.keep(leftFirst + row, walk.found, end);
    }
    work += 16 + end - from;
    while (from < end) {
      const some = Math.min(end, from + CHUNK_PAIRS - pairs.count);
      pairs = pairsFor(pairs.count + some - from, pairs);
      append(pairs, place, rows, from, some, rightFirst, right.rows);
      from = some;
      if (pairs.count < CHUNK_PAIRS) continue;
      yield pairs;
      pairs = pairsFor(CHUNK_PAIRS);
      work = 0;
    }
    if (work >= WORK_STEP) {
      work = 0;
      yield null;
    }
  }
  if (pairs.count > 0) yield pairs;
}

/**
 * Returns the set of which both sets are parts. Returns undefined if there is no such set, or if
 * the left part has less than a quarter of its rows: an index of the left part's own nodes then
 * takes less work.
 */
function wholeOf(left: RowSet, right: RowSet): RowSet | undefined {
  const whole = left.part?.whole;
  if (whole === undefined || whole !== right.part?.whole) return undefined;
  return whole.rows <= MOST_WHOLE * left.rows ? whole : undefined;
}

const MOST_WHOLE = 4;

/**
 * Returns a store for partners if a left row may occur in several combinations. Returns undefined
 * if the bounds depend on another pattern's time.
 */
function ownKept(left: MemberSide, leftFirst: number, bounds: TimeBounds | undefined): KeptRows | undefined {
  if (left.rows === undefined || bounds?.ofRow === false) return undefined;
  return new KeptRows(leftFirst + left.set.rows);
}

/**
 * Returns the bounds of a walk. If there are no given bounds, a part of a whole set is still
 * bounded by its first and last time.
 */
function windowOf(right: RowSet, whole: RowSet | undefined, bounds: TimeBounds | undefined): TimeWindow | undefined {
  if (bounds !== undefined) return bounds;
  if (whole === undefined || right.rows === whole.rows) return undefined;
  return { low: right.times[0]!, high: right.times[right.rows - 1]! };
}

/** Bounds relative to the time that is passed to a walk. */
interface TimeWindow {
  readonly low: number;
  readonly high: number;
}

/**
 * Appends pairs of one left position with rows of the index. The right side consists of `count`
 * rows of the index, from row `first`; other rows are skipped.
 */
function append(
  pairs: Pairs,
  place: number,
  rows: Uint32Array,
  from: number,
  end: number,
  first: number,
  count: number,
): void {
  const { left, right } = pairs;
  let at = pairs.count;
  for (let i = from; i < end; i++) {
    const row = rows[i]! - first;
    if (row < 0 || row >= count) continue;
    left[at] = place;
    right[at++] = row;
  }
  pairs.count = at;
}

/** Partners of left rows, stored one after another, up to a limit. */
class KeptRows {
  rows = new Uint32Array(1024);
  /** Where the partners of each left row begin; -1: they are not kept. */
  readonly starts: Int32Array;
  readonly counts: Uint32Array;
  size = 0;

  constructor(leftRows: number) {
    this.starts = new Int32Array(leftRows).fill(-1);
    this.counts = new Uint32Array(leftRows);
  }

  keep(row: number, found: Uint32Array, count: number): void {
    const size = this.size + count;
    if (size > MOST_KEPT) return;
    if (size > this.rows.length) {
      const larger = new Uint32Array(Math.max(size, 2 * this.rows.length));
      larger.set(this.rows);
      this.rows = larger;
    }
    for (let i = 0; i < count; i++) this.rows[this.size + i] = found[i]!;
    this.starts[row] = this.size;
    this.counts[row] = count;
    this.size = size;
  }
}

/** A binary search in a posting list takes about as long as examining this many entries. */
const SEARCH_WORK = 32;

/** Finds the partners of one left row at a time. */
class Walk {
  /** The partners that the last `find` found. */
  readonly found: Uint32Array;
  /**
   * The work of the last `find`: each examined entry of a posting list counts 1, and each search in
   * a list `SEARCH_WORK`.
   */
  looked = 0;
  readonly #left: RowSet;
  readonly #right: RowSet;
  readonly #index: MemberIndex;
  readonly #least: number;
  readonly #bounds: TimeWindow | undefined;
  /** A counter for each right row. All counters are 0 between two left rows. */
  readonly #shared: Uint16Array;

  constructor(left: RowSet, right: RowSet, index: MemberIndex, least: number, bounds: TimeWindow | undefined) {
    this.#left = left;
    this.#right = right;
    this.#index = index;
    this.#least = least;
    this.#bounds = bounds;
    this.found = new Uint32Array(right.rows);
    this.#shared = new Uint16Array(right.rows);
  }

  /**
   * Puts the partners of a left row into `found` and returns their number. The bounds are relative
   * to `time`.
   */
  find(row: number, time: number): number {
    const { offsets } = this.#left;
    const { leftCodes, first, starts, rows } = this.#index;
    const { times } = this.#right;
    const shared = this.#shared;
    const { found } = this;
    const bounds = this.#bounds;
    const earliest = bounds === undefined ? 0 : time + bounds.low;
    const latest = bounds === undefined ? 0 : time + bounds.high;
    let count = 0;
    let looked = 0;
    const end = offsets[row + 1]! - first;
    for (let at = offsets[row]! - first; at < end; at++) {
      const code = leftCodes[at]!;
      const last = starts[code + 1]!;
      let next = starts[code]!;
      if (bounds !== undefined && next < last) {
        next = firstInBand(rows, next, last, times, earliest);
        looked += SEARCH_WORK;
      }
      const begin = next;
      for (; next < last; next++) {
        const other = rows[next]!;
        if (bounds !== undefined && times[other]! > latest) break;
        if (shared[other] === 0) found[count++] = other;
        shared[other]!++;
      }
      looked += next - begin;
    }
    this.looked = looked;
    return this.#enough(count);
  }

  /** Keeps the rows in `found` whose counter is at least `least`, and resets the counters. */
  #enough(count: number): number {
    const { found } = this;
    const shared = this.#shared;
    const least = this.#least;
    let enough = 0;
    for (let i = 0; i < count; i++) {
      const other = found[i]!;
      found[enough] = other;
      if (shared[other]! >= least) enough++;
      shared[other] = 0;
    }
    return enough;
  }
}

function firstInBand(rows: Uint32Array, from: number, to: number, times: Float64Array, time: number): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[rows[middle]!]! < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Builds the posting lists. `left` and `right` may be the same set. */
function* buildIndex(left: RowSet, right: RowSet, charge: Charge): Generator<null, MemberIndex, void> {
  const first = left.offsets[0]!;
  const incidences = left.offsets[left.rows]! - first;
  const rightFirst = right.offsets[0]!;
  const rightIncidences = right.offsets[right.rows]! - rightFirst;
  const codes = new NumberTable();
  charge(incidences * 8 + rightIncidences * 8 + right.rows * 6 + left.rows * 8);
  const leftCodes = new Int32Array(incidences);
  for (let from = 0; from < incidences; from += BUILD_STEP) {
    const { bytes } = codes;
    addNodes(codes, left.members, first, from, Math.min(incidences, from + BUILD_STEP), leftCodes);
    charge(codes.bytes - bytes);
    if (from + BUILD_STEP < incidences) yield null;
  }
  const rightCodes = left === right ? leftCodes : new Int32Array(rightIncidences);
  const starts = new Uint32Array(codes.size + 2);
  for (let from = 0; from < rightIncidences; from += BUILD_STEP) {
    const end = Math.min(rightIncidences, from + BUILD_STEP);
    if (left !== right) findNodes(codes, right.members, rightFirst, from, end, rightCodes);
    countCodes(rightCodes, from, end, starts);
    if (end < rightIncidences) yield null;
  }
  // Counts are stored at code + 2, so after summing, the start of each list is at code + 1. Filling
  // a list advances its start to the end of the list, which is the start of the next one.
  for (let code = 2; code < starts.length; code++) starts[code]! += starts[code - 1]!;
  const rows = new Uint32Array(starts[codes.size + 1]!);
  for (let from = 0; from < right.rows; from += BUILD_STEP) {
    const end = Math.min(right.rows, from + BUILD_STEP);
    fillLists(right, rightFirst, from, end, rightCodes, starts, rows);
    if (end < right.rows) yield null;
  }
  return { leftCodes, first, starts, rows };
}

/** Assigns codes to nodes: 0, 1, 2, ... in the order in which they first occur. */
function addNodes(
  codes: NumberTable,
  members: Float64Array,
  first: number,
  from: number,
  to: number,
  codesOf: Int32Array,
): void {
  for (let i = from; i < to; i++) codesOf[i] = codes.placeOf(members[first + i]!);
}

/** Finds the codes of nodes in the table; -1 for other nodes. */
function findNodes(
  codes: NumberTable,
  members: Float64Array,
  first: number,
  from: number,
  to: number,
  codesOf: Int32Array,
): void {
  for (let i = from; i < to; i++) codesOf[i] = codes.find(members[first + i]!);
}

/** Counts codes; the count of each code is at code + 2. */
function countCodes(codesOf: Int32Array, from: number, to: number, counts: Uint32Array): void {
  for (let i = from; i < to; i++) if (codesOf[i]! >= 0) counts[codesOf[i]! + 2]!++;
}

function fillLists(
  { offsets }: RowSet,
  first: number,
  from: number,
  to: number,
  codesOf: Int32Array,
  starts: Uint32Array,
  rows: Uint32Array,
): void {
  let at = offsets[from]! - first;
  for (let row = from; row < to; row++) {
    const end = offsets[row + 1]! - first;
    for (; at < end; at++) {
      const code = codesOf[at]!;
      if (code >= 0) rows[starts[code + 1]!++] = row;
    }
  }
}
