// Finds rows with equal items and collapses them: equal member sets become one.

import { after, cell, get, put } from '../memory/cells';

/** Odd multipliers of a multiplicative hash. No result depends on their values. */
const MIX_A: u64 = 0x9e3779b97f4a7c15;
const MIX_B: u64 = 0xd6e8feb86659fd93;

function hashOf(at: usize, end: usize): u64 {
  let hash = (<u64>(end - at) + 1) * MIX_B;
  for (; at < end; at += 4) {
    hash = (hash ^ <u64>load<u32>(at)) * MIX_A;
    hash ^= hash >> 29;
  }
  return hash * MIX_B;
}

function sameItems(a: usize, aEnd: usize, b: usize, bEnd: usize): bool {
  if (aEnd - a != bEnd - b) return false;
  for (; a < aEnd; a += 4, b += 4) if (load<u32>(a) != load<u32>(b)) return false;
  return true;
}

/**
 * Assigns rows [from, to) to sets of equal rows. `setOf` (u32) receives the set of each row, and
 * `leaders` (u32) receives the row with the least id of each set. Sets are numbered in the order of
 * their first row; `known` is the number of sets found before row `from`. Rows with equal hashes
 * are compared item by item.
 *
 * `slots` is a hash table u64[2^slotBits] of {u32 hash, u32 set + 1}: it must have more slots than
 * there are rows, and must be zero before the first call. Returns the number of sets found before
 * row `to`.
 */
export function groupRows(
  starts: usize,
  items: usize,
  ids: usize,
  from: u32,
  to: u32,
  known: u32,
  slots: usize,
  slotBits: u32,
  setOf: usize,
  leaders: usize,
): u32 {
  const mask: u32 = (1 << slotBits) - 1;
  const shift = <u64>(64 - slotBits);
  for (let row = from; row < to; row++) {
    const at = cell<u32>(items, get<u32>(starts, row));
    const end = cell<u32>(items, after<u32>(starts, row));
    const hash = hashOf(at, end);
    let set: u32 = 0;
    for (let i = <u32>(hash >> shift); ; i = (i + 1) & mask) {
      const slot = cell<u64>(slots, i);
      const found = load<u32>(slot, 4);
      if (!found) {
        set = known++;
        store<u32>(slot, <u32>hash);
        store<u32>(slot, set + 1, 4);
        put<u32>(leaders, set, row);
        break;
      }
      if (load<u32>(slot) != <u32>hash) continue;
      set = found - 1;
      const leader = cell<u32>(leaders, set);
      const start = cell<u32>(starts, load<u32>(leader));
      const other = cell<u32>(items, load<u32>(start));
      if (!sameItems(at, end, other, cell<u32>(items, load<u32>(start, 4)))) continue;
      const id = get<f64>(ids, row);
      if (id < get<f64>(ids, load<u32>(leader))) store<u32>(leader, row);
      break;
    }
    put<u32>(setOf, row, set);
  }
  return known;
}

/**
 * Renumbers sets in the order of their leaders. `ordinals` (u32) receives the new number of each
 * set. For each new number, `rows` (u32) receives the leader and `sizes` (u32) the number of items
 * in this row. `known` is the number of sets whose leader is before row `from`; returns the number
 * of sets whose leader is before row `to`.
 */
export function orderSets(
  setOf: usize,
  leaders: usize,
  starts: usize,
  from: u32,
  to: u32,
  known: u32,
  ordinals: usize,
  rows: usize,
  sizes: usize,
): u32 {
  for (let row = from; row < to; row++) {
    const set = get<u32>(setOf, row);
    if (get<u32>(leaders, set) != row) continue;
    const start = cell<u32>(starts, row);
    put<u32>(ordinals, set, known);
    put<u32>(rows, known, row);
    put<u32>(sizes, known, load<u32>(start, 4) - load<u32>(start));
    known++;
  }
  return known;
}

/**
 * Replaces the set numbers of the rows [from, to) in `setOf` by the new numbers. Adds each row's
 * weight and multiplicity (f64) to those of its set.
 */
export function totalSets(
  setOf: usize,
  from: u32,
  to: u32,
  ordinals: usize,
  weights: usize,
  multiplicity: usize,
  toWeights: usize,
  toMultiplicity: usize,
): void {
  for (let row = from; row < to; row++) {
    const at = cell<u32>(setOf, row);
    const set = get<u32>(ordinals, load<u32>(at));
    store<u32>(at, set);
    const weight = cell<u64>(toWeights, set);
    store<f64>(weight, load<f64>(weight) + get<f64>(weights, row));
    const count = cell<u64>(toMultiplicity, set);
    store<f64>(count, load<f64>(count) + get<f64>(multiplicity, row));
  }
}
