// Builds the graph of rows that share at least s items (co-member graph, line graph), and the
// incidence graph.
//
// For each row, the core counts how often every other row occurs in the lists of the row's items;
// rows that occur at least s times are its neighbours. This costs one step per pair of rows at each
// item, which is quadratic for an item with many rows. For s >= 2 there is an alternative: count
// shared pairs of items instead of shared items. Rows that share k items share C(k, 2) pairs. So
// the neighbours are the rows that share at least C(s, 2) pairs, and the count k is computed back
// from C(k, 2). There are more pairs than items, but each pair is in far fewer rows. The costs of
// both ways are computed in advance, and the cheaper way is used.
//
// Example, s = 2: rows {a, b, c} and {a, b, d} share the pair {a, b}, which is C(2, 2) = 1 pair, so
// they are neighbours with count 2.

import { HedgerowError } from '../errors.ts';
import { type Steps, slices, within } from '../schedule/steps.ts';
import { Graph } from './graph.ts';
import type { IncidenceParts } from './incidence-parts.ts';
import type { Core } from './load.ts';
import { pairRows } from './pair-rows.ts';
import { Scratch } from './scratch.ts';
import { combinations, leastArcs, rowsOf, type SparseRows, startsOf } from './sparse-rows.ts';
import { coreError } from './status.ts';

/** Number of steps per call into the core. A step counts one pair of rows and takes 2 to 5 ns. */
const WORK = 1 << 18;
const SLICE = 1 << 18;
/** Usual capacity of a chunk, in arcs. */
const CHUNK_ARCS = 1 << 19;
/**
 * Shared pairs are counted only if the rows have at most this many pairs of items in all. Each pair
 * takes 4 to 10 bytes of temporary memory.
 */
const MAX_PAIRS = 2 ** 26;
/** Cost of a pair of items, in steps of counting. */
const PAIR_COST = 8;
/** Maximum number of arcs that fit into an instance together with the input. */
const MAX_ARCS = 2 ** 27;

export type Side = 'nodes' | 'edges';

function tooMany(on: Side, s: number, most: number): HedgerowError {
  const what = on === 'nodes' ? `share at least ${s} hyperedges` : `share at least ${s} members`;
  return new HedgerowError(
    'query_too_large',
    `More than ${Math.floor(most / 2)} pairs of ${on === 'nodes' ? 'nodes' : 'hyperedges'} ${what}. Take a smaller window (start_ts, end_ts) or a larger s.`,
    { fields: { limit: Math.floor(most / 2) } },
  );
}

/** Builds the block of `hg_graph_overlaps`; returns its address. */
function* blockFor(
  core: Core,
  { sparse, least }: { sparse: SparseRows; least: number },
  lengths: number,
  scratch: Scratch,
): Steps<number> {
  const { exports, memory } = core;
  const { rows, rowStarts, rowItems, itemStarts, itemRows } = sparse;
  const counts = scratch.zeroed(rows * 4);
  yield 0.5;
  const met = scratch.take(rows * 4);
  const bits = scratch.zeroed(exports.hg_graph_bitmap_bytes(rows));
  const block = scratch.take(exports.HG_OVERLAP_BLOCK_BYTES.value);
  memory.words.set([rows, least, rowStarts, rowItems, itemStarts, itemRows, counts, met, bits, lengths], block / 4);
  return block;
}

/** Arcs in row order, as two arrays of which the first `arcs` entries are filled. */
interface Chunk {
  neighbours: number;
  counts: number;
  arcs: number;
}

/**
 * Finds the neighbours of every row, in chunks. Calls `guard` with the number of arcs found so far.
 */
function* neighboursOf(
  core: Core,
  rows: number,
  block: number,
  scratch: Scratch,
  guard: (arcs: number) => void,
): Steps<Chunk[]> {
  const capacity = Math.max(rows, Math.min(CHUNK_ARCS, rows * rows));
  const chunks: Chunk[] = [];
  const another = () => {
    chunks.push({ neighbours: scratch.take(capacity * 4), counts: scratch.take(capacity * 4), arcs: 0 });
    return chunks.at(-1)!;
  };
  let chunk = another();
  let arcs = 0;
  for (let row = 0; row < rows; ) {
    const { neighbours, counts, arcs: used } = chunk;
    const [to, shared, room] = [neighbours + used * 4, counts + used * 4, capacity - used];
    const written = core.exports.hg_graph_overlaps(block, row, WORK, to, shared, room);
    if (written < 0) {
      if (used === 0) throw coreError(written, 'hg_graph_overlaps');
      chunk = another();
      continue;
    }
    row = core.exports.hg_result_rows() >>> 0;
    chunk.arcs += written;
    arcs += written;
    guard(arcs);
    yield row / rows;
  }
  return chunks;
}

/** Concatenates the chunks, and frees each once it is copied. */
function* gathered(
  core: Core,
  arcs: number,
  chunks: readonly Chunk[],
  scratch: Scratch,
  regions: Scratch,
): Steps<{ arcs: number; neighbours: number; counts: number }> {
  const neighbours = regions.take(arcs * 4);
  const counts = regions.take(arcs * 4);
  let done = 0;
  for (const chunk of chunks) {
    core.memory.bytes.copyWithin(neighbours + done * 4, chunk.neighbours, chunk.neighbours + chunk.arcs * 4);
    core.memory.bytes.copyWithin(counts + done * 4, chunk.counts, chunk.counts + chunk.arcs * 4);
    scratch.drop(chunk.neighbours);
    scratch.drop(chunk.counts);
    done += chunk.arcs;
    yield done / Math.max(1, arcs);
  }
  return { arcs, neighbours, counts };
}

/** What to count: rows that share at least `least` of these items are neighbours. */
interface Plan {
  sparse: SparseRows;
  least: number;
  /** Whether the items of `sparse` are pairs of the original items. */
  paired: boolean;
}

/**
 * Chooses between counting shared items and counting shared pairs of items. For s <= 2, may call
 * `guard` early with a lower bound on the number of arcs, which counts for each row only the arcs
 * due to its most common item.
 */
function* planFor(
  core: Core,
  given: SparseRows,
  s: number,
  limit: number,
  guard: (arcs: number) => void,
  scratch: Scratch,
): Steps<Plan> {
  const plain = { sparse: given, least: Math.min(s, 0xffffffff), paired: false };
  const direct = yield* within(combinations(core, given.itemStarts, given.items, 2), 0, 0.1);
  if (s <= 1) {
    if (2 * direct > limit) guard(yield* within(leastArcs(core, given), 0.1, 1));
    return plain;
  }
  const bound = yield* within(combinations(core, given.rowStarts, given.rows, 2), 0.1, 0.2);
  if (bound > MAX_PAIRS || bound * PAIR_COST >= direct) return plain;
  const sparse = yield* within(pairRows(core, given, bound, scratch), 0.2, 0.9);
  if (s === 2) guard(yield* within(leastArcs(core, sparse), 0.9, 1));
  return { sparse, least: Math.min((s * (s - 1)) / 2, 0xffffffff), paired: true };
}

/**
 * Builds the graph of the rows that share at least `s` items; the counts are the numbers of shared
 * items. Throws `query_too_large` if it has more than `most` arcs.
 */
export function* overlapGraph(core: Core, parts: IncidenceParts, on: Side, s: number, most: number): Steps<Graph> {
  const given = rowsOf(parts, on);
  const { rows } = given;
  const limit = Math.min(most, MAX_ARCS);
  const guard = (arcs: number) => {
    if (arcs > limit) throw tooMany(on, s, limit);
  };
  const regions = new Scratch(core);
  const scratch = new Scratch(core);
  let finished = false;
  try {
    const plan = yield* within(planFor(core, given, s, limit, guard, scratch), 0, 0.2);
    const starts = regions.take((rows + 1) * 4); // holds the lengths of the rows at first
    const block = yield* within(blockFor(core, plan, starts, scratch), 0.2, 0.22);
    const chunks = yield* within(neighboursOf(core, rows, block, scratch, guard), 0.22, 0.9);
    const arcs = yield* within(startsOf(core, starts, rows), 0.9, 0.92);
    const lists = yield* within(gathered(core, arcs, chunks, scratch, regions), 0.92, 0.98);
    const items = (from: number, to: number) => core.exports.hg_graph_pair_counts(lists.counts + from * 4, to - from);
    if (plan.paired) yield* within(slices(arcs, SLICE, items), 0.98, 1);
    finished = true;
    return new Graph(core, { vertices: rows, starts, ...lists, regions });
  } finally {
    scratch.free();
    if (!finished) regions.free();
  }
}

/**
 * Builds the incidence graph: its vertices are the nodes, then the edges. It has an arc in each
 * direction for every member of an edge.
 */
export function* bipartite(core: Core, parts: IncidenceParts): Steps<Graph> {
  const { exports, memory } = core;
  const { nodes, edges, incidences } = parts;
  const regions = new Scratch(core);
  let finished = false;
  try {
    const starts = regions.take((nodes + edges + 1) * 4);
    memory.bytes.copyWithin(starts, parts.nodeStarts, parts.nodeStarts + nodes * 4);
    const behind = (from: number, to: number) =>
      exports.hg_graph_shift(parts.edgeStarts + from * 4, to - from, incidences, starts + (nodes + from) * 4);
    yield* within(slices(edges + 1, SLICE, behind), 0, 0.3);
    const neighbours = regions.take(incidences * 8);
    const edgesOf = (from: number, to: number) =>
      exports.hg_graph_shift(parts.nodeEdges + from * 4, to - from, nodes, neighbours + from * 4);
    yield* within(slices(incidences, SLICE, edgesOf), 0.3, 0.7);
    const nodesOf = (from: number, to: number) =>
      exports.hg_graph_shift(parts.edgeNodes + from * 4, to - from, 0, neighbours + (incidences + from) * 4);
    yield* within(slices(incidences, SLICE, nodesOf), 0.7, 1);
    finished = true;
    return new Graph(core, { vertices: nodes + edges, arcs: 2 * incidences, starts, neighbours, counts: 0, regions });
  } finally {
    if (!finished) regions.free();
  }
}
