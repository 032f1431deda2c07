// The catalog changes that create a table whose members are nodes of one node table, together with
// its indexes and, if there is none of that name, its node table. They are logged as one frame, so
// a crash leaves all of them or none.

import { HedgerowError } from '../../errors.ts';
import type { Column } from '../../model/columns.ts';
import type { Language } from '../../text/index.ts';
import { defineNodeTable, type NodeTableInput } from '../nodes/definitions.ts';
import type { Table } from '../table/table.ts';
import type { TableInput } from '../types.ts';
import { defineTable } from './catalog.ts';
import type { CatalogChange } from './changes.ts';
import type { TableSet } from './table-set.ts';

/** What a caller gives to create such a table. Columns are given by name. */
export interface NamedTableInput {
  /** The table; its members are nodes of `nodeTable`. */
  readonly table: Omit<TableInput, 'memberTables'>;
  /** Used if there is no node table of this name yet. */
  readonly nodeTable: NodeTableInput;
  /** Numeric columns with an index. */
  readonly indexes: readonly string[];
  /** TEXT columns of the text index. */
  readonly text: { readonly columns: readonly string[]; readonly language: Language };
}

/**
 * Returns the changes, in order. Throws `invalid_input` if a table has the name of the node table
 * and is none, or has keys of another type; and the errors of `defineTable`.
 */
export function namedTableChanges(
  { table: input, nodeTable, indexes, text }: NamedTableInput,
  tables: Pick<TableSet, 'find' | 'nextId'>,
  createdAt: number,
): CatalogChange[] {
  const known = tables.find(nodeTable.name);
  if (known !== undefined) assertHasKeys(known, nodeTable);
  const created = known === undefined ? defineNodeTable(nodeTable, tables.nextId, createdAt) : undefined;
  const id = created === undefined ? tables.nextId : created.id + 1;
  const { id: nodesId, name: nodesName } = created ?? known!;
  const table = defineTable({ ...input, memberTables: [nodesName] }, id, createdAt, [nodesId]);
  return [
    ...(created === undefined ? [] : [{ op: 'create_table' as const, table: created }]),
    { op: 'create_table', table },
    ...indexes.map((name) => ({ op: 'create_index' as const, id, column: idOf(table.columns, name), createdAt })),
    {
      op: 'create_text_index',
      id,
      text: { columns: text.columns.map((name) => idOf(table.columns, name)), language: text.language, createdAt },
    },
  ];
}

function assertHasKeys(known: Table, { name, key }: NodeTableInput): void {
  const { definition, columns } = known;
  const column = definition.key === undefined ? undefined : columns.withId(definition.key);
  if (column?.type === key.type) return;
  const what = column === undefined ? 'is no node table' : `has ${column.type} keys`;
  throw new HedgerowError(
    'invalid_input',
    `${known.name} ${what}; the members of a new table ${name} are to be found by ${key.type} keys. Rename or drop ${known.name}, or name another table.`,
  );
}

function idOf(columns: readonly Column[], name: string): number {
  return columns.find((column) => column.name === name)!.id;
}
