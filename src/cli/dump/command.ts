// `hedgerow dump DIR`: a whole database as files that other programs read, and that `hedgerow load` makes a database of.

import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { rowsOf, tableStatement } from '../export/command.ts';
import { bytesOf } from '../export/formats.ts';
import { writeOutput } from '../export/output-file.ts';
import { openRows } from '../export/rows.ts';
import { errorText } from '../query/error-text.ts';
import type { RunnerFlags } from '../query/options.ts';
import { Cancelled } from '../query/runner.ts';
import { reportFailure, UsageError, type World } from '../world.ts';
import { type Definitions, openDefinitions } from './definitions.ts';
import { DUMP_FORMATS, type DumpFormat, edgesPath, writeDumpFile } from './dump-file.ts';

export interface DumpFlags extends RunnerFlags {
  format?: string | undefined;
}

/** Resolves with the exit code: 0, 1 when there is no whole dump, 2 for a wrong call. Each table is dumped as it is when its turn comes. */
export async function dumpCommand(given: string, flags: DumpFlags, world: World): Promise<number> {
  const controller = new AbortController();
  const forget = world.onInterrupt(() => controller.abort(new Cancelled()));
  try {
    const format = formatOf(flags.format);
    const dir = resolve(world.cwd, given);
    if (existsSync(dir) && readdirSync(dir).length > 0)
      throw new Error(`${given} is not empty; a dump takes a new directory.`);
    const definitions = await definitionsOf(flags, world);
    mkdirSync(join(dir, 'tables'), { recursive: true });
    const rows = await dumpEdges(dir, format, flags, controller.signal, world);
    // As many rows as were written: others may have come since.
    const tables = definitions.tables.map((table) => ({
      ...table,
      row_count: rows.get(table.name) ?? table.row_count,
    }));
    await writeDumpFile(dir, {
      format: 'hedgerow-dump',
      version: 1,
      edges: format,
      at: Date.now(),
      ...definitions,
      tables,
    });
    const total = [...rows.values()].reduce((sum, count) => sum + count, 0);
    world.stdout.write(
      `${dir}: ${tables.length} tables with ${total} edges, ${definitions.indexes.length} indexes, ${definitions.rules.length} rules, ${definitions.virtual_graphs.length} virtual graphs\n`,
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

async function dumpEdges(
  dir: string,
  format: DumpFormat,
  flags: RunnerFlags,
  signal: AbortSignal,
  world: World,
): Promise<Map<string, number>> {
  const rows = new Map<string, number>();
  const source = await openRows(flags, world);
  try {
    for (const table of source.tables) {
      const tally = { rows: 0 };
      const all = await rowsOf(source, tableStatement(table.name), table, tally, signal);
      const path = edgesPath(dir, table.name, format);
      mkdirSync(dirname(path), { recursive: true });
      await writeOutput(bytesOf(format, all, ';'), path, world.stdout);
      rows.set(table.name, tally.rows);
    }
  } finally {
    await source.runner.close();
  }
  return rows;
}
