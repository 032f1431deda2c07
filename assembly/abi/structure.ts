// The ABI of triangles, core numbers and cliques of a graph (../README.md, Triangles, cores,
// cliques).

import { beginClique, cliqueBytes, goOnClique } from '../kernels/cliques';
import { coreNumbers } from '../kernels/cores';
import { orient, triangles } from '../kernels/triangles';

export function hg_graph_orient(starts: u32, neighbours: u32, n: u32, outStarts: u32, outs: u32): void {
  orient(starts, neighbours, n, outStarts, outs);
}

export function hg_graph_triangles(
  outStarts: u32,
  outs: u32,
  n: u32,
  from: u32,
  most: u32,
  marks: u32,
  counts: u32,
): u32 {
  return triangles(outStarts, outs, n, from, most, marks, counts);
}

export function hg_graph_cores(starts: u32, neighbours: u32, n: u32, cores: u32, order: u32, scratch: u32): u32 {
  return coreNumbers(starts, neighbours, n, cores, order, scratch);
}

export function hg_clique_bytes(k: u32): u32 {
  return cliqueBytes(k);
}

export function hg_clique_begin(starts: u32, neighbours: u32, candidates: u32, k: u32, marks: u32, search: u32): void {
  beginClique(starts, neighbours, candidates, k, marks, search);
}

export function hg_clique_go_on(search: u32, capacity: u32, best: u32, most: u32): u32 {
  return goOnClique(search, capacity, best, most);
}
