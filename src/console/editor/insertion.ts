// Determines the text to insert at the caret when a name is clicked.

import type { WantedName } from '../state.ts';
import { BUILT_IN_NAMES, patternsOf, quoted } from '../statement-words.ts';

/**
 * Puts the alias of its table before a column, unless it is already there. Adds a blank where words
 * would touch.
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
