// Parses query strings in one pass, without URLSearchParams: pairs in order, decoding percent and
// plus only where needed.

import { type HedgerowError, refusal } from '../errors.ts';

/** Returns the end of the parameter that begins at `start`: at `&` or at the end of the query. */
export function parameterEnd(query: string, start: number): number {
  const ampersand = query.indexOf('&', start);
  return ampersand < 0 ? query.length : ampersand;
}

/** Returns the end of a parameter's name: at `=`, or at the end of the parameter. */
export function nameEnd(query: string, start: number, end: number): number {
  const equals = query.indexOf('=', start);
  return equals < 0 || equals > end ? end : equals;
}

const NO_PARAMETERS: Readonly<Record<string, string>> = Object.freeze(Object.create(null));

/** Returns the parameters as an object. A repeated parameter is refused. */
export function queryObject(query: string): Readonly<Record<string, string>> {
  if (query === '') return NO_PARAMETERS;
  const values: Record<string, string> = Object.create(null);
  let start = 0;
  while (start < query.length) {
    const end = parameterEnd(query, start);
    const equals = nameEnd(query, start, end);
    if (end > start) {
      const name = decodeText(query.slice(start, equals));
      if (name in values) throw givenTwice(name);
      values[name] = decodeText(query.slice(equals + 1, end));
    }
    start = end + 1;
  }
  return values;
}

export function givenTwice(name: string): HedgerowError {
  return refusal('invalid_input', `The query parameter ${name} is given twice.`, {
    errors: [{ loc: ['query', name], msg: 'is given twice' }],
  });
}

/**
 * Throws `invalid_input` if the query is not percent-encoded UTF-8, even in a parameter that the
 * route ignores.
 */
export function requireEncoded(query: string): void {
  if (query.includes('%')) decodeText(query);
}

/** Decodes percent and plus signs in one name or value. Throws `invalid_input`. */
export function decodeText(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw refusal('invalid_input', 'The query string is not valid percent-encoded UTF-8.', {
      errors: [{ loc: ['query'], msg: 'is not valid percent-encoded UTF-8' }],
    });
  }
}
