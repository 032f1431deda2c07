// Reads the cells of columns that become properties of edges or attributes of nodes.

import { type ColumnType, kindOfType } from '../../model/column-types.ts';
import { isNullWord } from '../../tabular/cell-types.ts';
import { type Decimal, plainNumber } from '../../tabular/number-style.ts';
import { decimalIn, propertyName, valueType } from '../../tabular/value-columns.ts';
import type { SourceFile } from './read-file.ts';

/** A column of the file that becomes a property. */
export interface ValueColumn {
  readonly column: string;
  /** Name of the property. */
  readonly name: string;
  readonly type: ColumnType;
  readonly decimal: Decimal | undefined;
}

/**
 * Returns the columns in the order of the file, so that the names of the properties do not depend
 * on the order in which the columns were chosen. `nameOf` makes the name of a property of a header,
 * and `builtIn` returns the name of the built-in column whose type a property has.
 */
export function valuesOf(
  { table }: SourceFile,
  columns: readonly string[],
  nameOf = propertyName,
  builtIn = (name: string) => name,
): ValueColumn[] {
  const places = table.names.flatMap((name, index) => (columns.includes(name) ? [index] : []));
  // In JSON, numbers are not written as texts, so there is no decimal comma.
  const decimal = table.delimiter === undefined ? undefined : decimalIn(table, places);
  const taken = new Set<string>();
  return places.map((index) => {
    const name = nameOf(table.names[index]!, taken);
    return { column: table.names[index]!, name, type: valueType(table, index, builtIn(name), decimal), decimal };
  });
}

export function isMissing(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

/** Returns undefined when the column is not text and the cell is a word that means "no value". */
export function valueIn(value: unknown, { column, type, decimal }: ValueColumn): unknown {
  if (kindOfType(type) === 'text') return typeof value === 'object' ? JSON.stringify(value) : String(value);
  if (typeof value === 'string' && isNullWord(value.trim())) return undefined;
  if (kindOfType(type) === 'boolean') return String(value).trim().toLowerCase() === 'true';
  const plain = typeof value === 'string' && decimal !== undefined ? plainNumber(value, decimal) : value;
  const number = Number(plain ?? Number.NaN);
  if (!Number.isFinite(number)) throw new Error(`says "${String(value).slice(0, 40)}" where ${column} wants a number`);
  return number;
}
