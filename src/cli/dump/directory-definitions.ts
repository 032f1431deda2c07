// Reads and writes the definitions of a dump in a data directory.

import { resolve } from 'node:path';
import {
  type Database,
  type NodeTableItem,
  openDatabase,
  type PropertyValue,
  type TableItem,
} from '../../engine/index.ts';
import { optionsIn } from '../../model/options.ts';
import { RuleStore } from '../../rules/index.ts';
import { VirtualGraphs } from '../../virtual/index.ts';
import { loadSettings } from '../config/load.ts';
import { openDirectory } from '../run/directory-runner.ts';
import type { Row } from '../run/runner.ts';
import type { World } from '../world.ts';
import { type DefinitionStore, dumpedIndex, withoutVersion } from './definitions.ts';

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
      node_tables: database.nodes.tables().map((table) => database.nodes.item(table, true)),
      indexes: [...database.indexes(), ...database.textIndexes.list()].map(dumpedIndex),
      rules: rules.set().rules.map(({ rule }) => withoutVersion(rule)),
      virtual_graphs: graphs.list().map(({ id }) => withoutVersion(graphs.get(id))),
    }),
    createTable: (table) => createTable(database, table),
    createNodeTable: async ({ name, key, columns }) => {
      await database.nodes.createTable({ name, key, columns });
    },
    nodes: (table) => nodesOf(database, table),
    writeNodes: (table, nodes) => writeNodes(database, table, nodes),
    addColumn: async (table, column) => {
      await database.alterTable(table, { kind: 'addColumn', column });
    },
    setOption: async (table, option, value) => {
      await database.alterTable(table, { kind: 'setOption', option, value });
    },
    createIndex: async (index) => {
      if ('kind' in index) await database.textIndexes.create(index.table, index);
      else await database.createIndex(index.table, index.column);
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
  const { name, member_tables: memberTables, roles, intervals, create_nodes: createNodes, columns } = table;
  await database.createTable({ name, memberTables, roles, intervals, createNodes, columns, ...optionsIn(table) });
}

/** Nodes that are read at once. */
const SOME_NODES = 1000;

async function* nodesOf(database: Database, name: string): AsyncGenerator<readonly Row[]> {
  const { nodes } = database;
  const table = nodes.table(name);
  const snapshot = database.snapshot(table);
  try {
    const order = await nodes.order(table);
    for (let from = 0; from < order.numbers.length; from += SOME_NODES) {
      const texts = nodes.texts(table, snapshot, order.numbers.subarray(from, from + SOME_NODES));
      yield texts.filter((text) => text !== undefined).map((text) => JSON.parse(text) as Row);
    }
    order.release();
  } finally {
    snapshot.release();
  }
}

async function writeNodes(database: Database, { name, key }: NodeTableItem, rows: readonly Row[]): Promise<void> {
  const table = database.nodes.table(name);
  const transaction = database.begin();
  try {
    for (const row of rows) {
      const properties = row as Readonly<Record<string, PropertyValue>>;
      const number = transaction.findNode(table, row[key.name] as string | number);
      if (number === 0) transaction.insertNode(table, properties);
      else
        transaction.changeRow(
          table,
          { eventTs: number, id: number },
          { event_ts: number, members: [number], properties },
        );
    }
  } catch (error) {
    transaction.rollback();
    throw error;
  }
  await transaction.commit();
}
