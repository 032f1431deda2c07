// Symmetric operators of a hypergraph or a graph, which are multiplied with vectors in an
// instance's memory.

import type { Steps } from '../../schedule/steps.ts';
import type { Graph } from '../graph.ts';
import type { Incidence } from '../incidence.ts';
import type { Core } from '../load.ts';
import type { Scratch } from '../scratch.ts';

/** Number of incidences or arcs per step, which takes about 5 ms. */
const STEP_ITEMS = 1_000_000;

/**
 * The operator N = D^-1/2 S D^-1/2, where S is symmetric with non-negative weights, and D contains
 * the row sums of S.
 */
export interface Operator {
  readonly core: Core;
  readonly size: number;
  /** Address of f64[size]: D^-1/2, or 0 where the row sum is 0. */
  readonly scales: number;
  /**
   * f64[size], owned by the caller: the row sums D. If they are very large or very small, all are
   * multiplied by a common factor, which does not change N.
   */
  readonly degrees: Float64Array;
  /** Computes out = N x, for addresses of f64[size]. */
  apply(x: number, out: number): Steps<void>;
}

/**
 * How a walk chooses among the members of an edge: `lazy` may stay at its node, with rate w(e) /
 * |e|; `leaving` goes to another member, with rate w(e) / (|e| - 1); `pairs` gives each pair of
 * members the rate w(e).
 */
export type EdgeRate = 'lazy' | 'leaving' | 'pairs';

/**
 * Weight of an edge: `one`: 1; `events`: the number of events that it represents; `given`: its own
 * weight, or the sum of the weights of the events that it represents.
 */
export type EdgeWeight = 'one' | 'events' | 'given';

/**
 * Returns the operator with S[u, v] = sum of the rates of the edges that contain both u and v (for
 * `lazy`: Zhou, Huang, Schoelkopf 2006). Except for `lazy`, the diagonal of S is 0.
 */
export function edgeOperator(incidence: Incidence, rate: EdgeRate, weight: EdgeWeight, scratch: Scratch): Operator {
  const { core, nodes, edges } = incidence;
  const sizes = incidence.copySizes();
  const weights = edgeWeights(incidence, weight);
  const rates = Float64Array.from(sizes, (size, e) => rateOf(rate, size, weights[e]!));
  const { own, degrees } = rowSums(incidence, rates, sizes, rate === 'lazy');
  const factor = tameFactor(degrees);
  for (const values of factor === 1 ? [] : [rates, own, degrees])
    for (let i = 0; i < values.length; i++) values[i]! *= factor;
  const ratesAt = scratch.take(edges * 8);
  const ownAt = rate === 'lazy' ? 0 : scratch.take(nodes * 8);
  const scales = scratch.take(nodes * 8);
  const flows = scratch.take(edges * 8);
  const scaled = scratch.take(nodes * 8);
  const { numbers } = core.memory;
  numbers.set(rates, ratesAt / 8);
  if (ownAt !== 0) numbers.set(own, ownAt / 8);
  numbers.set(degrees.map(inverseRoot), scales / 8);
  return {
    core,
    size: nodes,
    scales,
    degrees,
    *apply(x, out) {
      const { edgeStarts, edgeNodes, nodeStarts, nodeEdges } = incidence;
      const { exports } = core;
      exports.hg_vector_multiply(scales, x, scaled, nodes);
      yield* byItems(incidence, edges, (from, to) =>
        exports.hg_product_edges(edgeStarts, edgeNodes, from, to, ratesAt, scaled, flows),
      );
      yield* byItems(incidence, nodes, (from, to) =>
        exports.hg_product_nodes(nodeStarts, nodeEdges, from, to, flows, scales, ownAt, scaled, out),
      );
    },
  };
}

/**
 * Greatest binary exponent of weights that are not scaled: products of two sums of such weights are
 * finite.
 */
const MOST_EXPONENT = 400;

/**
 * Returns a power of two that scales the largest of some non-negative numbers to at least 2^-400
 * and below 2^401, for computations whose result does not depend on the scale. Returns 1 if the
 * largest number is in this range already, 0 or not finite.
 */
export function tameFactor(values: Float64Array): number {
  let largest = 0;
  for (const value of values) largest = Math.max(largest, value);
  if (largest === 0 || !Number.isFinite(largest)) return 1;
  const exponent = Math.floor(Math.log2(largest));
  return 2 ** (Math.min(MOST_EXPONENT, Math.max(-MOST_EXPONENT, exponent)) - exponent);
}

/** Returns the weights of the edges, f64[edges], owned by the caller. */
export function edgeWeights(incidence: Incidence, weight: EdgeWeight): Float64Array {
  if (weight === 'one') return new Float64Array(incidence.edges).fill(1);
  return weight === 'given' ? incidence.copyWeights() : incidence.copyMultiplicity();
}

function rateOf(rate: EdgeRate, size: number, weight: number): number {
  if (rate === 'lazy') return weight / size;
  if (size < 2) return 0;
  return rate === 'pairs' ? weight : weight / (size - 1);
}

/**
 * Returns `own`, the sum of the rates of each node's edges, and `degrees`, the row sums of S. These
 * include `own`, which is the rate of a node with itself, only if `lazy` is true.
 */
function rowSums(
  incidence: Incidence,
  rates: Float64Array,
  sizes: Uint32Array,
  lazy: boolean,
): { own: Float64Array; degrees: Float64Array } {
  const { core, edges, edgeStarts, edgeNodes, nodes } = incidence;
  const { words } = core.memory;
  const own = new Float64Array(nodes);
  const degrees = new Float64Array(nodes);
  let at = edgeNodes / 4;
  for (let e = 0; e < edges; e++) {
    const end = edgeNodes / 4 + words[edgeStarts / 4 + e + 1]!;
    const rate = rates[e]!;
    const share = rate * (lazy ? sizes[e]! : sizes[e]! - 1);
    for (; at < end; at++) {
      const v = words[at]!;
      own[v]! += rate;
      degrees[v]! += share;
    }
  }
  return { own, degrees };
}

/**
 * Returns the operator in which S is the adjacency matrix of the graph or, if `counted` is true,
 * the matrix of its counts.
 */
export function graphOperator(graph: Graph, counted: boolean, scratch: Scratch): Operator {
  const { core, vertices, starts, neighbours } = graph;
  const counts = counted ? graph.counts : 0;
  const degrees = graphDegrees(graph, counted);
  const scales = scratch.take(vertices * 8);
  const scaled = scratch.take(vertices * 8);
  core.memory.numbers.set(degrees.map(inverseRoot), scales / 8);
  return {
    core,
    size: vertices,
    scales,
    degrees,
    *apply(x, out) {
      core.exports.hg_vector_multiply(scales, x, scaled, vertices);
      yield* byItems({ incidences: graph.arcs }, vertices, (from, to) =>
        core.exports.hg_product_neighbours(starts, neighbours, counts, from, to, scales, scaled, out),
      );
    },
  };
}

/**
 * Returns f64[vertices]: the number of neighbours of each vertex or, if `counted` is true, the sum
 * of the counts of its arcs.
 */
export function graphDegrees(graph: Graph, counted: boolean): Float64Array {
  const { core, vertices } = graph;
  const { words } = core.memory;
  const degrees = new Float64Array(vertices);
  for (let v = 0; v < vertices; v++) {
    const begin = words[graph.starts / 4 + v]!;
    const end = words[graph.starts / 4 + v + 1]!;
    if (!counted) degrees[v] = end - begin;
    else for (let arc = begin; arc < end; arc++) degrees[v]! += words[graph.counts / 4 + arc]!;
  }
  return degrees;
}

function inverseRoot(degree: number): number {
  return degree > 0 ? 1 / Math.sqrt(degree) : 0;
}

function* byItems(
  { incidences }: { incidences: number },
  rows: number,
  work: (from: number, to: number) => void,
): Steps<void> {
  const slice = Math.max(1, Math.ceil((rows * STEP_ITEMS) / (incidences + rows + 1)));
  for (let from = 0; from < rows; from += slice) {
    work(from, Math.min(rows, from + slice));
    if (incidences > STEP_ITEMS) yield 0;
  }
}
