// Functions that compute measures, or parts of them, on plain maps. They are fast enough for files
// with a hundred thousand edges, and used only in tests.

import type { PlainEdge } from '../analytics/run-measure.ts';

/** For each node, the other nodes that share an edge with it. */
export type Neighbours = Map<number, Set<number>>;

export function nodesOf(edges: readonly PlainEdge[]): number[] {
  return [...new Set(edges.flatMap(({ members }) => members))].sort((a, b) => a - b);
}

export function neighboursOf(edges: readonly PlainEdge[]): Neighbours {
  const graph: Neighbours = new Map();
  for (const { members } of edges)
    for (const v of members) {
      const near = graph.get(v) ?? new Set();
      graph.set(v, near);
      for (const w of members) if (v !== w) near.add(w);
    }
  return graph;
}

/** Returns the first edge of each distinct member set. */
export function setsOf(edges: readonly PlainEdge[]): PlainEdge[] {
  const sets = new Map<string, PlainEdge>();
  for (const edge of edges) {
    const text = edge.members.toSorted((a, b) => a - b).join();
    if (!sets.has(text)) sets.set(text, edge);
  }
  return [...sets.values()];
}

/** Returns the edges grouped by floor(time / width). */
export function bucketsOf(edges: readonly PlainEdge[], width: number): Map<number, PlainEdge[]> {
  const buckets = new Map<number, PlainEdge[]>();
  for (const edge of edges) {
    const bucket = Math.floor(edge.event_ts / width);
    const here = buckets.get(bucket);
    if (here === undefined) buckets.set(bucket, [edge]);
    else here.push(edge);
  }
  return buckets;
}

/**
 * Returns the number of edges that contain both nodes of each pair. The key of a pair is its lesser
 * node, a comma and its greater node.
 */
export function pairCounts(edges: readonly PlainEdge[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { members } of edges)
    for (const a of members)
      for (const b of members) if (a < b) counts.set(`${a},${b}`, (counts.get(`${a},${b}`) ?? 0) + 1);
  return counts;
}

/** Returns the distances of the reachable nodes, including the source at 0. */
export function distancesFrom(graph: Neighbours, source: number): Map<number, number> {
  const distances = new Map([[source, 0]]);
  for (const [v, distance] of distances)
    for (const w of graph.get(v)!) if (!distances.has(w)) distances.set(w, distance + 1);
  return distances;
}

/**
 * Returns, for each node, the largest k of a k-core that contains it. Repeatedly removes a node of
 * minimum degree.
 */
export function coreNumbers(graph: Neighbours): Map<number, number> {
  const degrees = new Map([...graph].map(([v, near]) => [v, near.size]));
  const cores = new Map<number, number>();
  let core = 0;
  while (degrees.size > 0) {
    const [v, degree] = [...degrees].reduce((least, each) => (each[1] < least[1] ? each : least));
    core = Math.max(core, degree);
    cores.set(v, core);
    degrees.delete(v);
    for (const w of graph.get(v)!) if (degrees.has(w)) degrees.set(w, degrees.get(w)! - 1);
  }
  return cores;
}

/** Returns the extra overlap of two member sets, as defined by Zhou and Nakhleh (2011). */
export function extraOverlap(graph: Neighbours, a: readonly number[], b: readonly number[]): number {
  const onlyA = a.filter((u) => !b.includes(u));
  const onlyB = b.filter((u) => !a.includes(u));
  if (onlyA.length + onlyB.length === 0) return 0;
  const near = (from: readonly number[], to: readonly number[]) =>
    from.filter((u) => to.some((w) => graph.get(u)!.has(w))).length;
  return (near(onlyA, onlyB) + near(onlyB, onlyA)) / (onlyA.length + onlyB.length);
}

/**
 * Returns the PageRank scores of a walk that picks an edge of the current node, then any node of
 * that edge. Computed by power iteration.
 */
export function walkScores(edges: readonly PlainEdge[], nodes: readonly number[], alpha: number): Map<number, number> {
  const degrees = new Map(nodes.map((v) => [v, 0]));
  for (const { members } of edges) for (const v of members) degrees.set(v, degrees.get(v)! + 1);
  let scores = new Map(nodes.map((v) => [v, 1 / nodes.length]));
  for (let change = 1; change > 1e-13; ) {
    const next = new Map(nodes.map((v) => [v, (1 - alpha) / nodes.length]));
    for (const { members } of edges) {
      let share = 0;
      for (const v of members) share += scores.get(v)! / degrees.get(v)!;
      for (const v of members) next.set(v, next.get(v)! + (alpha * share) / members.length);
    }
    change = 0;
    for (const v of nodes) change += Math.abs(next.get(v)! - scores.get(v)!);
    scores = next;
  }
  return scores;
}
