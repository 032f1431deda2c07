// Collapses an incidence to its distinct member sets.

import { type Steps, slices, within } from '../schedule/steps.ts';
import type { IncidenceParts } from './incidence-parts.ts';
import type { Core } from './load.ts';
import { Scratch } from './scratch.ts';
import { startsOf, transposed } from './sparse-rows.ts';

/** Number of edges per step. Hashing and comparing a set takes about 20 to 60 ns. */
const SLICE = 1 << 14;

/**
 * Assigns edges with equal members to the same set, and returns the number of sets. Sets are
 * numbered in the order of their first edge; `leaders` receives the edge with the least id of each
 * set.
 */
function* group(core: Core, source: IncidenceParts, setOf: number, leaders: number): Steps<number> {
  const { edges, edgeStarts, edgeNodes, edgeIds } = source;
  const scratch = new Scratch(core);
  try {
    const slotBits = Math.max(4, 32 - Math.clz32(Math.ceil(edges * 1.5))); // load factor at most two thirds
    const slotBytes = 2 ** slotBits * 8;
    const slots = scratch.take(slotBytes);
    const clear = (from: number, to: number) => {
      core.memory.bytes.fill(0, slots + from, slots + to);
    };
    yield* within(slices(slotBytes, 1 << 23, clear), 0, 0.1);
    const { hg_incidence_group: find } = core.exports;
    let sets = 0;
    const enter = (from: number, to: number) => {
      sets = find(edgeStarts, edgeNodes, edgeIds, from, to, sets, slots, slotBits, setOf, leaders) >>> 0;
    };
    yield* within(slices(edges, SLICE, enter), 0.1, 1);
    return sets;
  } finally {
    scratch.free();
  }
}

/**
 * Collects, for each set, the id and time of its edge with the least id, the sums of the weights
 * and multiplicities of its edges, and its member list.
 */
function* gather(
  core: Core,
  source: IncidenceParts,
  sets: number,
  setOf: number,
  leaders: number,
  regions: Scratch,
): Steps<Omit<IncidenceParts, 'nodes' | 'nodeIds' | 'nodeStarts' | 'nodeEdges'>> {
  const { exports } = core;
  const { edges, edgeStarts: starts } = source;
  const scratch = new Scratch(core);
  try {
    const ordinals = scratch.take(sets * 4);
    const rows = scratch.take(sets * 4);
    const edgeStarts = regions.take((sets + 1) * 4);
    let known = 0;
    const order = (from: number, to: number) => {
      known = exports.hg_incidence_order(setOf, leaders, starts, from, to, known, ordinals, rows, edgeStarts) >>> 0;
    };
    yield* within(slices(edges, SLICE, order), 0, 0.2);
    const incidences = yield* within(startsOf(core, edgeStarts, sets), 0.2, 0.25);
    const edgeNodes = regions.take(incidences * 4);
    const pick = (from: number, to: number) =>
      exports.hg_incidence_pick(starts, source.edgeNodes, rows, from, to, edgeStarts, edgeNodes);
    yield* within(slices(sets, SLICE, pick), 0.25, 0.5);
    const [edgeIds, times] = [regions.take(sets * 8), regions.take(sets * 8)];
    const numbers = (from: number, to: number) => {
      exports.hg_incidence_pick_numbers(source.edgeIds, rows, from, to, edgeIds);
      exports.hg_incidence_pick_numbers(source.times, rows, from, to, times);
    };
    yield* within(slices(sets, SLICE, numbers), 0.5, 0.7);
    const [weights, multiplicity] = [regions.zeroed(sets * 8), regions.zeroed(sets * 8)];
    const total = (from: number, to: number) =>
      exports.hg_incidence_total(setOf, from, to, ordinals, source.weights, source.multiplicity, weights, multiplicity);
    yield* within(slices(edges, SLICE, total), 0.7, 1);
    const columns = { edgeIds, times, weights, multiplicity, edgeStarts, edgeNodes };
    return { edges: sets, incidences, ...columns, setOf, sources: edges, regions };
  } finally {
    scratch.free();
  }
}

export function* collapse(core: Core, source: IncidenceParts): Steps<IncidenceParts> {
  const { nodes, edges } = source;
  const regions = new Scratch(core);
  const scratch = new Scratch(core);
  let finished = false;
  try {
    const setOf = regions.take(edges * 4);
    const leaders = scratch.take(edges * 4);
    const sets = yield* within(group(core, source, setOf, leaders), 0, 0.5);
    const gathered = yield* within(gather(core, source, sets, setOf, leaders, regions), 0.5, 0.8);
    const nodeIds = regions.take(nodes * 8);
    core.memory.bytes.copyWithin(nodeIds, source.nodeIds, source.nodeIds + nodes * 8);
    const rows = { count: sets, starts: gathered.edgeStarts, items: gathered.edgeNodes };
    const { nodeStarts, nodeEdges } = yield* within(transposed(core, rows, nodes, regions), 0.8, 1);
    finished = true;
    return { ...gathered, nodes, nodeIds, nodeStarts, nodeEdges };
  } finally {
    scratch.free();
    if (!finished) regions.free();
  }
}
