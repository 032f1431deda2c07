// The ABI of incidences. Its functions give ordinals to the nodes of a hypergraph, build its CSR
// from edges to nodes and from nodes to edges, and merge edges that have equal member sets.

import { countDigits, placeDigits } from '../csr/digits';
import { groupRows, orderSets, totalSets } from '../csr/distinct';
import {
  assignNodes,
  keysOfNodes,
  listNodes,
  mapNodes,
  markNodes,
  NODE_ENTRY_BYTES,
  rankNodes,
} from '../csr/numbering';
import { pickNumbers, pickRows, runningSums, tally, transpose } from '../csr/rows';

/** Size in bytes of one entry of the node table. Each entry covers 64 consecutive ids. */
export const HG_NODE_ENTRY_BYTES: u32 = NODE_ENTRY_BYTES;

export function hg_incidence_mark(ids: u32, n: u32, least: f64, table: u32): void {
  markNodes(ids, n, least, table);
}

export function hg_incidence_rank(table: u32, from: u32, to: u32, first: u32): u32 {
  return rankNodes(table, from, to, first);
}

export function hg_incidence_list(table: u32, from: u32, to: u32, least: f64, out: u32): void {
  listNodes(table, from, to, least, out);
}

export function hg_incidence_map(ids: u32, n: u32, least: f64, table: u32, out: u32): void {
  mapNodes(ids, n, least, table, out);
}

export function hg_incidence_keys(ids: u32, n: u32, least: f64, first: u32, keys: u32, places: u32): void {
  keysOfNodes(ids, n, least, first, keys, places);
}

export function hg_incidence_digits(keys: u32, n: u32, shift: u32, counts: u32): void {
  countDigits(keys, n, shift, counts);
}

export function hg_incidence_place(
  keys: u32,
  values: u32,
  n: u32,
  shift: u32,
  cursors: u32,
  toKeys: u32,
  toValues: u32,
): void {
  placeDigits(keys, values, n, shift, cursors, toKeys, toValues);
}

export function hg_incidence_assign(
  keys: u32,
  places: u32,
  from: u32,
  to: u32,
  known: u32,
  least: f64,
  nodeIds: u32,
  ordinals: u32,
): u32 {
  return assignNodes(keys, places, from, to, known, least, nodeIds, ordinals);
}

export function hg_incidence_sums(values: u32, n: u32, first: u32): u32 {
  return runningSums(values, n, first);
}

export function hg_incidence_tally(items: u32, n: u32, counts: u32): void {
  tally(items, n, counts);
}

export function hg_incidence_transpose(starts: u32, items: u32, from: u32, to: u32, cursors: u32, out: u32): void {
  transpose(starts, items, from, to, cursors, out);
}

export function hg_incidence_group(
  starts: u32,
  items: u32,
  ids: u32,
  from: u32,
  to: u32,
  known: u32,
  slots: u32,
  slotBits: u32,
  setOf: u32,
  leaders: u32,
): u32 {
  return groupRows(starts, items, ids, from, to, known, slots, slotBits, setOf, leaders);
}

export function hg_incidence_order(
  setOf: u32,
  leaders: u32,
  starts: u32,
  from: u32,
  to: u32,
  known: u32,
  ordinals: u32,
  rows: u32,
  sizes: u32,
): u32 {
  return orderSets(setOf, leaders, starts, from, to, known, ordinals, rows, sizes);
}

export function hg_incidence_total(
  setOf: u32,
  from: u32,
  to: u32,
  ordinals: u32,
  weights: u32,
  multiplicity: u32,
  toWeights: u32,
  toMultiplicity: u32,
): void {
  totalSets(setOf, from, to, ordinals, weights, multiplicity, toWeights, toMultiplicity);
}

export function hg_incidence_pick(
  starts: u32,
  items: u32,
  list: u32,
  from: u32,
  to: u32,
  toStarts: u32,
  toItems: u32,
): void {
  pickRows(starts, items, list, from, to, toStarts, toItems);
}

export function hg_incidence_pick_numbers(values: u32, list: u32, from: u32, to: u32, out: u32): void {
  pickNumbers(values, list, from, to, out);
}
