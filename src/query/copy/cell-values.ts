// Values as CSV writes them: texts to values of a column's type, and lists to text.

import type { ColumnType } from '../../engine/index.ts';
import { HedgerowError } from '../../errors.ts';
import type { Value } from '../binder/bound.ts';
import type { Target } from './targets.ts';

const INTEGER = /^[+-]?\d+(\.0*)?$/;
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
const SHOWN = 40;

/** `cell` null: it is empty and not in quotes. Throws `invalid_input`. */
export function valueOfCell(cell: string | null, target: Target): unknown {
  switch (target.kind) {
    case 'event_ts':
      return cell === null ? null : numberOf(cell, 'event_ts', 'INTEGER');
    case 'members':
      return cell === null ? null : membersOf(cell);
    case 'id':
      return undefined;
    case 'property':
      return cell === null || (cell === '' && target.type !== 'TEXT')
        ? null
        : propertyOf(cell, target.name, target.type);
  }
}

function propertyOf(cell: string, name: string, type: ColumnType): number | string | boolean {
  switch (type) {
    case 'TEXT':
      return cell;
    case 'BOOLEAN': {
      const word = cell.trim().toLowerCase();
      if (word === 'true' || word === 'false') return word === 'true';
      throw wrong(name, cell, 'true or false');
    }
    default:
      return numberOf(cell, name, type);
  }
}

function numberOf(cell: string, name: string, type: 'INTEGER' | 'REAL'): number {
  const text = cell.trim();
  const number = Number(text);
  if (type === 'INTEGER') {
    if (INTEGER.test(text) && Number.isSafeInteger(number)) return number;
    throw wrong(name, cell, 'an integer between -(2^53-1) and 2^53-1');
  }
  if (NUMBER.test(text) && Number.isFinite(number)) return number;
  throw wrong(name, cell, 'a finite number');
}

/** `1;2;3` or `[1,2,3]`. */
function membersOf(cell: string): number[] {
  const text = cell.trim();
  const isList = text.startsWith('[') && text.endsWith(']');
  const inner = (isList ? text.slice(1, -1) : text).trim();
  if (inner === '') return [];
  return inner.split(isList ? ',' : ';').map((part) => numberOf(part, 'members', 'INTEGER'));
}

function wrong(name: string, cell: string, what: string): HedgerowError {
  const shown = cell.length > SHOWN ? `${cell.slice(0, SHOWN)}...` : cell;
  return new HedgerowError('invalid_input', `${name} is ${JSON.stringify(shown)}, but it takes ${what}.`);
}

/** A list or row object as one cell: integers as `1;2;3`, which members are read from again, anything else as JSON. */
export function cellOfObject(value: Exclude<Value, number | string | boolean | null>): string {
  const isIntegers = Array.isArray(value) && value.length > 0 && value.every(Number.isSafeInteger);
  return isIntegers ? value.join(';') : JSON.stringify(value);
}
