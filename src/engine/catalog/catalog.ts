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
import { checkRoles } from '../../model/shape.ts';
import type { TableInput } from '../types.ts';

/** A table definition as stored in the log and the manifest. */
export interface TableDefinition extends TableOptions {
  /** Never reused. */
  id: number;
  name: string;
  memberTables: string[];
  /** The roles in the order of their bits in a member's mask; absent if the table has none. */
  roles?: string[];
  /** Id of the built-in column `end_ts`; absent if the table has no intervals. */
  intervals?: number;
  /** User columns. */
  columns: Column[];
  /** Columns with a PSI index; `column` is a column id, `createdAt` is in epoch seconds. */
  indexes: { column: number; createdAt: number }[];
  /** Epoch seconds. */
  createdAt: number;
  /** Id of the next column. */
  nextColumnId: number;
}

function wrong(field: string, msg: string): HedgerowError {
  return new HedgerowError('invalid_input', `${field} ${msg}.`, { errors: [{ loc: [field], msg }] });
}

/**
 * Checks the caller's input and returns the definition of a new table. Throws `invalid_input` or
 * `column_exists`.
 */
export function defineTable(input: TableInput, id: number, nowSeconds: number): TableDefinition {
  checkTableName(input.name);
  const options = completeOptions(input);
  const memberTables = checkMemberTables(input.memberTables ?? []);
  const intervals = input.intervals ? FIRST_USER_COLUMN : undefined;
  const firstId = FIRST_USER_COLUMN + (intervals === undefined ? 0 : 1);
  const built = intervals === undefined ? [] : [END_COLUMN];
  const columns = defineColumns(input.columns ?? [], firstId, built);
  const roles = checkRoles(input.roles ?? [], namesOf(columns, built));
  return {
    id,
    name: input.name,
    memberTables,
    ...(roles.length > 0 ? { roles } : {}),
    ...(intervals === undefined ? {} : { intervals }),
    ...options,
    columns,
    indexes: [],
    createdAt: nowSeconds,
    nextColumnId: firstId + columns.length,
  };
}

/** Returns all columns of a table. */
export function columnsOf({ columns, intervals }: TableDefinition): ColumnSet {
  return new ColumnSet(columns, intervals);
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
