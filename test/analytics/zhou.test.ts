// Checks zhou_clustering on both sides of its case distinctions: large and small sets, few and many
// pairs, with and without the adjacency bit matrix.

import { describe, expect, it } from 'vitest';
import type { CoreBuild } from '../../src/core/index.ts';
import { extraOverlap, neighboursOf, nodesOf, setsOf } from '../data/plain-measures.ts';
import { Random } from '../support/random.ts';
import { MeasuredEdges, type PlainEdge } from './run-measure.ts';

interface Kind {
  title: string;
  edges: number;
  nodes: number;
  least: number;
  most: number;
  /** Number of further nodes, each in an edge by itself. */
  others?: number;
}

const KINDS: readonly Kind[] = [
  { title: 'small sets of few nodes', edges: 200, nodes: 16, least: 1, most: 6 },
  { title: 'sets around 64 members', edges: 24, nodes: 110, least: 60, most: 68 },
  { title: 'sets of up to 255 members', edges: 12, nodes: 400, least: 100, most: 255 },
  { title: 'more than 64 edges of every node', edges: 300, nodes: 24, least: 2, most: 9 },
  { title: 'few pairs that share two', edges: 150, nodes: 300, least: 2, most: 5 },
  { title: 'more nodes than a matrix takes', edges: 120, nodes: 30, least: 2, most: 7, others: 4200 },
];

function edgesOf({ edges, nodes, least, most, others = 0 }: Kind): PlainEdge[] {
  const random = new Random(5);
  const drawn = Array.from({ length: edges }, () => {
    const size = least + random.below(most - least + 1);
    const members = new Set<number>();
    while (members.size < size) members.add(random.below(nodes));
    return [...members];
  });
  const alone = Array.from({ length: others }, (_, i) => [nodes + i]);
  return [...drawn, ...alone].map((members, i) => ({ id: i + 1, event_ts: i, members }));
}

/** Returns the coefficient of each node by definition. Every build must find the same values. */
function clusteringOf(edges: readonly PlainEdge[]): Map<number, number> {
  const graph = neighboursOf(edges);
  const sets = setsOf(edges);
  const found = new Map<number, number>();
  for (const v of nodesOf(edges)) {
    const mine = sets.filter(({ members }) => members.includes(v));
    let sum = 0;
    for (const [i, a] of mine.entries())
      for (const b of mine.slice(0, i)) sum += extraOverlap(graph, a.members, b.members);
    const pairs = (mine.length * (mine.length - 1)) / 2;
    found.set(v, pairs === 0 ? 0 : sum / pairs);
  }
  expect(found.size).toBe(graph.size);
  return found;
}

const wanted = new Map<Kind, Map<number, number>>();

describe.each(['release', 'plain'] satisfies CoreBuild[])('zhou_clustering, %s', (build) => {
  it.each(KINDS)('is correct for $title', (kind) => {
    const edges = edgesOf(kind);
    const found = new MeasuredEdges(edges, 60, build).run('zhou_clustering').result as Record<string, number>;
    const right = wanted.get(kind) ?? clusteringOf(edges);
    wanted.set(kind, right);
    expect(Object.keys(found)).toHaveLength(right.size);
    for (const [v, value] of right) expect(found[v], `of ${v}`).toBeCloseTo(value, 9);
  });
});
