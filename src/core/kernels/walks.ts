// PageRank of random walks on a hypergraph or its co-member graph.

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
  /** f64[nodes], sums to 1; all NaN if the weights of a node have no finite sum. */
  scores: Float64Array;
  /**
   * -1 if not converged after `maxIterations`. SINGULAR if `alpha` is too near 1 for floating-point
   * precision.
   */
  iterations: number;
}

/**
 * Solves x = alpha P^T x + (1 - alpha) / n (Brin and Page 1998; hyperedge walk: Zhou, Huang,
 * Schoelkopf 2006). All these walks are reversible, so x = D^1/2 y where y solves the symmetric
 * positive definite system (I - alpha N) y = D^-1/2 b; conjugate gradients need a fifth of the
 * rounds of power iteration. The probability at a node without any way out is spread evenly, which
 * adds a multiple of b to b; the final scaling accounts for it. `graph`: the co-member graph,
 * needed for the walk `clique` only.
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
  // Weights with a sum beyond the finite numbers define no walk.
  if (!degrees.every(Number.isFinite)) return { scores: new Float64Array(size).fill(Number.NaN), iterations: 0 };
  const vector = () => scratch.zeroed(size * 8);
  const [b, y, roots] = [vector(), vector(), vector()];
  const work = [vector(), vector(), vector()] as const;
  // Where D is 0 the node is isolated, and any scale will do.
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
