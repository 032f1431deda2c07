// Random edges for tests of measures, a function that inserts them into a table, and naive measures
// of them.

import type { Table } from '../../src/engine/index.ts';
import { randomFrom } from '../core/support/random.ts';

export interface TestEdge {
  event_ts: number;
  members: number[];
  weight: number | null;
}

/**
 * Returns edges with 1 to 5 members out of `nodes` nodes, at times from 0 to `count` - 1. Some
 * times are equal.
 */
export function randomEdges(seed: number, count: number, nodes: number): TestEdge[] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, () => {
    const members = Array.from({ length: 1 + random.below(5) }, () => random.below(nodes) - 3);
    return {
      event_ts: random.below(count),
      members: [...new Set(members)].sort((a, b) => a - b),
      weight: random.below(4) === 0 ? null : random.below(9) / 2,
    };
  });
}

export async function insertAll(table: Table, edges: readonly TestEdge[]): Promise<void> {
  const bulk = table.bulk();
  for (const { event_ts, members, weight } of edges) bulk.add({ event_ts, members, properties: { weight } });
  await bulk.commit();
}

/**
 * Returns, for each node, the sum of the weights of the edges that contain it; null counts as 1.
 */
export function naiveStrengths(edges: readonly TestEdge[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { members, weight } of edges) for (const node of members) sums[node] = (sums[node] ?? 0) + (weight ?? 1);
  return sums;
}

/** Returns [u, v, number of edges that contain both], ordered by the ids. */
export function naivePairs(edges: readonly TestEdge[]): number[][] {
  const counts = new Map<string, number>();
  for (const { members } of edges)
    for (const u of members)
      for (const v of members) if (u < v) counts.set(`${u} ${v}`, (counts.get(`${u} ${v}`) ?? 0) + 1);
  const triples = [...counts].map(([pair, count]) => [...pair.split(' ').map(Number), count]);
  return triples.sort((a, b) => a[0]! - b[0]! || a[1]! - b[1]!);
}

/** Returns the number of edges in each bucket, in time order. */
export function naiveActivity(edges: readonly TestEdge[], bucketSeconds: number): { ts: number; count: number }[] {
  const counts = new Map<number, number>();
  for (const { event_ts } of edges) {
    const ts = Math.floor(event_ts / bucketSeconds) * bucketSeconds;
    counts.set(ts, (counts.get(ts) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => a[0] - b[0]).map(([ts, count]) => ({ ts, count }));
}
