// Types of columns from the cells that were seen.

import type { ColumnType } from '../model/column-types.ts';

/** Without leading zeros: `007` is a text that somebody wants back as it was. */
const INTEGER = /^[+-]?(0|[1-9]\d{0,15})$/;
const REAL = /^[+-]?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
const BOOLEAN = /^(true|false)$/i;

/** Undefined: the cell is empty. `isText`: it is a text though it may look like something else. */
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

/** How programs write that there is no number. */
const NULL_WORDS: ReadonlySet<string> = new Set(['null', 'na', 'n/a', 'nan', 'none', '\\n', '-', '#n/a']);

export function isNullWord(text: string): boolean {
  return text.length <= 4 && NULL_WORDS.has(text.toLowerCase());
}

/** A word for nothing tells nothing; in a column of texts it is one of them. */
function textType(text: string): ColumnType | undefined {
  if (text === '' || isNullWord(text)) return undefined;
  if (INTEGER.test(text) && Number.isSafeInteger(Number(text))) return 'INTEGER';
  if (REAL.test(text) && Number.isFinite(Number(text))) return 'REAL';
  return BOOLEAN.test(text) ? 'BOOLEAN' : 'TEXT';
}

/** Of a column in which nothing was seen: TEXT. */
export function commonType(types: ReadonlySet<ColumnType>): ColumnType {
  if (types.size === 1) return [...types][0]!;
  return types.size === 2 && types.has('INTEGER') && types.has('REAL') ? 'REAL' : 'TEXT';
}
