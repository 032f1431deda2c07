// Computes the clique number of the co-member graph.

import { cliqueNumber as cliqueNumberOf } from '../../core/index.ts';
import { BUDGET, type Measure, WINDOW } from '../measure.ts';

export const cliqueNumber: Measure = {
  name: 'clique_number',
  about:
    'Size of the largest set of nodes of which any two share an edge. NP-hard: after budget_ms, the best size found, with exact: false.',
  source: 'Branch and bound with colouring: Tomita and Kameda 2007; San Segundo, Rodriguez-Losada, Jimenez 2011.',
  parameters: [{ ...BUDGET, default: 10_000 } as typeof BUDGET, ...WINDOW],
  result: {
    type: 'object',
    properties: {
      value: { type: 'integer' },
      exact: { type: 'boolean', description: 'Whether no larger set exists.' },
      max_edge_size: { type: 'integer', description: 'Size of the largest edge, whose members form such a set.' },
    },
  },
  *run({ projections, nowMs }, params) {
    const sizes = (yield* projections.incidence('events')).copySizes();
    const largestEdge = sizes.reduce((most, size) => Math.max(most, size), 0);
    const graph = yield* projections.nodeGraph(1, 'events');
    const end = nowMs() + (params.budget_ms as number);
    const { value, exact } = yield* cliqueNumberOf(graph, { atLeast: largestEdge, isOver: () => nowMs() > end });
    const result = { value, exact, max_edge_size: largestEdge };
    return { shape: { kind: 'value', value: result }, definition: 'clique', basis: null };
  },
};
