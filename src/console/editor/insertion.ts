// Determines the text to insert at the caret when a name is clicked.

import type { WantedName } from '../state.ts';
import { BUILT_IN_NAMES, patternsOf, quoted } from '../statement-words.ts';

/**
 * Returns the text for a name. A column gets the alias of its table, unless the caret is after a
 * dot. Puts a blank before it if it would touch a word.
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
