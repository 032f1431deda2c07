// The columns of a table: the built-in ones, those of the user, and the names that columns may
// have.

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
  /** Unique in the table and never reused. Ids 0 to 2 belong to the built-in columns. */
  id: number;
  name: string;
  type: ColumnType;
  default: PropertyValue;
}

/** The fields that every row has besides its properties. */
export const KEY_COLUMNS = ['id', 'event_ts', 'members'] as const;

export const BUILT_IN_COLUMNS: readonly Column[] = [
  { id: 0, name: 'weight', type: 'REAL', default: null },
  { id: 1, name: 'mean_dist_m', type: 'REAL', default: null },
  { id: 2, name: 'formation', type: 'TEXT', default: null },
];

const BUILT_IN_TYPES: ReadonlyMap<string, ColumnType> = new Map(BUILT_IN_COLUMNS.map(({ name, type }) => [name, type]));

/** The name of the built-in column of tables with intervals. */
export const END_COLUMN = 'end_ts';

/** The id of a table's first user column; in a table with intervals, the id of `end_ts`. */
export const FIRST_USER_COLUMN = BUILT_IN_COLUMNS.length;

/** Fields of an edge in a request that are not properties. */
export const EDGE_FIELDS: ReadonlySet<string> = new Set([...KEY_COLUMNS, 'table', 'properties']);

/** Names that a user column cannot have, because fields of rows or of requests have them. */
export const RESERVED_NAMES: ReadonlySet<string> = new Set([...EDGE_FIELDS, ...BUILT_IN_TYPES.keys()]);

/** Maximum number of user columns in a table. A segment can have 4,000 columns in all. */
export const MOST_COLUMNS = 1000;

/**
 * Returns the type of the built-in column with exactly this name, or undefined if there is none.
 */
export function builtInType(name: string): ColumnType | undefined {
  return BUILT_IN_TYPES.get(name);
}

/**
 * Checks definitions of user columns and gives them consecutive ids that begin with `firstId`.
 * `taken` lists names in lower case that they cannot have, besides the reserved ones. Throws
 * `invalid_input` or `column_exists`.
 */
export function defineColumns(
  definitions: readonly ColumnDefinition[],
  firstId: number,
  reserved: ReadonlySet<string> = RESERVED_NAMES,
): Column[] {
  if (definitions.length > MOST_COLUMNS)
    throw new HedgerowError(
      'invalid_input',
      `A table has at most ${MOST_COLUMNS} columns, not ${definitions.length}.`,
      {
        errors: [{ loc: ['columns'], msg: `must be at most ${MOST_COLUMNS}` }],
      },
    );
  const seen = new Set(reserved);
  return definitions.map((definition, index) => {
    const { name, type } = definition;
    if (typeof name !== 'string' || !IDENTIFIER.test(name)) {
      throw new HedgerowError('invalid_input', `Column name ${JSON.stringify(name)} must match ${IDENTIFIER.source}.`, {
        errors: [{ loc: ['columns', index, 'name'], msg: 'is not an identifier' }],
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

/** Throws `invalid_input` when `value`, which is not null, is not a valid value of the column. */
export function checkValue({ name, type }: Pick<Column, 'name' | 'type'>, value: PropertyValue): void {
  const msg = ruleOf(type).problem(value);
  if (msg !== undefined)
    throw new HedgerowError('invalid_input', `${name} ${msg}.`, { errors: [{ loc: [name], msg }] });
}

/** Returns the built-in column of tables with intervals. */
export function endColumn(id: number): Column {
  return { id, name: END_COLUMN, type: 'INTEGER', default: null };
}

/** Returns the columns that a table has besides the key columns and those of the user. */
export function builtInColumns(intervals: boolean | undefined): readonly Column[] {
  return intervals === true ? [...BUILT_IN_COLUMNS, endColumn(FIRST_USER_COLUMN)] : BUILT_IN_COLUMNS;
}

/** The columns of a table. They are found by name without regard to case. */
export class ColumnSet {
  /** The built-in columns, then `end_ts` if the table has intervals, then those of the user. */
  readonly columns: readonly Column[];
  /** The column of the ends of intervals. */
  readonly end: Column | undefined;
  readonly #byName: Map<string, Column>;

  /**
   * `intervals` is the id of `end_ts`, or undefined if the table has no intervals. `builtIn` is
   * empty for node tables.
   */
  constructor(userColumns: readonly Column[], intervals?: number, builtIn: readonly Column[] = BUILT_IN_COLUMNS) {
    this.end = intervals === undefined ? undefined : endColumn(intervals);
    this.columns = [...builtIn, ...(this.end === undefined ? [] : [this.end]), ...userColumns];
    this.#byName = new Map(this.columns.map((column) => [column.name.toLowerCase(), column]));
  }

  /**
   * Returns a set with user columns whose ids do not matter: those in a server's answer, a plan or
   * a file.
   */
  static of(userColumns: readonly ColumnDefinition[], intervals: boolean): ColumnSet {
    const first = FIRST_USER_COLUMN + (intervals ? 1 : 0);
    return new ColumnSet(
      userColumns.map(({ name, type }, index) => ({ id: first + index, name, type, default: null })),
      intervals ? FIRST_USER_COLUMN : undefined,
    );
  }

  withId(id: number): Column | undefined {
    return this.columns.find((column) => column.id === id);
  }

  find(name: string): Column | undefined {
    return this.#byName.get(name.toLowerCase());
  }

  /**
   * Returns the column of this name if its type is numeric. Otherwise throws `unknown_column` or
   * `invalid_input`; the message lists the numeric columns.
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
      errors: [{ loc, msg: 'is not a numeric column' }],
    });
  }
}
