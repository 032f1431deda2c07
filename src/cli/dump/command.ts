// `hedgerow dump DIR`: writes a whole database as files that other programs can read and from which
// `hedgerow load` can create a database.

import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { holdsMemories } from '../../model/memories.ts';
import { nodeFs, writeFileAtomically } from '../../storage/index.ts';
import { openRows } from '../export/rows.ts';
import type { RunnerFlags } from '../query/options.ts';
import { errorText } from '../run/error-text.ts';
import { Cancelled } from '../run/runner.ts';
import { reportFailure, UsageError, type World } from '../world.ts';
import { type Definitions, openDefinitions } from './definitions.ts';
import {
  DUMP_FORMATS,
  type DumpedFile,
  type DumpFile,
  type DumpFormat,
  SCHEMA_NAME,
  writeDumpFile,
} from './dump-file.ts';
import { type Link, LinkCollector } from './links.ts';
import { writeNodeTable } from './node-files.ts';
import { schemaStatements } from './schema-statements.ts';
import { writeTable } from './table-files.ts';

export interface DumpFlags extends RunnerFlags {
  format?: string | undefined;
}

/**
 * Resolves with the exit code: 0 on success, 1 when the dump fails, 2 for a wrong call. The tables
 * are dumped one after another, each as it is when its turn comes.
 */
export async function dumpCommand(given: string, flags: DumpFlags, world: World): Promise<number> {
  const controller = new AbortController();
  const forget = world.onInterrupt(() => controller.abort(new Cancelled()));
  try {
    const format = formatOf(flags.format);
    const dir = resolve(world.cwd, given);
    const isThere = existsSync(dir);
    if (isThere && !statSync(dir).isDirectory()) throw new Error(`${given} is a file; a dump takes a new directory.`);
    if (isThere && readdirSync(dir).length > 0) throw new Error(`${given} is not empty; a dump takes a new directory.`);
    const definitions = await definitionsOf(flags, world);
    const tables = join(dir, 'tables');
    const nodes = join(dir, 'nodes');
    nodeFs.makeDir(tables);
    if (definitions.node_tables.length > 0) nodeFs.makeDir(nodes);
    let dump: DumpFile;
    try {
      dump = await writeDump(dir, format, { definitions, flags, signal: controller.signal, world });
    } catch (error) {
      // Removes an incomplete dump, which is of no use.
      for (const path of [tables, nodes, join(dir, SCHEMA_NAME), ...(isThere ? [] : [dir])])
        rmSync(path, { recursive: true, force: true });
      throw error;
    }
    const total = dump.tables.reduce((sum, table) => sum + table.row_count, 0);
    const ofNodes = dump.node_tables.reduce((sum, table) => sum + table.row_count, 0);
    const nodesText =
      dump.node_tables.length === 0 ? '' : `${dump.node_tables.length} node tables with ${ofNodes} nodes, `;
    world.stdout.write(
      `${dir}: ${dump.tables.length} tables with ${total} edges, ${nodesText}${dump.indexes.length} indexes, ${dump.rules.length} rules, ${dump.virtual_graphs.length} virtual graphs\n`,
    );
    return 0;
  } catch (error) {
    if (error instanceof UsageError) return reportFailure(world, error);
    world.stderr.write(`hedgerow: ${errorText(error, '')}`);
    return 1;
  } finally {
    forget();
  }
}

function formatOf(given: string = 'parquet'): DumpFormat {
  const format = DUMP_FORMATS.find((name) => name === given);
  if (format !== undefined) return format;
  throw new UsageError(`--format is ${JSON.stringify(given)}, but it takes one of ${DUMP_FORMATS.join(', ')}.`);
}

async function definitionsOf(flags: RunnerFlags, world: World): Promise<Definitions> {
  const store = await openDefinitions(flags, world, false);
  try {
    return await store.read();
  } finally {
    await store.close();
  }
}

interface Work {
  readonly definitions: Definitions;
  readonly flags: RunnerFlags;
  readonly signal: AbortSignal;
  readonly world: World;
}

/** Writes all files; the file that lists the contents of the dump is written last. */
async function writeDump(
  dir: string,
  format: DumpFormat,
  { definitions, flags, signal, world }: Work,
): Promise<DumpFile> {
  const files: DumpedFile[] = [];
  const links: Record<string, readonly Link[]> = {};
  const source = await openRows(flags, world);
  try {
    for (const table of definitions.tables) {
      const collector = holdsMemories(table) ? new LinkCollector() : undefined;
      const { stdout } = world;
      files.push(...(await writeTable(dir, format, source, table, { signal, stdout, links: collector })));
      if (collector !== undefined) links[table.name] = collector.links();
    }
  } finally {
    await source.runner.close();
  }
  // After the edges, so that nodes that these have created meanwhile are there too.
  if (definitions.node_tables.length > 0)
    files.push(...(await writeNodeTables(dir, { definitions, flags, signal, world })));
  // Stores the number of rows that were written. Rows may have been inserted after the definitions
  // were read.
  const rowsOf = (name: string) => files.filter(({ table }) => table === name).reduce((sum, { rows }) => sum + rows, 0);
  const tables = definitions.tables.map((table) => ({ ...table, row_count: rowsOf(table.name) }));
  const nodeTables = definitions.node_tables.map((table) => ({ ...table, row_count: rowsOf(table.name) }));
  const schema = schemaStatements(tables, nodeTables, definitions.indexes);
  await writeFileAtomically(nodeFs, join(dir, SCHEMA_NAME), Buffer.from(schema));
  const dump: DumpFile = {
    format: 'hedgerow-dump',
    version: 1,
    edges: format,
    at: Date.now(),
    ...definitions,
    tables,
    node_tables: nodeTables,
    links,
    files,
  };
  await writeDumpFile(dir, dump);
  return dump;
}

async function writeNodeTables(dir: string, { definitions, flags, signal, world }: Work): Promise<DumpedFile[]> {
  const store = await openDefinitions(flags, world, false);
  try {
    const files: DumpedFile[] = [];
    for (const table of definitions.node_tables)
      files.push(await writeNodeTable(dir, store, table, { signal, stdout: world.stdout }));
    return files;
  } finally {
    await store.close();
  }
}
