// Returns the values of expressions that read no row, for the planner.

import type { BoundExpression, Value } from '../binder/bound.ts';
import { type ParameterValues, parameterValue } from '../binder/parameters.ts';
import { constantValue } from '../executor/values/evaluate.ts';

/**
 * Returns the value of an expression. Constants and parameters, the common cases, are evaluated
 * without vectors. Keys of nodes are looked up in the state at `lsn`, or in the newest.
 */
export function fixedValue(node: BoundExpression, parameters: ParameterValues, lsn?: number): Value {
  if (node.kind === 'constant') return node.value;
  if (node.kind === 'parameter') return parameterValue(parameters, node);
  return constantValue(node, parameters, lsn);
}
