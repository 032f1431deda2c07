// Generates random hypergraphs of many shapes, converts them to columns, and computes expected
// results naively with maps, sets and all pairs.

import type { IncidenceColumns } from '../../../src/core/index.ts';
import { SAFE } from './model.ts';
import { type Random, randomFrom } from './random.ts';

export interface NaiveEdge {
  time: number;
  id: number;
  members: number[];
  /** Null if the edge has no weight. */
  weight: number | null;
}

export interface HypergraphShape {
  name: string;
  edges: number;
  node: (random: Random) => number;
  size: (random: Random) => number;
  /** On average one edge in this many has the same members as an earlier edge. */
  repeats: number;
}

const wide = (random: Random) => Math.floor((random.unit() - 0.5) * 2 * SAFE);

/**
 * The shapes have few or many nodes; small, wide or equal sets; hubs; and ids that are close
 * together or as far apart as possible.
 */
export const SHAPES: readonly HypergraphShape[] = [
  { name: 'empty', edges: 0, node: () => 1, size: () => 1, repeats: 2 },
  { name: 'one singleton', edges: 1, node: () => -SAFE, size: () => 1, repeats: 2 },
  { name: 'one node', edges: 9, node: () => 7, size: () => 1, repeats: 3 },
  { name: 'small dense', edges: 60, node: (r) => r.below(9), size: (r) => 1 + r.below(5), repeats: 3 },
  { name: 'small sparse', edges: 80, node: (r) => r.below(200) - 100, size: (r) => 1 + r.below(4), repeats: 4 },
  {
    name: 'ids at both ends',
    edges: 50,
    node: (r) => [SAFE, -SAFE, 0, -1][r.below(4)]!,
    size: (r) => 1 + r.below(4),
    repeats: 4,
  },
  { name: 'ids anywhere', edges: 120, node: wide, size: (r) => 1 + r.below(6), repeats: 2 },
  {
    name: 'ids anywhere, repeated',
    edges: 150,
    node: (r) => wide(randomFrom(r.below(30))),
    size: (r) => 1 + r.below(5),
    repeats: 5,
  },
  {
    name: 'hubs',
    edges: 200,
    node: (r) => (r.below(3) === 0 ? r.below(3) : 1000 + r.below(300)),
    size: (r) => 2 + r.below(3),
    repeats: 6,
  },
  {
    name: 'up to 255 members',
    edges: 24,
    node: (r) => r.below(400),
    size: (r) => (r.below(3) === 0 ? 3 : 255),
    repeats: 6,
  },
  { name: 'wide', edges: 30, node: (r) => r.below(60), size: (r) => 20 + r.below(20), repeats: 9 },
  { name: 'pairs', edges: 300, node: (r) => r.below(70) * 1000, size: () => 2, repeats: 5 },
];

/**
 * Shapes with small member sets, in which every node has many edges. For these it is cheaper to
 * enumerate pairs and larger subsets of the members than to compare edges.
 */
export const CROWDED: readonly HypergraphShape[] = [
  { name: 'crowded', edges: 300, node: (r) => r.below(16), size: (r) => 1 + r.below(5), repeats: 20 },
  {
    name: 'crowded, far apart',
    edges: 250,
    node: (r) => r.below(6) + 40 * r.below(3),
    size: (r) => 1 + r.below(6),
    repeats: 30,
  },
  {
    name: 'crowded, wider',
    edges: 350,
    node: (r) => r.below(25) + 25 * r.below(2),
    size: (r) => 3 + r.below(6),
    repeats: 30,
  },
  {
    name: 'crowded hubs',
    edges: 400,
    node: (r) => (r.below(2) === 0 ? r.below(4) : 10 + r.below(500)),
    size: (r) => 2 + r.below(5),
    repeats: 30,
  },
];

/** Returns edges in (time, id) order. Ids are distinct and are not in the order of the times. */
export function randomEdges(random: Random, shape: HypergraphShape): NaiveEdge[] {
  const edges: NaiveEdge[] = [];
  const ids = Array.from({ length: shape.edges }, (_, i) => i * 7 + 1);
  for (let i = 0; i < shape.edges; i++) {
    const copied = i > 0 && random.below(shape.repeats) === 0;
    const drawn = copied
      ? edges[random.below(i)]!.members
      : Array.from({ length: shape.size(random) }, () => shape.node(random));
    const weight = random.below(4) === 0 ? null : random.below(1000) / 8 - 3;
    const id = ids.splice(random.below(ids.length), 1)[0]!;
    const members = [...new Set(drawn)].sort((a, b) => a - b).slice(0, 255);
    edges.push({ time: random.below(50) - 25, id, members, weight });
  }
  return edges.sort((a, b) => a.time - b.time || a.id - b.id);
}

export function columnsOf(edges: readonly NaiveEdge[], weighted = true): IncidenceColumns {
  return {
    times: Float64Array.from(edges, (edge) => edge.time),
    ids: Float64Array.from(edges, (edge) => edge.id),
    sizes: Uint32Array.from(edges, (edge) => edge.members.length),
    members: Float64Array.from(edges.flatMap((edge) => edge.members)),
    weights: weighted ? Float64Array.from(edges, (edge) => edge.weight ?? Number.NaN) : null,
  };
}

export interface NaiveSet extends NaiveEdge {
  multiplicity: number;
  /** Sum of the weights of the edges with this member set; null counts as 1. */
  total: number;
}

/**
 * Returns the distinct member sets and, for each edge, the index of its set. A set has the id of
 * its edge with the smallest id, and the sets are in the order of these edges.
 */
export function distinctSets(edges: readonly NaiveEdge[]): { sets: NaiveSet[]; setOf: number[] } {
  const groups = new Map<string, NaiveEdge[]>();
  for (const edge of edges) {
    const key = edge.members.join();
    groups.set(key, [...(groups.get(key) ?? []), edge]);
  }
  const sets = [...groups.values()].map((group) => ({
    ...group.reduce((least, edge) => (edge.id < least.id ? edge : least)),
    multiplicity: group.length,
    total: group.reduce((sum, edge) => sum + (edge.weight ?? 1), 0),
  }));
  sets.sort((a, b) => edges.findIndex((edge) => edge.id === a.id) - edges.findIndex((edge) => edge.id === b.id));
  const numbers = new Map(sets.map((set, index) => [set.members.join(), index]));
  return { sets, setOf: edges.map((edge) => numbers.get(edge.members.join())!) };
}

/** Returns the node ids in ascending order. */
export function nodesOf(edges: readonly NaiveEdge[]): number[] {
  return [...new Set(edges.flatMap((edge) => edge.members))].sort((a, b) => a - b);
}

/** Returns the members of each edge as ordinals, and the edges of each node. */
export function rowsOf(edges: readonly NaiveEdge[]): { edges: number[][]; nodes: number[][] } {
  const nodes = nodesOf(edges);
  const ordinals = new Map(nodes.map((id, index) => [id, index]));
  const rows = edges.map((edge) => edge.members.map((id) => ordinals.get(id)!));
  const columns: number[][] = nodes.map(() => []);
  for (const [edge, members] of rows.entries()) for (const node of members) columns[node]!.push(edge);
  return { edges: rows, nodes: columns };
}

/** Returns [a, b, shared] for all pairs of rows a < b that share at least s items. */
export function sharingPairs(rows: readonly (readonly number[])[], s: number): [number, number, number][] {
  const sets = rows.map((row) => new Set(row));
  return rows.flatMap((row, a) =>
    sets.flatMap((set, b): [number, number, number][] => {
      if (b <= a) return [];
      const shared = row.filter((item) => set.has(item)).length;
      return shared >= s ? [[a, b, shared]] : [];
    }),
  );
}

/**
 * The edges that a seed gives for a shape, and all pairs of rows that share at least one item. A
 * case is computed once for all builds and all s.
 */
export interface NaiveCase {
  edges: NaiveEdge[];
  nodeRows: number;
  nodePairs: [number, number, number][];
  edgePairs: [number, number, number][];
}

const cases = new Map<string, NaiveCase>();

export function naiveCase(shape: HypergraphShape, seed: number): NaiveCase {
  const key = `${shape.name}/${seed}`;
  const known = cases.get(key);
  if (known) return known;
  const edges = randomEdges(randomFrom(seed), shape);
  const rows = rowsOf(edges);
  const nodePairs = sharingPairs(rows.nodes, 1);
  const made = { edges, nodeRows: rows.nodes.length, nodePairs, edgePairs: sharingPairs(rows.edges, 1) };
  cases.set(key, made);
  return made;
}

/**
 * Returns the smallest vertex of each vertex's component, by propagating labels until nothing
 * changes.
 */
export function naiveComponents(vertices: number, pairs: readonly (readonly [number, number, number])[]): number[] {
  const labels = Array.from({ length: vertices }, (_, vertex) => vertex);
  for (let changed = true; changed; ) {
    changed = false;
    for (const [a, b] of pairs) {
      const least = Math.min(labels[a]!, labels[b]!);
      if (labels[a] !== least || labels[b] !== least) changed = true;
      labels[a] = least;
      labels[b] = least;
    }
  }
  return labels;
}
