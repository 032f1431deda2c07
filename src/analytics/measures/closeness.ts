// Computes closeness centrality.

import { distanceSums } from '../../core/index.ts';
import { type Measure, NODE_MAP } from '../measure.ts';
import { CENTRALITY_PARAMETERS, centralityGraph, PROJECTION } from './centrality.ts';

export const closeness: Measure = {
  name: 'closeness',
  about:
    'How near a node is to the nodes that it reaches, times the share of the other nodes that it reaches; 0 if it reaches none.',
  source: 'Wasserman and Faust 1994, Social Network Analysis, (r / (n - 1)) (r / sum of distances); Freeman 1979.',
  parameters: [PROJECTION, ...CENTRALITY_PARAMETERS],
  result: NODE_MAP,
  *run(input, params) {
    const { graph, size, basis, definition, shape } = yield* centralityGraph(input, params);
    const { reached, sums } = yield* distanceSums(graph);
    const values = sums.map((sum, v) => (sum === 0 ? 0 : (reached[v]! / (size - 1)) * (reached[v]! / sum)));
    return { shape: shape(values), definition, basis };
  },
};
