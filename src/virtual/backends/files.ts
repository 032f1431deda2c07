// Finds the files of a backend on disk. Only regular files below the root are accepted, even if
// links or patterns lead elsewhere. Only this module and held-files.ts use the file system.

import { createHash } from 'node:crypto';
import { type BigIntStats, constants, rmSync } from 'node:fs';
import { access, mkdtemp, readdir, readlink, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { HedgerowError, refusal } from '../../errors.ts';
import { insideRoot, wrongPath } from '../spec/path.ts';
import type { FileBackend } from '../spec/spec.ts';
import type { SourceFile } from './duckdb-messages.ts';
import { hasWildcard, nameTest, tableNameOf } from './glob.ts';
import { identityOf } from './held-files.ts';

export interface FoundFiles {
  /** Sorted by path. */
  readonly files: readonly SourceFile[];
  /** The write-ahead log (WAL) next to a database file. */
  readonly log: SourceFile | undefined;
  /** Name of the single table that the files form. */
  readonly table: string;
  readonly bytes: number;
  /**
   * Changes when the path, size, modification time or inode number of a file changes. It is a hash,
   * because there may be thousands of files.
   */
  readonly fingerprint: string;
}

const MAX_FILES = 10_000;
const MAX_LOOKED_AT = 200_000;
const MAX_DEPTH = 32;

/**
 * Finds the files that a backend names. Rejects with `invalid_input` if a path leads out of the
 * root, and with `backend_failed` if a file is missing or unreadable.
 */
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
  const log = database ? await logOf(realRoot, found[0]!.path, path) : undefined;
  return {
    files: found.map((file) => ({ path: file.path, identity: identityOf(file.stats) })),
    log,
    table: tableNameOf(below, basename(realRoot)),
    bytes: found.reduce((sum, { stats }) => sum + Number(stats.size), 0),
    fingerprint: await fingerprintOf(found, database),
  };
}

function badPath(fault: string): HedgerowError {
  const msg = `backend.path ${fault}`;
  return refusal('invalid_input', `${msg}. Give the path of a file below the folder for virtual graphs.`, {
    errors: [{ loc: ['body', 'backend', 'path'], msg }],
    fields: { settings: ['virtualRoot'] },
  });
}

async function regularFile(root: string, name: string, asked: string): Promise<{ path: string; stats: BigIntStats }> {
  const shown = hasWildcard(asked) ? `${name} (of ${asked})` : asked;
  let path: string;
  let stats: BigIntStats;
  try {
    path = await realPathBelow(root, name);
    stats = await stat(path, { bigint: true });
    if (!stats.isFile()) throw badPath(`names ${kindOf(stats)}, not a file`);
    await access(path, constants.R_OK);
  } catch (error) {
    throw explained(error, shown);
  }
  return { path, stats };
}

/**
 * Returns the path with links resolved. Rejects with `invalid_input` if the path leads out of the
 * root, even if nothing exists there: a link to an outside folder must not reveal which files that
 * folder contains. Rejects with the file system's error if the path is inside but unusable.
 */
async function realPathBelow(root: string, name: string): Promise<string> {
  const asked = join(root, name);
  try {
    const path = await realpath(asked);
    if (isBelow(root, path)) return path;
  } catch (error) {
    if (isBelow(root, await leadsTo(asked))) throw error;
  }
  throw badPath('leads out of the folder for virtual graphs by a link');
}

function isBelow(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** The maximum number of links that Linux follows in one path. */
const MAX_LINKS = 40;

/**
 * Returns the place that an absolute path leads to. Follows links as far as the path exists and
 * takes the rest literally. If links form a cycle, returns some path within the cycle.
 */
async function leadsTo(path: string): Promise<string> {
  const parts = path.split(sep);
  let reached: string = sep;
  for (let links = 0; parts.length > 0; ) {
    const part = parts.shift()!;
    if (part === '..') reached = dirname(reached);
    if (part === '' || part === '.' || part === '..') continue;
    const next = join(reached, part);
    const target = await readlink(next).catch(() => undefined);
    if (target === undefined || ++links > MAX_LINKS) {
      reached = next;
      continue;
    }
    if (target.startsWith(sep)) reached = sep;
    parts.unshift(...target.split(sep));
  }
  return reached;
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
    `The file ${shown} is not there: put it below the folder for virtual graphs, or change backend.path of the graph.`,
    { fields: { settings: ['virtualRoot'] } },
  );
}

function kindOf(stats: BigIntStats): string {
  if (stats.isDirectory()) return 'a folder';
  if (stats.isFIFO()) return 'a pipe';
  if (stats.isSocket()) return 'a socket';
  return 'a device';
}

/** Finds the WAL next to a database file. DuckDB reads it together with the database. */
async function logOf(root: string, database: string, asked: string): Promise<SourceFile | undefined> {
  const log = `${database}.wal`;
  if (!isBelow(root, await leadsTo(log)))
    throw badPath('has a log beside it that leads out of the folder for virtual graphs by a link');
  const path = await realpath(log).catch(() => undefined);
  if (path === undefined) return undefined;
  const stats = await stat(path, { bigint: true }).catch(() => undefined);
  if (stats === undefined) return undefined;
  if (!stats.isFile()) throw refusal('backend_failed', `The log beside ${asked} is not a file.`);
  return { path, identity: identityOf(stats) };
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

/**
 * Returns the names below the root that match a pattern, sorted. `**` does not follow links to
 * folders. Throws `invalid_input` for a link that leads out of the root.
 */
async function expand(root: string, pattern: string): Promise<string[]> {
  let looked = 0;
  const found = new Set<string>();
  const list = async (dir: string) => {
    const entries = await readdir(join(root, dir), { withFileTypes: true }).catch(() => []);
    looked += entries.length;
    if (looked > MAX_LOOKED_AT) throw badPath(`matches too many files (over ${MAX_LOOKED_AT} names to look at)`);
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
    const names = hasWildcard(part)
      ? (await list(dir))
          .filter(({ name }) => test(name))
          .map((entry) => ({ name: entry.name, isLink: entry.isSymbolicLink() }))
      : [{ name: part, isLink: true }];
    for (const { name, isLink } of names) {
      const path = join(dir, name);
      // Refuses a link out of the root before following it.
      if (isLink) await realPathBelow(root, path).catch(passMissing);
      if (rest.length > 0) await walk(path, rest, depth + 1);
      else if (hasWildcard(part) || (await stat(join(root, path)).catch(() => undefined)) !== undefined)
        await keep(path);
      if (found.size > MAX_FILES) throw badPath(`matches more than ${MAX_FILES} files`);
    }
  };
  const keep = async (path: string) => {
    // Skips a folder named x.parquet. Anything else that is not a regular file is refused later.
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

/** Ignores errors from the file system, which are reported later for the whole path. */
function passMissing(error: unknown): void {
  if (error instanceof HedgerowError) throw error;
}

/**
 * Creates a folder for data that does not fit into memory. Returns its path and a function that
 * removes it.
 */
export async function spillFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'hedgerow-virtual-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** Removes the folder synchronously, for the DuckDB process when the service is gone. */
export function removeSpillFolder(path: string): void {
  rmSync(path, { recursive: true, force: true });
}
