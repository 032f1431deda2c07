// Computes temporal coreness: how dense the graph around a node is in the time window where it is
// densest.
//
// The k-core of a graph is its largest subgraph in which every vertex has at least k neighbours;
// the core number of a node is the largest k whose k-core contains the node. Time is cut into
// windows of `window` seconds, and empty windows are skipped. The modes:
//
// - max, mean: the maximum or the mean, over all non-empty windows, of the node's core number in
//   the co-member graph of the window (0 in windows without the node).
// - span: for each run of `span` consecutive non-empty windows, the core number in the graph of the
//   pairs that are present in all windows of the run; the result is the maximum over all runs. A
//   pair {a, b} is encoded as the number a * nodes + b and pairs are sorted, so that a run is an
//   intersection of sorted lists.
// - hypercore: the maximum over the windows of the node's core number in the hypergraph itself:
//   nodes in fewer than k edges are removed, and an edge remains as long as at least m of its
//   members remain.

import { coreNumbers, Graph, hypercoreNumbers, type Incidence, type Steps, windowCores } from '../../core/index.ts';
import { basisOf, basisParameter, LIMIT, type Measure, NODE_ID, NODE_MAP, WINDOW } from '../measure.ts';
import { mapOf } from '../shapes.ts';

export const temporalCoreness: Measure = {
  name: 'temporal_coreness',
  about: 'Largest k such that a node is in the k-core of the co-member graph of some window of time.',
  source:
    'Seidman 1983 (cores); Galimberti et al. 2018, "Mining (maximal) span-cores from temporal networks" (span); Leng et al. 2013, "M-core decomposition of hypergraphs" (hypercore).',
  parameters: [
    {
      name: 'window',
      type: 'integer',
      least: 1,
      about: "Width of a window in seconds; default: the table's bucket_seconds.",
    },
    {
      name: 'mode',
      type: 'choice',
      choices: ['max', 'mean', 'span', 'hypercore'],
      default: 'max',
      about:
        'max, mean: over the non-empty windows; span: for the pairs that are present in each of `span` consecutive non-empty windows; hypercore: nodes in fewer than k edges are removed, and an edge remains while it has m members.',
    },
    { name: 'span', type: 'integer', least: 1, default: 1, about: 'Number of consecutive windows, for mode span.' },
    {
      name: 'm',
      type: 'integer',
      least: 1,
      default: 2,
      about: 'Number of members that an edge needs, for mode hypercore.',
    },
    NODE_ID,
    basisParameter(),
    ...LIMIT,
    ...WINDOW,
  ],
  result: NODE_MAP,
  *run({ projections }, params) {
    const mode = params.mode as string;
    const basis = basisOf(params, mode === 'hypercore' ? 'distinct' : 'events');
    const width = (params.window as number | undefined) ?? projections.bucketSeconds;
    const events = yield* projections.incidence('events');
    const bounds = windowBounds(events.copyTimes(), width);
    let values: Float64Array;
    if (mode === 'span') values = yield* spanCores(events, bounds, params.span as number);
    else if (mode === 'hypercore') values = yield* hypercores(events, bounds, params.m as number, basis === 'distinct');
    else values = yield* plainCores(events, bounds, mode === 'mean');
    return {
      shape: mapOf(events.copyNodeIds(), values, params),
      definition: mode,
      basis: mode === 'hypercore' ? basis : null,
    };
  },
};

/**
 * Returns the offsets at which the non-empty windows begin, followed by the end of the last window.
 * `times` is ascending.
 */
function windowBounds(times: Float64Array, width: number): Uint32Array {
  const bounds: number[] = [];
  let last = Number.NaN;
  for (const [at, time] of times.entries()) {
    const window = Math.floor(time / width);
    if (window !== last) bounds.push(at);
    last = window;
  }
  bounds.push(times.length);
  return Uint32Array.from(bounds);
}

function* plainCores(events: Incidence, bounds: Uint32Array, mean: boolean): Steps<Float64Array> {
  const values = new Float64Array(events.nodes);
  yield* windowCores(events, bounds, (_, { nodes, cores }) => {
    for (const [i, node] of nodes.entries())
      values[node] = mean ? values[node]! + cores[i]! : Math.max(values[node]!, cores[i]!);
  });
  const windows = bounds.length - 1;
  return mean ? values.map((sum) => (windows === 0 ? 0 : sum / windows)) : values;
}

function* hypercores(events: Incidence, bounds: Uint32Array, m: number, distinct: boolean): Steps<Float64Array> {
  const values = new Float64Array(events.nodes);
  for (let window = 0; window + 1 < bounds.length; window++) {
    const { nodes, cores } = hypercoreNumbers(events, bounds[window]!, bounds[window + 1]!, m, distinct);
    for (const [i, node] of nodes.entries()) values[node] = Math.max(values[node]!, cores[i]!);
    yield window / bounds.length;
  }
  return values;
}

/** Returns the distinct pairs of a window, each as a * nodes + b, ascending. */
function pairsOf({ core, nodes, edgeStarts, edgeNodes }: Incidence, from: number, to: number): Float64Array {
  const { words } = core.memory;
  const found: number[] = [];
  for (let e = from; e < to; e++) {
    const begin = edgeNodes / 4 + words[edgeStarts / 4 + e]!;
    const end = edgeNodes / 4 + words[edgeStarts / 4 + e + 1]!;
    for (let at = begin; at < end; at++)
      for (let other = at + 1; other < end; other++) found.push(words[at]! * nodes + words[other]!);
  }
  const sorted = Float64Array.from(found).sort();
  return sorted.filter((pair, i) => i === 0 || pair !== sorted[i - 1]);
}

function* spanCores(events: Incidence, bounds: Uint32Array, span: number): Steps<Float64Array> {
  const values = new Float64Array(events.nodes);
  const recent: Float64Array[] = [];
  for (let window = 0; window + 1 < bounds.length; window++) {
    recent.push(pairsOf(events, bounds[window]!, bounds[window + 1]!));
    if (recent.length > span) recent.shift();
    if (recent.length === span) raise(values, events, recent.reduce(inBoth));
    yield window / bounds.length;
  }
  return values;
}

function inBoth(a: Float64Array, b: Float64Array): Float64Array {
  let at = 0;
  return a.filter((pair) => {
    while (at < b.length && b[at]! < pair) at++;
    return b[at] === pair;
  });
}

/** Raises each node's value to its core number in the graph of `pairs`, if that is greater. */
function raise(values: Float64Array, { core, nodes }: Incidence, pairs: Float64Array): void {
  if (pairs.length === 0) return;
  const slots = new Map<number, number>();
  const slotOf = (node: number): number => {
    const known = slots.get(node);
    if (known !== undefined) return known;
    slots.set(node, slots.size);
    return slots.size - 1;
  };
  const ends = new Uint32Array(pairs.length * 2);
  for (const [i, pair] of pairs.entries()) {
    ends[2 * i] = slotOf(Math.floor(pair / nodes));
    ends[2 * i + 1] = slotOf(pair % nodes);
  }
  const graph = Graph.fromPairs(core, slots.size, ends);
  try {
    const { numbers } = coreNumbers(graph);
    for (const [node, slot] of slots) values[node] = Math.max(values[node]!, numbers[slot]!);
  } finally {
    graph.free();
  }
}
