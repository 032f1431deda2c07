// The catalog: table definitions as plain values, changed only by logged operations.

import { HedgerowError } from '../../errors.ts';
import { type Column, defineColumns, FIRST_USER_COLUMN, IDENTIFIER } from '../../model/columns.ts';
import { checkMemberTables, completeOptions, type TableOptions } from '../../model/options.ts';
import type { TableInput } from '../types.ts';

/** A table definition as stored in the log and the manifest. */
export interface TableDefinition extends TableOptions {
  /** Never reused. */
  id: number;
  name: string;
  memberTables: string[];
  columns: Column[];
  /** Columns with a PSI index, by column id. */
  indexes: { column: number; createdAt: number }[];
  /** Epoch seconds. */
  createdAt: number;
  /** Id of the next column. */
  nextColumnId: number;
}

/** One catalog change: the document of a CATALOG operation. */
export type CatalogChange =
  | { op: 'create_table'; table: TableDefinition }
  | { op: 'drop_table'; id: number }
  | { op: 'set_threshold'; id: number; threshold: number }
  | IndexChange
  | ShapeChange;

/** Valid values of `op` in a CATALOG operation. */
export const CATALOG_CHANGES: readonly CatalogChange['op'][] = [
  'create_table',
  'drop_table',
  'set_threshold',
  'create_index',
  'drop_index',
  'add_column',
  'drop_column',
  'rename_column',
  'rename_table',
];

/** `column` is a column id; `createdAt` is in epoch seconds. */
export type IndexChange =
  | { op: 'create_index'; id: number; column: number; createdAt: number }
  | { op: 'drop_index'; id: number; column: number };

/**
 * Change of the columns or the name of a table. `column` is a column id; an added column takes the
 * definition's next column id.
 */
export type ShapeChange =
  | { op: 'add_column'; id: number; column: Column }
  | { op: 'drop_column'; id: number; column: number }
  | { op: 'rename_column'; id: number; column: number; name: string }
  | { op: 'rename_table'; id: number; name: string };

function wrong(field: string, msg: string): HedgerowError {
  return new HedgerowError('invalid_input', `${field} ${msg}.`, { errors: [{ loc: [field], msg }] });
}

/**
 * Checks the caller's input and builds the definition. Throws `invalid_input` or `column_exists`.
 */
export function defineTable(input: TableInput, id: number, nowSeconds: number): TableDefinition {
  checkTableName(input.name);
  const options = completeOptions(input);
  const memberTables = checkMemberTables(input.memberTables ?? []);
  const columns = defineColumns(input.columns ?? [], FIRST_USER_COLUMN);
  return {
    id,
    name: input.name,
    memberTables,
    ...options,
    columns,
    indexes: [],
    createdAt: nowSeconds,
    nextColumnId: FIRST_USER_COLUMN + columns.length,
  };
}

/** Throws `invalid_input`. */
export function checkTableName(name: string): void {
  if (typeof name !== 'string' || !IDENTIFIER.test(name))
    throw wrong('name', 'must be a letter or underscore, then up to 63 letters, digits or underscores');
}

/** The definition after an index was created or dropped. */
export function withIndexChange(definition: TableDefinition, change: IndexChange): TableDefinition {
  const others = definition.indexes.filter(({ column }) => column !== change.column);
  const added = change.op === 'create_index' ? [{ column: change.column, createdAt: change.createdAt }] : [];
  return { ...definition, indexes: [...others, ...added] };
}
