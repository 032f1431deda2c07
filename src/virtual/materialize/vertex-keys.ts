// Makes keys of vertices: a vertex is a node of the node table that is named like its label.

import type { Database, Table } from '../../engine/index.ts';
import { HedgerowError, refusal } from '../../errors.ts';
import { type KindAndKey, keyProblem, type MemberKind } from '../../model/node-refs.ts';
import type { HydratedMember } from '../hydrate/hydrate.ts';
import { vertexHead } from '../hydrate/values.ts';
import type { VertexMembers } from './vertex-members.ts';

/** Name of the key column of a node table that a copy creates. */
const KEY = 'key';
const PLAIN_INTEGER = /^(0|-?[1-9]\d{0,15})$/;

/**
 * Returns the names of the node tables for these labels; missing ones are created. Copies of
 * several queries share them, so that the same vertex is the same node. Rejects with
 * `table_exists` if a hyperedge table has the name.
 */
export async function openNodeTables(
  database: Database,
  labels: readonly string[],
  undo: (() => Promise<void>)[],
): Promise<string[]> {
  const names: string[] = [];
  for (const label of labels) {
    const table = known(database, label) ?? (await create(database, label, undo));
    names.push(table.name);
  }
  return names;
}

function known(database: Database, label: string): Table | undefined {
  return database.nodes.tables().find(({ name }) => name.toLowerCase() === label.toLowerCase());
}

async function create(database: Database, label: string, undo: (() => Promise<void>)[]): Promise<Table> {
  try {
    const table = await database.nodes.createTable({ name: label, key: { name: KEY, type: 'TEXT' } });
    undo.push(() => database.nodes.dropTable(label));
    return table;
  } catch (error) {
    if (!(error instanceof HedgerowError) || error.code !== 'table_exists') throw error;
    // Another copy may have created it meanwhile.
    const table = known(database, label);
    if (table !== undefined) return table;
    throw refusal(
      'table_exists',
      `The vertices with the label ${label} become nodes of a node table of that name, but there is a hyperedge table ${label}. Rename it, or ask for ids "map".`,
    );
  }
}

export class VertexKeys implements VertexMembers {
  readonly told: VertexMembers['told'];
  /** The kind of a member, and the length of what precedes the value in its vertex_local_id. */
  readonly #kinds: ReadonlyMap<string, { readonly kind: MemberKind; readonly head: number }>;

  /** `members`: the members of the query's edges. `table`: the table that gets the edges. */
  constructor(members: readonly { readonly name: string; readonly nodeLabel: string }[], table: Table) {
    const kinds = table.kinds!;
    this.told = { node_tables: kinds.map(({ name }) => name) };
    this.#kinds = new Map(
      members.map(({ name, nodeLabel }) => {
        const kind = kinds.find((one) => one.name.toLowerCase() === nodeLabel.toLowerCase())!;
        return [name, { kind, head: vertexHead(nodeLabel).length }];
      }),
    );
  }

  memberOf({ name, vertex_local_id }: HydratedMember): KindAndKey | undefined {
    const { kind, head } = this.#kinds.get(name)!;
    const value = vertex_local_id.slice(head);
    const key = kind.isInteger && PLAIN_INTEGER.test(value) ? Number(value) : value;
    return keyProblem(key, kind) === undefined ? { kind: kind.name, key } : undefined;
  }

  /** The edges create their nodes. */
  async store(): Promise<void> {}
}
