// Computes the clustering coefficient of nodes from the extra overlap of their edges
// (assembly/kernels/zhou.ts).

import type { Steps } from '../../schedule/steps.ts';
import type { Graph } from '../graph.ts';
import type { Incidence } from '../incidence.ts';
import { Scratch } from '../scratch.ts';

/**
 * Usual size in bytes of the buffer for the bits of a range of edges. A range that filled a larger
 * buffer would not fit into the processor's cache.
 */
const BITS_BYTES = 32 * 2 ** 20;
/** With at most this many nodes, adjacency is kept in a bit matrix (2 MB). */
const MOST_MATRIX_NODES = 4096;
/**
 * Index of the field CURSORS in the block. During the pass over pairs, a cursor is a node's current
 * place in the list of its edges.
 */
const FIRST_OF_PAIRS = 13;
/** Approximate number of incidences, arcs and pairs per step. */
const STEP_ITEMS = 400_000;

/**
 * Returns f64[nodes]: the mean extra overlap over the pairs of each node's edges (Zhou and Nakhleh
 * 2011), 0 for nodes with fewer than two edges. `sets`: distinct member sets; `graph`: their
 * co-member graph.
 */
export function* zhouClustering(sets: Incidence, graph: Graph): Steps<Float64Array> {
  const { core, nodes, edges } = sets;
  const scratch = new Scratch(core);
  try {
    const degrees = sets.copyNodeDegrees();
    const sums = scratch.zeroed(nodes * 8);
    const block = zhouBlock(sets, graph, degrees, sums, scratch);
    let work = 0;
    for (let v = 0; v < nodes; v++) {
      for (let at = 0; at < degrees[v]!; ) {
        at = core.exports.hg_zhou_node(block, v, at) >>> 0;
        work += degrees[v]! * 20;
        if (work < STEP_ITEMS) continue;
        work = 0;
        yield v / nodes / 2;
      }
    }
    for (let at = 0; at < edges; ) {
      at = core.exports.hg_zhou_pairs(block, edges, at, STEP_ITEMS) >>> 0;
      yield 0.5 + at / edges / 2;
    }
    const { numbers } = core.memory;
    return Float64Array.from(degrees, (degree, v) =>
      degree < 2 ? 0 : numbers[sums / 8 + v]! / ((degree * (degree - 1)) / 2),
    );
  } finally {
    scratch.free();
  }
}

function zhouBlock(sets: Incidence, graph: Graph, degrees: Uint32Array, sums: number, scratch: Scratch): number {
  const { core, nodes, edges } = sets;
  const rowWords = Math.ceil(nodes / 64);
  const matrix = nodes <= MOST_MATRIX_NODES ? scratch.zeroed(nodes * rowWords * 8) : 0;
  if (matrix !== 0) core.exports.hg_graph_matrix(graph.starts, graph.neighbours, nodes, matrix, rowWords);
  const most = degrees.reduce((greatest, degree) => Math.max(greatest, degree), 0);
  const hasWide = sets.copySizes().some((size) => size > 64);
  // The buffer needs at least two words per neighbour.
  const bitsBytes = Math.max(BITS_BYTES, nodes * 16);
  const fields = [
    sets.edgeStarts,
    sets.edgeNodes,
    sets.nodeStarts,
    sets.nodeEdges,
    graph.starts,
    graph.neighbours,
    matrix,
    rowWords,
    sums,
    scratch.zeroed(nodes * 4),
    scratch.take(most * 4),
    scratch.take(bitsBytes),
    bitsBytes,
    scratch.take(nodes * 4),
    scratch.zeroed(edges * 4),
    scratch.take((edges + 1) * 4),
    scratch.zeroed(nodes * (hasWide ? 64 : 16)),
  ];
  const block = scratch.take(core.exports.HG_ZHOU_BLOCK_BYTES.value as number);
  const { words } = core.memory;
  words.set(fields, block / 4);
  words.copyWithin(fields[FIRST_OF_PAIRS]! / 4, sets.nodeStarts / 4, sets.nodeStarts / 4 + nodes);
  return block;
}
