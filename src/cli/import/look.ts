// Finds out, without creating anything, which tables the target of an import has.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Database, NodeTableItem, TableItem } from '../../engine/index.ts';
import { openDirectory } from '../run/directory-runner.ts';
import { DEFAULT_URL, urlOf } from '../server-address.ts';
import type { World } from '../world.ts';
import type { ImportFlags } from './options.ts';
import { ServerClient } from './targets/server-client.ts';
import { NODES_SUFFIX } from './targets/target.ts';

/** Older servers do not say whether a table has intervals, roles or names; it then has none. */
export type LookedTable = Pick<TableItem, 'name' | 'columns' | 'row_count' | 'member_tables'> &
  Partial<Pick<TableItem, 'nodes' | 'roles' | 'intervals'>>;

export interface Look {
  readonly place: string;
  /** Undefined when there is no such table. */
  readonly table: LookedTable | undefined;
  readonly nodeTables: readonly NodeTableItem[];
  /** Whether the table has a companion with the names of its nodes. */
  readonly hasCompanion: boolean;
}

export async function lookAt(flags: ImportFlags, world: World): Promise<Look> {
  const isWanted = ({ name, primary }: { name: string; primary: boolean }) =>
    flags.table === undefined ? primary : name.toLowerCase() === flags.table.toLowerCase();
  if (flags.data === undefined) {
    const url = urlOf(flags.url ?? DEFAULT_URL);
    const client = new ServerClient({ url, apiKey: flags.apiKey }, world.now);
    return { place: url, ...wantedOf(await client.tables(), isWanted), nodeTables: await client.nodeTables() };
  }
  const place = resolve(world.cwd, flags.data);
  if (!existsSync(place)) return { place, table: undefined, hasCompanion: false, nodeTables: [] };
  const { database } = await openDirectory(flags.data, undefined, world);
  try {
    return { place, ...wantedOf(itemsIn(database), isWanted), nodeTables: nodeItemsIn(database) };
  } finally {
    await database.close();
  }
}

type WantedTable = Pick<Look, 'table' | 'hasCompanion'>;

function wantedOf<T extends LookedTable>(tables: readonly T[], isWanted: (table: T) => boolean): WantedTable {
  const table = tables.find(isWanted);
  const companion = table && `${table.name}${NODES_SUFFIX}`.toLowerCase();
  return { table, hasCompanion: tables.some(({ name }) => name.toLowerCase() === companion) };
}

function itemsIn(database: Database): TableItem[] {
  return database.tables().map((table) => table.item());
}

function nodeItemsIn(database: Database): NodeTableItem[] {
  return database.nodes.tables().map((table) => database.nodes.item(table));
}
