// Works on compressed sparse rows in core memory: converts sizes to starts, transposes rows, and
// estimates the work for pairs of rows.

import { forward, type Steps, slices, within } from '../schedule/steps.ts';
import type { IncidenceParts } from './incidence-parts.ts';
import type { Core } from './load.ts';
import type { Scratch } from './scratch.ts';

/** Number of entries per step, which takes about 2 ms at a few nanoseconds per entry. */
const SLICE = 1 << 18;
/** Number of entries per step if each entry is a random memory access, which takes 10 to 50 ns. */
const STRETCH = 1 << 16;

/**
 * Sparse rows and their transpose, as addresses: the input of `hg_components_*` and `hg_graph_*`.
 * The rows are either the edges (and the items the nodes) or the other way round.
 */
export interface SparseRows {
  rows: number;
  rowStarts: number;
  rowItems: number;
  items: number;
  itemStarts: number;
  itemRows: number;
}

/** Returns the sparse rows with the side `on` as the rows and the other side as the items. */
export function rowsOf(parts: IncidenceParts, on: 'nodes' | 'edges'): SparseRows {
  const { nodes, edges, edgeStarts, edgeNodes, nodeStarts, nodeEdges } = parts;
  return on === 'edges'
    ? {
        rows: edges,
        rowStarts: edgeStarts,
        rowItems: edgeNodes,
        items: nodes,
        itemStarts: nodeStarts,
        itemRows: nodeEdges,
      }
    : {
        rows: nodes,
        rowStarts: nodeStarts,
        rowItems: nodeEdges,
        items: edges,
        itemStarts: edgeStarts,
        itemRows: edgeNodes,
      };
}

/**
 * Converts u32[count + 1], which are sizes followed by an unused entry, to starts (prefix sums);
 * returns the total.
 */
export function* startsOf(core: Core, sizes: number, count: number): Steps<number> {
  let sum = 0;
  yield* slices(count, SLICE, (from, to) => {
    sum = core.exports.hg_incidence_sums(sizes + from * 4, to - from, sum) >>> 0;
  });
  core.memory.words[sizes / 4 + count] = sum;
  return sum;
}

/** Addresses of the sparse rows of the nodes. */
interface Transposed {
  nodeStarts: number;
  nodeEdges: number;
}

/** Computes the sparse rows of the nodes from those of the edges, by counting sort. */
export function* transposed(
  core: Core,
  edges: { count: number; starts: number; items: number },
  nodes: number,
  regions: Scratch,
): Steps<Transposed> {
  const { exports, memory } = core;
  const incidences = memory.words[edges.starts / 4 + edges.count]!;
  const nodeStarts = regions.take((nodes + 1) * 4);
  const nodeEdges = regions.take(incidences * 4);
  const clear = (from: number, to: number) => {
    memory.words.fill(0, nodeStarts / 4 + from, nodeStarts / 4 + to);
  };
  yield* within(slices(nodes, SLICE, clear), 0, 0.05);
  const tally = (from: number, to: number) => exports.hg_incidence_tally(edges.items + from * 4, to - from, nodeStarts);
  yield* within(slices(incidences, SLICE, tally), 0.05, 0.3);
  yield* within(startsOf(core, nodeStarts, nodes), 0.3, 0.4);
  const place = (from: number, to: number) =>
    exports.hg_incidence_transpose(edges.starts, edges.items, from, to, nodeStarts, nodeEdges);
  yield* within(slices(edges.count, SLICE >> 3, place), 0.4, 1);
  // After placing, each cursor is at the start of the next node. Shifted by one place, the cursors
  // are the starts again.
  memory.words.copyWithin(nodeStarts / 4 + 1, nodeStarts / 4, nodeStarts / 4 + nodes);
  memory.words[nodeStarts / 4] = 0;
  return { nodeStarts, nodeEdges };
}

/**
 * Calls `work` with ranges of rows [from, to) that together have at most STRETCH entries, one call
 * per step. A single row may have more entries.
 */
export function* stretches(
  core: Core,
  starts: number,
  count: number,
  work: (from: number, to: number) => void,
): Steps<void> {
  const last = (from: number) => {
    const words = core.memory.words;
    const limit = words[starts / 4 + from]! + STRETCH;
    let low = from + 1;
    let high = Math.min(count, from + STRETCH);
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (words[starts / 4 + middle]! <= limit) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  yield* forward(count, (from) => {
    const to = last(from);
    work(from, to);
    return to;
  });
}

/**
 * Returns a lower bound on the number of arcs if rows that share any item are neighbours: each row
 * is adjacent to all rows of its most common item.
 */
export function* leastArcs(core: Core, sparse: SparseRows): Steps<number> {
  const { rows, rowStarts, rowItems, itemStarts } = sparse;
  let arcs = 0;
  yield* stretches(core, rowStarts, rows, (from, to) => {
    const words = core.memory.words;
    let at = rowItems / 4 + words[rowStarts / 4 + from]!;
    for (let row = from; row < to; row++) {
      const end = rowItems / 4 + words[rowStarts / 4 + row + 1]!;
      let most = 1;
      for (; at < end; at++) {
        const item = itemStarts / 4 + words[at]!;
        most = Math.max(most, words[item + 1]! - words[item]!);
      }
      arcs += most - 1;
    }
  });
  return arcs;
}

function choose(n: number, k: number): number {
  let product = 1;
  for (let i = 0; i < k && product > 0; i++) product *= (n - i) / (i + 1);
  return n < k ? 0 : product;
}

/** Returns the sum of C(size, k) over the sizes of sparse rows. */
export function* combinations(core: Core, starts: number, count: number, k: number): Steps<number> {
  const known = new Map<number, number>();
  let sum = 0;
  yield* slices(count, SLICE >> 2, (from, to) => {
    const words = core.memory.words;
    const at = starts / 4;
    for (let i = from; i < to; i++) {
      const size = words[at + i + 1]! - words[at + i]!;
      if (size < k) continue;
      let ways = known.get(size);
      if (ways === undefined) {
        ways = choose(size, k);
        known.set(size, ways);
      }
      sum += ways;
    }
  });
  return sum;
}
