// Computes the PageRank of a walk inside edges, from members with one role to members with another.

import type { Incidence, Steps, Walk } from '../../core/index.ts';
import { type DirectedRows, each } from '../directed.ts';

export interface WalkOptions {
  readonly walk: Walk;
  readonly alpha: number;
  /** Greatest L1 error of the scores. */
  readonly tol: number;
  readonly maxIterations: number;
  /** Weights of the edges; undefined: 1. */
  readonly weights: Float64Array | undefined;
}

/**
 * Returns the scores, f64[nodes], and the number of rounds, or -1 if `maxIterations` rounds were
 * not enough. Power iteration: the distance of two rounds bounds the error, because a round shrinks
 * distances by alpha (Page et al. 1999). A node without a way out spreads its score evenly over all
 * nodes.
 */
export function* directedPageRank(
  { nodes }: Incidence,
  rows: DirectedRows,
  options: WalkOptions,
): Steps<{ scores: Float64Array; iterations: number }> {
  const { alpha, tol, maxIterations } = options;
  const step = options.walk === 'clique' || options.walk === 'clique_count' ? neighbourStep : edgeStep;
  const move = step(rows, options);
  let scores = new Float64Array(nodes).fill(1 / nodes);
  for (let round = 1; round <= maxIterations; round++) {
    const next = new Float64Array(nodes);
    let lost = 0;
    for (let node = 0; node < nodes; node++) if (!move(node, scores[node]!, next)) lost += scores[node]!;
    let change = 0;
    for (let node = 0; node < nodes; node++) {
      next[node] = alpha * (next[node]! + lost / nodes) + (1 - alpha) / nodes;
      change += Math.abs(next[node]! - scores[node]!);
    }
    scores = next;
    // Rounding alone makes rounds differ by about this much.
    if (change * alpha <= tol * (1 - alpha) || change < nodes * Number.EPSILON * alpha)
      return { scores, iterations: round };
    yield round / maxIterations;
  }
  return { scores, iterations: -1 };
}

/** Adds the share of a node to the nodes to which it moves; returns false if it has no way out. */
type Move = (node: number, share: number, next: Float64Array) => boolean;

/** An edge of the node in proportion to the weights, then one of its targets. */
function edgeStep({ outEdges, targets, nodes, edges }: DirectedRows, { walk, weights }: WalkOptions): Move {
  const isLazy = walk === 'hyperedge';
  const sizes = Uint32Array.from({ length: edges }, (_, edge) => targets.starts[edge + 1]! - targets.starts[edge]!);
  const isTarget = (edge: number, node: number): boolean => {
    const { starts, items } = targets;
    for (let at = starts[edge]!; at < starts[edge + 1]!; at++) if (items[at] === node) return true;
    return false;
  };
  const choices = (edge: number, node: number) => sizes[edge]! - (!isLazy && isTarget(edge, node) ? 1 : 0);
  const totals = new Float64Array(nodes);
  for (let node = 0; node < nodes; node++)
    each(outEdges, node, (edge) => {
      if (choices(edge, node) > 0) totals[node]! += weights?.[edge] ?? 1;
    });
  return (node, share, next) => {
    const total = totals[node]!;
    if (total === 0) return false;
    each(outEdges, node, (edge) => {
      const count = choices(edge, node);
      if (count === 0) return;
      const part = (share * (weights?.[edge] ?? 1)) / total / count;
      each(targets, edge, (other) => {
        if (isLazy || other !== node) next[other]! += part;
      });
    });
    return true;
  };
}

/** A neighbour: any, or in proportion to the weights of the edges that lead to it. */
function neighbourStep({ outEdges, targets, nodes }: DirectedRows, { walk, weights }: WalkOptions): Move {
  const lists: { readonly to: Uint32Array; readonly shares: Float64Array }[] = [];
  const sums = new Float64Array(nodes);
  for (let node = 0; node < nodes; node++) {
    const found = new Set<number>();
    each(outEdges, node, (edge) => {
      each(targets, edge, (other) => {
        if (other === node) return;
        found.add(other);
        sums[other]! += weights?.[edge] ?? 1;
      });
    });
    const to = Uint32Array.from(found).sort();
    const shares = Float64Array.from(to, (other) => (walk === 'clique' ? 1 : sums[other]!));
    const total = shares.reduce((sum, share) => sum + share, 0);
    for (const other of to) sums[other] = 0;
    lists.push({ to: total > 0 ? to : new Uint32Array(0), shares: shares.map((share) => share / total) });
  }
  return (node, share, next) => {
    const { to, shares } = lists[node]!;
    for (let i = 0; i < to.length; i++) next[to[i]!]! += share * shares[i]!;
    return to.length > 0;
  };
}
