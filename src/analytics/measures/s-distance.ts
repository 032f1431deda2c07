// Computes distances in the s-graph.

import {
  distancesFrom,
  type Graph,
  type Search,
  Searcher,
  type Steps,
  searchFromAll,
  UNREACHED,
} from '../../core/index.ts';
import { DIRECTION } from '../direction.ts';
import { LIMIT, type Measure, type MeasureInput, type Shape } from '../measure.ts';
import type { ParameterValues } from '../parameters.ts';
import { limitOf } from '../shapes.ts';
import { S_PARAMETERS, S_SOURCE, type SView, sGraph, sView, vertexOf } from './s-graph.ts';
import { streamedTriples, Triples } from './triples.ts';

const isEdge = ({ on }: ParameterValues) => on === 'edges';

export const sDistance: Measure = {
  name: 's_distance',
  about:
    'Number of steps between two nodes (or edges), where each step leads to one with at least s common edges (or members). Directed: a step leads from a node by its role `from` in at least s edges to a node with `to` in them, or to an edge in which at least s nodes with `to` in the edge before have `from`.',
  source: S_SOURCE,
  parameters: [
    ...S_PARAMETERS,
    { name: 'source', type: 'node', isEdge, about: 'Only from this node (in a named table its key) or edge.' },
    {
      name: 'target',
      type: 'node',
      isEdge,
      about:
        'Only to this node or edge. With a source, the answer is one number, or null if the target is not reached.',
    },
    ...DIRECTION,
    ...LIMIT,
  ],
  result: {
    type: ['array', 'integer', 'null'],
    description:
      '[u, v, d] with u < v for the pairs that reach each other (directed: every pair u, v such that u reaches v), or one number; in a named table nodes are keys.',
  },
  *run(input, params) {
    const view = yield* sView(input, params);
    const shape = yield* shapeOf(input, params, view);
    return { shape, definition: view.on, basis: view.basis };
  },
};

function* shapeOf(input: MeasureInput, params: ParameterValues, view: SView): Steps<Shape> {
  const { source, target } = params as { source?: number; target?: number };
  const from = source === undefined ? undefined : yield* vertexOf(input, view, 'source', source);
  const to = target === undefined ? undefined : yield* vertexOf(input, view, 'target', target);
  const graph = yield* sGraph(input, view);
  if (input.direction !== undefined) return yield* directedShape(view, graph, from, to, limitOf(params));
  const one = from ?? to;
  if (one === undefined && limitOf(params) === undefined)
    return streamedTriples(view, (u, add) => {
      for (const [v, d] of distancesFrom(graph, u).entries()) if (d !== UNREACHED && d > 0) add(v, d);
    });
  if (one === undefined) {
    const triples = new Triples(limitOf(params));
    yield* searchFromAll(graph, (u, { order, distances }) => {
      for (const v of order) if (v > u) triples.add(view.ids[u]!, view.ids[v]!, distances[v]!);
    });
    return triples.shape(view.on === 'nodes');
  }
  const distances = distancesFrom(graph, one);
  if (from !== undefined && to !== undefined) {
    const isReached = view.isThere(from) && view.isThere(to) && distances[to] !== UNREACHED;
    return { kind: 'value', value: isReached ? distances[to]! : null };
  }
  const triples = new Triples(limitOf(params));
  for (const [v, d] of distances.entries()) if (d !== UNREACHED && d > 0) triples.add(view.ids[one]!, view.ids[v]!, d);
  return triples.shape(view.on === 'nodes');
}

/** Distances in a directed graph: from `from`, to `to`, or of all pairs. */
function* directedShape(
  { ids, isThere, on }: SView,
  graph: Graph,
  from: number | undefined,
  to: number | undefined,
  limit: number | undefined,
): Steps<Shape> {
  if (from !== undefined && to !== undefined) {
    const distance = distancesFrom(graph, from)[to]!;
    return { kind: 'value', value: isThere(from) && isThere(to) && distance !== UNREACHED ? distance : null };
  }
  const triples = new Triples(limit, true);
  const add = (u: number, { order, distances }: Search): void => {
    for (const v of order) if (v !== u && (to === undefined || v === to)) triples.add(ids[u]!, ids[v]!, distances[v]!);
  };
  if (from === undefined) yield* searchFromAll(graph, add);
  else {
    const searcher = new Searcher(graph);
    add(from, searcher.from(from));
    searcher.free();
  }
  return triples.shape(on === 'nodes');
}
