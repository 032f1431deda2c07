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

import { element, get, put } from '../memory/cells';
import { GROUP_COLUMN_BYTES, MOST_IN_COLUMN } from './layout';
import { ordered, P_BOUND, P_GROUPS, P_WEIGHT, Q_AVERAGE, Q_CLASSES, Q_FLOOR, Q_SCORED, Q_WIDTH } from './query';
import { limitOf, normsFor } from './scores';

/** By what factor the average may rise until bounds must be made anew, and how far it may fall. */
const ABOVE: f64 = 1.02;
const BELOW: f64 = 0.9;
const MOST_BOUND: u32 = 255;
/** Factor below the rounding errors of sums of 256 numbers of 32 bits. */
const SLACK: f64 = 1 - 1e-4;

const norms: usize = memory.data(8 * 256, 16);

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
 * are. Cost: 1 division per document that has the word.
 */
export function makeBounds(q: usize, column: usize, bounds: usize, documents: u32): f64 {
  const average = load<f64>(q + Q_AVERAGE) * ABOVE;
  normsFor(average, load<u32>(q + Q_WIDTH), norms);
  const classes = <usize>load<u32>(q + Q_CLASSES);
  const groups = groupsIn(documents);
  for (let group: u32 = 0; group < groups; group++) {
    const from = element(column, group, GROUP_COLUMN_BYTES);
    let greatest: f64 = 0;
    for (let i: u32 = 0; i < 32; i++) {
      const frequency = (<u32>get<u8>(from, i & 15) >> ((i & 16) >> 2)) & 15;
      if (!frequency) continue;
      const norm = get<f64>(norms, load<u8>(classes + <usize>((group << 5) + i)));
      greatest = max(greatest, frequency == MOST_IN_COLUMN ? 1 : <f64>frequency / (<f64>frequency + norm));
    }
    put<u8>(bounds, group, <u8>(greatest > 0 ? min(MOST_BOUND, <u32>(greatest * MOST_BOUND) + 1) : 0));
  }
  return average;
}

/**
 * Returns a bit for each group of the window [row, end], at most 64, from that of `row` on: whether
 * a document in it may be among the best. The bounds of the parts in the window are known. Cost:
 * 0.3 ns per group and part.
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
  const least = f32x4.splat(<f32>(wanted * SLACK));
  let left: u64 = 0;
  for (let group: u32 = 0; group < groups; group += 8) {
    let first = f32x4.splat(0);
    let second = f32x4.splat(0);
    for (let i: u32 = 0; i < n; i++) {
      const part = ordered(q, i);
      const bounds = <usize>load<u32>(part + P_GROUPS);
      if (!bounds) continue;
      const eight = v128.load8x8_u(bounds + <usize>((row >> 5) + group));
      const unit = f32x4.splat(<f32>(limitOf(load<f64>(part + P_WEIGHT)) / <f64>MOST_BOUND));
      first = f32x4.add(first, f32x4.mul(unit, f32x4.convert_i32x4_u(i32x4.extend_low_i16x8_u(eight))));
      second = f32x4.add(second, f32x4.mul(unit, f32x4.convert_i32x4_u(i32x4.extend_high_i16x8_u(eight))));
    }
    const eight = <u32>i32x4.bitmask(f32x4.ge(first, least)) | ((<u32>i32x4.bitmask(f32x4.ge(second, least))) << 4);
    left |= (<u64>eight) << (<u64>group);
  }
  return left & all;
}
