// Generates a seeded stream of edges in the shape of stackexchange-mix: skewed degrees, small sets,
// sparse times over years, and ties.

import { randomFrom } from '../test/core/support/random.ts';
import type { Edge } from './dataset.ts';

/** Set sizes in stackexchange-mix: cumulative shares of the edges with 1, 2, 3, ... members. */
const SIZE_SHARES = [0.35, 0.65, 0.85, 0.95, 0.99, 1];
const SECONDS_AN_EDGE = 212;
/** Number of nodes per edge: 130,260 nodes for 1,286,239 edges. */
const NODE_SHARE = 0.1;

export function syntheticEdges(count: number, seed: number): Edge[] {
  const random = randomFrom(seed);
  const nodes = Math.max(20, Math.round(count * NODE_SHARE));
  // The cube of a uniform draw skews the degrees: the first hundredth of the nodes makes up a fifth
  // of all members.
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
