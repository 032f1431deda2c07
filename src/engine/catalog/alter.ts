// Implements ALTER: changes columns, names and options of a table that already has rows. Only the
// table's definition changes; no row is rewritten. A row stored before a column was added is read
// with the default of the column. The bytes of a dropped column disappear when a compaction
// rewrites their segment.

import { HedgerowError } from '../../errors.ts';
import { type Column, defineColumns, IDENTIFIER, MOST_COLUMNS, RESERVED_NAMES } from '../../model/columns.ts';
import type { AlterableOption } from '../../model/options.ts';
import { ROLES_FIELD } from '../../model/shape.ts';
import type { ColumnDefinition } from '../types.ts';
import { columnsOf, type TableDefinition } from './catalog.ts';
import type { ShapeChange } from './changes.ts';

export type AlterAction =
  /** Rows without a value for the column, old and new, get its default, or null if it has none. */
  | { kind: 'addColumn'; column: ColumnDefinition }
  /** Drops the column's index too. */
  | { kind: 'dropColumn'; column: string }
  /** Keeps the column's index. */
  | { kind: 'renameColumn'; column: string; to: string }
  | { kind: 'renameTable'; to: string }
  | { kind: 'setOption'; option: AlterableOption; value: number };

/** Column ids are never reused and are stored in two bytes. */
const LAST_COLUMN_ID = 65535;
const KEYS = ['id', 'event_ts', 'members'];

/**
 * Returns the catalog change for an action on the columns of a table. Names are compared
 * case-insensitively. Throws `column_exists` or `unknown_column`, and `invalid_input` for a
 * built-in column, a name that is not an identifier, an invalid default, or too many columns.
 */
export function columnChange(
  definition: TableDefinition,
  action: Exclude<AlterAction, { kind: 'renameTable' | 'setOption' }>,
): ShapeChange {
  const { id } = definition;
  switch (action.kind) {
    case 'addColumn':
      return { op: 'add_column', id, column: newColumn(definition, action.column) };
    case 'dropColumn':
      return { op: 'drop_column', id, column: droppable(definition, action.column).id };
    case 'renameColumn': {
      const column = userColumn(definition, action.column, 'renamed');
      const others = definition.columns.filter((each) => each !== column);
      checkColumnName(action.to, { ...definition, columns: others });
      return { op: 'rename_column', id, column: column.id, name: action.to };
    }
  }
}

function newColumn(definition: TableDefinition, wanted: ColumnDefinition): Column {
  const [column] = defineColumns([wanted], definition.nextColumnId, reservedIn(definition));
  checkColumnName(wanted.name, definition);
  if (definition.columns.length >= MOST_COLUMNS)
    throw new HedgerowError(
      'invalid_input',
      `Table ${definition.name} has ${MOST_COLUMNS} columns, the most there may be; drop one first.`,
    );
  if (definition.nextColumnId > LAST_COLUMN_ID)
    throw new HedgerowError(
      'invalid_input',
      `Table ${definition.name} has had as many columns in total as a table can have; copy it to a new table.`,
    );
  return column!;
}

/** Returns the names that no column of the table can have. A node table has no built-in columns. */
function reservedIn({ key }: TableDefinition): ReadonlySet<string> {
  return key === undefined ? RESERVED_NAMES : new Set();
}

function checkColumnName(name: string, definition: TableDefinition): void {
  const { roles = [] } = definition;
  if (typeof name !== 'string' || !IDENTIFIER.test(name))
    throw new HedgerowError('invalid_input', `Column name ${JSON.stringify(name)} must match ${IDENTIFIER.source}.`);
  const lower = name.toLowerCase();
  if (reservedIn(definition).has(lower) || columnsOf(definition).find(lower) !== undefined)
    throw new HedgerowError('column_exists', `Column ${name} exists already or is built in; take another name.`);
  const isRole = roles.some((role) => role.toLowerCase() === lower);
  if (isRole || (roles.length > 0 && lower === ROLES_FIELD))
    throw new HedgerowError(
      'column_exists',
      `Column ${name} would have the name of ${isRole ? 'a role' : 'the field of the roles'}; take another name.`,
    );
}

function droppable(definition: TableDefinition, name: string): Column {
  const column = userColumn(definition, name, 'dropped');
  if (column.id !== definition.key) return column;
  throw new HedgerowError(
    'invalid_input',
    `Column ${column.name} holds the keys of node table ${definition.name}; it cannot be dropped.`,
  );
}

function userColumn(definition: TableDefinition, name: string, what: string): Column {
  const { name: table, columns } = definition;
  const lower = String(name).toLowerCase();
  const column = columns.find((each) => each.name.toLowerCase() === lower);
  if (column !== undefined) return column;
  if (KEYS.includes(lower) || columnsOf(definition).find(lower) !== undefined)
    throw new HedgerowError('invalid_input', `Column ${lower} is built in; it cannot be ${what}.`);
  const known = columns.length === 0 ? 'none' : columns.map((each) => each.name).join(', ');
  throw new HedgerowError(
    'unknown_column',
    `Table ${table} has no column ${JSON.stringify(name)} of its own. It has: ${known}.`,
  );
}
