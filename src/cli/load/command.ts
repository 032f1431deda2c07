// `hedgerow load DIR`: makes a database of a dump, at a server or in a data directory.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { TableItem } from '../../engine/types.ts';
import { type DefinitionStore, type Definitions, openDefinitions } from '../dump/definitions.ts';
import { type DumpFile, edgesPath, readDumpFile } from '../dump/dump-file.ts';
import { importCommand } from '../import/command.ts';
import type { RunnerFlags } from '../query/options.ts';
import { reportFailure, type World } from '../world.ts';

export interface LoadFlags extends RunnerFlags {
  resume?: boolean | undefined;
}

/** Resolves with the exit code: 0, 1 when not all was loaded, 2 for a wrong call. */
export async function loadCommand(given: string, flags: LoadFlags, world: World): Promise<number> {
  try {
    const dir = resolve(world.cwd, given);
    const dump = readDumpFile(dir);
    const missing = dump.tables.map(({ name }) => edgesPath(dir, name, dump.edges)).find((path) => !existsSync(path));
    if (missing !== undefined) throw new Error(`The dump is not whole: there is no ${missing}.`);
    const as = flags.data === undefined ? world : withPrimary(world, dump);
    const waiting = await withStore(flags, as, (store) => makeTables(store, dump, flags.resume === true));
    for (const { name } of waiting) {
      const code = await importCommand([edgesPath(dir, name, dump.edges)], importFlags(name, flags), as);
      if (code !== 0) return code;
    }
    await withStore(flags, as, (store) => makeOthers(store, dump));
    const { tables, indexes, rules, virtual_graphs: graphs } = dump;
    world.stdout.write(
      `${given}: ${tables.length} tables, ${indexes.length} indexes, ${rules.length} rules, ${graphs.length} virtual graphs are loaded.\n`,
    );
    return 0;
  } catch (error) {
    return reportFailure(world, error);
  }
}

/** A new directory gets the primary table of the dump. */
function withPrimary(world: World, { tables }: DumpFile): World {
  const name = tables.find(({ primary }) => primary)?.name;
  if (name === undefined) return world;
  const environment = { HEDGEROW_PRIMARY_TABLE: name, ...world.environment };
  const { cwd, stdin, stdout, stderr, now } = world;
  return {
    environment,
    cwd,
    stdin,
    stdout,
    stderr,
    now,
    onInterrupt: (callback) => world.onInterrupt(callback),
    onHangup: (callback) => world.onHangup(callback),
  };
}

async function withStore<T>(flags: LoadFlags, world: World, work: (store: DefinitionStore) => Promise<T>): Promise<T> {
  const store = await openDefinitions(flags, world, true);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

function importFlags(table: string, { url, apiKey, data, resume }: LoadFlags) {
  return { table, url, apiKey, data, resume, onError: 'stop', ...(data === undefined ? {} : { maxMembers: '255' }) };
}

/** The tables whose edges are still to be loaded. Throws when one holds edges that are none of this load. */
async function makeTables(store: DefinitionStore, dump: DumpFile, resume: boolean): Promise<TableItem[]> {
  const { tables } = await store.read();
  const waiting: TableItem[] = [];
  for (const table of dump.tables) {
    const there = tables.find(({ name }) => isSame(name, table.name));
    const isLoaded = resume && there !== undefined && there.row_count === table.row_count;
    if (there !== undefined && there.row_count > 0 && !resume)
      throw new Error(
        `The table ${table.name} is there and holds ${there.row_count} edges. Load into a new database; or, when a load was interrupted, with --resume.`,
      );
    if (!isLoaded && table.row_count > 0) waiting.push(table);
    if (there === undefined) await store.createTable(table);
    else await addColumns(store, there, table);
  }
  return waiting;
}

async function addColumns(store: DefinitionStore, there: TableItem, table: TableItem): Promise<void> {
  for (const column of table.columns) {
    const known = there.columns.find(({ name }) => isSame(name, column.name));
    if (known === undefined) await store.addColumn(there.name, column);
    else if (known.type !== column.type)
      throw new Error(
        `The column ${column.name} of ${there.name} is ${known.type} here, and ${column.type} in the dump.`,
      );
  }
}

/** What is there already stays. */
async function makeOthers(store: DefinitionStore, dump: Definitions): Promise<void> {
  const there = await store.read();
  for (const index of dump.indexes) {
    const isThere = there.indexes.some(
      ({ table, column }) => isSame(table, index.table) && isSame(column, index.column),
    );
    if (!isThere) await store.createIndex(index);
  }
  for (const rule of dump.rules) if (!there.rules.some(({ id }) => id === rule.id)) await store.putRule(rule);
  for (const graph of dump.virtual_graphs)
    if (!there.virtual_graphs.some(({ id }) => id === graph.id)) await store.createGraph(graph);
}

function isSame(name: string, other: string): boolean {
  return name.toLowerCase() === other.toLowerCase();
}
