// Computes the spectral gap of a normalised Laplacian.

import { edgeOperator, graphOperator, type Operator, Scratch, type Steps, secondSmallest } from '../../core/index.ts';
import { type Basis, basisOf, basisParameter, type Measure, type Projections, WEIGHTED, WINDOW } from '../measure.ts';
import { isConnected } from './connected.ts';
import { assertNotNegative } from './weights.ts';

export const spectralGap: Measure = {
  name: 'spectral_gap',
  about:
    'Second smallest eigenvalue of a normalized Laplacian: how fast a walk forgets where it began; 0 if the graph is disconnected, null with fewer than two nodes or if the sum of the weights of a node is not finite.',
  source:
    'Zhou, Huang, Schoelkopf 2006, "Learning with hypergraphs"; Chung 1997, Spectral Graph Theory (normalized_clique).',
  parameters: [
    {
      name: 'laplacian',
      type: 'choice',
      choices: ['zhou', 'normalized_clique'],
      default: 'zhou',
      about: 'zhou: I - Dv^-1/2 H W De^-1 H^T Dv^-1/2; normalized_clique: I - D^-1/2 A D^-1/2 of the co-member graph.',
    },
    WEIGHTED,
    basisParameter('events'),
    ...WINDOW,
  ],
  result: { type: ['number', 'null'] },
  *run({ projections }, params) {
    const definition = params.laplacian as string;
    const basis = basisOf(params, 'events');
    const value =
      definition === 'zhou'
        ? yield* zhouGap(projections, basis, params.weighted === true)
        : yield* cliqueGap(projections);
    return { shape: { kind: 'value', value }, definition, basis: definition === 'zhou' ? basis : null };
  },
};

function* zhouGap(projections: Projections, basis: Basis, weighted: boolean): Steps<number | null> {
  // Equal member sets are merged into one edge with the weight that `weight` below defines. The
  // operator is the same.
  const sets = yield* projections.incidence('distinct');
  if (sets.nodes < 2) return null;
  if (weighted) assertNotNegative(sets);
  const weight = weighted ? 'given' : basis === 'events' ? 'events' : 'one';
  const scratch = new Scratch(sets.core);
  try {
    const operator = edgeOperator(sets, 'lazy', weight, scratch);
    // If a sum of weights is not finite, the operator is undefined.
    if (!operator.degrees.every(Number.isFinite)) return null;
    return (yield* isConnected(sets, operator, weighted ? sets.copyWeights() : undefined))
      ? yield* secondSmallest(operator, 'normalized')
      : 0;
  } finally {
    scratch.free();
  }
}

function* cliqueGap(projections: Projections): Steps<number | null> {
  const graph = yield* projections.nodeGraph(1, 'events');
  if (graph.vertices < 2) return null;
  const scratch = new Scratch(graph.core);
  try {
    const operator: Operator = graphOperator(graph, false, scratch);
    return (yield* isConnected(yield* projections.incidence('distinct'), operator))
      ? yield* secondSmallest(operator, 'normalized')
      : 0;
  } finally {
    scratch.free();
  }
}
