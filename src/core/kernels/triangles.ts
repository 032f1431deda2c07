// Computes the local clustering of a graph: the share of the pairs of a vertex's neighbours that
// are adjacent to each other.

import type { Steps } from '../../schedule/steps.ts';
import type { Graph } from '../graph.ts';
import { Scratch } from '../scratch.ts';

/** Number of arcs per step, which takes about 5 ms. */
const STEP_ARCS = 2_000_000;

/** Returns f64[vertices]: the number of triangles that contain each vertex. */
export function* triangleCounts(graph: Graph): Steps<Float64Array> {
  const { core, starts, neighbours, vertices, arcs } = graph;
  const scratch = new Scratch(core);
  try {
    const outStarts = scratch.take((vertices + 1) * 4);
    const outs = scratch.take(arcs * 2);
    const marks = scratch.zeroed(vertices * 4);
    const counts = scratch.zeroed(vertices * 8);
    core.exports.hg_graph_orient(starts, neighbours, vertices, outStarts, outs);
    let at = 0;
    while (at < vertices) {
      at = core.exports.hg_graph_triangles(outStarts, outs, vertices, at, STEP_ARCS, marks, counts) >>> 0;
      yield at / vertices;
    }
    return core.memory.numbers.slice(counts / 8, counts / 8 + vertices);
  } finally {
    scratch.free();
  }
}

/**
 * Returns f64[vertices]: the local clustering coefficient (Watts and Strogatz 1998), 0 for vertices
 * with fewer than two neighbours.
 */
export function* localClustering(graph: Graph): Steps<Float64Array> {
  const counts = yield* triangleCounts(graph);
  const { words } = graph.core.memory;
  const starts = graph.starts / 4;
  return counts.map((triangles, v) => {
    const degree = words[starts + v + 1]! - words[starts + v]!;
    return degree < 2 ? 0 : (2 * triangles) / (degree * (degree - 1));
  });
}
