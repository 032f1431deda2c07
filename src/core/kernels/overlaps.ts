// Computes overlaps of edges: how many members pairs of edges share, how many pairs of a node's
// edges share another node too, and how many pairs of an edge's members are in another edge too.

import type { Steps } from '../../schedule/steps.ts';
import type { Graph } from '../graph.ts';
import type { Incidence } from '../incidence.ts';
import { Scratch } from '../scratch.ts';

/** Number of incidences per step, which takes about 5 ms. */
const STEP_ITEMS = 1_000_000;
/**
 * Maximum number of words, of 64 edges each, in which the edges of a node are processed at a time.
 */
const MOST_WORDS = 64;
const BITS_BYTES = 32 * 2 ** 20;

export interface OverlapSums {
  /** Number of pairs of edges that have a common member. */
  intersecting: number;
  /**
   * Sum over these pairs of the number of common members / the smaller size (Szymkiewicz-Simpson).
   */
  simpson: number;
  /** Sum over these pairs of the number of common members / the size of the union (Jaccard). */
  jaccard: number;
}

export function* overlapSums(incidence: Incidence): Steps<OverlapSums> {
  const { core, edges, edgeStarts, edgeNodes, nodeStarts, nodeEdges } = incidence;
  const scratch = new Scratch(core);
  try {
    const counts = scratch.zeroed(edges * 4);
    const met = scratch.take(edges * 4);
    const sums = scratch.zeroed(24);
    const { exports } = core;
    for (let at = 0; at < edges; ) {
      at =
        exports.hg_sets_overlaps(
          edgeStarts,
          edgeNodes,
          nodeStarts,
          nodeEdges,
          edges,
          at,
          STEP_ITEMS,
          counts,
          met,
          sums,
        ) >>> 0;
      yield at / edges;
    }
    const [intersecting, simpson, jaccard] = core.memory.numbers.subarray(sums / 8, sums / 8 + 3);
    return { intersecting: intersecting!, simpson: simpson!, jaccard: jaccard! };
  } finally {
    scratch.free();
  }
}

/** Returns f64[nodes]: how many pairs of a node's edges share another node too. */
export function* sharingPairs(incidence: Incidence): Steps<Float64Array> {
  const { core, nodes, edgeStarts, edgeNodes, nodeStarts, nodeEdges } = incidence;
  const degrees = incidence.copyNodeDegrees();
  const others = membersBesides(incidence);
  const scratch = new Scratch(core);
  try {
    const slots = scratch.zeroed(nodes * 4);
    const room = Math.max(BITS_BYTES, (others.reduce((most, count) => Math.max(most, count), 0) + 1) * 8);
    const bits = scratch.take(room);
    const pairs = new Float64Array(nodes);
    let work = 0;
    for (let v = 0; v < nodes; v++) {
      const words = Math.min(MOST_WORDS, Math.ceil(degrees[v]! / 64), Math.floor(room / 8 / (others[v]! + 1)));
      for (let from = 0; from < degrees[v]!; from += words * 64) {
        pairs[v]! += core.exports.hg_sets_sharing(
          edgeStarts,
          edgeNodes,
          nodeStarts,
          nodeEdges,
          v,
          from,
          words,
          slots,
          bits,
        );
        work += (degrees[v]! + others[v]!) * words;
        if (work < STEP_ITEMS) continue;
        work = 0;
        yield v / nodes;
      }
      pairs[v]! /= 2;
    }
    return pairs;
  } finally {
    scratch.free();
  }
}

/**
 * Returns u32[nodes]: the number of other members of a node's edges, counted with repetition, but
 * at most the number of nodes.
 */
function membersBesides({ core, nodes, edges, edgeStarts, edgeNodes }: Incidence): Uint32Array {
  const { words } = core.memory;
  const counts = new Float64Array(nodes);
  for (let e = 0; e < edges; e++) {
    const begin = words[edgeStarts / 4 + e]!;
    const end = words[edgeStarts / 4 + e + 1]!;
    for (let at = begin; at < end; at++) counts[words[edgeNodes / 4 + at]!]! += end - begin - 1;
  }
  return Uint32Array.from(counts, (count) => Math.min(count, nodes));
}

/**
 * Returns f64[edges]: the number of pairs of an edge's members that another edge contains too.
 * `graph`: the counted co-member graph of the same incidence.
 */
export function* pairsAgain(incidence: Incidence, graph: Graph): Steps<Float64Array> {
  const { core, edges, edgeStarts, edgeNodes } = incidence;
  const scratch = new Scratch(core);
  try {
    const out = scratch.take(edges * 8);
    for (let at = 0; at < edges; ) {
      at =
        core.exports.hg_sets_pairs_again(
          edgeStarts,
          edgeNodes,
          edges,
          at,
          STEP_ITEMS,
          graph.starts,
          graph.neighbours,
          graph.counts,
          out,
        ) >>> 0;
      yield at / edges;
    }
    return core.memory.numbers.slice(out / 8, out / 8 + edges);
  } finally {
    scratch.free();
  }
}
