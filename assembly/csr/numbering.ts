// Gives the ordinals 0, 1, 2, ... to the nodes of a hypergraph, in ascending order of node id.

import { cell, get, put } from '../memory/cells';

/**
 * Size in bytes of one entry of the node table. An entry covers 64 consecutive ids: {u64 bits, one
 * per id, set if the id is a node; u32 ordinal of the first of these nodes; u32 unused}.
 */
export const NODE_ENTRY_BYTES: u32 = 16;
/**
 * 2^52. When it is added to a smaller non-negative integer, the low 52 bits of the resulting f64
 * are that integer.
 */
const TWO_52: f64 = 4503599627370496.0;

function offsetOf(id: f64, least: f64): u64 {
  return reinterpret<u64>(id - least + TWO_52) & 0xfffffffffffff;
}

/** Marks n ids (f64, all at least `least`) in the table. */
export function markNodes(ids: usize, n: u32, least: f64, table: usize): void {
  for (const end = cell<u64>(ids, n); ids < end; ids += 8) {
    const offset = offsetOf(load<f64>(ids), least);
    const entry = table + ((<usize>(offset >> 6)) << 4);
    store<u64>(entry, load<u64>(entry) | ((<u64>1) << (offset & 63)));
  }
}

/**
 * Writes the first ordinal into each table entry in [from, to). `first` is the ordinal of the first
 * node in these entries; returns the ordinal after the last node.
 */
export function rankNodes(table: usize, from: u32, to: u32, first: u32): u32 {
  for (let i = from; i < to; i++) {
    const entry = table + ((<usize>i) << 4);
    store<u32>(entry, first, 8);
    first += <u32>popcnt(load<u64>(entry));
  }
  return first;
}

/** Writes the ids of the nodes in entries [from, to) at their ordinals in `out` (f64). */
export function listNodes(table: usize, from: u32, to: u32, least: f64, out: usize): void {
  for (let i = from; i < to; i++) {
    const entry = table + ((<usize>i) << 4);
    let at = cell<u64>(out, load<u32>(entry, 8));
    for (let bits = load<u64>(entry); bits; bits &= bits - 1) {
      store<f64>(at, least + <f64>(((<u64>i) << 6) + ctz(bits)));
      at += 8;
    }
  }
}

/** Writes the ordinals (u32) of n ids. All the ids must have been marked. */
export function mapNodes(ids: usize, n: u32, least: f64, table: usize, out: usize): void {
  for (const end = cell<u64>(ids, n); ids < end; ids += 8) {
    const offset = offsetOf(load<f64>(ids), least);
    const entry = table + ((<usize>(offset >> 6)) << 4);
    const below = load<u64>(entry) & (((<u64>1) << (offset & 63)) - 1);
    store<u32>(out, load<u32>(entry, 8) + <u32>popcnt(below));
    out += 4;
  }
}

/**
 * Writes `id - least` of each id to `keys` (u64), and `first`, `first + 1`, ... to `places` (u32).
 * If ids are spread too widely for a node table, they are sorted instead; this is the first step.
 */
export function keysOfNodes(ids: usize, n: u32, least: f64, first: u32, keys: usize, places: usize): void {
  const base = <i64>least;
  for (let i: u32 = 0; i < n; i++) {
    put<i64>(keys, i, <i64>get<f64>(ids, i) - base);
    put<u32>(places, i, first + i);
  }
}

/**
 * Gives ordinals to the sorted keys [from, to): writes the ordinal of each key to `ordinals` (u32)
 * at the key's place, and each new id to `nodeIds` (f64). `known` is the number of distinct keys
 * before `from`; returns the number of distinct keys before `to`.
 */
export function assignNodes(
  keys: usize,
  places: usize,
  from: u32,
  to: u32,
  known: u32,
  least: f64,
  nodeIds: usize,
  ordinals: usize,
): u32 {
  const base = <i64>least;
  for (let i = from; i < to; i++) {
    const key = get<i64>(keys, i);
    if (i == 0 || key != get<i64>(keys, i - 1)) {
      put<f64>(nodeIds, known, <f64>(key + base));
      known++;
    }
    put<u32>(ordinals, get<u32>(places, i), known - 1);
  }
  return known;
}
