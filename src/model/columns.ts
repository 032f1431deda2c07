// Columns of a table: the built-in ones, the user's, and which names they may have.

import { HedgerowError } from '../errors.ts';
import { COLUMN_TYPE_NAMES, type ColumnType, isNumeric, type PropertyValue, ruleOf } from './column-types.ts';

/** A name of a table or column. */
export const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
export const LONGEST_IDENTIFIER = 64;

export interface ColumnDefinition {
  name: string;
  type: ColumnType;
  default?: PropertyValue;
}

export interface Column {
  /** Stable in its table, never reused; 0 to 2 are built in. */
  id: number;
  name: string;
  type: ColumnType;
  default: PropertyValue;
}

/** What every row has besides its properties. */
export const KEY_COLUMNS = ['id', 'event_ts', 'members'] as const;

export const BUILT_IN_COLUMNS: readonly Column[] = [
  { id: 0, name: 'weight', type: 'REAL', default: null },
  { id: 1, name: 'mean_dist_m', type: 'REAL', default: null },
  { id: 2, name: 'formation', type: 'TEXT', default: null },
];

const BUILT_IN_TYPES: ReadonlyMap<string, ColumnType> = new Map(BUILT_IN_COLUMNS.map(({ name, type }) => [name, type]));

/** The id of a table's first own column. */
export const FIRST_USER_COLUMN = BUILT_IN_COLUMNS.length;

/** Fields of an edge in a request that are no properties. */
export const EDGE_FIELDS: ReadonlySet<string> = new Set([...KEY_COLUMNS, 'table', 'properties']);

/** Names a user column cannot take: they are in every row or in every request. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set([...EDGE_FIELDS, ...BUILT_IN_TYPES.keys()]);

/** User columns of a table, at most: its segments take 4,000 columns in all. */
export const MOST_COLUMNS = 1000;

/** The type of the built-in column of exactly that name; undefined: there is none. */
export function builtInType(name: string): ColumnType | undefined {
  return BUILT_IN_TYPES.get(name);
}

/**
 * Checks definitions of user columns and gives them ids from `firstId` on. Throws `invalid_input`
 * or `column_exists`.
 */
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
    if (!COLUMN_TYPE_NAMES.includes(type))
      throw new HedgerowError('invalid_input', `Column ${name}: type must be one of ${COLUMN_TYPE_NAMES.join(', ')}.`);
    seen.add(name.toLowerCase());
    const column: Column = { id: firstId + index, name, type, default: definition.default ?? null };
    if (column.default !== null) checkValue(column, column.default);
    return column;
  });
}

/** Throws `invalid_input` when `value` (not null) is none of the column's. */
export function checkValue({ name, type }: Pick<Column, 'name' | 'type'>, value: PropertyValue): void {
  const msg = ruleOf(type).problem(value);
  if (msg !== undefined)
    throw new HedgerowError('invalid_input', `${name} ${msg}.`, { errors: [{ loc: [name], msg }] });
}

/** A table's columns, found by their names without case. */
export class ColumnSet {
  readonly columns: readonly Column[];
  readonly #byName: Map<string, Column>;

  constructor(userColumns: readonly Column[]) {
    this.columns = [...BUILT_IN_COLUMNS, ...userColumns];
    this.#byName = new Map(this.columns.map((column) => [column.name.toLowerCase(), column]));
  }

  /** Of user columns whose ids do not matter: what a server, a plan or a file says of a table. */
  static of(userColumns: readonly ColumnDefinition[]): ColumnSet {
    return new ColumnSet(
      userColumns.map(({ name, type }, index) => ({ id: FIRST_USER_COLUMN + index, name, type, default: null })),
    );
  }

  find(name: string): Column | undefined {
    return this.#byName.get(name.toLowerCase());
  }

  /**
   * A column of numbers. Throws `unknown_column`, or `invalid_input` when its values are none; both
   * say which columns are.
   */
  numeric(name: string, loc: (string | number)[] = ['column']): Column {
    const column = this.find(name);
    if (column !== undefined && isNumeric(column.type)) return column;
    const known = `Columns of numbers: ${this.columns
      .filter(({ type }) => isNumeric(type))
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
}
