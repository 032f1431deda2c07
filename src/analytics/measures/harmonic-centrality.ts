// Computes harmonic centrality.

import { distanceSums } from '../../core/index.ts';
import { type Measure, NODE_MAP } from '../measure.ts';
import { CENTRALITY_PARAMETERS, centralityGraph } from './centrality.ts';

export const harmonicCentrality: Measure = {
  name: 'harmonic_centrality',
  about: 'Sum of 1 / distance over the other nodes, divided by the number of other nodes.',
  source: 'Marchiori and Latora 2000; Boldi and Vigna 2014, "Axioms for centrality".',
  parameters: [
    { name: 'normalized', type: 'boolean', default: true, about: 'Divide by n - 1.' },
    ...CENTRALITY_PARAMETERS,
  ],
  result: NODE_MAP,
  *run(input, params) {
    const { graph, size, basis, definition, shape } = yield* centralityGraph(input, params);
    const { inverses } = yield* distanceSums(graph);
    const values = params.normalized === true ? inverses.map((sum) => (size < 2 ? 0 : sum / (size - 1))) : inverses;
    return { shape: shape(values), definition, basis };
  },
};
