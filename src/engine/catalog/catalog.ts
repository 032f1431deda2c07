// The table definitions of which the catalog consists: plain values that only logged operations
// change.

import { HedgerowError } from '../../errors.ts';
import {
  type Column,
  ColumnSet,
  defineColumns,
  END_COLUMN,
  FIRST_USER_COLUMN,
  IDENTIFIER,
  RESERVED_NAMES,
} from '../../model/columns.ts';
import { checkMemberTables, completeOptions, type TableOptions } from '../../model/options.ts';
import { checkRoles, ROLES_FIELD } from '../../model/shape.ts';
import type { Language } from '../../text/index.ts';
import type { TableInput } from '../types.ts';

/** A text index as stored in a definition. */
export interface TextIndex {
  /** Ids of TEXT columns, in the order in which their words follow each other. */
  readonly columns: readonly number[];
  readonly language: Language;
  /** Epoch seconds. */
  readonly createdAt: number;
}

/** A table definition as stored in the log and the manifest. */
export interface TableDefinition extends TableOptions {
  /** Never reused. */
  id: number;
  name: string;
  memberTables: string[];
  /** The roles in the order of their bits in a member's mask; absent if the table has none. */
  roles?: string[];
  /**
   * Of a named table: the ids of the node tables in `memberTables`, in their order. Absent: the
   * members are plain numbers.
   */
  nodes?: number[];
  /** Of a named table: false if a key that nobody has used is refused. Absent: it makes a node. */
  createNodes?: false;
  /** Of a node table: the id of the column that holds the keys, which is the first of `columns`. */
  key?: number;
  /** Id of the built-in column `end_ts`; absent if the table has no intervals. */
  intervals?: number;
  /** User columns. */
  columns: Column[];
  /** Columns with a PSI index; `column` is a column id, `createdAt` is in epoch seconds. */
  indexes: { column: number; createdAt: number }[];
  /** The text index; absent if there is none. */
  text?: TextIndex;
  /** Epoch seconds. */
  createdAt: number;
  /** Id of the next column. */
  nextColumnId: number;
}

function wrong(field: string, msg: string): HedgerowError {
  return new HedgerowError('invalid_input', `${field} ${msg}.`, { errors: [{ loc: [field], msg }] });
}

/**
 * Checks the caller's input and returns the definition of a new table. `nodes` are the ids of the
 * node tables in `memberTables`, if they are node tables. Throws `invalid_input` or
 * `column_exists`.
 */
export function defineTable(input: TableInput, id: number, nowSeconds: number, nodes?: number[]): TableDefinition {
  checkTableName(input.name);
  const options = completeOptions(input);
  const memberTables = checkMemberTables(input.memberTables ?? []);
  const intervals = input.intervals ? FIRST_USER_COLUMN : undefined;
  const firstId = FIRST_USER_COLUMN + (intervals === undefined ? 0 : 1);
  const built = intervals === undefined ? [] : [END_COLUMN];
  const columns = defineColumns(input.columns ?? [], firstId, new Set([...RESERVED_NAMES, ...built]));
  const roles = checkRoles(input.roles ?? [], namesOf(columns, built));
  if (roles.length > 0) assertNoRolesColumn(columns);
  return {
    id,
    name: input.name,
    memberTables,
    ...(nodes === undefined ? {} : { nodes }),
    ...(nodes !== undefined && input.createNodes === false ? { createNodes: false as const } : {}),
    ...(roles.length > 0 ? { roles } : {}),
    ...(intervals === undefined ? {} : { intervals }),
    ...options,
    columns,
    indexes: [],
    createdAt: nowSeconds,
    nextColumnId: firstId + columns.length,
  };
}

/** Throws `column_exists` if a column has the name of the field that rows with roles have. */
function assertNoRolesColumn(columns: readonly Column[]): void {
  const column = columns.find(({ name }) => name.toLowerCase() === ROLES_FIELD);
  if (column === undefined) return;
  throw new HedgerowError(
    'column_exists',
    `Column ${column.name} has the name of a field that rows of a table with roles have; take another name.`,
  );
}

/** Returns all columns of a table. A node table has none but those of its definition. */
export function columnsOf({ columns, intervals, key }: TableDefinition): ColumnSet {
  return key === undefined ? new ColumnSet(columns, intervals) : new ColumnSet(columns, undefined, []);
}

/** Returns the names, in lower case, that a role cannot have. */
function namesOf(columns: readonly Column[], built: readonly string[]): ReadonlySet<string> {
  return new Set([...RESERVED_NAMES, ...built, ...columns.map(({ name }) => name.toLowerCase())]);
}

/** Throws `invalid_input` if the name is not an identifier. */
export function checkTableName(name: string): void {
  if (typeof name !== 'string' || !IDENTIFIER.test(name))
    throw wrong('name', 'must be a letter or underscore, then up to 63 letters, digits or underscores');
}
