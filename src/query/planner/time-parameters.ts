// Before a statement runs, reads its parameters that are times, so that an invalid time is refused
// even if no row is found.

import { HedgerowError } from '../../errors.ts';
import type { BoundExpression, BoundParameter } from '../binder/bound.ts';
import { type ParameterValues, parameterValue } from '../binder/parameters.ts';
import { partsOf } from '../binder/parts.ts';
import { MAX_TIME_TEXTS } from '../limits.ts';
import { shown } from '../shown.ts';

/**
 * Throws `invalid_statement` for a parameter that should be a time but is not, or if too many list
 * items are read as times. Returns immediately if no parameter is a text or a list.
 */
export function checkTimes(expressions: Iterable<BoundExpression>, parameters: ParameterValues): void {
  if (!hasText(parameters)) return;
  const found = new Map<string, BoundParameter>();
  for (const expression of expressions) gather(expression, found);
  let texts = 0;
  for (const { name } of found.values()) {
    const value = parameters[name];
    if (Array.isArray(value)) texts += value.length;
    if (texts > MAX_TIME_TEXTS) throw tooMany(name);
  }
  for (const parameter of found.values()) parameterValue(parameters, parameter);
}

function hasText(parameters: ParameterValues): boolean {
  for (const name in parameters) {
    const value = parameters[name];
    if (typeof value === 'string' || Array.isArray(value)) return true;
  }
  return false;
}

/** Collects the parameters that are read as times, once for each unit. */
function gather(node: BoundExpression, into: Map<string, BoundParameter>): void {
  if (node.kind === 'parameter') {
    if (node.reads !== undefined) into.set(`${node.reads} ${node.name}`, node);
    return;
  }
  // Long lists consist of constants.
  for (const part of partsOf(node)) if (part.kind !== 'constant') gather(part, into);
}

function tooMany(name: string): HedgerowError {
  const msg = `brings the texts that are read as times to more than ${MAX_TIME_TEXTS}; give these as epoch seconds`;
  return new HedgerowError('invalid_statement', `Parameter $${shown(name)} ${msg}.`, {
    errors: [{ loc: ['body', 'parameters', name], msg }],
  });
}
