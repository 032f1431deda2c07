// Converts values for CSV: cells to values of a column's type, and lists and rows to cells.

import type { ColumnType, NodeKind } from '../../engine/index.ts';
import { HedgerowError } from '../../errors.ts';
import { kindOfType, ruleOf } from '../../model/column-types.ts';
import type { Value } from '../binder/bound.ts';
import type { Target } from './targets.ts';

const SHOWN = 40;

/**
 * Returns the value of a cell. `cell` is null if the cell is empty and not quoted. Throws
 * `invalid_input`.
 */
export function valueOfCell(cell: string | null, target: Target): unknown {
  switch (target.kind) {
    case 'event_ts':
      return cell === null ? null : propertyOf(cell, 'event_ts', 'INTEGER');
    case 'members':
      return cell === null ? null : listOf(cell, 'members', target.kinds);
    case 'role':
      return cell === null ? null : listOf(cell, target.name, target.kinds);
    case 'roles':
      return cell === null ? null : rolesOf(cell);
    case 'id':
      return undefined;
    case 'property':
      return cell === null || (cell === '' && kindOfType(target.type) !== 'text')
        ? null
        : propertyOf(cell, target.name, target.type);
  }
}

function propertyOf(cell: string, name: string, type: ColumnType): number | string | boolean {
  const { fromText, takes } = ruleOf(type);
  const value = fromText(cell);
  if (value === undefined) throw wrong(name, cell, takes);
  return value;
}

/** Reads a JSON object. */
function rolesOf(cell: string): unknown {
  try {
    return JSON.parse(cell) as unknown;
  } catch {
    throw wrong('roles', cell, 'a JSON object that maps roles to lists of members');
  }
}

function listOf(cell: string, name: string, kinds: readonly NodeKind[] | undefined): unknown[] {
  return kinds === undefined ? membersOf(cell, name) : keysOf(cell, name, kinds);
}

/** Reads `1;2;3` or `[1,2,3]`. */
function membersOf(cell: string, name: string): number[] {
  const text = cell.trim();
  const isList = text.startsWith('[') && text.endsWith(']');
  const inner = (isList ? text.slice(1, -1) : text).trim();
  if (inner === '') return [];
  return inner.split(isList ? ',' : ';').map((part) => propertyOf(part, name, 'INTEGER') as number);
}

/**
 * Reads the members of a named table: a JSON list, or keys separated by semicolons. Keys that
 * contain a semicolon, and members of several kinds, stand in a JSON list.
 */
function keysOf(cell: string, name: string, kinds: readonly NodeKind[]): unknown[] {
  const text = cell.trim();
  if (text.startsWith('[')) {
    const list = parsedList(text);
    if (list !== undefined) return list;
  }
  if (kinds.length > 1) throw wrong(name, cell, 'a JSON list of objects with kind and key');
  if (text === '') return [];
  if (!kinds[0]!.isInteger) return cell.split(';');
  return text.split(';').map((part) => propertyOf(part, name, 'INTEGER'));
}

/** Returns the list that a JSON text is, or undefined. */
export function parsedList(text: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function wrong(name: string, cell: string, what: string): HedgerowError {
  const shown = cell.length > SHOWN ? `${cell.slice(0, SHOWN)}...` : cell;
  return new HedgerowError('invalid_input', `${name} is ${JSON.stringify(shown)}, but it takes ${what}.`);
}

/**
 * Writes a list or row object as one cell. A list of integers becomes `1;2;3`, the form from which
 * members are read back; anything else becomes JSON.
 */
export function cellOfObject(value: Exclude<Value, number | string | boolean | null>): string {
  const isIntegers = Array.isArray(value) && value.length > 0 && value.every(Number.isSafeInteger);
  return isIntegers ? value.join(';') : JSON.stringify(value);
}
