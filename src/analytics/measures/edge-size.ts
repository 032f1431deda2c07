// Computes edge size: the number of members of an edge.

import { basisOf, basisParameter, LIMIT, type Measure, WINDOW } from '../measure.ts';
import { mapOf, setNamed } from '../shapes.ts';

export const edgeSize: Measure = {
  name: 'edge_size',
  about: 'How many members each edge has.',
  source: 'Berge 1973, Graphs and Hypergraphs.',
  parameters: [
    { name: 'edge_id', type: 'integer', about: 'Only this edge: the answer is a map with one entry, or empty.' },
    basisParameter('events'),
    ...LIMIT,
    ...WINDOW,
  ],
  result: { type: 'object', description: 'By edge id.', additionalProperties: { type: 'integer' } },
  *run({ projections }, params) {
    const basis = basisOf(params, 'events');
    const incidence = yield* projections.incidence(basis);
    const named = yield* setNamed(projections, basis, params);
    return {
      shape: mapOf(incidence.copyEdgeIds(), incidence.copySizes(), named, 'edge_id'),
      definition: 'members',
      basis,
    };
  },
};
