// Finds the candidates of an EXISTS: for each outer row, rows on the right that may match. As soon
// as an outer row has a match, no more candidates are taken for it.
//
// Every strategy describes its candidates as ranges. A range is a part of a list of right rows, for
// one outer row: the rows with an equal key, the rows in a time band, the rows that contain a node,
// or all rows. The ranges are processed in rounds. A round takes some candidates from each range
// whose outer row has no match yet: 1 in the first round, then 2, 4, 8, ... So an outer row costs
// at most about twice the candidates up to its first match, and batches of candidates are large as
// long as many outer rows are open.
//
// Example: if outer row 0 has the candidates r1, r4, r5 and outer row 1 has r4, the first round
// gives (0, r1) and (1, r4). If (0, r1) is a match and (1, r4) is not, all is done.

import type { BoundExpression } from '../../binder/bound.ts';
import type { Band, SemiStep } from '../../planner/plan.ts';
import type { QueryContext } from '../context.ts';
import { type Batch, gather, lowerBound, type RowSet } from '../rows/row-set.ts';
import { ABSENT } from '../rows/value-ids.ts';
import { isNullAt, numbersOf } from '../values/vector.ts';
import { type HashTable, hashTable, keyParts } from './hash-pairs.ts';
import { type Building, CHUNK_PAIRS, type PairFinder, pairsFor, WORK_STEP } from './join-pairs.ts';
import { type NodeIndex, type NodeLists, nodeIndex } from './node-index.ts';

/** The rows of a step's pattern, and the structure in which candidates are looked up. */
export interface StepSide {
  readonly rows: RowSet;
  readonly table: HashTable | undefined;
  readonly nodes: NodeIndex | undefined;
  /** Memory for `PartnerWalk`; allocated only if more than one common member is required. */
  readonly walk: PartnerWalk | undefined;
}

export function* stepSide(step: SemiStep, rows: RowSet, batch: Batch, context: QueryContext): Building<StepSide> {
  const { strategy, equal, node, members } = step;
  if (rows.rows === 0) return { rows, table: undefined, nodes: undefined, walk: undefined };
  const table = strategy === 'HASH_JOIN' ? yield* hashTable(equal, batch, context) : undefined;
  if (strategy !== 'MEMBER_JOIN') return { rows, table, nodes: undefined, walk: undefined };
  context.charge(node?.value === 'right' ? rows.rows * BYTES_OF_VALUE : 0);
  const lists = node?.value === 'right' ? yield* valueLists(node.node, batch, context) : membersOf(rows);
  const nodes = yield* nodeIndex(lists, context);
  const walk = (members?.least ?? 1) > 1 ? new PartnerWalk(nodes, rows, context) : undefined;
  return { rows, table, nodes, walk };
}

function membersOf({ rows, offsets, members }: RowSet): NodeLists {
  return { rows, offsets, nodes: members };
}

/** Size in bytes of a list of one node. */
const BYTES_OF_VALUE = 12;

/** Returns the values of an expression as lists of one node; the list of null is empty. */
function* valueLists(expression: BoundExpression, batch: Batch, context: QueryContext): Building<NodeLists> {
  const { count } = batch;
  const offsets = new Uint32Array(count + 1);
  const nodes = new Float64Array(count);
  let end = 0;
  let from = 0;
  for (const part of context.parts(batch)) {
    const vector = context.transient(expression, part);
    const values = numbersOf(vector, part.count);
    for (let i = 0; i < part.count; i++) {
      offsets[from + i] = end;
      if (!isNullAt(vector, i)) nodes[end++] = values[i]!;
    }
    from += part.count;
    yield null;
  }
  offsets[count] = end;
  return { rows: count, offsets, nodes };
}

/** Ranges of candidates; the first `count` entries of each array are valid. */
interface Ranges {
  /** The position of the outer row, or combination, to which the range belongs. */
  readonly places: Uint32Array;
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
  /** The list of rows of which each range is a part; undefined: the rows 0, 1, 2, ... */
  readonly rows: Uint32Array | undefined;
  count: number;
}

/** Maximum number of ranges that are processed together. */
const RANGES_AT_ONCE = 32_768;

/** Returns an empty buffer with room for `most` ranges, but at most for `RANGES_AT_ONCE`. */
function noRanges(rows: Uint32Array | undefined, most: number): Ranges {
  const room = Math.min(RANGES_AT_ONCE, most);
  const [places, starts, ends] = [new Uint32Array(room), new Uint32Array(room), new Uint32Array(room)];
  return { places, starts, ends, rows, count: 0 };
}

/** Yields null between steps of a few ms. */
type RangeFinder = Generator<Ranges | null, void, void>;

/** Returns whether candidates of a left position are still wanted. */
export type IsOpen = (place: number) => boolean;

/** Yields candidates for the left positions that are open. */
export function* candidates(
  step: SemiStep,
  left: Batch,
  side: StepSide,
  isOpen: IsOpen,
  context: QueryContext,
): PairFinder {
  const found = yield* rangesOf(step, left, side, context);
  for (const ranges of found) {
    if (ranges === null) yield null;
    else yield* rangePairs(ranges, isOpen);
  }
}

function* rangesOf(step: SemiStep, left: Batch, side: StepSide, context: QueryContext): Building<RangeFinder> {
  const band = step.band && { ...step.band, leftTimes: timesOf(left, step.band.left), times: side.rows.times };
  switch (step.strategy) {
    case 'MEMBER_JOIN':
      return side.walk === undefined
        ? nodeRanges(yield* leftLists(step, left, context), side.nodes!, band)
        : side.walk.ranges(yield* leftLists(step, left, context), step.members!.least, band);
    case 'HASH_JOIN':
      return hashRanges(step, left, side.table!, band, context);
    case 'TEMPORAL_JOIN':
      return bandRanges(left.count, band!);
    case 'NESTED_LOOP':
      return allRanges(left.count, side.rows.rows);
  }
}

/** A band with the times to which it applies. Right times ascend. */
interface TimedBand extends Band {
  readonly leftTimes: Float64Array;
  readonly times: Float64Array;
}

function timesOf(batch: Batch, pattern: number): Float64Array {
  const { set, rows } = batch.sides[pattern]!;
  return gather(set.times, rows, batch.count);
}

/** The nodes of the left positions. */
interface LeftLists extends NodeLists {
  /** Number of left positions. */
  readonly count: number;
  /** The row of the lists for each left position; undefined: the positions are rows. */
  readonly order: Uint32Array | undefined;
}

/** Returns the nodes of each left position that are looked up on the right. */
function* leftLists({ node, members }: SemiStep, left: Batch, context: QueryContext): Building<LeftLists> {
  const { count } = left;
  if (node?.value === 'left') return { ...(yield* valueLists(node.node, left, context)), count, order: undefined };
  const { set, rows } = left.sides[members?.left ?? (node as { members: number }).members]!;
  return { ...membersOf(set), count, order: rows };
}

function* allRanges(leftCount: number, rightCount: number): RangeFinder {
  let ranges = noRanges(undefined, leftCount);
  for (let place = 0; place < leftCount; place++) {
    add(ranges, place, 0, rightCount);
    if (ranges.count < RANGES_AT_ONCE) continue;
    yield ranges;
    ranges = noRanges(undefined, leftCount);
  }
  yield ranges;
}

function* bandRanges(leftCount: number, { low, high, leftTimes, times }: TimedBand): RangeFinder {
  let ranges = noRanges(undefined, leftCount);
  for (let place = 0; place < leftCount; place++) {
    const start = lowerBound(times, leftTimes[place]! + low);
    add(ranges, place, start, lowerBound(times, leftTimes[place]! + high + 1, start));
    if (ranges.count < RANGES_AT_ONCE) continue;
    yield ranges;
    ranges = noRanges(undefined, leftCount);
  }
  yield ranges;
}

function* hashRanges(
  { equal }: SemiStep,
  left: Batch,
  { keys, rows: table }: HashTable,
  band: TimedBand | undefined,
  context: QueryContext,
): RangeFinder {
  const lefts = equal.map((link) => link.left);
  let ranges = noRanges(table.rows, left.count);
  for (const part of keyParts(left, context)) {
    const ids = yield* keys.find(lefts, part.batch);
    for (let i = 0; i < ids.length; i++) {
      if (ids[i] === ABSENT) continue;
      const place = part.from + i;
      addInBand(ranges, place, table.offsets[ids[i]!]!, table.offsets[ids[i]! + 1]!, band);
      if (ranges.count < RANGES_AT_ONCE) continue;
      yield ranges;
      ranges = noRanges(table.rows, left.count);
    }
    yield null;
  }
  yield ranges;
}

/** A search among the codes of nodes takes about as long as this much work of a pair finder. */
const FIND_WORK = 16;

function* nodeRanges(lists: LeftLists, index: NodeIndex, band: TimedBand | undefined): RangeFinder {
  const { count, order, offsets, nodes } = lists;
  const { codes, starts, rows } = index;
  let ranges = noRanges(rows, MOST_NODES * count);
  let work = 0;
  for (let place = 0; place < count; place++) {
    const row = order === undefined ? place : order[place]!;
    for (let at = offsets[row]!; at < offsets[row + 1]!; at++) {
      const code = codes.find(nodes[at]!);
      work += FIND_WORK;
      if (code < 0) continue;
      addInBand(ranges, place, starts[code]!, starts[code + 1]!, band);
      if (ranges.count < RANGES_AT_ONCE) continue;
      yield ranges;
      ranges = noRanges(rows, MOST_NODES * count);
    }
    if (work < WORK_STEP) continue;
    work = 0;
    yield null;
  }
  yield ranges;
}

/** Maximum number of members of an edge. */
const MOST_NODES = 255;

function add(ranges: Ranges, place: number, start: number, end: number): void {
  if (start >= end) return;
  const { count } = ranges;
  ranges.places[count] = place;
  ranges.starts[count] = start;
  ranges.ends[count] = end;
  ranges.count = count + 1;
}

/** Adds the part of a range in which the times are in the band. The rows of the range ascend. */
function addInBand(ranges: Ranges, place: number, start: number, end: number, band: TimedBand | undefined): void {
  if (band === undefined) {
    add(ranges, place, start, end);
    return;
  }
  const time = band.leftTimes[place]!;
  const from = firstAt(ranges.rows!, band.times, start, end, time + band.low);
  add(ranges, place, from, firstAt(ranges.rows!, band.times, from, end, time + band.high + 1));
}

/** Returns the first position in [from, to) whose row has a time >= `time`, or `to`. */
function firstAt(rows: Uint32Array, times: Float64Array, from: number, to: number, time: number): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[rows[middle]!]! < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Yields the rows of the ranges in rounds, as described at the top of this file. */
function* rangePairs(ranges: Ranges, isOpen: IsOpen): PairFinder {
  const { places, starts, ends, rows } = ranges;
  let open = ranges.count;
  let pairs = pairsFor(0);
  for (let most = 1; open > 0; most *= 2) {
    let kept = 0;
    for (let range = 0; range < open; range++) {
      const place = places[range]!;
      const end = Math.min(ends[range]!, starts[range]! + most);
      let at = starts[range]!;
      while (at < end && isOpen(place)) {
        const some = Math.min(end, at + CHUNK_PAIRS - pairs.count);
        pairs = pairsFor(pairs.count + some - at, pairs);
        for (; at < some; at++) {
          pairs.left[pairs.count] = place;
          pairs.right[pairs.count++] = rows === undefined ? at : rows[at]!;
        }
        if (pairs.count < CHUNK_PAIRS) continue;
        yield pairs;
        pairs = pairsFor(0);
      }
      // A range whose outer row has a match, or that is used up, is dropped.
      if (at < end || at >= ends[range]!) continue;
      places[kept] = place;
      starts[kept] = at;
      ends[kept++] = ends[range]!;
    }
    open = kept;
    if (pairs.count > 0) yield pairs;
    pairs = pairsFor(0);
  }
}

/** Number of partners after which a walk yields them. */
const PARTNERS_AT_ONCE = 65_536;

/** Finds the rows that have at least a number of members in common with a left row. */
export class PartnerWalk {
  readonly #index: NodeIndex;
  readonly #charge: (bytes: number) => void;
  /** A counter for each right row. All counters are 0 between two left rows. */
  readonly #shared: Uint16Array;
  /** The rows whose counters are not 0. */
  readonly #met: Uint32Array;
  /** Entries of lists that the last `#meet` examined. */
  #looked = 0;
  /** The partners of the ranges that are being processed. */
  #partners = new Uint32Array(1024);

  constructor(index: NodeIndex, { rows }: RowSet, context: QueryContext) {
    context.charge(rows * 6);
    this.#charge = (bytes) => context.charge(bytes);
    this.#index = index;
    this.#shared = new Uint16Array(rows);
    this.#met = new Uint32Array(rows);
  }

  /**
   * Yields a range for each left row with partners. It is valid until the next one is requested.
   */
  *ranges(left: LeftLists, least: number, band: TimedBand | undefined): RangeFinder {
    const { count, order } = left;
    let first = 0;
    while (first < count) {
      const places: number[] = [];
      const ends: number[] = [];
      let end = 0;
      let work = 0;
      for (; first < count && end < PARTNERS_AT_ONCE && places.length < RANGES_AT_ONCE; first++) {
        end = this.#takePartners(
          this.#meet(left, order === undefined ? first : order[first]!, first, band),
          least,
          end,
        );
        places.push(first);
        ends.push(end);
        work += this.#looked + 16;
        if (work < WORK_STEP) continue;
        work = 0;
        yield null;
      }
      const ranges = noRanges(this.#partners, places.length);
      for (const [i, place] of places.entries()) add(ranges, place, ends[i - 1] ?? 0, ends[i]!);
      yield ranges;
    }
  }

  /** Adds the met rows that have enough common members to the partners, and resets the counters. */
  #takePartners(met: number, least: number, from: number): number {
    if (from + met > this.#partners.length) {
      const larger = new Uint32Array(Math.max(from + met, 2 * this.#partners.length));
      this.#charge(4 * (larger.length - this.#partners.length));
      larger.set(this.#partners);
      this.#partners = larger;
    }
    let end = from;
    for (let i = 0; i < met; i++) {
      const row = this.#met[i]!;
      if (this.#shared[row]! >= least) this.#partners[end++] = row;
      this.#shared[row] = 0;
    }
    return end;
  }

  /** Counts the common members with each right row. Returns the number of rows that have some. */
  #meet({ offsets, nodes }: NodeLists, leftRow: number, place: number, band: TimedBand | undefined): number {
    const { codes, starts, rows } = this.#index;
    let met = 0;
    this.#looked = 0;
    for (let at = offsets[leftRow]!; at < offsets[leftRow + 1]!; at++) {
      const code = codes.find(nodes[at]!);
      if (code < 0) continue;
      let from = starts[code]!;
      let to = starts[code + 1]!;
      if (band !== undefined) {
        const time = band.leftTimes[place]!;
        from = firstAt(rows, band.times, from, to, time + band.low);
        to = firstAt(rows, band.times, from, to, time + band.high + 1);
      }
      this.#looked += FIND_WORK + to - from;
      for (let i = from; i < to; i++) {
        const row = rows[i]!;
        if (this.#shared[row]!++ === 0) this.#met[met++] = row;
      }
    }
    return met;
  }
}
