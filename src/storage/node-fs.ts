// The `Fs` port on Node's file system, with the directory lock. The only file of storage that imports Node.

import * as fs from 'node:fs';
import { HedgerowError } from '../errors.ts';
import type { FileHandle, Fs, FsLock } from './fs.ts';

/** The system limit of one read call is 2^31 - 1 bytes. */
const MAX_READ_BYTES = 2 ** 30;

export const nodeFs: Fs = {
  open(path, mode) {
    return new NodeFileHandle(path, fs.openSync(path, mode === 'read' ? 'r' : mode === 'write' ? 'r+' : 'wx+'));
  },
  exists: (path) => fs.existsSync(path),
  kindOf,
  realPath: (path) => fs.realpathSync(path),
  list: (dir) => fs.readdirSync(dir).sort(),
  makeDir: makeDurableDir,
  rename: (from, to) => new Promise((resolve, reject) => fs.rename(from, to, settle(resolve, reject))),
  renameNew,
  remove: (path) => new Promise((resolve, reject) => fs.unlink(path, settle(resolve, reject))),
  removeDir: (dir) => new Promise((resolve, reject) => fs.rmdir(dir, settle(resolve, reject))),
  syncDir,
  lock: lockFile,
};

class NodeFileHandle implements FileHandle {
  readonly path: string;
  readonly #descriptor: number;

  constructor(path: string, descriptor: number) {
    this.path = path;
    this.#descriptor = descriptor;
  }

  size(): number {
    return fs.fstatSync(this.#descriptor).size;
  }

  read(target: Uint8Array, position: number): number {
    return fs.readSync(this.#descriptor, target, 0, Math.min(target.length, MAX_READ_BYTES), position);
  }

  write(bytes: Uint8Array, position: number): Promise<number> {
    return new Promise((resolve, reject) => {
      fs.write(this.#descriptor, bytes, 0, bytes.length, position, (error, written) => {
        if (error === null) resolve(written);
        else reject(error);
      });
    });
  }

  writeNow(bytes: Uint8Array, position: number): number {
    return fs.writeSync(this.#descriptor, bytes, 0, bytes.length, position);
  }

  datasync(): Promise<void> {
    return new Promise((resolve, reject) => fs.fdatasync(this.#descriptor, settle(resolve, reject)));
  }

  sync(): Promise<void> {
    return new Promise((resolve, reject) => fs.fsync(this.#descriptor, settle(resolve, reject)));
  }

  truncate(size: number): Promise<void> {
    return new Promise((resolve, reject) => fs.ftruncate(this.#descriptor, size, settle(resolve, reject)));
  }

  close(): void {
    fs.closeSync(this.#descriptor);
  }
}

function settle(resolve: () => void, reject: (error: Error) => void): (error: Error | null) => void {
  return (error) => {
    if (error === null || error === undefined) resolve();
    else reject(error);
  };
}

function kindOf(path: string): ReturnType<Fs['kindOf']> {
  let facts: fs.Stats | undefined;
  try {
    facts = fs.lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // Below a file, or too long for a name: nothing can stand there.
    if (!['ENOTDIR', 'ENAMETOOLONG'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
  if (facts === undefined) return null;
  if (facts.isSymbolicLink()) return 'link';
  return facts.isFile() ? 'file' : facts.isDirectory() ? 'directory' : 'other';
}

/** What link(2) says where the file system has no hard links: FAT, some network mounts. */
const NO_HARD_LINKS: readonly unknown[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

async function renameNew(from: string, to: string): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => fs.link(from, to, settle(resolve, reject)));
  } catch (error) {
    if (!NO_HARD_LINKS.includes((error as NodeJS.ErrnoException).code)) throw error;
    // The best there is without links: two processes that take the same name at the same moment are not kept apart.
    if (kindOf(to) !== null) throw Object.assign(new Error(`EEXIST: file already exists, '${to}'`), { code: 'EEXIST' });
    return nodeFs.rename(from, to);
  }
  await nodeFs.remove(from);
}

function makeDurableDir(dir: string): void {
  const first = fs.mkdirSync(dir, { recursive: true });
  if (first === undefined || process.platform === 'win32') return;
  for (let at = fs.realpathSync(dir), top = fs.realpathSync(first); ; ) {
    const parent = at.slice(0, at.lastIndexOf('/')) || '/';
    const descriptor = fs.openSync(parent, 'r');
    try {
      fs.fsyncSync(descriptor);
    } finally {
      fs.closeSync(descriptor);
    }
    if (at === top || parent === '/') return;
    at = parent;
  }
}

async function syncDir(dir: string): Promise<void> {
  if (process.platform === 'win32') return; // a directory cannot be synced there; NTFS journals names
  const descriptor = fs.openSync(dir, 'r');
  try {
    await new Promise<void>((resolve, reject) => fs.fsync(descriptor, settle(resolve, reject)));
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Who holds a lock. Start time and boot tell a process from a later one with the same number; both are '' where /proc is missing. */
interface LockHolder {
  pid: number;
  /** Field 22 of /proc/<pid>/stat: clock ticks since boot. */
  started: string;
  boot: string;
}

/**
 * The lock is a file holding its holder, made whole elsewhere and linked to its name, so it is never seen half written. A lock whose holder is
 * dead is moved aside and checked again after the move: of two processes that find it, one gets it. Holders in another container (another
 * space of process numbers) cannot be seen, and look dead.
 */
function lockFile(path: string): FsLock {
  const mine = JSON.stringify(describeProcess(process.pid));
  for (let attempt = 0; attempt < 10; attempt++) {
    if (linkNewFile(path, mine)) return { release: () => releaseLock(path, mine) };
    const found = readIfThere(path);
    if (found === null) continue; // released just now
    const holder = parseHolder(found);
    if (holder !== null && isAlive(holder)) throw lockedError(path, holder);
    moveAside(path, found);
  }
  throw new HedgerowError(
    'conflict',
    `The lock ${path} changes hands too quickly: several processes start on this directory at once. Start one.`,
    {
      fields: { file: path },
    },
  );
}

function lockedError(path: string, holder: LockHolder): HedgerowError {
  const who = holder.pid === process.pid ? `this process (${holder.pid})` : `process ${holder.pid}`;
  const advice =
    holder.pid === process.pid ? 'Close the database that is open on it first' : `Stop process ${holder.pid} first`;
  return new HedgerowError(
    'conflict',
    `The data directory is already open in ${who}. ${advice}, or use another directory. If that process surely does not use it, remove ${path}.`,
    { fields: { file: path, pid: holder.pid } },
  );
}

/** False when `path` exists already. */
function linkNewFile(path: string, content: string): boolean {
  const draft = `${path}.${process.pid}.${process.hrtime.bigint()}`;
  fs.writeFileSync(draft, content, { flag: 'wx' });
  try {
    fs.linkSync(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    fs.unlinkSync(draft);
  }
}

/** Takes away the dead lock that was read as `found`; when another process had already replaced it, puts that one back. */
function moveAside(path: string, found: string): void {
  const aside = `${path}.${process.pid}.${process.hrtime.bigint()}.stale`;
  try {
    fs.renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  try {
    if (readIfThere(aside) !== found) fs.linkSync(aside, path);
  } finally {
    fs.unlinkSync(aside);
  }
}

function releaseLock(path: string, mine: string): void {
  if (readIfThere(path) === mine) fs.unlinkSync(path);
}

function describeProcess(pid: number): LockHolder {
  const fields = processFields(pid);
  return { pid, started: fields?.[19] ?? '', boot: readIfThere('/proc/sys/kernel/random/boot_id')?.trim() ?? '' };
}

/** Null for what a power loss leaves of a lock file: nothing, or zeros. */
function parseHolder(content: string): LockHolder | null {
  try {
    const value = JSON.parse(content) as Partial<LockHolder> | null;
    if (typeof value?.pid !== 'number' || !Number.isSafeInteger(value.pid) || value.pid <= 0) return null;
    return { pid: value.pid, started: String(value.started ?? ''), boot: String(value.boot ?? '') };
  } catch {
    return null;
  }
}

function isAlive(holder: LockHolder): boolean {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  const now = describeProcess(holder.pid);
  if (now.boot !== '' && holder.boot !== '' && now.boot !== holder.boot) return false;
  if (now.started !== '' && holder.started !== '' && now.started !== holder.started) return false;
  const state = processFields(holder.pid)?.[0];
  return state !== 'Z' && state !== 'X'; // a killed process that nobody has waited for
}

/** /proc/<pid>/stat from field 3 (state) on; the name before it, in parentheses, may hold anything. */
function processFields(pid: number): string[] | null {
  const stat = readIfThere(`/proc/${pid}/stat`);
  return stat === null ? null : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function readIfThere(path: string): string | null {
  try {
    return fs.readFileSync(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ESRCH') return null;
    throw error;
  }
}
