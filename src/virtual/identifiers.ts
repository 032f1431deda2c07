// Names of labels, tables and columns: case-insensitive lookup, quoting in SQL, and display in
// messages.

import { nearestName } from '../model/suggestions.ts';

const MOST_SHOWN = 60;
const MOST_LISTED = 30;

/**
 * Quotes one name for SQL. Quotes inside are doubled; nothing else is special there. Throws for
 * NUL, which no database accepts.
 */
export function quoted(name: string): string {
  if (name.includes('\0')) throw new RangeError('a name with NUL cannot be quoted');
  return `"${name.replaceAll('"', '""')}"`;
}

export type Found<T> = { readonly found: T } | { readonly found: undefined; readonly ambiguous: boolean };

/** The item with exactly this name, or else the only one whose name differs just in case. */
export function findNamed<T extends { readonly name: string }>(items: readonly T[], name: string): Found<T> {
  const exact = items.find((item) => item.name === name);
  if (exact !== undefined) return { found: exact };
  const lower = name.toLowerCase();
  const alike = items.filter((item) => item.name.toLowerCase() === lower);
  return alike.length === 1 ? { found: alike[0]! } : { found: undefined, ambiguous: alike.length > 1 };
}

/** The text in quotes, truncated if long. */
export function shown(text: string): string {
  return JSON.stringify(text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN)}...`);
}

/** A comma-separated list of names, truncated if long. */
export function listed(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const some = names.slice(0, MOST_LISTED).map((name) => JSON.stringify(name.slice(0, MOST_SHOWN)).slice(1, -1));
  const rest = names.length > MOST_LISTED ? ` and ${names.length - MOST_LISTED} others` : '';
  return `${some.join(', ')}${rest}`;
}

/** ` (did you mean X?)` or nothing. */
export function hint(given: string, known: Iterable<string>): string {
  const name = nearestName(given, known);
  return name === undefined ? '' : ` (did you mean ${name}?)`;
}
