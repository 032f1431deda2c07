// Converts cells to values of a column type.

import type { ColumnType, PropertyValue } from '../../../engine/index.ts';
import { isNumeric, kindOfType } from '../../../model/column-types.ts';
import { valueOfCell } from '../../../query/copy/index.ts';
import { isNullWord } from '../../../tabular/cell-types.ts';
import { plainInteger } from './plain-integer.ts';

/** Returns the value of a property. Throws `invalid_input`. */
export function propertyOf(cell: unknown, name: string, type: ColumnType): PropertyValue {
  if (cell === null || cell === undefined) return null;
  if (typeof cell === 'string' && isNumeric(type)) {
    const number = plainInteger(cell);
    if (number >= 0) return number;
  }
  if (typeof cell === 'string' && kindOfType(type) !== 'text' && isNullWord(cell.trim())) return null;
  if (typeof cell === 'string') return valueOfCell(cell, { kind: 'property', name, type }) as PropertyValue;
  const isFitting =
    kindOfType(type) === 'boolean' ? typeof cell === 'boolean' : isNumeric(type) && typeof cell === 'number';
  if (isFitting) return cell as PropertyValue;
  return valueOfCell(plainText(cell), { kind: 'property', name, type }) as PropertyValue;
}

/** Returns, as text, a value from a file with typed columns. */
export function plainText(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' ? jsonText(value) : String(value);
}

export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'bigint' ? Number(each) : ArrayBuffer.isView(each) ? Array.from(each as Uint8Array) : each,
  );
}
