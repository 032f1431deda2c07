// Computes the diameters of the components of a graph, by bounds instead of a search from every
// vertex (iFUB, Crescenzi et al. 2013).
//
// A double sweep finds a central vertex u: search from a vertex of high degree to find a farthest
// vertex a, search from a to find a farthest vertex b, and take the middle of a shortest path from
// a to b. A search from u then sorts the component into levels by distance from u. Two vertices at
// level i or nearer are at most 2i apart, because they are connected through u. The levels are
// processed from the farthest inwards: the eccentricity (greatest distance) of each vertex is
// computed exactly, and the longest distance found is kept. Invariant: every pair that contains a
// vertex of a processed level has been considered. Once the longest distance is at least 2i for the
// next level i, no remaining pair can exceed it, and the result is exact.
//
// Example: on a path of 101 vertices, the double sweep finds 100 and u is the middle vertex, whose
// farthest level is 50. As 100 = 2 * 50, no eccentricity is needed. In the worst case there is a
// search from every vertex.

import { type Steps, within } from '../../schedule/steps.ts';
import type { Graph } from '../graph.ts';
import { Scratch } from '../scratch.ts';
import { Searcher, SOURCES_AT_ONCE } from './searches.ts';

export interface Diameters {
  /**
   * Greatest distance within the largest component, or 0 if there are no vertices. Among equally
   * large components, the one that contains the least id counts.
   */
  largest: number;
  /** Greatest distance within any component. */
  most: number;
  components: number;
}

/**
 * Computes exact diameters. `labels`: u32[vertices], the least vertex in the component of each
 * vertex; `ids`: f64[vertices]. Skips components that are too small to exceed the distance already
 * found.
 */
export function* diameters(graph: Graph, labels: Uint32Array, ids: Float64Array): Steps<Diameters> {
  const members = componentsBySize(labels, ids);
  const searcher = new Searcher(graph);
  const scratch = new Scratch(graph.core);
  try {
    const eccentricities = new Eccentricities(graph, scratch);
    let largest = 0;
    let most = 0;
    for (const [index, { least, size }] of members.entries()) {
      if (size - 1 <= most) break;
      const steps = diameterOf(graph, searcher, eccentricities, least);
      const found = yield* within(steps, index / members.length, (index + 1) / members.length);
      if (index === 0) largest = found;
      most = Math.max(most, found);
    }
    return { largest, most, components: members.length };
  } finally {
    scratch.free();
    searcher.free();
  }
}

interface Component {
  /** Least vertex of the component. */
  least: number;
  size: number;
  leastId: number;
}

/** Returns the components sorted by size descending, then by least id. */
function componentsBySize(labels: Uint32Array, ids: Float64Array): Component[] {
  const sizes = new Uint32Array(labels.length);
  const leastIds = new Float64Array(labels.length).fill(Number.POSITIVE_INFINITY);
  for (const [vertex, label] of labels.entries()) {
    sizes[label]!++;
    leastIds[label] = Math.min(leastIds[label]!, ids[vertex]!);
  }
  const found: Component[] = [];
  for (let least = 0; least < sizes.length; least++)
    if (sizes[least]! > 0) found.push({ least, size: sizes[least]!, leastId: leastIds[least]! });
  return found.sort((a, b) => b.size - a.size || a.leastId - b.leastId);
}

/**
 * Returns the diameter of one component: a double sweep from the vertex with the most neighbours,
 * then the levels around the middle of the path found.
 */
function* diameterOf(graph: Graph, searcher: Searcher, eccentricities: Eccentricities, least: number): Steps<number> {
  const first = searcher.from(busiest(graph, searcher.from(least).order));
  const oneEnd = first.order[first.order.length - 1]!;
  yield 0;
  const sweep = searcher.from(oneEnd);
  const otherEnd = sweep.order[sweep.order.length - 1]!;
  let longest = sweep.distances[otherEnd]!;
  const middle = middleOf(graph, sweep.distances, otherEnd);
  yield 0;
  const { order, distances } = searcher.from(middle);
  const queue = order.slice();
  const levels = distances.slice();
  let at = queue.length;
  while (at > 0) {
    const level = levels[queue[at - 1]!]!;
    // Two vertices of this level or nearer are at most 2 * level apart.
    if (longest >= 2 * level) return longest;
    let begin = at;
    while (begin > 0 && at - begin < SOURCES_AT_ONCE && levels[queue[begin - 1]!] === level) begin--;
    longest = Math.max(longest, eccentricities.greatest(queue.subarray(begin, at)));
    at = begin;
    yield 1 - at / queue.length;
  }
  return longest;
}

function busiest(graph: Graph, vertices: Uint32Array): number {
  const { words } = graph.core.memory;
  const starts = graph.starts / 4;
  let best = vertices[0]!;
  let most = -1;
  for (const v of vertices) {
    const degree = words[starts + v + 1]! - words[starts + v]!;
    if (degree > most) [best, most] = [v, degree];
  }
  return best;
}

/** Returns the vertex half-way from `end` back to the source of the distances. */
function middleOf(graph: Graph, distances: Uint32Array, end: number): number {
  const { words } = graph.core.memory;
  let at = end;
  for (let left = distances[end]! >>> 1; left > 0; left--) {
    const to = words[graph.starts / 4 + at + 1]!;
    for (let arc = words[graph.starts / 4 + at]!; arc < to; arc++) {
      const next = words[graph.neighbours / 4 + arc]!;
      if (distances[next] !== distances[at]! - 1) continue;
      at = next;
      break;
    }
  }
  return at;
}

/** Finds the greatest distance from any of up to 256 vertices, in one search. */
class Eccentricities {
  readonly #graph: Graph;
  readonly #sources: number;
  readonly #far: number;
  readonly #work: number;

  constructor(graph: Graph, scratch: Scratch) {
    this.#graph = graph;
    this.#sources = scratch.take(SOURCES_AT_ONCE * 4);
    this.#far = scratch.take(SOURCES_AT_ONCE * 4);
    this.#work = scratch.take(96 * graph.vertices + 96);
  }

  greatest(vertices: Uint32Array): number {
    const { core, starts, neighbours } = this.#graph;
    const { length } = vertices;
    core.memory.words.set(vertices, this.#sources / 4);
    core.exports.hg_graph_search_many(
      starts,
      neighbours,
      this.#graph.vertices,
      this.#sources,
      length,
      0,
      0,
      0,
      this.#far,
      this.#work,
    );
    return core.memory.words
      .subarray(this.#far / 4, this.#far / 4 + length)
      .reduce((most, distance) => Math.max(most, distance), 0);
  }
}
