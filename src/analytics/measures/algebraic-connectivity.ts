// Computes the algebraic connectivity of the co-member graph.

import { graphOperator, Scratch, secondSmallest } from '../../core/index.ts';
import { basisOf, basisParameter, type Measure, WINDOW } from '../measure.ts';
import { isConnected } from './connected.ts';

export const algebraicConnectivity: Measure = {
  name: 'algebraic_connectivity',
  about:
    'Second smallest eigenvalue of D - A of the co-member graph; 0 if the graph is disconnected, null with fewer than two nodes.',
  source: 'Fiedler 1973, "Algebraic connectivity of graphs".',
  parameters: [
    {
      name: 'weight',
      type: 'choice',
      choices: ['none', 'count'],
      default: 'none',
      about: 'count: the weight between two nodes is the number of their common edges.',
    },
    basisParameter('events'),
    ...WINDOW,
  ],
  result: { type: ['number', 'null'] },
  *run({ projections }, params) {
    const definition = params.weight as string;
    const basis = basisOf(params, 'events');
    const graph = yield* projections.nodeGraph(1, basis);
    const result = (value: number | null) => ({
      shape: { kind: 'value' as const, value },
      definition,
      basis: definition === 'count' ? basis : null,
    });
    if (graph.vertices < 2) return result(null);
    const scratch = new Scratch(graph.core);
    try {
      const operator = graphOperator(graph, definition === 'count', scratch);
      const connected = yield* isConnected(yield* projections.incidence('distinct'), operator);
      return result(connected ? yield* secondSmallest(operator, 'combinatorial') : 0);
    } finally {
      scratch.free();
    }
  },
};
