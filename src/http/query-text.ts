// Reads query strings in one pass, without URLSearchParams: pairs in order, percent and plus decoding only where needed.

import { HedgerowError } from '../errors.ts';

/** Calls `take` for every `name=value` of the query string; a name without `=` has an empty value. */
export function eachParameter(query: string, take: (name: string, value: string) => void): void {
  let start = 0;
  while (start < query.length) {
    const ampersand = query.indexOf('&', start);
    const end = ampersand < 0 ? query.length : ampersand;
    if (end > start) {
      const equals = query.indexOf('=', start);
      if (equals < 0 || equals >= end) take(decodeText(query.slice(start, end)), '');
      else take(decodeText(query.slice(start, equals)), decodeText(query.slice(equals + 1, end)));
    }
    start = end + 1;
  }
}

/** The parameters as an object; one given twice is refused rather than guessed. */
export function queryObject(query: string): Record<string, string> {
  const values: Record<string, string> = Object.create(null);
  eachParameter(query, (name, value) => {
    if (name in values) throw givenTwice(name);
    values[name] = value;
  });
  return values;
}

export function givenTwice(name: string): HedgerowError {
  return new HedgerowError('invalid_input', `The query parameter ${name} is given twice.`, {
    errors: [{ loc: ['query', name], msg: 'is given twice' }],
  });
}

function decodeText(text: string): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new HedgerowError('invalid_input', 'The query string is not valid percent-encoded UTF-8.', {
      errors: [{ loc: ['query'], msg: 'is not valid percent-encoded UTF-8' }],
    });
  }
}
