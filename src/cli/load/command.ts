// `hedgerow load DIR`: makes a database from a dump, on a server or in a data directory.

import { resolve } from 'node:path';
import { type DefinitionStore, openDefinitions } from '../dump/definitions.ts';
import { type DumpFile, readDump } from '../dump/dump-file.ts';
import { loadNodeTable } from '../dump/node-files.ts';
import type { RunnerFlags } from '../query/options.ts';
import { reportFailure, type World } from '../world.ts';
import { makeOthers, makeTables } from './definitions.ts';
import { checkProgress, loadEdges } from './edges.ts';
import { loadLinks } from './links.ts';

export interface LoadFlags extends RunnerFlags {
  resume?: boolean | undefined;
}

/**
 * Resolves with the exit code: 0 on success, 1 when not everything was loaded, 2 for a wrong call.
 */
export async function loadCommand(given: string, flags: LoadFlags, world: World): Promise<number> {
  try {
    const dir = resolve(world.cwd, given);
    const resume = flags.resume === true;
    // Faults of the dump are reported before anything is created.
    const dump = await readDump(dir);
    checkProgress(dump, world.cwd, resume);
    const as = flags.data === undefined ? world : withDumpSettings(world, dump);
    const rowsBefore = await withStore(flags, as, async (store) => {
      const before = await makeTables(store, dump, resume);
      for (const table of dump.node_tables) await loadNodeTable(dir, store, table);
      return before;
    });
    const code = await loadEdges(dir, dump, rowsBefore, flags, as);
    if (code !== 0) return code;
    await loadLinks(dump, flags, as);
    await withStore(flags, as, (store) => makeOthers(store, dump));
    const { tables, node_tables: nodeTables, indexes, rules, virtual_graphs: graphs } = dump;
    const nodesText = nodeTables.length === 0 ? '' : `${nodeTables.length} node tables, `;
    world.stdout.write(
      `${given}: ${tables.length} tables, ${nodesText}${indexes.length} indexes, ${rules.length} rules, ${graphs.length} virtual graphs are loaded.\n`,
    );
    return 0;
  } catch (error) {
    return reportFailure(world, error);
  }
}

/**
 * Adds settings that the environment does not contain: the name of the primary table, as in the
 * dump, and the highest possible limit of members, so that every edge of the dump is accepted.
 */
function withDumpSettings(world: World, { tables }: DumpFile): World {
  const name = tables.find(({ primary }) => primary)?.name;
  const environment = {
    ...(name === undefined ? {} : { HEDGEROW_PRIMARY_TABLE: name }),
    HEDGEROW_MAX_MEMBERS: '255',
    ...world.environment,
  };
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
