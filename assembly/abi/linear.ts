// The ABI of vector operations, and of products of a vector with an operator of a hypergraph or
// graph (../README.md, Operators and vectors).

import { gatherEdges, gatherNeighbours, gatherNodes } from '../kernels/operators';
import { dot, mix, multiply, weightedNorm } from '../kernels/vectors';

export function hg_product_edges(
  edgeStarts: u32,
  edgeNodes: u32,
  from: u32,
  to: u32,
  rates: u32,
  x: u32,
  flows: u32,
): void {
  gatherEdges(edgeStarts, edgeNodes, from, to, rates, x, flows);
}

export function hg_product_nodes(
  nodeStarts: u32,
  nodeEdges: u32,
  from: u32,
  to: u32,
  flows: u32,
  scales: u32,
  own: u32,
  x: u32,
  out: u32,
): void {
  gatherNodes(nodeStarts, nodeEdges, from, to, flows, scales, own, x, out);
}

export function hg_product_neighbours(
  starts: u32,
  neighbours: u32,
  counts: u32,
  from: u32,
  to: u32,
  scales: u32,
  x: u32,
  out: u32,
): void {
  gatherNeighbours(starts, neighbours, counts, from, to, scales, x, out);
}

export function hg_vector_dot(a: u32, b: u32, n: u32): f64 {
  return dot(a, b, n);
}

export function hg_vector_mix(y: u32, keep: f64, x: u32, factor: f64, n: u32): void {
  mix(y, keep, x, factor, n);
}

export function hg_vector_multiply(a: u32, b: u32, out: u32, n: u32): void {
  multiply(a, b, out, n);
}

export function hg_vector_norm(a: u32, weights: u32, n: u32): f64 {
  return weightedNorm(a, weights, n);
}
