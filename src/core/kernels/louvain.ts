// Detects communities by the Louvain method, in the graph in which an edge of weight w gives each
// pair of its members the weight w / (|e| - 1).
//
// Louvain maximises modularity greedily, level by level (Blondel, Guillaume, Lambiotte, Lefebvre
// 2008). At first, every vertex is a community of its own. Vertices are visited in a random order,
// and each moves to the neighbouring community with the greatest gain, until a round moves none.
// The gain of joining community C is, up to a constant factor,
//
//     links(v, C) - degree(v) * volume(C) / 2m
//
// where links(v, C) is the weight between v and C, volume(C) is the sum of the degrees in C without
// v, and 2m is the sum of all degrees. Then each community becomes one vertex of a smaller graph.
// The weights between two communities are added up. The weights within a community become the
// `inner` weight of its vertex. The total weight stays the same, and the degree of a new vertex is
// the sum of its members' degrees. Therefore a gain on any level is a gain in the original graph.
// Levels are repeated until nothing moves.
//
// Example: two triangles joined by one edge become two communities on the first level. Merging
// these would lower modularity, so the second level moves nothing.

import type { Steps } from '../../schedule/steps.ts';
import type { Graph } from '../graph.ts';
import type { Incidence } from '../incidence.ts';

/** Number of arcs per step, which takes about 5 ms. */
const STEP_ARCS = 500_000;
/**
 * Minimum difference between the gains of two communities for which a vertex moves, relative to 2m.
 */
const LEAST_GAIN = 1e-12;
const MOST_ROUNDS = 100;

/**
 * A graph as sparse rows with weights. `inner` is the weight within each vertex: twice the weight
 * of the edges between the original vertices that it stands for.
 */
interface WeightedGraph {
  starts: Uint32Array;
  neighbours: Uint32Array;
  weights: Float64Array;
  inner: Float64Array;
}

/**
 * Returns u32[nodes], the community of each node, numbered from 0. `graph`: the co-member graph.
 * `weights`: f64[edges], non-negative. `seed` determines the order in which vertices are visited,
 * so the same seed gives the same communities.
 */
export function* louvain(incidence: Incidence, graph: Graph, weights: Float64Array, seed: number): Steps<Uint32Array> {
  let level = yield* weighted(incidence, graph, weights);
  let state = (seed ^ 0x9e3779b9) >>> 0;
  const random = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  let communityOf = Uint32Array.from({ length: incidence.nodes }, (_, v) => v);
  for (;;) {
    const { moved, parts } = yield* moveAll(level, random);
    if (!moved) return communityOf;
    const { numbers, count } = renumbered(parts);
    communityOf = communityOf.map((vertex) => numbers[vertex]!);
    level = joined(level, numbers, count);
  }
}

function* weighted(incidence: Incidence, graph: Graph, weights: Float64Array): Steps<WeightedGraph> {
  const { core, edges, edgeStarts, edgeNodes, nodes } = incidence;
  const starts = graph.copyStarts();
  const neighbours = graph.copyNeighbours();
  const sums = new Float64Array(neighbours.length);
  let work = 0;
  for (let e = 0; e < edges; e++) {
    const { words } = core.memory;
    const begin = edgeNodes / 4 + words[edgeStarts / 4 + e]!;
    const end = edgeNodes / 4 + words[edgeStarts / 4 + e + 1]!;
    if (end - begin < 2) continue;
    const share = weights[e]! / (end - begin - 1);
    for (let at = begin; at < end; at++)
      for (let other = begin; other < end; other++)
        if (other !== at) sums[arcOf(starts, neighbours, words[at]!, words[other]!)]! += share;
    work += (end - begin) ** 2 * 4;
    if (work < STEP_ARCS) continue;
    work = 0;
    yield (0.5 * e) / edges;
  }
  return { starts, neighbours, weights: sums, inner: new Float64Array(nodes) };
}

function arcOf(starts: Uint32Array, neighbours: Uint32Array, from: number, to: number): number {
  let low = starts[from]!;
  let high = starts[from + 1]!;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (neighbours[middle]! < to) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Moves each vertex to the neighbouring community with the greatest gain, until a round moves none,
 * or for MOST_ROUNDS rounds.
 */
function* moveAll(
  graph: WeightedGraph,
  random: (below: number) => number,
): Steps<{ moved: boolean; parts: Uint32Array }> {
  const { starts, weights, inner } = graph;
  const n = inner.length;
  const degrees = inner.slice();
  for (let v = 0; v < n; v++) for (let arc = starts[v]!; arc < starts[v + 1]!; arc++) degrees[v]! += weights[arc]!;
  const whole = degrees.reduce((sum, degree) => sum + degree, 0);
  const parts = Uint32Array.from({ length: n }, (_, v) => v);
  if (whole === 0) return { moved: false, parts };
  const volumes = degrees.slice();
  const links = new Float64Array(n);
  const order = shuffled(n, random);
  let moved = false;
  let work = 0;
  for (let round = 0; round < MOST_ROUNDS; round++) {
    let some = false;
    for (const v of order) {
      if (moveOne(graph, v, degrees[v]!, whole, parts, volumes, links)) some = true;
      work += starts[v + 1]! - starts[v]! + 1;
      if (work < STEP_ARCS) continue;
      work = 0;
      yield 0.5;
    }
    if (!some) break;
    moved = true;
  }
  return { moved, parts };
}

/**
 * Moves one vertex; returns whether it changed its community. `links` is all zero before and after.
 */
function moveOne(
  { starts, neighbours, weights }: WeightedGraph,
  v: number,
  degree: number,
  whole: number,
  parts: Uint32Array,
  volumes: Float64Array,
  links: Float64Array,
): boolean {
  const own = parts[v]!;
  for (let arc = starts[v]!; arc < starts[v + 1]!; arc++) links[parts[neighbours[arc]!]!]! += weights[arc]!;
  volumes[own]! -= degree;
  let best = own;
  let most = links[own]! - (degree * volumes[own]!) / whole;
  for (let arc = starts[v]!; arc < starts[v + 1]!; arc++) {
    const part = parts[neighbours[arc]!]!;
    const gain = links[part]! - (degree * volumes[part]!) / whole;
    if (gain > most + LEAST_GAIN * whole) [best, most] = [part, gain];
  }
  for (let arc = starts[v]!; arc < starts[v + 1]!; arc++) links[parts[neighbours[arc]!]!] = 0;
  volumes[best]! += degree;
  parts[v] = best;
  return best !== own;
}

function shuffled(n: number, random: (below: number) => number): Uint32Array {
  const order = Uint32Array.from({ length: n }, (_, v) => v);
  for (let i = n - 1; i > 0; i--) {
    const j = random(i + 1);
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}

/** Numbers the communities in the order of their least vertices. */
function renumbered(parts: Uint32Array): { numbers: Uint32Array; count: number } {
  const names = new Map<number, number>();
  const numbers = parts.map((part) => {
    const known = names.get(part);
    if (known !== undefined) return known;
    names.set(part, names.size);
    return names.size - 1;
  });
  return { numbers, count: names.size };
}

/** Returns the graph in which each community is one vertex. */
function joined(
  { starts, neighbours, weights, inner }: WeightedGraph,
  numbers: Uint32Array,
  count: number,
): WeightedGraph {
  const rows: Map<number, number>[] = Array.from({ length: count }, () => new Map());
  const within = new Float64Array(count);
  for (let v = 0; v < inner.length; v++) {
    const part = numbers[v]!;
    within[part]! += inner[v]!;
    for (let arc = starts[v]!; arc < starts[v + 1]!; arc++) {
      const other = numbers[neighbours[arc]!]!;
      if (other === part) within[part]! += weights[arc]!;
      else rows[part]!.set(other, (rows[part]!.get(other) ?? 0) + weights[arc]!);
    }
  }
  const newStarts = new Uint32Array(count + 1);
  for (let part = 0; part < count; part++) newStarts[part + 1] = newStarts[part]! + rows[part]!.size;
  const newNeighbours = new Uint32Array(newStarts[count]!);
  const newWeights = new Float64Array(newStarts[count]!);
  for (let part = 0; part < count; part++) {
    let at = newStarts[part]!;
    for (const [other, weight] of [...rows[part]!].sort(([a], [b]) => a - b)) {
      newNeighbours[at] = other;
      newWeights[at++] = weight;
    }
  }
  return { starts: newStarts, neighbours: newNeighbours, weights: newWeights, inner: within };
}
