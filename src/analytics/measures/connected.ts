// Decides whether the edges connect all nodes.

import type { Incidence, Operator, Steps } from '../../core/index.ts';

/**
 * Returns whether the edges connect all nodes. Edges of weight 0 connect nothing. `weights`:
 * f64[edges]; omitted if the edges are unweighted.
 */
export function* isConnected(sets: Incidence, operator: Operator, weights?: Float64Array): Steps<boolean> {
  if (operator.degrees.includes(0)) return false;
  if (weights?.includes(0) === true) return isJoined(sets, weights);
  const labels = yield* sets.nodeComponents(1);
  return labels.every((label) => label === 0);
}

/**
 * Returns whether the edges of non-zero weight connect all nodes (union-find with path halving).
 */
function isJoined({ core, nodes, edges, edgeStarts, edgeNodes }: Incidence, weights: Float64Array): boolean {
  const { words } = core.memory;
  const parents = Uint32Array.from({ length: nodes }, (_, node) => node);
  const rootOf = (node: number): number => {
    let at = node;
    while (parents[at] !== at) {
      parents[at] = parents[parents[at]!]!;
      at = parents[at]!;
    }
    return at;
  };
  let left = nodes;
  for (let e = 0; e < edges; e++) {
    if (weights[e] === 0) continue;
    const begin = edgeNodes / 4 + words[edgeStarts / 4 + e]!;
    const end = edgeNodes / 4 + words[edgeStarts / 4 + e + 1]!;
    const root = rootOf(words[begin]!);
    for (let at = begin + 1; at < end; at++) {
      const other = rootOf(words[at]!);
      if (other === root) continue;
      parents[other] = root;
      left--;
    }
  }
  return left === 1;
}
