// Splits a hypergraph into the parts that have no node in common, the largest first.

import type { LayoutEdge } from './layout.ts';

export interface Part {
  readonly nodes: readonly number[];
  readonly edges: readonly LayoutEdge[];
}

export function partsOf(nodes: readonly number[], edges: readonly LayoutEdge[]): Part[] {
  const parent = new Map(nodes.map((node) => [node, node]));
  const rootOf = (node: number): number => {
    let root = node;
    while (parent.get(root)! !== root) root = parent.get(root)!;
    for (let at = node; at !== root; ) {
      const next = parent.get(at)!;
      parent.set(at, root);
      at = next;
    }
    return root;
  };
  for (const { members } of edges) for (const node of members) parent.set(rootOf(node), rootOf(members[0]!));
  const parts = new Map<number, { nodes: number[]; edges: LayoutEdge[] }>();
  for (const node of nodes) {
    const root = rootOf(node);
    const part = parts.get(root) ?? { nodes: [], edges: [] };
    part.nodes.push(node);
    parts.set(root, part);
  }
  for (const edge of edges) parts.get(rootOf(edge.members[0]!))!.edges.push(edge);
  return [...parts.values()].sort((a, b) => b.nodes.length - a.nodes.length);
}
