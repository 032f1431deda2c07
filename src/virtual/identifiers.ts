// Looks up names of labels, tables and columns regardless of case, quotes them for SQL, and prints
// them in messages.

import { nearestName } from '../model/suggestions.ts';

const MOST_SHOWN = 60;
const MOST_LISTED = 30;

/**
 * Quotes one name for SQL. Quotation marks within the name are doubled; no other character needs
 * escaping. Throws if the name contains NUL, which no database accepts.
 */
export function quoted(name: string): string {
  if (name.includes('\0')) throw new RangeError('a name with NUL cannot be quoted');
  return `"${name.replaceAll('"', '""')}"`;
}

export type Found<T> = { readonly found: T } | { readonly found: undefined; readonly ambiguous: boolean };

/**
 * Returns the item with exactly this name. If there is none, returns the only item whose name
 * differs just in case.
 */
export function findNamed<T extends { readonly name: string }>(items: readonly T[], name: string): Found<T> {
  const exact = items.find((item) => item.name === name);
  if (exact !== undefined) return { found: exact };
  const lower = name.toLowerCase();
  const alike = items.filter((item) => item.name.toLowerCase() === lower);
  return alike.length === 1 ? { found: alike[0]! } : { found: undefined, ambiguous: alike.length > 1 };
}

/** Returns the text in quotation marks, truncated if it is long. */
export function shown(text: string): string {
  return JSON.stringify(text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN)}...`);
}

/** Returns a comma-separated list of names, truncated if it is long. */
export function listed(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const some = names.slice(0, MOST_LISTED).map((name) => JSON.stringify(name.slice(0, MOST_SHOWN)).slice(1, -1));
  const rest = names.length > MOST_LISTED ? ` and ${names.length - MOST_LISTED} others` : '';
  return `${some.join(', ')}${rest}`;
}

/** Returns ` (did you mean X?)` if a known name is similar, otherwise an empty text. */
export function hint(given: string, known: Iterable<string>): string {
  const name = nearestName(given, known);
  return name === undefined ? '' : ` (did you mean ${name}?)`;
}
