// Definitions of node tables, and of the nodes that may be members of a hyperedge table.
//
// A node table is a table whose rows are nodes. A row has the node's number as its id, as its time
// and as its only member; the key and the attributes are its columns. So nodes are stored, logged,
// compacted, backed up and followed like edges, and a node's row is found by its number as an edge
// is found by its time.

import { HedgerowError } from '../../errors.ts';
import type { ColumnType } from '../../model/column-types.ts';
import { type Column, type ColumnDefinition, defineColumns, FIRST_USER_COLUMN } from '../../model/columns.ts';
import { completeOptions } from '../../model/options.ts';
import { checkTableName, type TableDefinition } from '../catalog/catalog.ts';

/** Types that a key may have. */
export const KEY_TYPES = ['TEXT', 'INTEGER'] as const satisfies readonly ColumnType[];
export type KeyType = (typeof KEY_TYPES)[number];

/** Input to create a node table. */
export interface NodeTableInput {
  name: string;
  key: { name: string; type: KeyType };
  columns?: ColumnDefinition[];
}

/** The form of a node table that is returned to clients. */
export interface NodeTableItem {
  name: string;
  key: { name: string; type: KeyType };
  /** The attributes. `default` is present if the column has one and the caller asked for it. */
  columns: { name: string; type: ColumnType; default?: NonNullable<Column['default']> }[];
  row_count: number;
  created_at: number;
}

const NO_NAMES: ReadonlySet<string> = new Set();
/** Width of a bucket in numbers of nodes. */
const BUCKET_NUMBERS = 64;

/**
 * Checks the caller's input and returns the definition of a new node table. Throws `invalid_input`
 * or `column_exists`.
 */
export function defineNodeTable(input: NodeTableInput, id: number, nowSeconds: number): TableDefinition {
  checkTableName(input.name);
  const { name, type } = input.key;
  if (!KEY_TYPES.includes(type))
    throw new HedgerowError('invalid_input', `The key ${name} must be ${KEY_TYPES.join(' or ')}, not ${type}.`, {
      errors: [{ loc: ['key', 'type'], msg: `must be ${KEY_TYPES.join(' or ')}` }],
    });
  const columns = defineColumns([{ name, type }, ...(input.columns ?? [])], FIRST_USER_COLUMN, NO_NAMES);
  return {
    id,
    name: input.name,
    memberTables: [],
    key: columns[0]!.id,
    ...completeOptions({ bucketSeconds: BUCKET_NUMBERS }),
    columns,
    indexes: [],
    createdAt: nowSeconds,
    nextColumnId: FIRST_USER_COLUMN + columns.length,
  };
}

/** Returns the column of a node table that holds the keys. */
export function keyColumnOf({ key, columns }: Pick<TableDefinition, 'key' | 'columns'>): Column {
  return columns.find(({ id }) => id === key)!;
}

/** Returns the form of a node table for clients. */
export function nodeTableItem(definition: TableDefinition, rowCount: number, withDefaults = false): NodeTableItem {
  const key = keyColumnOf(definition);
  return {
    name: definition.name,
    key: { name: key.name, type: key.type as KeyType },
    columns: definition.columns
      .filter((column) => column !== key)
      .map(({ name, type, default: value }) =>
        value === null || !withDefaults ? { name, type } : { name, type, default: value },
      ),
    row_count: rowCount,
    created_at: definition.createdAt,
  };
}

/**
 * Returns the ids of the node tables whose names a new hyperedge table lists, or undefined if none
 * of the names is one. `find` returns the id of the node table with a name. Throws `invalid_input`
 * if only some of them exist.
 */
export function nodesOf(
  memberTables: readonly string[],
  find: (name: string) => number | undefined,
): number[] | undefined {
  const ids = memberTables.map(find);
  const missing = memberTables.filter((_, index) => ids[index] === undefined);
  if (missing.length === memberTables.length) return undefined;
  if (missing.length > 0)
    throw new HedgerowError(
      'invalid_input',
      `member_tables mixes node tables with names that are none (${missing.join(', ')}). Create them first with CREATE NODE TABLE, or name none.`,
      { errors: [{ loc: ['member_tables'], msg: `holds names that are no node tables: ${missing.join(', ')}` }] },
    );
  if (new Set(ids).size < ids.length)
    throw new HedgerowError('invalid_input', 'member_tables names a node table twice.', {
      errors: [{ loc: ['member_tables'], msg: 'names a node table twice' }],
    });
  return ids as number[];
}
