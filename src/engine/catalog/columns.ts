// Columns of a table: the built-in ones, the user's, and what a value of each must be.

import { encodeProperties, type Property } from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';
import { IDENTIFIER } from '../../limits.ts';
import { MAX_TEXT_BYTES } from '../../model/text.ts';
import type { ColumnDefinition, ColumnType, PropertyValue } from '../types.ts';

export interface Column {
  /** Stable in its table, never reused; 0 to 2 are built in. */
  id: number;
  name: string;
  type: ColumnType;
  default: PropertyValue;
}

export const BUILT_IN_COLUMNS: readonly Column[] = [
  { id: 0, name: 'weight', type: 'REAL', default: null },
  { id: 1, name: 'mean_dist_m', type: 'REAL', default: null },
  { id: 2, name: 'formation', type: 'TEXT', default: null },
];

/** Names a user column cannot take: they stand in every row or in every request. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set([
  'id',
  'event_ts',
  'members',
  'weight',
  'mean_dist_m',
  'formation',
  'table',
  'properties',
]);

export const COLUMN_TYPES: readonly ColumnType[] = ['INTEGER', 'REAL', 'TEXT', 'BOOLEAN'];

/** User columns of a table, at most: its segments take 4,000 columns in all. */
export const MOST_COLUMNS = 1000;

/** Checks definitions of user columns and gives them ids from `firstId` on. Throws `invalid_input` or `column_exists`. */
export function defineColumns(definitions: readonly ColumnDefinition[], firstId: number): Column[] {
  if (definitions.length > MOST_COLUMNS)
    throw new HedgerowError(
      'invalid_input',
      `A table has at most ${MOST_COLUMNS} columns, not ${definitions.length}.`,
      {
        errors: [{ loc: ['columns'], msg: `must be at most ${MOST_COLUMNS}` }],
      },
    );
  const seen = new Set(RESERVED_NAMES);
  return definitions.map((definition, index) => {
    const { name, type } = definition;
    if (typeof name !== 'string' || !IDENTIFIER.test(name)) {
      throw new HedgerowError('invalid_input', `Column name ${JSON.stringify(name)} must match ${IDENTIFIER.source}.`, {
        errors: [{ loc: ['columns', index, 'name'], msg: 'is no identifier' }],
      });
    }
    if (seen.has(name.toLowerCase()))
      throw new HedgerowError('column_exists', `Column ${name} exists already or is built in; take another name.`);
    if (!COLUMN_TYPES.includes(type))
      throw new HedgerowError('invalid_input', `Column ${name}: type must be one of ${COLUMN_TYPES.join(', ')}.`);
    seen.add(name.toLowerCase());
    const column: Column = { id: firstId + index, name, type, default: definition.default ?? null };
    if (column.default !== null) checkValue(column, column.default);
    return column;
  });
}

/** Throws `invalid_input` when `value` (not null) is none of the column's. */
export function checkValue(column: Column, value: PropertyValue): void {
  const wrong = wrongValue(column.type, value);
  if (wrong === undefined) return;
  throw new HedgerowError('invalid_input', `${column.name} ${wrong}.`, {
    errors: [{ loc: [column.name], msg: wrong }],
  });
}

function wrongValue(type: ColumnType, value: PropertyValue): string | undefined {
  switch (type) {
    case 'REAL':
      return typeof value === 'number' && Number.isFinite(value) ? undefined : 'must be a finite number or null';
    case 'INTEGER':
      return Number.isSafeInteger(value) ? undefined : 'must be an integer between -(2^53-1) and 2^53-1 or null';
    case 'BOOLEAN':
      return typeof value === 'boolean' ? undefined : 'must be true, false or null';
    case 'TEXT':
      if (typeof value !== 'string') return 'must be a text or null';
      if (!value.isWellFormed()) return 'must not hold half a character (an unpaired surrogate): it has no UTF-8';
      return value.length * 3 > MAX_TEXT_BYTES && Buffer.byteLength(value) > MAX_TEXT_BYTES
        ? `must be at most ${MAX_TEXT_BYTES} bytes of UTF-8`
        : undefined;
  }
}

function isNumeric(column: Column): boolean {
  return column.type === 'INTEGER' || column.type === 'REAL';
}

/** A table's columns with what inserts need: names without case, and checked values to bytes. */
export class ColumnSet {
  readonly columns: readonly Column[];
  readonly #byName: Map<string, Column>;

  constructor(userColumns: readonly Column[]) {
    this.columns = [...BUILT_IN_COLUMNS, ...userColumns];
    this.#byName = new Map(this.columns.map((column) => [column.name.toLowerCase(), column]));
  }

  find(name: string): Column | undefined {
    return this.#byName.get(name.toLowerCase());
  }

  /** A column of numbers. Throws `unknown_column`, or `invalid_input` when its values are none; both say which columns are. */
  numeric(name: string, loc: (string | number)[] = ['column']): Column {
    const column = this.find(name);
    if (column !== undefined && isNumeric(column)) return column;
    const known = `Columns of numbers: ${this.columns
      .filter(isNumeric)
      .map((each) => each.name)
      .join(', ')}.`;
    const [code, what] =
      column === undefined
        ? (['unknown_column', `There is no column ${JSON.stringify(name)}.`] as const)
        : (['invalid_input', `Column ${column.name} is ${column.type}, not INTEGER or REAL.`] as const);
    throw new HedgerowError(code, `${what} ${known}`, {
      errors: [{ loc, msg: 'is no column of numbers' }],
    });
  }

  /**
   * Checks properties and encodes them; null when there is nothing to store. The bytes are borrowed until the next call.
   * Throws `unknown_column` or `invalid_input`.
   */
  encode(properties: Readonly<Record<string, PropertyValue | undefined>>): Uint8Array | null {
    const found: Property[] = [];
    for (const name in properties) {
      const value = properties[name];
      if (value === undefined) continue;
      const column = this.find(name);
      if (column === undefined) throw unknownColumn(name, this.columns);
      if (value === null && column.default === null) continue;
      if (value !== null) checkValue(column, value);
      found.push({ column: column.id, type: column.type, value });
    }
    if (found.length === 0) return null;
    if (found.length > 1) found.sort((a, b) => a.column - b.column);
    for (let i = 1; i < found.length; i++) {
      if (found[i]!.column === found[i - 1]!.column)
        throw new HedgerowError('invalid_input', 'A column is given twice (names are compared without case).');
    }
    return encodeProperties(found);
  }

  /** The property columns of a stored row, as it will be read back. */
  fill(
    row: Record<string, unknown>,
    properties: Readonly<Record<string, PropertyValue | undefined>> | undefined,
  ): void {
    for (const column of this.columns) row[column.name] = column.default;
    if (properties === undefined) return;
    for (const name in properties) {
      const value = properties[name];
      const column = this.find(name);
      if (value !== undefined && column) row[column.name] = value;
    }
  }
}

function unknownColumn(name: string, columns: readonly Column[]): HedgerowError {
  return new HedgerowError(
    'unknown_column',
    `There is no column ${JSON.stringify(name)}. Columns: ${columns.map((column) => column.name).join(', ')}.`,
    {
      errors: [{ loc: ['properties', name], msg: 'no such column' }],
    },
  );
}
