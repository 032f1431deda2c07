// The columns that become properties: their names in the database, their types, and how their
// numbers are written.

import type { ColumnType } from '../model/column-types.ts';
import { builtInType, EDGE_FIELDS, IDENTIFIER, LONGEST_IDENTIFIER } from '../model/columns.ts';
import { cellType, commonType, isNullWord } from './cell-types.ts';
import { cellsOf, type ForeignTable } from './foreign-table.ts';
import { ambiguousNumber, type Decimal, decimalOf, plainNumber } from './number-style.ts';

/**
 * False for a column without a name, and for `id`: the database assigns ids itself, so the ids in a
 * file are not read.
 */
export function isValueName(name: string): boolean {
  return name !== '' && name.toLowerCase() !== 'id';
}

/** Whether a key of a JSON object becomes a property. Such a property keeps the key as its name. */
export function isKey(name: string): boolean {
  return IDENTIFIER.test(name) && !EDGE_FIELDS.has(name.toLowerCase());
}

/**
 * Turns a header into a property name: `Total (EUR)` -> `Total_EUR`. Appends a number if that name
 * is taken or is in EDGE_FIELDS, without regard to case.
 */
export function propertyName(header: string, taken: Set<string>): string {
  const words = header.match(/[A-Za-z0-9_]+/g)?.join('_') ?? '';
  const start = /^[A-Za-z_]/.test(words) ? words : `p_${words}`;
  for (let number = EDGE_FIELDS.has(start.toLowerCase()) ? 2 : 1; ; number++) {
    const suffix = number === 1 ? '' : `_${number}`;
    const name = start.slice(0, LONGEST_IDENTIFIER - suffix.length) + suffix;
    if (taken.has(name.toLowerCase()) || !IDENTIFIER.test(name)) continue;
    taken.add(name.toLowerCase());
    return name;
  }
}

/**
 * Returns the decimal mark that the cells of these columns show, or undefined if they show none or
 * both.
 */
export function decimalIn(table: ForeignTable, columns: readonly number[]): Decimal | undefined {
  const texts = columns.map((column) => textsOf(table, column)).filter((cells) => cells.length > 0);
  return decimalOf(texts, table.delimiter === ',');
}

/**
 * Returns the type of the property `name`: the type of the built-in column of this name or, if
 * there is none, the type that fits the cells.
 */
export function valueType(table: ForeignTable, column: number, name: string, decimal: Decimal | undefined): ColumnType {
  const builtIn = builtInType(name.toLowerCase());
  if (builtIn !== undefined) return builtIn;
  const types = new Set<ColumnType>();
  table.rows.forEach((row, at) => {
    const cell = row[column] ?? null;
    const plain = decimal === undefined || typeof cell !== 'string' ? cell : plainNumber(cell, decimal);
    // A number with a decimal comma may be quoted only because of the comma, so it still counts as
    // a number.
    const type = plain === undefined ? 'TEXT' : cellType(plain, plain === cell && table.isText(at, column));
    if (type !== undefined) types.add(type);
  });
  return commonType(types);
}

/**
 * Returns a cell that cannot be read without knowing the style of numbers, or undefined if there is
 * none.
 */
export function ambiguousCell(table: ForeignTable, column: number): string | undefined {
  return ambiguousNumber(textsOf(table, column));
}

function textsOf(table: ForeignTable, column: number): string[] {
  return cellsOf(table, column).flatMap((cell) => {
    const text = typeof cell === 'string' ? cell.trim() : '';
    return text === '' || isNullWord(text) ? [] : [text];
  });
}
