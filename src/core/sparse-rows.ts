// Compressed sparse rows in core memory, and their transpose: sizes to starts, rows of items from items of rows, how much work pairs are.

import { forward, type Steps, slices, within } from '../schedule/steps.ts';
import type { IncidenceParts } from './incidence-parts.ts';
import type { Core } from './load.ts';
import type { Scratch } from './scratch.ts';

/** Entries of a step: some 2 ms where an entry costs a few nanoseconds. */
const SLICE = 1 << 18;
/** Entries of a step where each leads to a place anywhere in memory, 10 to 50 ns. */
const STRETCH = 1 << 16;

/** Sparse rows and their transpose: what `hg_components_*` and `hg_graph_*` work on, for edges as rows or for nodes as rows. */
export interface SparseRows {
  rows: number;
  rowStarts: number;
  rowItems: number;
  items: number;
  itemStarts: number;
  itemRows: number;
}

/** The side whose pairs are looked at as rows. */
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

/** Turns u32[count + 1], sizes with anything behind, into starts; returns the sum. */
export function* startsOf(core: Core, sizes: number, count: number): Steps<number> {
  let sum = 0;
  yield* slices(count, SLICE, (from, to) => {
    sum = core.exports.hg_incidence_sums(sizes + from * 4, to - from, sum) >>> 0;
  });
  core.memory.words[sizes / 4 + count] = sum;
  return sum;
}

/** Where the rows of nodes lie. */
interface Transposed {
  nodeStarts: number;
  nodeEdges: number;
}

/** Rows of nodes from rows of edges, by counting. */
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
  // Each cursor stands at the next node's start: one place on, they are the starts again.
  memory.words.copyWithin(nodeStarts / 4 + 1, nodeStarts / 4, nodeStarts / 4 + nodes);
  memory.words[nodeStarts / 4] = 0;
  return { nodeStarts, nodeEdges };
}

/** Calls `work` with rows [from, to) that have some `STRETCH` entries together, a step each; a single row may have more. */
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

/** Arcs there are at least where rows that share any item are neighbours: each row has all rows of its most common item. */
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

/** Sum over sparse rows of C(size, k). */
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
