// Implements the `Fs` interface with Node's file system. In this folder, only this file and those
// of the directory lock import Node modules.

import * as fs from 'node:fs';
import { dirname } from 'node:path';
import { lockDirectory } from './directory-lock.ts';
import type { FileHandle, Fs } from './fs.ts';
import { NO_HARD_LINKS } from './lock-file.ts';

/** Below the system limit for one read call, which is 2^31 - 1 bytes. */
const MAX_READ_BYTES = 2 ** 30;

/**
 * Only the owner can access new files and directories, regardless of the umask. Existing ones keep
 * their mode.
 */
export const FILE_MODE = 0o600;
export const DIRECTORY_MODE = 0o700;

export const nodeFs: Fs = {
  open(path, mode) {
    return new NodeFileHandle(
      path,
      fs.openSync(path, mode === 'read' ? 'r' : mode === 'write' ? 'r+' : 'wx+', FILE_MODE),
    );
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
  lock: (path) => lockDirectory(path),
};

class NodeFileHandle implements FileHandle {
  readonly path: string;
  readonly #descriptor: number;
  /** The same file, opened again by `openDurable`; undefined before the first use. */
  #durable: number | null | undefined;

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
    return write(this.#descriptor, bytes, position);
  }

  async writeDurably(bytes: Uint8Array, position: number): Promise<number> {
    if (this.#durable === undefined) this.#durable = openDurable(this.#descriptor);
    if (this.#durable !== null) return write(this.#durable, bytes, position);
    const written = await this.write(bytes, position);
    await this.datasync();
    return written;
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
    if (typeof this.#durable === 'number') fs.closeSync(this.#durable);
  }
}

/**
 * Opens a file again so that each write returns when it is durable, as after fdatasync (O_DSYNC,
 * open(2)). Returns null where that is not possible. Only Linux promises the same for both: macOS,
 * for example, does not flush the disk's cache.
 */
function openDurable(descriptor: number): number | null {
  if (process.platform !== 'linux') return null;
  try {
    // Not by its name, which may have changed since.
    return fs.openSync(`/proc/self/fd/${descriptor}`, fs.constants.O_RDWR | fs.constants.O_DSYNC);
  } catch {
    return null;
  }
}

function write(descriptor: number, bytes: Uint8Array, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.write(descriptor, bytes, 0, bytes.length, position, (error, written) => {
      if (error === null) resolve(written);
      else reject(error);
    });
  });
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
    // ENOTDIR: the path leads through a regular file. ENAMETOOLONG: it is too long. Nothing can
    // exist at such a path.
    if (!['ENOTDIR', 'ENAMETOOLONG'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
  if (facts === undefined) return null;
  if (facts.isSymbolicLink()) return 'link';
  return facts.isFile() ? 'file' : facts.isDirectory() ? 'directory' : 'other';
}

async function renameNew(from: string, to: string): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => fs.link(from, to, settle(resolve, reject)));
  } catch (error) {
    if (!NO_HARD_LINKS.includes((error as NodeJS.ErrnoException).code)) throw error;
    // Without hard links, this is not atomic: two processes can take the same name at the same
    // moment.
    if (kindOf(to) !== null) throw Object.assign(new Error(`EEXIST: file already exists, '${to}'`), { code: 'EEXIST' });
    return nodeFs.rename(from, to);
  }
  await nodeFs.remove(from);
}

function makeDurableDir(dir: string): void {
  const first = makeDirs(dir);
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

/**
 * Creates a directory and its missing ancestors; returns the topmost directory created, or
 * undefined if all existed. `mkdirSync` with the option `recursive` is not used, because it never
 * returns for a path in a directory that exists but reports ENOENT when something is created in it
 * (such as /proc).
 */
function makeDirs(dir: string, mode = DIRECTORY_MODE): string | undefined {
  const parent = dirname(dir);
  const first = parent === dir || fs.existsSync(parent) ? undefined : makeDirs(parent, mode);
  try {
    fs.mkdirSync(dir, mode);
  } catch (error) {
    if (fs.statSync(dir, { throwIfNoEntry: false })?.isDirectory() === true) return first;
    throw error;
  }
  return first ?? dir;
}

/**
 * Returns the mode, such as `0755`, of a file or directory if other users than its owner can access
 * it. Returns undefined if only the owner can, or if the file does not exist.
 */
export function widerThanOwner(path: string): string | undefined {
  if (process.platform === 'win32') return undefined; // Windows keeps access rights in ACLs, not in the mode
  let mode: number;
  try {
    ({ mode } = fs.statSync(path));
  } catch {
    return undefined;
  }
  return (mode & 0o077) === 0 ? undefined : `0${(mode & 0o777).toString(8).padStart(3, '0')}`;
}

async function syncDir(dir: string): Promise<void> {
  if (process.platform === 'win32') return; // Windows cannot sync a directory; NTFS journals names
  const descriptor = fs.openSync(dir, 'r');
  try {
    await new Promise<void>((resolve, reject) => fs.fsync(descriptor, settle(resolve, reject)));
  } finally {
    fs.closeSync(descriptor);
  }
}
