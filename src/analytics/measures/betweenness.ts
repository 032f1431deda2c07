// Computes betweenness centrality.

import { betweenness as betweennessOf, directedBetweenness } from '../../core/index.ts';
import { DIRECTION } from '../direction.ts';
import { type Measure, NODE_MAP } from '../measure.ts';
import { CENTRALITY_PARAMETERS, centralityGraph, PROJECTION } from './centrality.ts';

export const betweenness: Measure = {
  name: 'betweenness',
  about: 'Share of the shortest paths between other nodes that lead through a node.',
  source: 'Brandes 2001, "A faster algorithm for betweenness centrality"; Freeman 1977.',
  parameters: [
    PROJECTION,
    {
      name: 'normalized',
      type: 'boolean',
      default: true,
      about:
        'Divide by the number of pairs of other nodes, C(n - 1, 2); if directed, of ordered pairs, (n - 1)(n - 2).',
    },
    ...DIRECTION,
    ...CENTRALITY_PARAMETERS,
  ],
  result: NODE_MAP,
  *run(input, params) {
    const { graph, size, basis, definition, shape } = yield* centralityGraph(input, params);
    const isDirected = input.direction !== undefined;
    const sums = isDirected ? yield* directedBetweenness(graph) : yield* betweennessOf(graph);
    const pairs = ((size - 1) * (size - 2)) / (isDirected ? 1 : 2);
    const values = params.normalized === true ? sums.map((sum) => (pairs <= 0 ? 0 : sum / pairs)) : sums;
    return { shape: shape(values), definition, basis };
  },
};
