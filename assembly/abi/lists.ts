// The ABI of row lists and node filters.

import { filtersProbe, filterTest } from '../fmi/filter';
import { difference32, intersect32, union32 } from '../fmi/sets';
import { put } from '../memory/cells';
import { reconcile } from '../reconcile/reconcile';
import { boundOf } from './bound';

export function hg_rows_range(from: u32, to: u32, out: u32): void {
  for (let row = from; row < to; row++) put<u32>(out, row - from, row);
}

export function hg_rows_intersect(a: u32, na: u32, b: u32, nb: u32, out: u32): u32 {
  return intersect32(a, na, b, nb, out);
}

export function hg_rows_union(a: u32, na: u32, b: u32, nb: u32, out: u32): u32 {
  return union32(a, na, b, nb, out);
}

export function hg_rows_difference(a: u32, na: u32, b: u32, nb: u32, out: u32): u32 {
  return difference32(a, na, b, nb, out);
}

export function hg_rows_reconcile(rows: u32, n: u32, dead: u32, deaths: u32, m: u32, lsn: f64): u32 {
  return reconcile(rows, n, dead, deaths, m, lsn);
}

export function hg_filter_test(ptr: u32, bytes: u32, node: f64): u32 {
  return u32(filterTest(ptr, bytes, boundOf(node)));
}

export function hg_filters_probe(directory: u32, count: u32, nodes: u32, k: u32, out: u32): u32 {
  return filtersProbe(directory, count, nodes, k, out);
}
