// Computes the connected components of a graph. Also computes those of the graph that joins the
// rows of a hypergraph sharing at least s items, without building this graph.
//
// All variants join rows in a union-find forest whose roots are the least vertices
// (assembly/kernels/components.ts). For s = 1, all rows of an item are joined. For s >= 2 there are
// two ways, and the one with the lower estimated cost is used:
//
// - count the shared items of each pair of rows: sum over the items of C(rows of the item, 2)
//   steps;
// - enumerate the sets of s items that more than one row contains, and join the rows of each set:
//   at most the sum over the rows of C(size of the row, s) steps.

import { forward, type Steps, slices, within } from '../../schedule/steps.ts';
import type { Graph } from '../graph.ts';
import type { IncidenceParts } from '../incidence-parts.ts';
import type { Core } from '../load.ts';
import { Region } from '../region.ts';
import { Scratch } from '../scratch.ts';
import { combinations, rowsOf, type SparseRows, stretches } from '../sparse-rows.ts';
import { coreError, STATUS } from '../status.ts';

/** Number of steps per call into the core; a step takes 2 to 10 ns. */
const WORK = 1 << 18;
const SLICE = 1 << 18;

/**
 * Starts a forest of `count` single vertices, connects them with `join`, and returns the least
 * vertex of each vertex's tree.
 */
function* joined(core: Core, count: number, join: (parents: number) => Steps<void>): Steps<Uint32Array> {
  const { exports, memory } = core;
  const scratch = new Scratch(core);
  try {
    const parents = scratch.take(count * 4);
    yield* within(
      slices(count, SLICE, (from, to) => exports.hg_components_start(parents, from, to)),
      0,
      0.05,
    );
    yield* within(join(parents), 0.05, 0.9);
    yield* within(
      slices(count, SLICE, (from, to) => exports.hg_components_label(parents, from, to)),
      0.9,
      1,
    );
    return memory.words.slice(parents / 4, parents / 4 + count);
  } finally {
    scratch.free();
  }
}

/** Returns u32[vertices]: the least vertex in the component of each vertex. */
export function components(graph: Graph): Steps<Uint32Array> {
  const { core, vertices, starts, neighbours } = graph;
  return joined(core, vertices, (parents) =>
    stretches(core, starts, vertices, (from, to) =>
      core.exports.hg_components_arcs(starts, neighbours, from, to, parents),
    ),
  );
}

function* byCounts(core: Core, sparse: SparseRows, s: number, parents: number): Steps<void> {
  const { rows, rowStarts, rowItems, items, itemStarts, itemRows } = sparse;
  const scratch = new Scratch(core);
  try {
    const cursors = scratch.take(items * 4);
    core.memory.bytes.copyWithin(cursors, itemStarts, itemStarts + items * 4);
    const [counts, met] = [scratch.zeroed(rows * 4), scratch.take(rows * 4)];
    yield 0;
    yield* forward(rows, (from) =>
      core.exports.hg_components_counts(
        rowStarts,
        rowItems,
        itemStarts,
        itemRows,
        rows,
        from,
        s,
        WORK,
        cursors,
        counts,
        met,
        parents,
      ),
    );
  } finally {
    scratch.free();
  }
}

function* byPairs(core: Core, sparse: SparseRows, parents: number): Steps<void> {
  const { rows, rowStarts, rowItems, items, itemStarts, itemRows } = sparse;
  const scratch = new Scratch(core);
  try {
    const cursors = scratch.take(rows * 4);
    core.memory.bytes.copyWithin(cursors, rowStarts, rowStarts + rows * 4);
    const marks = scratch.zeroed(items * 8);
    yield 0;
    yield* forward(items, (from) =>
      core.exports.hg_components_pairs(
        rowStarts,
        rowItems,
        itemStarts,
        itemRows,
        items,
        from,
        WORK,
        cursors,
        marks,
        parents,
      ),
    );
  } finally {
    scratch.free();
  }
}

/**
 * Indexes, in u32, of the fields in the block of `hg_components_subsets` that the host sets before
 * each call.
 */
const BLOCK = { arena: 10, capacity: 11 } as const;

function* bySubsets(core: Core, sparse: SparseRows, s: number, parents: number): Steps<void> {
  const { exports, memory } = core;
  const { rows, rowStarts, rowItems, items, itemStarts, itemRows } = sparse;
  const scratch = new Scratch(core);
  let arena: Region | null = null;
  try {
    const cursors = scratch.take(rows * 4);
    memory.bytes.copyWithin(cursors, rowStarts, rowStarts + rows * 4);
    const marks = scratch.zeroed(items * 8);
    const frames = scratch.take(s * exports.HG_SUBSETS_FRAME_BYTES.value);
    const block = scratch.zeroed(exports.HG_SUBSETS_BLOCK_BYTES.value);
    memory.words.set([rowStarts, rowItems, itemStarts, itemRows, items, s, cursors, marks, parents, frames], block / 4);
    arena = new Region(core, 1 << 16);
    let fraction = 0;
    for (let left = items; left > 0; ) {
      memory.words[block / 4 + BLOCK.arena] = arena.pointer;
      memory.words[block / 4 + BLOCK.capacity] = Math.floor(arena.bytes / 8);
      const status = exports.hg_components_subsets(block, WORK);
      if (status === STATUS.tooSmall) arena.extend((exports.hg_result_needed() >>> 0) * 8, arena.bytes);
      else if (status < 0) throw coreError(status, 'hg_components_subsets');
      else left = status;
      fraction = Math.max(fraction, 1 - left / items);
      yield fraction;
    }
  } finally {
    scratch.free();
    arena?.free();
  }
}

/**
 * Returns u32[rows]: the least row in the component of each row, where rows that share at least `s`
 * items are connected.
 */
export function componentsByItems(
  core: Core,
  parts: IncidenceParts,
  on: 'nodes' | 'edges',
  s: number,
): Steps<Uint32Array> {
  const sparse = rowsOf(parts, on);
  const { rows, rowStarts, items, itemStarts, itemRows } = sparse;
  const least = Math.min(s, 0xffffffff);
  return joined(core, rows, function* (parents) {
    if (s <= 1) {
      yield* stretches(core, itemStarts, items, (from, to) =>
        core.exports.hg_components_items(itemStarts, itemRows, from, to, parents),
      );
      return;
    }
    const counting = yield* within(combinations(core, itemStarts, items, 2), 0, 0.02);
    const subsets = yield* within(combinations(core, rowStarts, rows, s), 0.02, 0.04);
    if (subsets === 0) return;
    const way =
      counting <= subsets
        ? byCounts(core, sparse, least, parents)
        : s === 2
          ? byPairs(core, sparse, parents)
          : bySubsets(core, sparse, least, parents);
    yield* within(way, 0.04, 1);
  });
}
