// Finds the candidate pairs of a join: for combinations on the left, rows on the right, in chunks and in slices of a few ms.

import type { Batch, RowSet, Side } from './row-set.ts';
import { type Vector, valueAt } from './vector.ts';

/** Places on the left and rows on the right; the first `count` of each. */
export interface Pairs {
  readonly left: Uint32Array;
  readonly right: Uint32Array;
  count: number;
}

export const CHUNK_PAIRS = 8192;

export function newPairs(): Pairs {
  return { left: new Uint32Array(CHUNK_PAIRS), right: new Uint32Array(CHUNK_PAIRS), count: 0 };
}

/** Candidates of left places `from`, from + 1, ...: gives full chunks, and null after much work without one. */
export type PairFinder = Generator<Pairs | null, void, void>;

/** Looks at so many rows between two pauses. */
const WORK_STEP = 200_000;

/** First row whose time is >= `time`; `times` ascend. */
export function lowerBound(times: Float64Array, time: number, from = 0, to = times.length): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Rows of the right set whose time lies in a band around that of the left. */
export function* bandPairs(leftTimes: Float64Array, right: RowSet, low: number, high: number): PairFinder {
  let pairs = newPairs();
  let work = 0;
  for (let place = 0; place < leftTimes.length; place++) {
    const time = leftTimes[place]!;
    const end = time + high;
    for (let row = lowerBound(right.times, time + low); row < right.rows && right.times[row]! <= end; row++) {
      pairs.left[pairs.count] = place;
      pairs.right[pairs.count++] = row;
      if (pairs.count < CHUNK_PAIRS) continue;
      yield pairs;
      pairs = newPairs();
      work = 0;
    }
    work += 16;
    if (work >= WORK_STEP) {
      work = 0;
      yield null;
    }
  }
  if (pairs.count > 0) yield pairs;
}

/** Rows of a set by node: posting lists, ascending. */
export interface Postings {
  readonly places: ReadonlyMap<number, number>;
  readonly offsets: Uint32Array;
  readonly rows: Uint32Array;
}

/** Runs in slices: gives null now and then. */
export type Building<T> = Generator<null, T, void>;

/** Posting lists of the nodes in `wanted` only. */
export function* buildPostings(set: RowSet, wanted: ReadonlySet<number>): Building<Postings> {
  const places = new Map<number, number>();
  const counts: number[] = [];
  const { members } = set;
  const placeOf = new Int32Array(members.length);
  for (let i = 0; i < members.length; i++) {
    if (i % BUILD_STEP === BUILD_STEP - 1) yield null;
    const node = members[i]!;
    placeOf[i] = -1;
    if (!wanted.has(node)) continue;
    let place = places.get(node);
    if (place === undefined) {
      place = counts.push(0) - 1;
      places.set(node, place);
    }
    counts[place]!++;
    placeOf[i] = place;
  }
  const offsets = new Uint32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i++) offsets[i + 1] = offsets[i]! + counts[i]!;
  const rows = new Uint32Array(offsets[counts.length]!);
  const next = offsets.slice();
  for (let row = 0; row < set.rows; row++) {
    if (row % BUILD_STEP === BUILD_STEP - 1) yield null;
    for (let at = set.offsets[row]!; at < set.offsets[row + 1]!; at++) {
      const place = placeOf[at]!;
      if (place >= 0) rows[next[place]!++] = row;
    }
  }
  return { places, offsets, rows };
}

/** The members of all rows on the left. */
export function* nodesOf({ set, rows }: Side, count: number): Building<ReadonlySet<number>> {
  const nodes = new Set<number>();
  for (let i = 0; i < count; i++) {
    if (i % BUILD_STEP === BUILD_STEP - 1) yield null;
    const row = rows === undefined ? i : rows[i]!;
    for (let at = set.offsets[row]!; at < set.offsets[row + 1]!; at++) nodes.add(set.members[at]!);
  }
  return nodes;
}

/** So many steps of building a table take a few ms at most. */
const BUILD_STEP = 16_384;

/** Rows of the right set with at least `least` members in common, and times in the band when there is one. */
export function* memberPairs(
  left: { readonly set: RowSet; readonly rows: Uint32Array | undefined; readonly count: number },
  right: RowSet,
  postings: Postings,
  least: number,
  band: { readonly times: Float64Array; readonly low: number; readonly high: number } | undefined,
): PairFinder {
  const shared = new Uint16Array(right.rows);
  const touched = new Uint32Array(right.rows);
  let pairs = newPairs();
  let work = 0;
  for (let place = 0; place < left.count; place++) {
    const row = left.rows === undefined ? place : left.rows[place]!;
    let count = 0;
    for (let at = left.set.offsets[row]!; at < left.set.offsets[row + 1]!; at++) {
      const list = postings.places.get(left.set.members[at]!);
      if (list === undefined) continue;
      const end = postings.offsets[list + 1]!;
      let next = postings.offsets[list]!;
      if (band !== undefined) next = firstInBand(postings.rows, next, end, right.times, band.times[place]! + band.low);
      const latest = band === undefined ? Infinity : band.times[place]! + band.high;
      for (; next < end; next++) {
        const other = postings.rows[next]!;
        if (band !== undefined && right.times[other]! > latest) break;
        if (shared[other] === 0) touched[count++] = other;
        shared[other]!++;
        work++;
      }
    }
    for (let i = 0; i < count; i++) {
      const other = touched[i]!;
      const enough = shared[other]! >= least;
      shared[other] = 0;
      if (!enough) continue;
      pairs.left[pairs.count] = place;
      pairs.right[pairs.count++] = other;
      if (pairs.count < CHUNK_PAIRS) continue;
      // The counts of this place must be whole before others run: the rest of them goes on with the next chunk.
      yield pairs;
      pairs = newPairs();
      work = 0;
    }
    work += 16;
    if (work >= WORK_STEP) {
      work = 0;
      yield null;
    }
  }
  if (pairs.count > 0) yield pairs;
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

/** Rows by the value of a key; null keys are in none. */
export type HashTable = ReadonlyMap<unknown, readonly number[]>;

export function* buildHash(keys: readonly Vector[], count: number): Building<HashTable> {
  const table = new Map<unknown, number[]>();
  for (let row = 0; row < count; row++) {
    if (row % BUILD_STEP === BUILD_STEP - 1) yield null;
    const key = keyAt(keys, row);
    if (key === undefined) continue;
    const rows = table.get(key);
    if (rows === undefined) table.set(key, [row]);
    else rows.push(row);
  }
  return table;
}

/** One value as it is, several as text; undefined: one of them is null. */
function keyAt(keys: readonly Vector[], row: number): unknown {
  if (keys.length === 1) {
    const value = valueAt(keys[0]!, row);
    return value === null ? undefined : value === 0 ? 0 : value;
  }
  const values = keys.map((key) => valueAt(key, row));
  return values.includes(null) ? undefined : JSON.stringify(values);
}

export function* hashPairs(keys: readonly Vector[], count: number, table: HashTable): PairFinder {
  let pairs = newPairs();
  for (let place = 0; place < count; place++) {
    const key = keyAt(keys, place);
    const rows = key === undefined ? undefined : table.get(key);
    if (rows !== undefined) {
      for (const row of rows) {
        pairs.left[pairs.count] = place;
        pairs.right[pairs.count++] = row;
        if (pairs.count < CHUNK_PAIRS) continue;
        yield pairs;
        pairs = newPairs();
      }
    }
    if (place % BUILD_STEP === BUILD_STEP - 1) yield null;
  }
  if (pairs.count > 0) yield pairs;
}

/** Every pair. */
export function* allPairs(leftCount: number, rightCount: number): PairFinder {
  let pairs = newPairs();
  for (let place = 0; place < leftCount; place++) {
    for (let row = 0; row < rightCount; row++) {
      pairs.left[pairs.count] = place;
      pairs.right[pairs.count++] = row;
      if (pairs.count < CHUNK_PAIRS) continue;
      yield pairs;
      pairs = newPairs();
    }
  }
  if (pairs.count > 0) yield pairs;
}

/** The combinations of pairs: the left ones with the right row beside them. */
export function combine(left: Batch, right: RowSet, pattern: number, pairs: Pairs): Batch {
  const places = pairs.left.subarray(0, pairs.count);
  const sides = left.sides.map((side) => {
    if (side === undefined) return undefined;
    if (side.rows === undefined) return { set: side.set, rows: places };
    const rows = new Uint32Array(pairs.count);
    for (let i = 0; i < pairs.count; i++) rows[i] = side.rows[places[i]!]!;
    return { set: side.set, rows };
  });
  sides[pattern] = { set: right, rows: pairs.right.subarray(0, pairs.count) };
  return { count: pairs.count, sides };
}
