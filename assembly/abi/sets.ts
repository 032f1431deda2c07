// The ABI of measures of edges, which are applied to distinct member sets (../README.md, Measures
// of edges).

import { countPairsAgain, sumOverlaps } from '../kernels/overlaps';
import { countSharing } from '../kernels/sharing';
import { windowBytes, windowCores } from '../kernels/windows';
import { adjacencyBits, ZHOU_BLOCK_BYTES, zhouNode } from '../kernels/zhou';
import { zhouPairs } from '../kernels/zhou-pairs';

export const HG_ZHOU_BLOCK_BYTES: u32 = ZHOU_BLOCK_BYTES;

export function hg_graph_matrix(starts: u32, neighbours: u32, n: u32, matrix: u32, rowWords: u32): void {
  adjacencyBits(starts, neighbours, n, matrix, rowWords);
}

export function hg_zhou_node(block: u32, v: u32, from: u32): u32 {
  return zhouNode(block, v, from);
}

export function hg_zhou_pairs(block: u32, m: u32, from: u32, most: u32): u32 {
  return zhouPairs(block, m, from, most);
}

export function hg_sets_overlaps(
  edgeStarts: u32,
  edgeNodes: u32,
  nodeStarts: u32,
  nodeEdges: u32,
  m: u32,
  from: u32,
  most: u32,
  counts: u32,
  met: u32,
  sums: u32,
): u32 {
  return sumOverlaps(edgeStarts, edgeNodes, nodeStarts, nodeEdges, m, from, most, counts, met, sums);
}

export function hg_sets_pairs_again(
  edgeStarts: u32,
  edgeNodes: u32,
  m: u32,
  from: u32,
  most: u32,
  starts: u32,
  neighbours: u32,
  counts: u32,
  out: u32,
): u32 {
  return countPairsAgain(edgeStarts, edgeNodes, m, from, most, starts, neighbours, counts, out);
}

export function hg_sets_sharing(
  edgeStarts: u32,
  edgeNodes: u32,
  nodeStarts: u32,
  nodeEdges: u32,
  v: u32,
  from: u32,
  words: u32,
  slots: u32,
  bits: u32,
): f64 {
  return countSharing(edgeStarts, edgeNodes, nodeStarts, nodeEdges, v, from, words, slots, bits);
}

export function hg_window_bytes(incidences: u32, pairs: u32): u32 {
  return windowBytes(incidences, pairs);
}

export function hg_window_cores(
  edgeStarts: u32,
  edgeNodes: u32,
  from: u32,
  to: u32,
  slots: u32,
  members: u32,
  cores: u32,
  scratch: u32,
): u32 {
  return windowCores(edgeStarts, edgeNodes, from, to, slots, members, cores, scratch);
}
