// Reads and writes the definitions of a dump in a data directory.

import { resolve } from 'node:path';
import { type Database, openDatabase, type TableItem } from '../../engine/index.ts';
import { optionsIn } from '../../model/options.ts';
import { RuleStore } from '../../rules/index.ts';
import { VirtualGraphs } from '../../virtual/index.ts';
import { loadSettings } from '../config/load.ts';
import { openDirectory } from '../run/directory-runner.ts';
import type { World } from '../world.ts';
import { type DefinitionStore, withoutVersion } from './definitions.ts';

export async function makeDirectory(data: string, config: string | undefined, world: World): Promise<void> {
  const dir = resolve(world.cwd, data);
  const { primaryTable } = loadSettings({ config, settings: { host: '127.0.0.1', dataDir: dir } }, world).config;
  await (await openDatabase({ dir, primaryTable })).close();
}

export async function inDirectory(data: string, config: string | undefined, world: World): Promise<DefinitionStore> {
  const { database, settings } = await openDirectory(data, config, world);
  const rules = new RuleStore(database.documents);
  const graphs = new VirtualGraphs({
    database,
    documents: database.documents,
    root: resolve(world.cwd, settings.virtualRoot),
    dsns: settings.virtualDsn,
    cache: false,
    monotonicMs: world.now,
  });
  return {
    read: async () => ({
      tables: database.tables().map((table) => table.item(true)),
      indexes: database.indexes().map(({ table, column }) => ({ table, column })),
      rules: rules.set().rules.map(({ rule }) => withoutVersion(rule)),
      virtual_graphs: graphs.list().map(({ id }) => withoutVersion(graphs.get(id))),
    }),
    createTable: (table) => createTable(database, table),
    addColumn: async (table, column) => {
      await database.alterTable(table, { kind: 'addColumn', column });
    },
    setOption: async (table, option, value) => {
      await database.alterTable(table, { kind: 'setOption', option, value });
    },
    createIndex: async ({ table, column }) => {
      await database.createIndex(table, column);
    },
    putRule: async (rule) => {
      await rules.put(rule);
    },
    createGraph: async (graph) => {
      await graphs.create(graph);
    },
    close: () => database.close(),
  };
}

async function createTable(database: Database, table: TableItem): Promise<void> {
  const { name, member_tables: memberTables, roles, intervals, columns } = table;
  await database.createTable({ name, memberTables, roles, intervals, columns, ...optionsIn(table) });
}
