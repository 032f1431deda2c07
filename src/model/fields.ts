// Places of errors: which field of a request is wrong, how the place is written, and one error for
// all of them.

import { type FieldError, type HedgerowError, refusal } from '../errors.ts';

/**
 * Where an object is: `['body']`, or `['body', 'operations', 3]`; empty for a value that a program
 * passed.
 */
export type Place = readonly (string | number)[];

/** One error for one or more wrong fields. */
export function invalidFields(errors: FieldError[]): HedgerowError {
  return refusal('invalid_input', fieldSentence(errors), { errors });
}

/** Names the first wrong fields, and how many more there are. */
export function fieldSentence(errors: readonly FieldError[], name: (loc: Place) => string = nameOf): string {
  const sentences = errors.slice(0, 5).map((error) => `${name(error.loc)} ${error.msg}`);
  const rest = errors.length > 5 ? ` (and ${errors.length - 5} more)` : '';
  return `${sentences.join('; ')}${rest}.`;
}

/** `["body", "members", 0]` -> `members[0]`. */
export function nameOf(loc: Place): string {
  return pathText(loc.length > 1 ? loc.slice(1) : loc);
}

/** `["members", 0]` -> `members[0]`. */
export function pathText(path: Place): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');
}

/** How a wrong value is named in messages. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'undefined' ? 'nothing' : `a ${typeof value}`;
}
