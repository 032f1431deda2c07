// Computes the diameter of the s-graph.

import { components, diameters } from '../../core/index.ts';
import type { Measure } from '../measure.ts';
import { S_PARAMETERS, S_SOURCE, sGraph, sView } from './s-graph.ts';

export const sDiameter: Measure = {
  name: 's_diameter',
  about: 'Greatest distance within the largest component of the s-graph.',
  source: `${S_SOURCE} Found by bounds: Crescenzi et al. 2013, "On computing the diameter of real-world undirected graphs".`,
  parameters: S_PARAMETERS,
  result: {
    type: 'object',
    properties: {
      value: {
        type: 'integer',
        description: 'Diameter of the largest component; among equally large ones, the one with the least id counts.',
      },
      connected: { type: 'boolean' },
      components: { type: 'integer' },
      max_over_components: { type: 'integer' },
    },
  },
  *run(input, params) {
    const view = yield* sView(input, params);
    const graph = yield* sGraph(input, view);
    const labels = yield* components(graph);
    const { largest, most, components: all } = yield* diameters(graph, labels, view.ids);
    // Edges smaller than s are isolated vertices of `graph`, but are not part of the s-graph.
    let absent = 0;
    for (let vertex = 0; vertex < graph.vertices; vertex++) if (!view.isThere(vertex)) absent++;
    const count = all - absent;
    const result = { value: largest, connected: count === 1, components: count, max_over_components: most };
    return { shape: { kind: 'value', value: result }, definition: view.on, basis: view.basis };
  },
};
