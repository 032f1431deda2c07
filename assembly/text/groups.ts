// Bounds of groups of 32 documents: what a frequent word adds at most to the score of a document of
// a group, so that a search for the best reads the columns of few groups (columns.ts).
//
// A byte per group and column has the greatest tf / (tf + norm) of its documents, rounded up: a
// value of the part is less than its limit, times this byte, / 255. A group whose bounds together
// do not reach the k-th best score has no document that does. With two words that are in every
// third text, 2 to 12 % of the groups are left.
//
// The norm depends on the average length, which changes with every write. It falls when the average
// rises, so bounds that were made for a greater average are right for a lower one. They are made
// for one that is a little greater, and made anew when they are too low, or far too high.

import { bytesOf, cell, element, get, put } from '../memory/cells';
import { GROUP_COLUMN_BYTES, MOST_IN_COLUMN } from './layout';
import { ordered, P_BOUND, P_GROUPS, P_WEIGHT, Q_AVERAGE, Q_CLASSES, Q_DOCUMENTS, Q_FLOOR, Q_SCORED } from './query';
import { limitOf, normFor } from './scores';

/** By what factor the average may rise until bounds must be made anew, and how far it may fall. */
const ABOVE: f64 = 1.02;
const BELOW: f64 = 0.9;
const MOST_BOUND: u32 = 255;
const MOST_GREATEST: u32 = 16;
/** Factor below the rounding errors of sums of 256 numbers of 32 bits. */
const SLACK: f64 = 1 - 1e-4;

/** The share of a limit that a bound of 1 stands for. */
const UNIT: f64 = 1 / <f64>MOST_BOUND;

/** f64 per frequency in a column: 1 / frequency. */
const inverses: usize = memory.data(8 * 16, 16);
/** f32 per group of a window: the sum of the bounds of its parts. */
const sums: usize = memory.data(4 * 72, 16);
/** The groups with the greatest sums, and these sums: u32 and f32 each. */
const greatest: usize = memory.data(4 * 16, 16);
const greatestSums: usize = memory.data(4 * 16, 16);

/** Returns how many groups a number of documents has. */
export function groupsIn(documents: u32): u32 {
  return (documents + 31) >> 5;
}

/** Returns whether bounds made for one average length serve a search with another. */
export function serves(made: f64, average: f64): bool {
  return average <= made && average >= made * BELOW;
}

/**
 * Makes the bounds of a column for the search of a query. Returns the average length for which they
 * are. Cost: 3 ns per document that has the word.
 */
export function makeBounds(q: usize, column: usize, bounds: usize, documents: u32): f64 {
  // With the greatest frequency of a column, the bound is the limit.
  for (let i: u32 = 1; i < MOST_IN_COLUMN; i++) put<f64>(inverses, i, 1 / <f64>i);
  put<f64>(inverses, MOST_IN_COLUMN, 0);
  const classes = <usize>load<u32>(q + Q_CLASSES);
  const groups = groupsIn(documents);
  for (let group: u32 = 0; group < groups; group++) {
    // tf / (tf + norm) is greatest where norm / tf is least.
    const least = leastIn(q, element(column, group, GROUP_COLUMN_BYTES), classes + <usize>(group << 5));
    put<u8>(bounds, group, <u8>min(MOST_BOUND, <u32>(MOST_BOUND / (1 + least)) + u32(least < Infinity)));
  }
  return load<f64>(q + Q_AVERAGE) * ABOVE;
}

/** Returns the least norm / tf of the documents of a group, Infinity if none has the word. */
function leastIn(q: usize, group: usize, classes: usize): f64 {
  const both = v128.load(group);
  const none = i8x16.splat(0);
  const lower = <u32>i8x16.bitmask(i8x16.ne(v128.and(both, i8x16.splat(15)), none));
  const upper = <u32>i8x16.bitmask(i8x16.ne(v128.and(both, i8x16.splat(<i8>0xf0)), none));
  let least = Infinity;
  for (let bits = lower | (upper << 16); bits; bits &= bits - 1) {
    const i = <u32>ctz(bits);
    const frequency = (<u32>get<u8>(group, i & 15) >> ((i & 16) >> 2)) & 15;
    least = min(least, normFor(q, get<u8>(classes, i), ABOVE) * get<f64>(inverses, frequency));
  }
  return least;
}

/**
 * Returns a bit for each group of the window [row, end], at most 64, from that of `row` on: whether
 * a document in it may be among the best. The bounds of the parts in the window are known. Cost:
 * 0.2 ns per group and part.
 */
export function groupsLeft(q: usize, row: u32, end: u32): u64 {
  const groups = (end >> 5) - (row >> 5) + 1;
  const all = u64.MAX_VALUE >> <u64>(64 - groups);
  const n = load<u32>(q + Q_SCORED);
  let wanted = load<f64>(q + Q_FLOOR) * SLACK;
  for (let i: u32 = 0; i < n; i++) {
    const part = ordered(q, i);
    if (!load<u32>(part + P_GROUPS)) wanted -= load<f64>(part + P_BOUND);
  }
  if (!(wanted > 0)) return all;
  sumBounds(q, row >> 5, groups);
  const least = f32x4.splat(<f32>(wanted * SLACK));
  let left: u64 = 0;
  for (let group: u32 = 0; group < groups; group += 4) {
    const four = <u32>i32x4.bitmask(f32x4.ge(v128.load(cell<f32>(sums, group)), least));
    left |= (<u64>four) << (<u64>group);
  }
  return left & all;
}

/** Returns whether a part has bounds of groups. */
export function hasBounds(q: usize): bool {
  for (let i: u32 = 0; i < load<u32>(q + Q_SCORED); i++) if (load<u32>(ordered(q, i) + P_GROUPS)) return true;
  return false;
}

/** Sums the bounds of the parts in at most 64 groups from `first` on. */
function sumBounds(q: usize, first: u32, groups: u32): void {
  memory.fill(sums, 0, bytesOf<f32>(groups + 7));
  for (let i: u32 = 0; i < load<u32>(q + Q_SCORED); i++) {
    const part = ordered(q, i);
    if (load<u32>(part + P_GROUPS)) addBounds(part, first, groups);
  }
}

/** Adds the bounds of a part in groups from `first` on to the sums. */
function addBounds(part: usize, first: u32, groups: u32): void {
  const bounds = <usize>load<u32>(part + P_GROUPS) + first;
  const unit = f32x4.splat(<f32>(limitOf(load<f64>(part + P_WEIGHT)) * UNIT));
  for (let group: u32 = 0; group < groups; group += 8) {
    const eight = v128.load8x8_u(bounds + group);
    const to = cell<f32>(sums, group);
    const low = f32x4.convert_i32x4_u(i32x4.extend_low_i16x8_u(eight));
    const high = f32x4.convert_i32x4_u(i32x4.extend_high_i16x8_u(eight));
    v128.store(to, f32x4.add(v128.load(to), f32x4.mul(unit, low)));
    v128.store(to, f32x4.add(v128.load(to, 16), f32x4.mul(unit, high)), 16);
  }
}

/**
 * Finds the groups of a block whose bounds are the greatest, at most MOST_GREATEST. Returns how
 * many; `greatestAt` has them, ascending. Cost: 1 ns per group and part.
 */
export function findGreatest(q: usize): u32 {
  const groups = groupsIn(load<u32>(q + Q_DOCUMENTS));
  let found: u32 = 0;
  let least: f32 = 0;
  for (let first: u32 = 0; first < groups; first += 64) {
    const n = min(groups - first, 64);
    sumBounds(q, first, n);
    for (let i: u32 = 0; i < n; i++) {
      const sum = get<f32>(sums, i);
      if (sum <= least) continue;
      found = insertGreatest(found, first + i, sum);
      if (found == MOST_GREATEST) least = get<f32>(greatestSums, found - 1);
    }
  }
  sortGreatest(found);
  return found;
}

/** Returns one of the groups with the greatest bounds. */
export function greatestAt(index: u32): u32 {
  return get<u32>(greatest, index);
}

/** Inserts a group among the `n` found, greatest first. Returns how many there are then. */
function insertGreatest(n: u32, group: u32, sum: f32): u32 {
  let at = n < MOST_GREATEST ? n : MOST_GREATEST - 1;
  for (; at && get<f32>(greatestSums, at - 1) < sum; at--) {
    put<f32>(greatestSums, at, get<f32>(greatestSums, at - 1));
    put<u32>(greatest, at, get<u32>(greatest, at - 1));
  }
  put<f32>(greatestSums, at, sum);
  put<u32>(greatest, at, group);
  return min(n + 1, MOST_GREATEST);
}

function sortGreatest(n: u32): void {
  for (let i: u32 = 1; i < n; i++) {
    const group = get<u32>(greatest, i);
    let at = i;
    for (; at && get<u32>(greatest, at - 1) > group; at--) put<u32>(greatest, at, get<u32>(greatest, at - 1));
    put<u32>(greatest, at, group);
  }
}
