// Describes wrong fields: writes the place of a field in a request as text, and returns one error
// for several fields.

import { type FieldError, type HedgerowError, refusal } from '../errors.ts';

/**
 * The place of an object in a request: `['body']`, or `['body', 'operations', 3]`. It is empty for
 * a value that a program passed.
 */
export type Place = readonly (string | number)[];

/** Returns one error for one or more wrong fields. */
export function invalidFields(errors: FieldError[]): HedgerowError {
  return refusal('invalid_input', fieldSentence(errors), { errors });
}

/** Returns a sentence that names the first five wrong fields and the number of further ones. */
export function fieldSentence(errors: readonly FieldError[], name: (loc: Place) => string = nameOf): string {
  const sentences = errors.slice(0, 5).map((error) => `${name(error.loc)} ${error.msg}`);
  const rest = errors.length > 5 ? ` (and ${errors.length - 5} more)` : '';
  return `${sentences.join('; ')}${rest}.`;
}

/** Writes a place without its first part: `["body", "members", 0]` -> `members[0]`. */
export function nameOf(loc: Place): string {
  return pathText(loc.length > 1 ? loc.slice(1) : loc);
}

/** Writes a path: `["members", 0]` -> `members[0]`. */
export function pathText(path: Place): string {
  return path.map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`)).join('');
}

/** Returns the words that messages use for the type of a wrong value. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  return typeof value === 'undefined' ? 'nothing' : `a ${typeof value}`;
}
