// Before a statement runs, reads its parameters that are searches, so that one without a word is
// refused with its place.

import type { BoundExpression, BoundPattern } from '../binder/bound.ts';
import type { ParameterValues } from '../binder/parameters.ts';
import { partsOf } from '../binder/parts.ts';
import { partsOfSearch } from '../executor/values/searches.ts';
import { errorPlaced } from '../syntax-error.ts';

/**
 * Throws `invalid_input` with line and column for a parameter that is no search. Returns at once if
 * no table has a text index.
 */
export function checkSearches(
  expressions: Iterable<BoundExpression>,
  patterns: readonly BoundPattern[],
  text: string,
  parameters: ParameterValues,
): void {
  if (patterns.every(({ table }) => table.definition.text === undefined)) return;
  for (const expression of expressions) check(expression, text, parameters);
}

function check(node: BoundExpression, text: string, parameters: ParameterValues): void {
  if (node.kind === 'search' && node.query.kind === 'parameter') {
    try {
      partsOfSearch(node, parameters);
    } catch (error) {
      throw errorPlaced(text, node.start, error);
    }
  }
  // Long lists consist of constants.
  for (const part of partsOf(node)) if (part.kind !== 'constant') check(part, text, parameters);
}
