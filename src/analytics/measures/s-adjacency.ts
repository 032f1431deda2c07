// Lists the pairs of nodes that share at least s edges, or of edges that share at least s members.

import { LIMIT, type Measure } from '../measure.ts';
import { limitOf } from '../shapes.ts';
import { S_PARAMETERS, S_SOURCE, sGraph, sView } from './s-graph.ts';
import { streamedTriples, Triples } from './triples.ts';

/** Approximate number of arcs processed per step. */
const STEP_ARCS = 200_000;

export const sAdjacency: Measure = {
  name: 's_adjacency',
  about: 'Pairs of nodes in at least s common edges (or of edges with at least s common members), and how many.',
  source: S_SOURCE,
  parameters: [...S_PARAMETERS, ...LIMIT],
  result: {
    type: 'array',
    items: { type: 'array' },
    description: '[u, v, count] with u < v; in a named table nodes are keys.',
  },
  *run(input, params) {
    const view = yield* sView(input, params);
    const graph = yield* sGraph(input, view);
    const starts = graph.copyStarts();
    const neighbours = graph.copyNeighbours();
    const counts = graph.copyCounts()!;
    const limit = limitOf(params);
    if (limit === undefined) {
      const shape = streamedTriples(view, (v, add) => {
        for (let arc = starts[v]!; arc < starts[v + 1]!; arc++) add(neighbours[arc]!, counts[arc]!);
      });
      return { shape, definition: view.on, basis: view.basis };
    }
    const triples = new Triples(limit);
    let next = STEP_ARCS;
    for (let v = 0; v < graph.vertices; v++) {
      for (let arc = starts[v]!; arc < starts[v + 1]!; arc++)
        if (neighbours[arc]! > v) triples.add(view.ids[v]!, view.ids[neighbours[arc]!]!, counts[arc]!);
      if (starts[v + 1]! < next) continue;
      next += STEP_ARCS;
      yield v / graph.vertices;
    }
    return { shape: triples.shape(view.on === 'nodes'), definition: view.on, basis: view.basis };
  },
};
