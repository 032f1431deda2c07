// A seeded stream of edges in the shape of stackexchange-mix: skewed degrees, small sets, times sparse over years, ties.

import { randomFrom } from '../test/core/support/random.ts';
import type { Edge } from './dataset.ts';

/** Sizes of stackexchange-mix: share of the edges with 1, 2, 3, ... members, summed up. */
const SIZE_SHARES = [0.35, 0.65, 0.85, 0.95, 0.99, 1];
const SECONDS_AN_EDGE = 212;
/** Nodes an edge: 130,260 for 1,286,239. */
const NODE_SHARE = 0.1;

export function syntheticEdges(count: number, seed: number): Edge[] {
  const random = randomFrom(seed);
  const nodes = Math.max(20, Math.round(count * NODE_SHARE));
  // A share of the hubs grows with the cube of a uniform draw: the first hundredth of the nodes takes a fifth of all places.
  const node = () => Math.floor(nodes * random.unit() ** 3);
  const edges: Edge[] = [];
  let time = 0;
  for (let i = 0; i < count; i++) {
    const gap = random.unit();
    if (gap > 0.04) time += Math.ceil(-Math.log(gap) * SECONDS_AN_EDGE);
    const draw = random.unit();
    const size = 1 + SIZE_SHARES.findIndex((share) => draw < share);
    const members = new Set<number>();
    while (members.size < size) members.add(node());
    edges.push({ event_ts: time, members: [...members].sort((a, b) => a - b) });
  }
  return edges;
}
