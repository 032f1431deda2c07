// Checks weights for measures that are based on walks or Laplacians.

import type { Incidence } from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';

/** Throws `invalid_input` if an edge has a negative weight. */
export function assertNotNegative(incidence: Incidence): void {
  const weights = incidence.copyWeights();
  const at = weights.findIndex((weight) => weight < 0);
  if (at < 0) return;
  throw new HedgerowError(
    'invalid_input',
    `Parameter weighted: edge ${incidence.copyEdgeIds()[at]!} weighs ${weights[at]!}, and a walk needs weights of at least 0.`,
    { errors: [{ loc: ['body', 'params', 'weighted'], msg: 'an edge has a negative weight' }] },
  );
}
