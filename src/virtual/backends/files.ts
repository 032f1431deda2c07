// Finds the files of a backend on disk: regular files below the root only, whatever links and patterns say. The only file of this room that asks the file system.

import { createHash } from 'node:crypto';
import { type BigIntStats, constants, rmSync } from 'node:fs';
import { access, mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve, sep } from 'node:path';
import { type HedgerowError, refusal } from '../../errors.ts';
import { insideRoot, wrongPath } from '../spec/path.ts';
import type { FileBackend } from '../spec/spec.ts';
import { hasWildcard, nameTest, tableNameOf } from './glob.ts';

export interface FoundFiles {
  /** Absolute, without links; sorted. */
  readonly paths: readonly string[];
  /** The name of the one table of such files. */
  readonly table: string;
  readonly bytes: number;
  /** Names, sizes, times of change and numbers on disk: another text when any of it changed. A hash, as there may be thousands. */
  readonly fingerprint: string;
}

const MAX_FILES = 10_000;
const MAX_LOOKED_AT = 200_000;
const MAX_DEPTH = 32;

/** `invalid_input` for what may not be read, `backend_failed` for what is not there. */
export async function findFiles(root: string, { type, path }: FileBackend): Promise<FoundFiles> {
  const wrong = wrongPath(path, type, resolve(root));
  if (wrong !== undefined) throw badPath(wrong);
  const below = insideRoot(path, resolve(root))!;
  const database = type === 'duckdb';
  const realRoot = await realpath(root).catch(() => undefined);
  if (realRoot === undefined) throw missing(path);
  const names = hasWildcard(below) ? await expand(realRoot, below) : [below];
  if (names.length === 0) throw missing(path);
  const found: { path: string; stats: BigIntStats }[] = [];
  for (const name of names) found.push(await regularFile(realRoot, name, path));
  if (database) await checkLog(realRoot, found[0]!.path, path);
  return {
    paths: found.map((file) => file.path),
    table: tableNameOf(below, basename(realRoot)),
    bytes: found.reduce((sum, { stats }) => sum + Number(stats.size), 0),
    fingerprint: await fingerprintOf(found, database),
  };
}

function badPath(fault: string): HedgerowError {
  const msg = `backend.path ${fault}`;
  return refusal('invalid_input', `${msg}. Give the path of a file below HEDGEROW_VIRTUAL_ROOT.`, {
    errors: [{ loc: ['body', 'backend', 'path'], msg }],
  });
}

async function regularFile(root: string, name: string, asked: string): Promise<{ path: string; stats: BigIntStats }> {
  const shown = hasWildcard(asked) ? `${name} (of ${asked})` : asked;
  let path: string;
  let stats: BigIntStats;
  try {
    path = await realpath(join(root, name));
    if (!path.startsWith(root.endsWith(sep) ? root : root + sep)) {
      throw badPath('leads out of the folder of virtual graphs (HEDGEROW_VIRTUAL_ROOT) by a link');
    }
    stats = await stat(path, { bigint: true });
    if (!stats.isFile()) throw badPath(`names ${kindOf(stats)}, not a file`);
    await access(path, constants.R_OK);
  } catch (error) {
    throw explained(error, shown);
  }
  return { path, stats };
}

function explained(error: unknown, shown: string): unknown {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT' || code === 'ENOTDIR') return missing(shown);
  if (code === 'ELOOP') return badPath('leads in a circle of links');
  if (code === 'EACCES' || code === 'EPERM') {
    return refusal(
      'backend_failed',
      `The file ${shown} may not be read by the service: give it the permission to read it.`,
    );
  }
  if (code !== undefined && /^E[A-Z]+$/.test(code))
    return refusal('backend_failed', `The file ${shown} cannot be read (${code}).`);
  return error;
}

function missing(shown: string): HedgerowError {
  return refusal(
    'backend_failed',
    `The file ${shown} is not there: put it below HEDGEROW_VIRTUAL_ROOT, or change backend.path of the graph.`,
  );
}

function kindOf(stats: BigIntStats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a pipe';
  if (stats.isSocket()) return 'a socket';
  return 'a device';
}

/** The log beside a database file is read with it. */
async function checkLog(root: string, path: string, asked: string): Promise<void> {
  const log = `${path}.wal`;
  const stats = await stat(log).catch(() => undefined);
  if (stats === undefined) return;
  if ((await realpath(log)) !== log && !(await realpath(log)).startsWith(root + sep)) {
    throw badPath('has a log beside it that leads out of the folder of virtual graphs by a link');
  }
  if (!stats.isFile()) throw refusal('backend_failed', `The log beside ${asked} is not a file.`);
}

async function fingerprintOf(
  found: readonly { path: string; stats: BigIntStats }[],
  withLog: boolean,
): Promise<string> {
  const prints = await Promise.all(found.map(({ path, stats }) => printOf(path, stats, withLog)));
  return createHash('sha256').update(prints.join('\n')).digest('base64url');
}

async function printOf(path: string, stats: BigIntStats, withLog: boolean): Promise<string> {
  const log = withLog ? await stat(`${path}.wal`, { bigint: true }).catch(() => undefined) : undefined;
  const one = ({ size, mtimeNs, ino }: BigIntStats) => `${size} ${mtimeNs} ${ino}`;
  return `${path} ${one(stats)}${log === undefined ? '' : ` ${one(log)}`}`;
}

/** Names below the root that a pattern stands for, sorted. Links to folders are followed only where the pattern names them. */
async function expand(root: string, pattern: string): Promise<string[]> {
  let looked = 0;
  const found = new Set<string>();
  const list = async (dir: string) => {
    const entries = await readdir(join(root, dir), { withFileTypes: true }).catch(() => []);
    looked += entries.length;
    if (looked > MAX_LOOKED_AT) throw badPath(`stands for too many files (over ${MAX_LOOKED_AT} names to look at)`);
    return entries;
  };
  const walk = async (dir: string, parts: readonly string[], depth: number): Promise<void> => {
    const [part, ...rest] = parts;
    if (part === undefined || depth > MAX_DEPTH) return;
    if (part === '**') {
      await walk(dir, rest.length === 0 ? ['*'] : rest, depth);
      for (const entry of await list(dir)) {
        if (entry.isDirectory() && !entry.name.startsWith('.')) await walk(join(dir, entry.name), parts, depth + 1);
      }
      return;
    }
    const test = nameTest(part);
    const names = hasWildcard(part) ? (await list(dir)).map((entry) => entry.name).filter(test) : [part];
    for (const name of names) {
      const path = join(dir, name);
      if (rest.length > 0) await walk(path, rest, depth + 1);
      else if (hasWildcard(part) || (await stat(join(root, path)).catch(() => undefined)) !== undefined)
        await keep(path);
      if (found.size > MAX_FILES) throw badPath(`stands for more than ${MAX_FILES} files`);
    }
  };
  const keep = async (path: string) => {
    // A folder called x.parquet is passed over; what is neither file nor folder is refused later, by name.
    const stats = await stat(join(root, path)).catch(() => undefined);
    if (!(stats?.isDirectory() ?? false)) found.add(path);
  };
  await walk(
    '',
    pattern.split('/').filter((part) => part !== '' && part !== '.'),
    0,
  );
  return [...found].sort();
}

/** A folder of its own for what does not fit into memory, and how to be rid of it. */
export async function spillFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'hedgerow-virtual-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** At once, by the process that used it when the service is gone. */
export function removeSpillFolder(path: string): void {
  rmSync(path, { recursive: true, force: true });
}
