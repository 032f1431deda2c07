// The modularity of a hypergraph, implemented directly from its definition (Kaminski et al. 2019).
// For tests only.

import type { PlainEdge } from './run-measure.ts';

export function modularity(
  nodes: readonly number[],
  edges: readonly PlainEdge[],
  params: Record<string, unknown>,
): number {
  const partition = params.partition as Record<number, number>;
  const communities = [...new Set(nodes.map((v) => partition[v]!))];
  const volume = (nodes: readonly number[]) =>
    edges.reduce((sum, { members }) => sum + members.filter((v) => nodes.includes(v)).length, 0);
  const whole = volume(nodes);
  const share = (c: number, d: number): number => {
    if (params.weight === 'strict') return c === d ? 1 : 0;
    if (2 * c <= d) return 0;
    return params.weight === 'majority' ? 1 : c / d;
  };
  const choose = (n: number, k: number): number => (k === 0 ? 1 : (choose(n, k - 1) * (n - k + 1)) / k);
  let sum = 0;
  for (const { members } of edges) {
    const d = members.length;
    for (const community of communities) {
      const c = members.filter((v) => partition[v] === community).length;
      sum += share(c, d);
      const p = volume(nodes.filter((v) => partition[v] === community)) / whole;
      for (let k = 1; k <= d; k++) sum -= share(k, d) * choose(d, k) * p ** k * (1 - p) ** (d - k);
    }
  }
  return sum / edges.length;
}
