// Restores a backup file into a new or empty directory: checks the file, unpacks it to a temporary
// directory next to the target or in it, verifies the result there and moves it to the target.
// Either everything is restored or nothing.

import type { CoreModule } from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';
import { Scheduler } from '../../schedule/scheduler.ts';
import { type Crc32c, type Fs, type FsLock, isLockName } from '../../storage/index.ts';
import { verifyDirectory } from '../verify/verify-directory.ts';
import { noBackup } from './about-backup.ts';
import { type CheckedArchive, checkArchive } from './check-archive.ts';
import { extractArchive } from './extract-archive.ts';

export interface RestoreOptions {
  fs: Fs;
  crc32c: Crc32c;
  core: CoreModule;
  /** The backup file. */
  file: string;
  /**
   * Absolute path of the target data directory. It must be missing or empty; its parent must exist.
   */
  dir: string;
  /** Names of files that the target may contain besides. */
  besides?: readonly string[];
  /** Called with the fraction of the work done, 0 to 1. */
  progress: (done: number) => void;
  /** Called frequently; an exception aborts the work. */
  checkStopped: () => void;
}

export interface RestoreResult {
  lsn: number;
  tables: string[];
  files: number;
}

/**
 * The target, the directory where the files are unpacked, and the lock that excludes other
 * processes meanwhile.
 */
interface Place {
  /** The target data directory. */
  dir: string;
  exists: boolean;
  parent: string;
  temporary: string;
  lock: FsLock;
}

const TEMPORARY = '.restoring';
/**
 * Entries that a directory may have and still count as empty: one that file systems create, and
 * the remains of a restore that was killed (if no process holds its lock any more).
 */
const NO_CONTENT: readonly string[] = ['lost+found', TEMPORARY];
/**
 * Order in which the parts are moved into an existing directory, which cannot be replaced as a
 * whole if it is a mounted volume. Suppose that the process is killed when only some parts are
 * moved. Then opening the directory either fails because the log begins too late, or finds the
 * whole log and therefore all data.
 */
const ORDER = ['log', 'tables', 'replays', 'manifest'];
/** Number of times that the backup file is read before the verification. */
const READINGS = 2;

/** Restores a backup. If that fails, rejects with the reason and leaves no files. */
export async function restoreBackup(options: RestoreOptions): Promise<RestoreResult> {
  const { fs } = options;
  const place = await takePlace(fs, options.dir, options.besides ?? []);
  try {
    const archive = await unpack(options, place);
    await verify(options, place, archive);
    await moveIn(fs, place);
    const { lsn, tables } = archive.facts;
    return { lsn, tables, files: archive.sums.size };
  } catch (error) {
    // A failed cleanup must not hide the original error.
    await removeTree(fs, place.temporary).catch(() => undefined);
    throw failure(error, options.dir);
  } finally {
    place.lock.release();
  }
}

/**
 * Locks the target and chooses the temporary directory. Rejects with `conflict` if the target is
 * not empty or another process holds its lock, and with `invalid_input` if its parent is missing.
 */
async function takePlace(fs: Fs, dir: string, besides: readonly string[]): Promise<Place> {
  const kind = fs.kindOf(dir);
  if (kind === null) {
    const [, parent = '', name = ''] = /^(.*)\/([^/]+)$/.exec(dir) ?? [];
    if (fs.kindOf(parent === '' ? '/' : parent) === null)
      throw new HedgerowError('invalid_input', `There is no directory ${parent} to restore into. Make it first.`);
    const temporary = `${parent}/.${name}${TEMPORARY}`;
    return { dir, exists: false, parent, temporary, lock: await fs.lock(`${temporary}.lock`) };
  }
  if (!fs.exists(dir)) throw occupied(dir, 'is a link that leads nowhere');
  const real = fs.realPath(dir);
  if (fs.kindOf(real) !== 'directory') throw occupied(dir, 'is not a directory');
  const passed = [...NO_CONTENT, ...besides];
  const names = fs.list(real).filter((name) => !passed.includes(name) && !isLockName(name, 'lock'));
  const use = fs.exists(`${real}/lock`) ? ', and a server may have it open' : '';
  if (names.length > 0) throw occupied(dir, `is not empty (it holds ${names.slice(0, 3).join(', ')})${use}`);
  const lock = await fs.lock(`${real}/lock`);
  return { dir: real, exists: true, parent: real, temporary: `${real}/${TEMPORARY}`, lock };
}

function occupied(dir: string, what: string): HedgerowError {
  return new HedgerowError('conflict', `${dir} ${what}. A backup is restored into a new or empty directory only.`);
}

async function unpack(options: RestoreOptions, { temporary }: Place): Promise<CheckedArchive> {
  const { fs, file, progress, checkStopped } = options;
  let readBytes = 0;
  let totalBytes = 0;
  const reading = {
    fs,
    path: file,
    progress: (bytes: number) => {
      checkStopped();
      readBytes += bytes;
      progress(Math.min(1, readBytes / Math.max(1, totalBytes)));
    },
  };
  if (fs.exists(file)) totalBytes = sizeOf(fs, file) * READINGS;
  const archive = await checkArchive(reading);
  // Anything in the temporary directory was left by a killed restore: this restore holds the lock,
  // so no other is running.
  await removeTree(fs, temporary);
  fs.makeDir(temporary);
  await extractArchive(reading, archive, temporary);
  return archive;
}

function sizeOf(fs: Fs, path: string): number {
  const handle = fs.open(path, 'read');
  try {
    return handle.size();
  } finally {
    handle.close();
  }
}

async function verify(options: RestoreOptions, { temporary }: Place, { facts }: CheckedArchive): Promise<void> {
  const { fs, crc32c, core, checkStopped } = options;
  const scheduler = new Scheduler();
  const pause = async () => {
    await scheduler.pause('check');
    checkStopped();
  };
  const report = await verifyDirectory({ fs, crc32c, core }, temporary, pause);
  const [problem] = report.problems;
  if (problem !== undefined) throw noBackup(`${problem.file} at offset ${problem.offset}: ${problem.what}`);
  if (report.log.head_lsn !== facts.lsn)
    throw noBackup(`its log ends with LSN ${report.log.head_lsn}, but its description names LSN ${facts.lsn}`);
  const names = report.tables.map((table) => table.name);
  if (JSON.stringify(names) !== JSON.stringify([...facts.tables].sort()))
    throw noBackup(`it holds the tables ${names.join(', ')}, but its description names ${facts.tables.join(', ')}`);
}

/**
 * Moves the files to the target, as the last step. Afterwards the target contains everything or, if
 * this rejects, nothing.
 */
async function moveIn(fs: Fs, { dir, exists, parent, temporary }: Place): Promise<void> {
  const moved: string[] = [];
  try {
    if (!exists) {
      await fs.rename(temporary, dir);
      moved.push(dir);
      await fs.syncDir(parent === '' ? '/' : parent);
      return;
    }
    for (const name of ORDER) {
      if (!fs.exists(`${temporary}/${name}`)) continue;
      await fs.rename(`${temporary}/${name}`, `${dir}/${name}`);
      moved.push(`${dir}/${name}`);
      await fs.syncDir(dir);
    }
    await fs.removeDir(temporary);
  } catch (error) {
    for (const path of moved.reverse()) await removeTree(fs, path);
    throw error;
  }
}

async function removeTree(fs: Fs, path: string): Promise<void> {
  const kind = fs.kindOf(path);
  if (kind === null) return;
  if (kind !== 'directory') return fs.remove(path);
  for (const name of fs.list(path)) await removeTree(fs, `${path}/${name}`);
  await fs.removeDir(path);
}

function failure(error: unknown, dir: string): unknown {
  const code = (error as { code?: unknown } | null)?.code;
  const cause = { cause: error };
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new HedgerowError('disk_full', `There is no space left to restore into ${dir}; nothing was left.`, cause);
  if (error instanceof HedgerowError || typeof code !== 'string') return error;
  const detail = `${dir} cannot be written (${code}); nothing was left. Check the directory and who may write in it.`;
  return new HedgerowError('internal', detail, cause);
}
