// Finds candidate pairs for joins: for each combination on the left, rows on the right. Pairs are
// found in chunks and in steps of a few ms. This file contains the band join and the cross product;
// see also hash-pairs.ts and member-pairs.ts.
//
// In the band join, right rows are in ascending order of time. For each left time t, it finds the
// first right row at or after t + low, and takes rows until one is after t + high. Left times
// mostly ascend too, so the search starts where the previous one ended.

import { type Batch, lowerBound, type RowSet } from '../rows/row-set.ts';

/** Positions on the left and rows on the right; the first `count` of each are valid. */
export interface Pairs {
  readonly left: Uint32Array;
  readonly right: Uint32Array;
  count: number;
}

export const CHUNK_PAIRS = 8192;

/**
 * Returns a buffer with the contents of `pairs` and room for `room` pairs, but at most for one
 * chunk. The first buffer is small, because most joins have few pairs and fresh memory costs time.
 */
export function pairsFor(room: number, pairs?: Pairs): Pairs {
  if (pairs !== undefined && room <= pairs.left.length) return pairs;
  const size = Math.min(CHUNK_PAIRS, Math.max(FIRST_PAIRS, room, pairs === undefined ? 0 : 2 * pairs.left.length));
  const larger = { left: new Uint32Array(size), right: new Uint32Array(size), count: 0 };
  if (pairs === undefined) return larger;
  larger.left.set(pairs.left);
  larger.right.set(pairs.right);
  larger.count = pairs.count;
  return larger;
}

const FIRST_PAIRS = 512;

/**
 * Yields candidates in ascending order of the left positions: full chunks, then the rest. Yields
 * null now and then, to let other work run.
 */
export type PairFinder = Generator<Pairs | null, void, void>;

/**
 * Work between two pauses: each left combination counts 16; in a member join, each examined list
 * entry and each partner counts 1, and each search in a list 32.
 */
export const WORK_STEP = 200_000;

/**
 * Yields the pairs in which the time of the right row is within a band around the time of the left
 * one.
 */
export function* bandPairs(leftTimes: Float64Array, right: RowSet, low: number, high: number): PairFinder {
  const { times } = right;
  let pairs = pairsFor(0);
  let work = 0;
  let row = 0;
  for (let place = 0; place < leftTimes.length; place++) {
    row = firstFrom(times, leftTimes[place]! + low, row);
    const latest = leftTimes[place]! + high;
    let next = row;
    while (next < times.length && times[next]! <= latest) {
      if (pairs.count === pairs.left.length) {
        if (pairs.count === CHUNK_PAIRS) {
          yield pairs;
          work = 0;
          pairs = pairsFor(CHUNK_PAIRS);
        } else pairs = pairsFor(pairs.count + 1, pairs);
      }
      next = bandRow(pairs, place, times, latest, next);
    }
    work += 16;
    if (work >= WORK_STEP) {
      work = 0;
      yield null;
    }
  }
  if (pairs.count > 0) yield pairs;
}

/** Adds pairs for one left position while there is room. Returns the row to continue with. */
function bandRow(pairs: Pairs, place: number, times: Float64Array, latest: number, from: number): number {
  const { left, right } = pairs;
  const room = Math.min(times.length, from + left.length - pairs.count);
  let at = pairs.count;
  let row = from;
  for (; row < room && times[row]! <= latest; row++) {
    left[at] = place;
    right[at++] = row;
  }
  pairs.count = at;
  return row;
}

/**
 * Does the same as `lowerBound`, but fast if the result is at or shortly after the previous one:
 * left times mostly ascend.
 */
function firstFrom(times: Float64Array, time: number, before: number): number {
  if (before > 0 && times[before - 1]! >= time) return lowerBound(times, time, 0, before);
  const near = Math.min(times.length, before + NEAR_ROWS);
  for (let row = before; row < near; row++) if (times[row]! >= time) return row;
  return lowerBound(times, time, near);
}

const NEAR_ROWS = 16;

/** Work that runs in steps and yields null between them. */
export type Building<T> = Generator<null, T, void>;

/**
 * Number of items of a table that are built in one step, which takes a few ms at most. The first
 * items of a large table are the slowest: nearly each lies in a page of memory that the system has
 * to provide, which takes a microsecond or two.
 */
export const BUILD_STEP = 2048;

/** Yields the pairs of the cross product. */
export function* allPairs(leftCount: number, rightCount: number): PairFinder {
  let pairs = pairsFor(0);
  for (let place = 0; place < leftCount; place++) {
    for (let row = 0; row < rightCount; row++) {
      if (pairs.count === pairs.left.length) pairs = pairsFor(pairs.count + 1, pairs);
      pairs.left[pairs.count] = place;
      pairs.right[pairs.count++] = row;
      if (pairs.count < CHUNK_PAIRS) continue;
      yield pairs;
      pairs = pairsFor(0);
    }
  }
  if (pairs.count > 0) yield pairs;
}

/** Returns the combinations for pairs: the left combinations, each extended by the right row. */
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
