// The ABI of graphs. Its functions build the graph of rows that share items, and find connected
// components of rows and of graphs.

import { bitmapBytes, OVERLAP_BLOCK_BYTES, overlapRows } from '../csr/overlap';
import { itemsOfPairs, PAIRS_BLOCK_BYTES, pairItems } from '../csr/pairs';
import { shifted } from '../csr/rows';
import { joinArcs, joinItems, labelRoots, separate } from '../kernels/components';
import { joinByCounts, joinByPairs } from '../kernels/shared-items';
import { joinBySubsets, SUBSETS_BLOCK_BYTES, SUBSETS_FRAME_BYTES } from '../kernels/subsets';

export const HG_OVERLAP_BLOCK_BYTES: u32 = OVERLAP_BLOCK_BYTES;
export const HG_PAIRS_BLOCK_BYTES: u32 = PAIRS_BLOCK_BYTES;
export const HG_SUBSETS_BLOCK_BYTES: u32 = SUBSETS_BLOCK_BYTES;
export const HG_SUBSETS_FRAME_BYTES: u32 = SUBSETS_FRAME_BYTES;

export function hg_graph_bitmap_bytes(rows: u32): u32 {
  return bitmapBytes(rows);
}

export function hg_graph_overlaps(block: u32, from: u32, work: u32, neighbours: u32, shared: u32, capacity: u32): i32 {
  return overlapRows(block, from, work, neighbours, shared, capacity);
}

export function hg_graph_pairs(block: u32, from: u32, work: u32): u32 {
  return pairItems(block, from, work);
}

export function hg_graph_pair_counts(counts: u32, n: u32): void {
  itemsOfPairs(counts, n);
}

export function hg_graph_shift(values: u32, n: u32, by: u32, out: u32): void {
  shifted(values, n, by, out);
}

export function hg_components_start(parents: u32, from: u32, to: u32): void {
  separate(parents, from, to);
}

export function hg_components_label(parents: u32, from: u32, to: u32): void {
  labelRoots(parents, from, to);
}

export function hg_components_items(itemStarts: u32, itemRows: u32, from: u32, to: u32, parents: u32): void {
  joinItems(itemStarts, itemRows, from, to, parents);
}

export function hg_components_arcs(starts: u32, neighbours: u32, from: u32, to: u32, parents: u32): void {
  joinArcs(starts, neighbours, from, to, parents);
}

export function hg_components_counts(
  rowStarts: u32,
  rowItems: u32,
  itemStarts: u32,
  itemRows: u32,
  rows: u32,
  from: u32,
  least: u32,
  work: u32,
  cursors: u32,
  counts: u32,
  met: u32,
  parents: u32,
): u32 {
  return joinByCounts(
    rowStarts,
    rowItems,
    itemStarts,
    itemRows,
    rows,
    from,
    least,
    work,
    cursors,
    counts,
    met,
    parents,
  );
}

export function hg_components_pairs(
  rowStarts: u32,
  rowItems: u32,
  itemStarts: u32,
  itemRows: u32,
  items: u32,
  from: u32,
  work: u32,
  cursors: u32,
  marks: u32,
  parents: u32,
): u32 {
  return joinByPairs(rowStarts, rowItems, itemStarts, itemRows, items, from, work, cursors, marks, parents);
}

export function hg_components_subsets(block: u32, work: u32): i32 {
  return joinBySubsets(block, work);
}
