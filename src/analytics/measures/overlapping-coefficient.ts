// Computes the overlapping coefficient: how much of the smaller of two edges is in the other,
// averaged over pairs.

import { overlapSums } from '../../core/index.ts';
import { basisOf, basisParameter, type Measure, WINDOW } from '../measure.ts';

export const overlappingCoefficient: Measure = {
  name: 'overlapping_coefficient',
  about: 'Mean overlap of pairs of edges; null without such pairs.',
  source: 'Szymkiewicz 1934, Simpson 1960 (simpson); Jaccard 1901 (jaccard).',
  parameters: [
    {
      name: 'pairs',
      type: 'choice',
      choices: ['intersecting', 'all'],
      default: 'intersecting',
      about: 'The mean over pairs with a common member, or over all pairs.',
    },
    {
      name: 'kind',
      type: 'choice',
      choices: ['simpson', 'jaccard'],
      default: 'simpson',
      about: 'simpson: common members over the smaller size; jaccard: over the union.',
    },
    basisParameter('distinct'),
    ...WINDOW,
  ],
  result: { type: ['number', 'null'] },
  *run({ projections }, params) {
    const basis = basisOf(params, 'distinct');
    const incidence = yield* projections.incidence(basis);
    const { intersecting, simpson, jaccard } = yield* overlapSums(incidence);
    const pairs = params.pairs === 'all' ? (incidence.edges * (incidence.edges - 1)) / 2 : intersecting;
    const sum = params.kind === 'jaccard' ? jaccard : simpson;
    const value = pairs === 0 ? null : sum / pairs;
    return { shape: { kind: 'value', value }, definition: `${params.kind as string}_${params.pairs as string}`, basis };
  },
};
