// Defines what a dump contains besides the edges, and reads and writes these definitions on a
// server or in a data directory.

import type { IndexItem, NodeTableItem, TableItem, TextIndexItem } from '../../engine/index.ts';
import { type AlterableOption, OPTION_FIELDS } from '../../model/options.ts';
import { ServerClient, ServerRefusal } from '../import/targets/server-client.ts';
import type { RunnerFlags } from '../query/options.ts';
import type { Row } from '../run/runner.ts';
import { DEFAULT_URL, urlOf } from '../server-address.ts';
import { UsageError, type World } from '../world.ts';
import { addColumnStatement, indexStatement } from './schema-statements.ts';

export type DumpedIndex = Pick<IndexItem, 'table' | 'column'> | Omit<TextIndexItem, 'created_at'>;

/** Returns an index without the time when it was made. */
export function dumpedIndex({ created_at: _, ...index }: IndexItem | TextIndexItem): DumpedIndex {
  return index;
}
/** A rule or a virtual graph as JSON; `putRule` and `createGraph` validate it. */
export type Document = Readonly<Record<string, unknown>>;

export interface Definitions {
  readonly tables: readonly TableItem[];
  readonly node_tables: readonly NodeTableItem[];
  readonly indexes: readonly DumpedIndex[];
  readonly rules: readonly Document[];
  readonly virtual_graphs: readonly Document[];
}

/** Reads and writes the definitions of a database; API keys are not among them. */
export interface DefinitionStore {
  read(): Promise<Definitions>;
  createTable(table: TableItem): Promise<void>;
  createNodeTable(table: NodeTableItem): Promise<void>;
  /** Yields the nodes of a node table, by key, some at a time. */
  nodes(table: string): AsyncIterable<readonly Row[]>;
  /** Writes whole nodes, with their nulls, in one commit or more. */
  writeNodes(table: NodeTableItem, nodes: readonly Row[]): Promise<void>;
  addColumn(table: string, column: TableItem['columns'][number]): Promise<void>;
  setOption(table: string, option: AlterableOption, value: number): Promise<void>;
  createIndex(index: DumpedIndex): Promise<void>;
  putRule(rule: Document): Promise<void>;
  createGraph(graph: Document): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the server or the data directory that the flags name. With `make`, creates a missing
 * directory. Throws UsageError, ConfigError, or the error of opening the directory.
 */
export async function openDefinitions(flags: RunnerFlags, world: World, make: boolean): Promise<DefinitionStore> {
  const { url, apiKey, data, config } = flags;
  if (data === undefined) {
    if (config !== undefined) throw new UsageError('--config needs --data: a server has its own settings.');
    return atServer(new ServerClient({ url: urlOf(url ?? DEFAULT_URL), apiKey }, world.now));
  }
  if (url !== undefined) throw new UsageError('--data and --url exclude each other.');
  // Loads the database engine only when it is needed.
  const { inDirectory, makeDirectory } = await import('./directory-definitions.ts');
  if (make) await makeDirectory(data, config, world);
  return inDirectory(data, config, world);
}

function atServer(client: ServerClient): DefinitionStore {
  return {
    read: async () => ({
      tables: await client.tables(true),
      node_tables: await nodeTablesOf(client),
      indexes: (await client.indexes()).map(dumpedIndex),
      rules: (await client.rules()).map(withoutVersion),
      virtual_graphs: (await graphsOf(client)).map(withoutVersion),
    }),
    createTable: (table) => {
      const { name, member_tables, roles, intervals, create_nodes, columns } = table;
      const options = Object.fromEntries(Object.entries(table).filter(([field]) => OPTION_FIELDS.includes(field)));
      return client.post('/v1/tables', { name, member_tables, roles, intervals, create_nodes, ...options, columns });
    },
    createNodeTable: ({ name, key, columns }) => client.post('/v1/node-tables', { name, key, columns }),
    nodes: (table) => nodesOf(client, table),
    writeNodes: (table, nodes) => writeNodes(client, table, nodes),
    addColumn: (table, column) => client.post('/v1/query', { query: addColumnStatement(table, column) }),
    setOption: (table, option, value) => {
      switch (option) {
        case 'compactThreshold':
          return client.post('/v1/autocompact', { table, threshold: value });
      }
    },
    // The route /v1/indexes does not know the indexes of node tables.
    createIndex: (index) => client.post('/v1/query', { query: indexStatement(index) }),
    putRule: (rule) => client.post('/v1/rules', rule),
    createGraph: (graph) => client.post('/v1/virtual/graphs', graph),
    close: async () => {},
  };
}

/** Returns none when the server is older than node tables. */
async function nodeTablesOf(client: ServerClient): Promise<NodeTableItem[]> {
  try {
    return (await client.get('/v1/node-tables?defaults=true')) as NodeTableItem[];
  } catch (error) {
    if (error instanceof ServerRefusal && error.code === 'route_not_found') return [];
    throw error;
  }
}

/** Nodes of one page. */
const PAGE_NODES = 5000;

async function* nodesOf(client: ServerClient, table: string): AsyncGenerator<readonly Row[]> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const next = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page = await client.get(`/v1/nodes/${table}?limit=${PAGE_NODES}${next}`);
    const { nodes, next_cursor } = page as { nodes: Row[]; next_cursor: string | null };
    yield nodes;
    cursor = next_cursor;
  }
}

/** Null stands for the default in a new node, so that nulls in other columns are set afterwards. */
async function writeNodes(client: ServerClient, table: NodeTableItem, nodes: readonly Row[]): Promise<void> {
  const path = `/v1/nodes/${table.name}`;
  await client.postLines(path, nodes.map((node) => `${JSON.stringify(node)}\n`).join(''));
  const withDefault = table.columns.flatMap(({ name, default: value }) => (value === undefined ? [] : [name]));
  for (const node of nodes) {
    const nulls = withDefault.filter((name) => node[name] === null);
    if (nulls.length === 0) continue;
    const key = node[table.key.name] as string | number;
    if (key === '.' || key === '..')
      throw new Error(
        `The node ${key} of ${table.name} has null where the default is not null, which no URL can say; load with --data.`,
      );
    await client.patch(`${path}/${encodeURIComponent(key)}`, Object.fromEntries(nulls.map((name) => [name, null])));
  }
}

/** Returns no graphs when the server lacks the library for virtual graphs. */
async function graphsOf(client: ServerClient): Promise<Document[]> {
  try {
    return await client.graphs();
  } catch (error) {
    if (error instanceof ServerRefusal && error.code === 'virtual_unavailable') return [];
    throw error;
  }
}

/**
 * Removes the version number and the stratum, because the database that loads the document
 * determines its own.
 */
export function withoutVersion(document: object): Document {
  const { version: _version, stratum: _stratum, spec_version: _spec, ...rest } = document as Record<string, unknown>;
  return rest;
}
