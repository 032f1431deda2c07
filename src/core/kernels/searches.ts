// Searches breadth-first from the vertices of a graph: computes distances, the sums for closeness
// and harmonic centrality, and betweenness.

import { type Steps, slices, within } from '../../schedule/steps.ts';
import type { Graph } from '../graph.ts';
import { Scratch } from '../scratch.ts';
import { components } from './components.ts';

/** Distance of an unreachable vertex. */
export const UNREACHED = 0xffff_ffff;
/** Number of sources per combined search. */
export const SOURCES_AT_ONCE = 256;

/** Number of arcs per step, which takes about 5 ms. */
const STEP_ARCS = 2_000_000;

/**
 * Result of the search from one vertex: distances u32[vertices], and the vertices that it reached,
 * from the source itself to a farthest vertex.
 */
export interface Search {
  distances: Uint32Array;
  order: Uint32Array;
}

/** Holds the buffers for consecutive searches. Call `free()` at the end. */
export class Searcher {
  readonly #graph: Graph;
  readonly #scratch: Scratch;
  readonly #distances: number;
  readonly #queue: number;

  constructor(graph: Graph) {
    this.#graph = graph;
    this.#scratch = new Scratch(graph.core);
    try {
      this.#distances = this.#scratch.take(graph.vertices * 4);
      this.#queue = this.#scratch.take(graph.vertices * 4);
    } catch (error) {
      this.#scratch.free();
      throw error;
    }
  }

  /** Searches from `source`. The returned views are valid until the next call into the core. */
  from(source: number): Search {
    const { core, starts, neighbours, vertices } = this.#graph;
    const reached =
      core.exports.hg_graph_search(starts, neighbours, vertices, source, this.#distances, this.#queue) >>> 0;
    const { words } = core.memory;
    return {
      distances: words.subarray(this.#distances / 4, this.#distances / 4 + vertices),
      order: words.subarray(this.#queue / 4, this.#queue / 4 + reached),
    };
  }

  free(): void {
    this.#scratch.free();
  }
}

/** Returns u32[vertices]: distances from `source` in hops; UNREACHED for unreachable vertices. */
export function distancesFrom(graph: Graph, source: number): Uint32Array {
  const searcher = new Searcher(graph);
  try {
    return searcher.from(source).distances.slice();
  } finally {
    searcher.free();
  }
}

/**
 * Searches from every vertex in turn, and calls `visit` for each search. The views are valid only
 * during the call.
 */
export function* searchFromAll(graph: Graph, visit: (source: number, search: Search) => void): Steps<void> {
  const searcher = new Searcher(graph);
  try {
    const slice = Math.max(1, Math.floor(STEP_ARCS / (graph.arcs + graph.vertices + 1)));
    yield* slices(graph.vertices, slice, (from, to) => {
      for (let source = from; source < to; source++) visit(source, searcher.from(source));
    });
  } finally {
    searcher.free();
  }
}

/** Sums over the distances of every vertex. Each array has one entry per vertex. */
export interface DistanceSums {
  /** Number of other vertices that the vertex reaches. */
  reached: Uint32Array;
  /** Sum of the distances to these vertices. */
  sums: Float64Array;
  /** Sum of 1 / distance over these vertices. */
  inverses: Float64Array;
}

/**
 * Computes the sums for all vertices, from 256 sources at a time (multi-source BFS, Then et al.
 * 2014). Each step is one such search.
 */
export function* distanceSums(graph: Graph): Steps<DistanceSums> {
  const { core, starts, neighbours, vertices } = graph;
  const scratch = new Scratch(core);
  try {
    const sources = scratch.take(SOURCES_AT_ONCE * 4);
    const reached = scratch.zeroed(vertices * 4);
    const sums = scratch.zeroed(vertices * 8);
    const inverses = scratch.zeroed(vertices * 8);
    const work = scratch.take(96 * vertices + 96);
    yield* slices(vertices, SOURCES_AT_ONCE, (from, to) => {
      for (let i = from; i < to; i++) core.memory.words[sources / 4 + i - from] = i;
      core.exports.hg_graph_search_many(
        starts,
        neighbours,
        vertices,
        sources,
        to - from,
        reached,
        sums,
        inverses,
        0,
        work,
      );
    });
    const { words, numbers } = core.memory;
    return {
      reached: words.slice(reached / 4, reached / 4 + vertices),
      sums: numbers.slice(sums / 8, sums / 8 + vertices),
      inverses: numbers.slice(inverses / 8, inverses / 8 + vertices),
    };
  } finally {
    scratch.free();
  }
}

/**
 * Returns f64[vertices], the betweenness (Brandes 2001), not normalised: each unordered pair of
 * other vertices adds the share of its shortest paths that lead through the vertex.
 */
export function* betweenness(graph: Graph): Steps<Float64Array> {
  const labels = yield* within(components(graph), 0, 0.01);
  const sums = yield* within(betweennessSums(graph, sizesOf(labels)), 0.01, 1);
  return sums.map((sum) => sum / 2);
}

/**
 * Same as `betweenness`, for a directed graph: each ordered pair of other vertices adds the share
 * of its shortest paths.
 */
export function* directedBetweenness(graph: Graph): Steps<Float64Array> {
  const reach = new Uint32Array(graph.vertices);
  const search = searchFromAll(graph, (source, { order }) => {
    reach[source] = order.length;
  });
  yield* within(search, 0, 0.3);
  return yield* within(betweennessSums(graph, reach), 0.3, 1);
}

/** `reachOf`: how many vertices each vertex reaches, including itself. */
function* betweennessSums(graph: Graph, reachOf: Uint32Array): Steps<Float64Array> {
  const { core, starts, neighbours, vertices, arcs } = graph;
  const scratch = new Scratch(core);
  try {
    const reach = scratch.take(vertices * 4);
    const sums = scratch.zeroed(vertices * 8);
    const work = scratch.take(24 * vertices);
    core.memory.words.set(reachOf, reach / 4);
    const slice = Math.max(1, Math.floor(STEP_ARCS / (2 * arcs + vertices + 1)));
    yield* slices(vertices, slice, (from, to) =>
      core.exports.hg_graph_betweenness(starts, neighbours, vertices, from, to, reach, sums, work),
    );
    return core.memory.numbers.slice(sums / 8, sums / 8 + vertices);
  } finally {
    scratch.free();
  }
}

/** Returns u32[vertices]: the size of each vertex's component. */
function sizesOf(labels: Uint32Array): Uint32Array {
  const counts = new Uint32Array(labels.length);
  for (const label of labels) counts[label]!++;
  return labels.map((label) => counts[label]!);
}
