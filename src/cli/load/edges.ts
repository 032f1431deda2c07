// Loads the edges of a dump, table by table. Data files are imported; the statements in statement
// files are run one after another.

import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { DumpedFile, DumpFile } from '../dump/dump-file.ts';
import { importCommand } from '../import/command.ts';
import type { ImportFlags } from '../import/options.ts';
import type { RunnerFlags } from '../query/options.ts';
import type { World } from '../world.ts';
import { runStatements } from './statements.ts';

const STATEMENTS = '.hql';

/**
 * Resolves with the exit code. `rowsBefore` holds the number of existing rows by table; these
 * numbers are above 0 only when a load is resumed.
 */
export async function loadEdges(
  dir: string,
  dump: DumpFile,
  rowsBefore: ReadonlyMap<string, number>,
  flags: RunnerFlags,
  world: World,
): Promise<number> {
  for (const { name } of dump.tables) {
    const files = dump.files.filter(({ table }) => table === name);
    // Files are loaded in order, so the existing rows are those of the first files.
    let there = rowsBefore.get(name)!;
    for (const file of files) {
      const done = Math.min(file.rows, there);
      there -= done;
      const code = await loadFile(join(dir, file.path), file, done, flags, world);
      if (code !== 0) return code;
    }
  }
  return 0;
}

async function loadFile(
  path: string,
  { path: name, table, rows }: DumpedFile,
  done: number,
  flags: RunnerFlags,
  world: World,
): Promise<number> {
  if (path.endsWith(STATEMENTS)) return done === rows ? 0 : runStatements(path, { table, done }, flags, world);
  const isBegun = existsSync(progressPath(name, world.cwd));
  if (done === rows && !isBegun) return 0;
  if (done > 0 && !isBegun)
    throw new Error(
      `The table ${table} holds ${done} of the ${rows} edges of ${path}, but ${progressPath(name, world.cwd)}, which says how far its load came, is not there. Go on in the directory in which the load was begun; or drop the table, and load again with --resume.`,
    );
  return importCommand([path], importFlags(table, isBegun, flags), world);
}

function importFlags(table: string, resume: boolean, { url, apiKey, data }: RunnerFlags): ImportFlags {
  return { table, url, apiKey, data, resume, onError: 'stop', ...(data === undefined ? {} : { maxMembers: '255' }) };
}

/** Returns the path of the progress file for the import of a dump file. */
function progressPath(name: string, cwd: string): string {
  return join(cwd, `${basename(name)}.progress.json`);
}

/** Throws when a load was interrupted here and is not being resumed. */
export function checkProgress({ files }: DumpFile, cwd: string, resume: boolean): void {
  const begun = files.map(({ path }) => progressPath(path, cwd)).find((path) => !resume && existsSync(path));
  if (begun === undefined) return;
  throw new Error(
    `A load was interrupted here: ${begun} says how far it came. Go on with --resume; or remove it to load into a new database.`,
  );
}
