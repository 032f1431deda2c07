// What is written into a statement for a name that was clicked, at the place of the caret.

import type { WantedName } from '../state.ts';
import { BUILT_IN_NAMES, patternsOf, quoted } from '../statement-words.ts';

/**
 * A column is inserted with the alias of its table, unless the alias is already there; blanks keep
 * words apart.
 */
export function insertionOf(statement: string, place: number, { table, column }: WantedName): string {
  const before = statement.slice(0, place);
  const space = /[\w`]$/.test(before) ? ' ' : '';
  if (column === undefined) return space + quoted(table);
  const name = BUILT_IN_NAMES.includes(column) ? column : quoted(column);
  if (before.trimEnd().endsWith('.')) return name;
  const alias = patternsOf(statement).find((pattern) => pattern.table.toLowerCase() === table.toLowerCase())?.alias;
  return `${space}${alias === undefined ? '' : `${alias}.`}${name}`;
}
