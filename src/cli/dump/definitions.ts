// Defines what a dump contains besides the edges, and reads and writes these definitions on a
// server or in a data directory.

import type { IndexItem, TableItem } from '../../engine/index.ts';
import { type AlterableOption, OPTION_FIELDS } from '../../model/options.ts';
import { ServerClient, ServerRefusal } from '../import/targets/server-client.ts';
import type { RunnerFlags } from '../query/options.ts';
import { DEFAULT_URL, urlOf } from '../server-address.ts';
import { UsageError, type World } from '../world.ts';
import { addColumnStatement } from './schema-statements.ts';

export type DumpedIndex = Pick<IndexItem, 'table' | 'column'>;
/** A rule or a virtual graph as JSON; `putRule` and `createGraph` validate it. */
export type Document = Readonly<Record<string, unknown>>;

export interface Definitions {
  readonly tables: readonly TableItem[];
  readonly indexes: readonly DumpedIndex[];
  readonly rules: readonly Document[];
  readonly virtual_graphs: readonly Document[];
}

/** Reads and writes the definitions of a database; API keys are not among them. */
export interface DefinitionStore {
  read(): Promise<Definitions>;
  createTable(table: TableItem): Promise<void>;
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
      indexes: (await client.indexes()).map(({ table, column }) => ({ table, column })),
      rules: (await client.rules()).map(withoutVersion),
      virtual_graphs: (await graphsOf(client)).map(withoutVersion),
    }),
    createTable: (table) => {
      const { name, member_tables, roles, intervals, columns } = table;
      const options = Object.fromEntries(Object.entries(table).filter(([field]) => OPTION_FIELDS.includes(field)));
      return client.post('/v1/tables', { name, member_tables, roles, intervals, ...options, columns });
    },
    addColumn: (table, column) => client.post('/v1/query', { query: addColumnStatement(table, column) }),
    setOption: (table, option, value) => {
      switch (option) {
        case 'compactThreshold':
          return client.post('/v1/autocompact', { table, threshold: value });
      }
    },
    createIndex: (index) => client.post('/v1/indexes', index),
    putRule: (rule) => client.post('/v1/rules', rule),
    createGraph: (graph) => client.post('/v1/virtual/graphs', graph),
    close: async () => {},
  };
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
