// Computes the core numbers of a graph, and its degeneracy order.

import type { Graph } from '../graph.ts';
import { Scratch } from '../scratch.ts';

export interface Cores {
  /** u32[vertices]: the largest k such that the vertex is in the k-core (Seidman 1983). */
  numbers: Uint32Array;
  /** u32[vertices]: a degeneracy order, which begins with the vertex removed first. */
  order: Uint32Array;
}

/**
 * Computes the core numbers. Cost: linear in vertices and arcs, not divided into steps (Batagelj
 * and Zaversnik 2003).
 */
export function coreNumbers(graph: Graph): Cores {
  const { core, starts, neighbours, vertices } = graph;
  const scratch = new Scratch(core);
  try {
    const numbers = scratch.take(vertices * 4);
    const order = scratch.take(vertices * 4);
    const work = scratch.take(vertices * 8 + 4);
    core.exports.hg_graph_cores(starts, neighbours, vertices, numbers, order, work);
    const { words } = core.memory;
    return {
      numbers: words.slice(numbers / 4, numbers / 4 + vertices),
      order: words.slice(order / 4, order / 4 + vertices),
    };
  } finally {
    scratch.free();
  }
}
