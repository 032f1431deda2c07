// Chooses colours for hulls, so that edges with common nodes have different colours as far as
// possible.

import type { DrawnEdge } from './graph-model.ts';

/** Number of hues in the style sheet; both themes define them. */
export const HUES = 6;

/**
 * Returns hues by the key of the edge. Edges with two members have none, because they are drawn as
 * lines.
 */
export function huesOf(edges: readonly DrawnEdge[]): Map<string, number> {
  const hues = new Map<string, number>();
  /** How often each hue has been used at a node. */
  const atNode = new Map<number, number[]>();
  const inAll = new Array<number>(HUES).fill(0);
  for (const { key, members } of edges) {
    if (members.length === 2) continue;
    const near = new Array<number>(HUES).fill(0);
    for (const node of members) for (const [hue, count] of (atNode.get(node) ?? []).entries()) near[hue]! += count;
    let best = 0;
    for (let hue = 1; hue < HUES; hue++) {
      if (near[hue]! < near[best]! || (near[hue] === near[best] && inAll[hue]! < inAll[best]!)) best = hue;
    }
    hues.set(key, best);
    inAll[best]! += 1;
    for (const node of members) {
      const counts = atNode.get(node) ?? new Array<number>(HUES).fill(0);
      counts[best]! += 1;
      atNode.set(node, counts);
    }
  }
  return hues;
}
