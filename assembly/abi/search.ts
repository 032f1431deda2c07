// The ABI of searches in a graph. A graph consists of `starts` u32[n + 1] and `neighbours` u32. It
// contains each edge as two arcs and has no loops (README.md, Graphs).

import { searchMany } from '../kernels/many-sources';
import { accumulateBetweenness, search } from '../kernels/search';

export function hg_graph_search(starts: u32, neighbours: u32, n: u32, source: u32, distances: u32, queue: u32): u32 {
  return search(starts, neighbours, n, source, distances, queue);
}

export function hg_graph_search_many(
  starts: u32,
  neighbours: u32,
  n: u32,
  sources: u32,
  k: u32,
  reached: u32,
  sums: u32,
  inverses: u32,
  far: u32,
  scratch: u32,
): void {
  searchMany(starts, neighbours, n, sources, k, reached, sums, inverses, far, scratch);
}

export function hg_graph_betweenness(
  starts: u32,
  neighbours: u32,
  n: u32,
  from: u32,
  to: u32,
  reach: u32,
  sums: u32,
  scratch: u32,
): void {
  accumulateBetweenness(starts, neighbours, n, from, to, reach, sums, scratch);
}
