// The columns of a file with nodes: which one holds the keys, and how those are read.

import { IDENTIFIER } from '../model/columns.ts';
import { propertyName } from './value-columns.ts';

/** Suffix of the node table that an import makes for a table, unless it is named. */
export const NODE_SUFFIX = '_node';

/** Names of a column with the key, if nobody names it. */
export const USUAL_KEYS: readonly string[] = ['name', 'key', 'id', 'node'];

/** An integer that is equal to the text of its number. */
const PLAIN_INTEGER = /^(0|-?[1-9]\d{0,15})$/;

/** Keeps a name that a column of a node table may have, and makes one of any other header. */
export function columnName(header: string, taken: Set<string>): string {
  const lower = header.toLowerCase();
  if (!IDENTIFIER.test(header) || taken.has(lower)) return propertyName(header, taken);
  taken.add(lower);
  return header;
}

/** Returns whether all keys in these cells are plain integers, so that a new table's keys are. */
export function areIntegers(cells: readonly unknown[]): boolean {
  const present = cells.filter((cell) => cell !== null && cell !== '');
  return present.length > 0 && present.every((cell) => PLAIN_INTEGER.test(String(cell).trim()));
}

/**
 * Returns the key in a cell, or undefined if the cell is empty. A text where an integer is needed
 * is left for a check. `trims`: spaces at both ends do not count, as in text files.
 */
export function keyIn(cell: unknown, isInteger: boolean, trims: boolean): unknown {
  if (cell === null || cell === undefined) return undefined;
  const text = trims || isInteger ? String(cell).trim() : String(cell);
  if (text === '') return undefined;
  return isInteger && /^[+-]?\d{1,16}$/.test(text) ? Number(text) + 0 : text;
}
