// Builds sparse rows whose items are pairs of the original items: the pairs that several rows
// contain. This saves time, because a single item may be in very many rows, but a pair rarely is.

import { type Steps, within } from '../schedule/steps.ts';
import type { Core } from './load.ts';
import { Scratch } from './scratch.ts';
import { type SparseRows, transposed } from './sparse-rows.ts';

/** Number of steps per call into the core; a step takes 2 to 5 ns. */
const WORK = 1 << 18;

/**
 * Returns sparse rows whose items are the pairs: rows that share k items share C(k, 2) pairs.
 * `bound`: the number of pairs of items over all rows. `regions` owns the arrays of the result.
 */
export function* pairRows(core: Core, sparse: SparseRows, bound: number, regions: Scratch): Steps<SparseRows> {
  const { exports, memory } = core;
  const { rows, rowStarts, rowItems, items, itemStarts, itemRows } = sparse;
  const pairStarts = regions.take((Math.floor(bound / 2) + 1) * 4);
  const rowsOfPairs = regions.take(bound * 4);
  let pairs = 0;
  const scratch = new Scratch(core);
  try {
    const cursors = scratch.take(rows * 4);
    memory.bytes.copyWithin(cursors, rowStarts, rowStarts + rows * 4);
    const marks = scratch.zeroed(items * 8);
    const block = scratch.zeroed(exports.HG_PAIRS_BLOCK_BYTES.value);
    const addresses = [rowStarts, rowItems, itemStarts, itemRows, items, cursors, marks, pairStarts, rowsOfPairs];
    memory.words.set(addresses, block / 4);
    memory.words[pairStarts / 4] = 0;
    for (let item = 0; item < items; ) {
      item = exports.hg_graph_pairs(block, item, WORK) >>> 0;
      pairs = exports.hg_result_rows() >>> 0;
      yield 0.7 * (item / items);
    }
  } finally {
    scratch.free();
  }
  const lists = { count: pairs, starts: pairStarts, items: rowsOfPairs };
  const { nodeStarts, nodeEdges } = yield* within(transposed(core, lists, rows, regions), 0.7, 1);
  return {
    rows,
    rowStarts: nodeStarts,
    rowItems: nodeEdges,
    items: pairs,
    itemStarts: pairStarts,
    itemRows: rowsOfPairs,
  };
}
