// The rows of changes as text: of a table as of a frame, with the members of named tables as keys.

import { assert } from '../../assert.ts';
import type { RecordText, RowPlan } from '../../core/index.ts';
import { columnsOf, type TableDefinition } from '../catalog/catalog.ts';
import type { NodeDirectory } from '../nodes/node-directory.ts';
import { planOf } from '../table/row-plan-of.ts';

/** A table as of a frame. */
export interface FrameTable {
  readonly name: string;
  readonly plan: RowPlan;
  /** How members are shown. */
  readonly members: 'numbers' | 'keys' | 'objects';
  /** The names of its operations. */
  readonly ops: typeof EDGE_OPS | typeof NODE_OPS;
}

/** What turns records into text. */
export interface RowReading {
  readonly records: RecordText;
  readonly nodes: Pick<NodeDirectory, 'shown'>;
}

const EDGE_OPS = { insert: 'insert', update: 'update', delete: 'delete', table: 'table' } as const;
const NODE_OPS = {
  insert: 'node_inserted',
  update: 'node_updated',
  delete: 'node_deleted',
  table: 'node_table',
} as const;

const TABLES = new WeakMap<TableDefinition, FrameTable>();

export function tableOf(definition: TableDefinition): FrameTable {
  let table = TABLES.get(definition);
  if (table === undefined) {
    const { name, nodes, key } = definition;
    table = {
      name,
      plan: planOf(columnsOf(definition), definition),
      members: nodes === undefined ? 'numbers' : nodes.length > 1 ? 'objects' : 'keys',
      ops: key === undefined ? EDGE_OPS : NODE_OPS,
    };
    TABLES.set(definition, table);
  }
  return table;
}

/** Returns the JSON text of each record. */
export function rowTexts(
  records: readonly Uint8Array[],
  table: FrameTable,
  { records: text, nodes }: RowReading,
): string[] {
  const rows = text.rows(records, table.plan);
  return table.members === 'numbers' ? rows : rows.map((row) => withKeys(row, table.members === 'objects', nodes));
}

/** Only numbers stand before the members in the text of a row. */
const MEMBERS = '"members":[';
const ROLES = ',"roles":{';

/** Replaces the numbers of members by keys; by null if a key is no longer known. */
function withKeys(row: string, asObjects: boolean, nodes: Pick<NodeDirectory, 'shown'>): string {
  const from = row.indexOf(MEMBERS) + MEMBERS.length;
  const to = row.indexOf(']', from);
  assert(from >= MEMBERS.length && to > from, 'the text of an edge has members');
  const shown = (list: string) =>
    list === ''
      ? ''
      : list
          .split(',')
          .map((number) => JSON.stringify(nodes.shown(Number(number), asObjects)))
          .join(',');
  // The lists of roles follow the members; they hold numbers only.
  const hasRoles = row.startsWith(ROLES, to + 1);
  const end = hasRoles ? row.indexOf('}', to) : to;
  const roles = row.slice(to, end).replace(/\[([\d,]*)\]/g, (_, list: string) => `[${shown(list)}]`);
  return `${row.slice(0, from)}${shown(row.slice(from, to))}${roles}${row.slice(end)}`;
}
