// Builds an incidence from columns: gives ordinals to the nodes, then builds the CSR from edges to
// nodes and from nodes to edges.
//
// Nodes get the ordinals 0, 1, ... in ascending order of their ids, in one of two ways:
//
// - If the ids are dense, each is marked in a bitmap over the range of ids. The ordinal of a node
//   is its rank: the number of marked bits before it.
// - If the ids are spread widely, the pairs (id - least, position) are radix sorted, 11 bits at a
//   time. A pass over the sorted keys gives ordinals to the distinct keys and writes each ordinal
//   to its position.
//
// Both ways write the ordinals in member order, which already gives the node list of every edge.
// The edge lists of the nodes are the transpose of these lists, computed by counting sort.
//
// Example: edges {9, 5} and {9} have the members 5, 9 | 9; the nodes 5 and 9 get the ordinals 0 and
// 1, so the node lists are 0, 1 | 1, and the edge lists are 0 | 0, 1.

import { HedgerowError } from '../errors.ts';
import { type Steps, slices, within } from '../schedule/steps.ts';
import type { IncidenceColumns, IncidenceParts } from './incidence-parts.ts';
import type { Core } from './load.ts';
import { Scratch } from './scratch.ts';
import { startsOf, transposed } from './sparse-rows.ts';

/**
 * Number of entries per step. A step takes about 2 ms in the cheap passes (a few nanoseconds per
 * entry).
 */
const SLICE = 1 << 18;
/**
 * Number of node ids copied to core memory at a time. They are few enough to stay in the
 * processor's cache during the pass.
 */
const STAGE = 1 << 15;
/** A node table is used if it has at most this many entries, or at most one entry per incidence. */
const TABLE_ENTRIES = 1 << 16;
/**
 * Number of bits in a digit of the radix sort, and number of different digits, as in
 * assembly/csr/digits.ts.
 */
const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;
/**
 * Upper bound on the memory for building an incidence. An instance has at most 4 GiB, and the
 * incidence must leave space for the graphs and kernels that follow.
 */
const MAX_BUILD_BYTES = 2.5 * 2 ** 30;

function* copyNumbers(core: Core, values: Float64Array, address: number): Steps<void> {
  yield* slices(values.length, SLICE, (from, to) => {
    core.memory.numbers.set(values.subarray(from, to), address / 8 + from);
  });
}

/** Writes the weights, with 1 where a weight is null. */
function* copyWeights(core: Core, edges: number, weights: Float64Array | null, address: number): Steps<void> {
  yield* slices(edges, SLICE, (from, to) => {
    const at = address / 8;
    const numbers = core.memory.numbers;
    numbers.fill(1, at + from, at + to);
    if (weights === null) return;
    for (let i = from; i < to; i++) if (!Number.isNaN(weights[i])) numbers[at + i] = weights[i]!;
  });
}

/** Returns the least and the greatest node id. */
function* boundsOf(members: Float64Array): Steps<{ least: number; greatest: number }> {
  let least = Infinity;
  let greatest = -Infinity;
  yield* slices(members.length, SLICE, (from, to) => {
    for (let i = from; i < to; i++) {
      const member = members[i]!;
      if (member < least) least = member;
      if (member > greatest) greatest = member;
    }
  });
  return { least, greatest };
}

/**
 * Copies the members, one range after another, to the address `stage`, and calls `work` for each
 * range.
 */
function* staged(
  core: Core,
  members: Float64Array,
  stage: number,
  work: (count: number, from: number) => void,
): Steps<void> {
  yield* slices(members.length, STAGE, (from, to) => {
    core.memory.numbers.set(members.subarray(from, to), stage / 8);
    work(to - from, from);
  });
}

/** Number of nodes and address of the node ids. The ordinals are written to `edgeNodes`. */
interface Numbered {
  nodes: number;
  nodeIds: number;
}

/** Gives ordinals to dense ids, by a table with one bit per id of the range. */
function* numberByTable(
  core: Core,
  members: Float64Array,
  least: number,
  entries: number,
  edgeNodes: number,
  regions: Scratch,
  scratch: Scratch,
): Steps<Numbered> {
  const { exports, memory } = core;
  const stage = scratch.take(Math.min(STAGE, members.length) * 8);
  const entryBytes = exports.HG_NODE_ENTRY_BYTES.value;
  const table = scratch.take(entries * entryBytes);
  const clear = (from: number, to: number) => {
    memory.bytes.fill(0, table + from * entryBytes, table + to * entryBytes);
  };
  yield* within(slices(entries, SLICE, clear), 0, 0.05);
  const mark = (count: number) => exports.hg_incidence_mark(stage, count, least, table);
  yield* within(staged(core, members, stage, mark), 0.05, 0.3);
  let nodes = 0;
  const rank = (from: number, to: number) => {
    nodes = exports.hg_incidence_rank(table, from, to, nodes) >>> 0;
  };
  yield* within(slices(entries, SLICE, rank), 0.3, 0.4);
  const nodeIds = regions.take(nodes * 8);
  const list = (from: number, to: number) => exports.hg_incidence_list(table, from, to, least, nodeIds);
  yield* within(slices(entries, SLICE, list), 0.4, 0.5);
  const map = (count: number, from: number) =>
    exports.hg_incidence_map(stage, count, least, table, edgeNodes + from * 4);
  yield* within(staged(core, members, stage, map), 0.5, 1);
  return { nodes, nodeIds };
}

/**
 * Radix sorts n keys together with their positions. Returns which of the two pairs of arrays
 * contains the result.
 */
function* sortKeys(
  core: Core,
  n: number,
  bits: number,
  pairs: { keys: number; places: number }[],
  scratch: Scratch,
): Steps<number> {
  const { exports, memory } = core;
  const counts = scratch.take(DIGITS * 4);
  let side = 0;
  for (let shift = 0; shift < bits; shift += DIGIT_BITS) {
    const [from, to] = [pairs[side]!, pairs[1 - side]!];
    const [begin, end] = [shift / bits, Math.min(1, (shift + DIGIT_BITS) / bits)];
    memory.borrow(counts, DIGITS * 4).fill(0);
    const count = (first: number, last: number) =>
      exports.hg_incidence_digits(from.keys + first * 8, last - first, shift, counts);
    yield* within(slices(n, SLICE, count), begin, (begin + end) / 2);
    if (memory.words.subarray(counts / 4, counts / 4 + DIGITS).includes(n)) continue; // all keys have the same digit
    exports.hg_incidence_sums(counts, DIGITS, 0);
    const place = (first: number, last: number) =>
      exports.hg_incidence_place(
        from.keys + first * 8,
        from.places + first * 4,
        last - first,
        shift,
        counts,
        to.keys,
        to.places,
      );
    yield* within(slices(n, SLICE, place), (begin + end) / 2, end);
    side = 1 - side;
  }
  return side;
}

/** Gives ordinals to widely spread ids by sorting them. */
function* numberBySorting(
  core: Core,
  members: Float64Array,
  bounds: { least: number; greatest: number },
  edgeNodes: number,
  regions: Scratch,
  scratch: Scratch,
): Steps<Numbered> {
  const { exports, memory } = core;
  const n = members.length;
  const { least, greatest } = bounds;
  const stage = scratch.take(Math.min(STAGE, n) * 8);
  const pairs = [0, 1].map(() => ({ keys: scratch.take(n * 8), places: scratch.take(n * 4) }));
  const first = pairs[0]!;
  const key = (count: number, from: number) =>
    exports.hg_incidence_keys(stage, count, least, from, first.keys + from * 8, first.places + from * 4);
  yield* within(staged(core, members, stage, key), 0, 0.1);
  const bits = (BigInt(greatest) - BigInt(least)).toString(2).length;
  const side = yield* within(sortKeys(core, n, bits, pairs, scratch), 0.1, 0.8);
  const [sorted, spare] = [pairs[side]!, pairs[1 - side]!];
  let nodes = 0;
  const assign = (from: number, to: number) => {
    const { keys, places } = sorted;
    nodes = exports.hg_incidence_assign(keys, places, from, to, nodes, least, spare.keys, edgeNodes) >>> 0;
  };
  yield* within(slices(n, SLICE, assign), 0.8, 1);
  const nodeIds = regions.take(nodes * 8);
  memory.bytes.copyWithin(nodeIds, spare.keys, spare.keys + nodes * 8);
  return { nodes, nodeIds };
}

function* numberNodes(core: Core, members: Float64Array, edgeNodes: number, regions: Scratch): Steps<Numbered> {
  if (members.length === 0) return { nodes: 0, nodeIds: regions.take(0) };
  const scratch = new Scratch(core);
  try {
    const bounds = yield* within(boundsOf(members), 0, 0.1);
    const { least, greatest } = bounds;
    const entries = Math.floor((greatest - least) / 64) + 1;
    const numbering =
      entries <= Math.max(TABLE_ENTRIES, members.length)
        ? numberByTable(core, members, least, entries, edgeNodes, regions, scratch)
        : numberBySorting(core, members, bounds, edgeNodes, regions, scratch);
    return yield* within(numbering, 0.1, 1);
  } finally {
    scratch.free();
  }
}

function checkSize(edges: number, incidences: number): void {
  const bytes = edges * 36 + incidences * 32;
  if (bytes <= MAX_BUILD_BYTES) return;
  throw new HedgerowError(
    'query_too_large',
    `${edges} hyperedges with ${incidences} members in all are too many for one analysis. Take a smaller window (start_ts, end_ts).`,
    { fields: { edges, incidences } },
  );
}

export function* buildIncidence(core: Core, columns: IncidenceColumns): Steps<IncidenceParts> {
  const { times, ids, sizes, members, weights } = columns;
  const edges = ids.length;
  const incidences = members.length;
  checkSize(edges, incidences);
  const regions = new Scratch(core);
  let finished = false;
  try {
    const [edgeIds, timesAt, weightsAt, multiplicity] = [0, 1, 2, 3].map(() => regions.take(edges * 8)) as [
      number,
      number,
      number,
      number,
    ];
    yield* within(copyNumbers(core, ids, edgeIds), 0, 0.03);
    yield* within(copyNumbers(core, times, timesAt), 0.03, 0.06);
    yield* within(copyWeights(core, edges, weights, weightsAt), 0.06, 0.08);
    yield* within(copyWeights(core, edges, null, multiplicity), 0.08, 0.1);
    const edgeStarts = regions.take((edges + 1) * 4);
    core.memory.words.set(sizes, edgeStarts / 4);
    yield* within(startsOf(core, edgeStarts, edges), 0.1, 0.12);
    const edgeNodes = regions.take(incidences * 4);
    const { nodes, nodeIds } = yield* within(numberNodes(core, members, edgeNodes, regions), 0.12, 0.6);
    const rows = { count: edges, starts: edgeStarts, items: edgeNodes };
    const { nodeStarts, nodeEdges } = yield* within(transposed(core, rows, nodes, regions), 0.6, 1);
    finished = true;
    const addresses = { nodeIds, edgeIds, times: timesAt, weights: weightsAt, multiplicity };
    const sparse = { edgeStarts, edgeNodes, nodeStarts, nodeEdges };
    return { nodes, edges, incidences, ...addresses, ...sparse, setOf: 0, sources: 0, regions };
  } finally {
    if (!finished) regions.free();
  }
}
