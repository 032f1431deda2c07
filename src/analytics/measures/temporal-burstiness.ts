// Computes burstiness: how unevenly events are spaced in time.

import type { Incidence, Steps } from '../../core/index.ts';
import { LIMIT, type Measure, NODE_ID, type Projections, type Shape, WINDOW } from '../measure.ts';
import { misplacedParameter, type ParameterValues } from '../parameters.ts';
import { limitOf } from '../shapes.ts';

export const temporalBurstiness: Measure = {
  name: 'temporal_burstiness',
  about: 'How irregular the gaps between events are: -1 for equal gaps, 0 for random times, towards 1 for bursts.',
  source: 'Goh and Barabasi 2008, "Burstiness and memory in complex systems"; Kim and Jo 2016 (finite_size).',
  parameters: [
    {
      name: 'scope',
      type: 'choice',
      choices: ['table', 'node', 'edge'],
      about:
        'table: of all events; node: of the events of each node; edge: of the events of each member set (by its least edge id). Default: node with a node_id, table without.',
    },
    {
      name: 'zeros',
      type: 'boolean',
      default: false,
      about: 'Also count the gaps of 0 between events at the same time.',
    },
    NODE_ID,
    ...LIMIT,
    ...WINDOW,
  ],
  result: {
    type: 'object',
    properties: {
      B: { type: ['number', 'null'] },
      finite_size: { type: ['number', 'null'] },
      memory: { type: ['number', 'null'], description: 'Correlation of a gap with the gap before it.' },
      intervals: { type: 'integer', description: 'Number of gaps.' },
    },
  },
  *run({ projections }, params) {
    const zeros = params.zeros === true;
    const scope = params.scope ?? (params.node_id === undefined ? 'table' : 'node');
    if (params.node_id !== undefined && scope !== 'node')
      throw misplacedParameter('node_id', 'it is only for scope node.');
    const shape = yield* shapeOf(projections, { ...params, scope }, zeros);
    return { shape, definition: zeros ? 'all_gaps' : 'distinct_times', basis: 'events' };
  },
};

function* shapeOf(projections: Projections, params: ParameterValues, zeros: boolean): Steps<Shape> {
  const events = yield* projections.incidence('events');
  const times = events.copyTimes();
  if (params.scope === 'table') return { kind: 'value', value: burstiness(times, zeros) };
  if (params.scope === 'edge') {
    const sets = yield* projections.incidence('distinct');
    return largest(sets.copyEdgeIds(), timesOfSets(sets, times), params, zeros, false);
  }
  const ids = events.copyNodeIds();
  if (params.node_id === undefined) return largest(ids, (v) => timesOfNode(events, times, v), params, zeros, true);
  const v = events.nodeOrdinal(params.node_id as number);
  const ofNodes = true;
  if (v < 0) return { kind: 'objects', ofNodes, keys: ids.slice(0, 0), values: [] };
  const values = [burstiness(timesOfNode(events, times, v), zeros)];
  return { kind: 'objects', ofNodes, keys: ids.slice(v, v + 1), values };
}

/** Returns the event times of a node. They ascend, because a node's edges are in time order. */
function timesOfNode({ core, nodeStarts, nodeEdges }: Incidence, times: Float64Array, v: number): Float64Array {
  const { words } = core.memory;
  const begin = words[nodeStarts / 4 + v]!;
  const end = words[nodeStarts / 4 + v + 1]!;
  return Float64Array.from({ length: end - begin }, (_, i) => times[words[nodeEdges / 4 + begin + i]!]!);
}

function timesOfSets(sets: Incidence, times: Float64Array): (set: number) => Float64Array {
  const setOf = sets.eventToSet();
  const starts = new Uint32Array(sets.edges + 1);
  for (const set of setOf) starts[set + 1]!++;
  for (let set = 0; set < sets.edges; set++) starts[set + 1]! += starts[set]!;
  const cursors = starts.slice();
  const sorted = new Float64Array(times.length);
  for (const [event, set] of setOf.entries()) sorted[cursors[set]!++] = times[event]!;
  return (set) => sorted.subarray(starts[set]!, starts[set + 1]!);
}

/**
 * Returns all values, or those of the `limit` keys with the greatest B; null is less than every B.
 */
function largest(
  keys: Float64Array,
  timesOf: (at: number) => Float64Array,
  params: ParameterValues,
  zeros: boolean,
  ofNodes: boolean,
): Shape {
  const values = Array.from(keys, (_, at) => burstiness(timesOf(at), zeros));
  const most = limitOf(params);
  if (most === undefined) return { kind: 'objects', ofNodes, keys, values };
  const order = Array.from(keys.keys());
  order.sort((a, b) => (values[b]!.B ?? -2) - (values[a]!.B ?? -2) || keys[a]! - keys[b]!);
  const first = order.slice(0, most);
  const best = Float64Array.from(first, (at) => keys[at]!);
  return { kind: 'objects', ofNodes, keys: best, values: first.map((at) => values[at]!) };
}

interface Burstiness extends Record<string, number | null> {
  B: number | null;
  finite_size: number | null;
  memory: number | null;
  intervals: number;
}

/**
 * Returns the figures for `times`, which ascend. All but `intervals` are null with fewer than two
 * gaps, or if all gaps are 0.
 */
function burstiness(times: Float64Array, zeros: boolean): Burstiness {
  const gaps: number[] = [];
  for (let i = 1; i < times.length; i++) {
    const gap = times[i]! - times[i - 1]!;
    if (zeros || gap > 0) gaps.push(gap);
  }
  const n = gaps.length;
  const { mean, sd } = spread(gaps);
  if (n < 2 || mean === 0) return { B: null, finite_size: null, memory: null, intervals: n };
  const r = sd / mean;
  const up = Math.sqrt(n + 1);
  const down = Math.sqrt(n - 1);
  const below = (up - 2) * r + down;
  return {
    B: (sd - mean) / (sd + mean),
    finite_size: below === 0 ? null : (up * r - down) / below,
    memory: memoryOf(gaps),
    intervals: n,
  };
}

function memoryOf(gaps: readonly number[]): number | null {
  const before = spread(gaps.slice(0, -1));
  const after = spread(gaps.slice(1));
  if (before.sd === 0 || after.sd === 0) return null;
  let sum = 0;
  for (let i = 1; i < gaps.length; i++) sum += (gaps[i - 1]! - before.mean) * (gaps[i]! - after.mean);
  return sum / (gaps.length - 1) / (before.sd * after.sd);
}

/** Returns the mean and the population standard deviation. */
function spread(values: readonly number[]): { mean: number; sd: number } {
  if (values.length === 0) return { mean: 0, sd: 0 };
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, sd: Math.sqrt(squares / values.length) };
}
