// Computes the PageRank of random walks on a hypergraph or its co-member graph.

import type { Steps } from '../../schedule/steps.ts';
import type { Graph } from '../graph.ts';
import type { Incidence } from '../incidence.ts';
import { Scratch } from '../scratch.ts';
import { solve } from './conjugate-gradients.ts';
import { type EdgeWeight, edgeOperator, graphOperator, type Operator } from './operators.ts';

export type Walk = 'hyperedge' | 'clique' | 'clique_count' | 'nonlazy';

export interface PageRankOptions {
  walk: Walk;
  /** Damping factor, the probability of continuing the walk, in (0, 1). */
  alpha: number;
  /** Maximum L1 error. */
  tol: number;
  maxIterations: number;
  weight: EdgeWeight;
}

export interface PageRank {
  /** f64[nodes], sums to 1. All are NaN if the sum of the weights of a node is not finite. */
  scores: Float64Array;
  /**
   * Number of iterations; -1 if `maxIterations` did not suffice, SINGULAR if `alpha` is too near 1
   * for floating-point precision.
   */
  iterations: number;
}

/**
 * Solves x = alpha P^T x + (1 - alpha) / n (Brin and Page 1998; hyperedge walk: Zhou, Huang,
 * Schoelkopf 2006), where P contains the transition probabilities of the walk.
 *
 * All these walks are reversible. Therefore x = D^1/2 y, where y solves the symmetric positive
 * definite system (I - alpha N) y = D^-1/2 b with b = (1 - alpha) / n. Conjugate gradients need
 * about a fifth of the rounds that power iteration needs. The probability at a node that the walk
 * cannot leave is spread evenly over all nodes. This multiplies b by a factor, which the final
 * scaling to a sum of 1 removes. `graph`: the co-member graph, which only the walk `clique` needs.
 */
export function* pageRank(incidence: Incidence, graph: Graph | null, options: PageRankOptions): Steps<PageRank> {
  const scratch = new Scratch(incidence.core);
  try {
    return yield* ranked(operatorOf(incidence, graph, options, scratch), options, scratch);
  } finally {
    scratch.free();
  }
}

function operatorOf(
  incidence: Incidence,
  graph: Graph | null,
  { walk, weight }: PageRankOptions,
  scratch: Scratch,
): Operator {
  switch (walk) {
    case 'clique':
      return graphOperator(graph!, false, scratch);
    case 'hyperedge':
      return edgeOperator(incidence, 'lazy', weight, scratch);
    case 'clique_count':
      return edgeOperator(incidence, 'pairs', weight, scratch);
    case 'nonlazy':
      return edgeOperator(incidence, 'leaving', weight, scratch);
  }
}

function* ranked(
  operator: Operator,
  { alpha, tol, maxIterations }: PageRankOptions,
  scratch: Scratch,
): Steps<PageRank> {
  const { core, size, degrees } = operator;
  if (size === 0) return { scores: new Float64Array(0), iterations: 0 };
  // If the sum of the weights of a node is not finite, there is no walk.
  if (!degrees.every(Number.isFinite)) return { scores: new Float64Array(size).fill(Number.NaN), iterations: 0 };
  const vector = () => scratch.zeroed(size * 8);
  const [b, y, roots] = [vector(), vector(), vector()];
  const work = [vector(), vector(), vector()] as const;
  // A node with D = 0 is isolated, and any scale is correct for it.
  const scale = degrees.map((degree) => (degree > 0 ? Math.sqrt(degree) : 1));
  core.memory.numbers.set(scale, roots / 8);
  core.memory.numbers.set(
    scale.map((root) => (1 - alpha) / size / root),
    b / 8,
  );
  const system = {
    core,
    size,
    work,
    *apply(x: number, out: number): Steps<void> {
      yield* operator.apply(x, out);
      core.exports.hg_vector_mix(out, -alpha, x, 1, size);
    },
    // The L1 error is at most 1 / (1 - alpha) times the residual of the equation.
    isSmall: (residual: number) => core.exports.hg_vector_norm(residual, roots, size) <= tol * (1 - alpha),
  };
  const iterations = yield* solve(system, b, y, maxIterations);
  const scores = core.memory.numbers.slice(y / 8, y / 8 + size);
  let sum = 0;
  for (let v = 0; v < size; v++) sum += scores[v]! *= scale[v]!;
  for (let v = 0; v < size; v++) scores[v]! /= sum;
  return { scores, iterations };
}
