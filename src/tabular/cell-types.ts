// Determines the type of a column from its cells.

import type { ColumnType } from '../model/column-types.ts';

/** Leading zeros are not allowed: `007` is a text that must be kept unchanged. */
const INTEGER = /^[+-]?(0|[1-9]\d{0,15})$/;
const REAL = /^[+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
const BOOLEAN = /^(true|false)$/i;

/**
 * Returns the type that fits a cell; undefined if the cell is empty or a word for a missing number.
 * If `isText` is true, every string is a text.
 */
export function cellType(cell: unknown, isText: boolean): ColumnType | undefined {
  switch (typeof cell) {
    case 'string':
      return isText ? 'TEXT' : textType(cell.trim());
    case 'number':
      return Number.isSafeInteger(cell) ? 'INTEGER' : 'REAL';
    case 'bigint':
      return 'INTEGER';
    case 'boolean':
      return 'BOOLEAN';
    default:
      return cell === null || cell === undefined ? undefined : 'TEXT';
  }
}

/** The words that programs write for a missing number. */
const NULL_WORDS: ReadonlySet<string> = new Set(['null', 'na', 'n/a', 'nan', 'none', '\\n', '-', '#n/a']);

export function isNullWord(text: string): boolean {
  return text.length <= 4 && NULL_WORDS.has(text.toLowerCase());
}

/**
 * Returns the type that fits a text. A word for a missing number does not determine a type: in a
 * column of texts it is an ordinary text.
 */
function textType(text: string): ColumnType | undefined {
  if (text === '' || isNullWord(text)) return undefined;
  if (INTEGER.test(text) && Number.isSafeInteger(Number(text))) return 'INTEGER';
  if (REAL.test(text) && Number.isFinite(Number(text))) return 'REAL';
  return BOOLEAN.test(text) ? 'BOOLEAN' : 'TEXT';
}

/** Returns the type that fits cells of all these types; TEXT if there are no types. */
export function commonType(types: ReadonlySet<ColumnType>): ColumnType {
  if (types.size === 1) return [...types][0]!;
  return types.size === 2 && types.has('INTEGER') && types.has('REAL') ? 'REAL' : 'TEXT';
}
