// Says what is wrong with which fields: one invalid_input error for one or more places.

import { type FieldError, type HedgerowError, refusal } from '../errors.ts';

/** One error for one or more wrong fields. */
export function invalidFields(errors: FieldError[]): HedgerowError {
  const sentences = errors.slice(0, 5).map((error) => `${nameOf(error.loc)} ${error.msg}`);
  const rest = errors.length > 5 ? ` (and ${errors.length - 5} more)` : '';
  return refusal('invalid_input', `${sentences.join('; ')}${rest}.`, { errors });
}

/** `["body", "members", 0]` -> `members[0]`. */
export function nameOf(loc: readonly (string | number)[]): string {
  const inner = loc.length > 1 ? loc.slice(1) : loc;
  return inner
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join('');
}

/** How a wrong value is named in messages. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'undefined' ? 'nothing' : `a ${typeof value}`;
}
