// Simulates a file system (`Fs`) on a seeded disk. The disk loses changes that were not synced,
// fails where a test wants it to fail, and stops at a chosen operation.

import { HedgerowError } from '../../src/errors.ts';
import type { FileHandle, Fs, FsLock } from '../../src/storage/fs.ts';
import { Random } from './random.ts';
import { DEFAULT_SECTORS, type Sectors, SimDir, SimFile } from './sim-disk.ts';

export type OperationKind =
  | 'open'
  | 'read'
  | 'write'
  | 'writeNow'
  | 'datasync'
  | 'sync'
  | 'truncate'
  | 'rename'
  | 'remove'
  | 'syncDir';

export interface Operation {
  kind: OperationKind;
  path: string;
  /** Number of the operation in this SimFs, counted from 1. */
  index: number;
  /** Bytes by which a write makes the file grow. */
  growth?: number;
}

/**
 * A fault of an operation: an error with a system code, a write that stops after some bytes, or a
 * power loss during the operation.
 */
export type Fault = { code: 'EIO' | 'ENOSPC' } | { shortBytes: number } | 'crash';

/**
 * The effects of an asynchronous operation on the disk. `shortBytes` is the number of bytes that a
 * short write stores, 0 if a crash occurs during the operation, and otherwise undefined.
 */
interface Effects {
  act?: (shortBytes: number | undefined) => void;
  finish?: () => void;
  fail?: () => void;
}

/** Thrown to code that still runs after the machine has stopped. */
export class SimStopped extends Error {}

/**
 * A simulated file system. Asynchronous operations take a few microtasks, whose number the seed
 * decides. After a crash no operation completes: promises stay pending, and synchronous calls throw
 * SimStopped. `crash` (a power loss) and `kill` (the end of only the process) return the file
 * system that the next process finds.
 */
export class SimFs implements Fs {
  readonly random: Random;
  /** Called before every operation. It may return a fault for the operation. */
  schedule: (operation: Operation) => Fault | undefined = () => undefined;
  readonly counts: Record<OperationKind, number> = {
    open: 0,
    read: 0,
    write: 0,
    writeNow: 0,
    datasync: 0,
    sync: 0,
    truncate: 0,
    rename: 0,
    remove: 0,
    syncDir: 0,
  };
  operations = 0;
  /** Delays an asynchronous operation, by default for some microtasks. */
  pace: () => Promise<void> = async () => {
    for (let ticks = this.random.below(4); ticks >= 0; ticks--) await null;
  };
  /** Defines how a power loss affects sectors that were not synced. */
  sectors: Sectors = DEFAULT_SECTORS;
  openHandles = 0;
  stopped = false;
  /** Resolves when the machine stops. */
  readonly whenStopped: Promise<void>;
  #tellStopped: () => void = () => {};
  #dirs: Map<string, SimDir>;
  #locks = new Set<string>();

  constructor(random: Random | number, dirs: Map<string, SimDir> = new Map()) {
    this.random = typeof random === 'number' ? new Random(random) : random;
    this.#dirs = dirs;
    this.whenStopped = new Promise((resolve) => {
      this.#tellStopped = resolve;
    });
  }

  /** Stops the machine and returns the file system after a power loss. */
  crash(): SimFs {
    this.stop();
    const { random, sectors } = this;
    return this.#next(new Map([...this.#dirs].map(([path, dir]) => [path, dir.crash(random, sectors)])));
  }

  /** Stops the process and returns the file system, in which the page cache survives. */
  kill(): SimFs {
    this.stop();
    return this.#next(new Map([...this.#dirs].map(([path, dir]) => [path, dir.survive()])));
  }

  /** Returns an independent copy of the file system. By default it shares the random numbers. */
  copy(random?: Random): SimFs {
    const dirs = new Map([...this.#dirs].map(([path, dir]) => [path, dir.survive()]));
    return random === undefined ? this.#next(dirs) : new SimFs(random, dirs);
  }

  #next(dirs: Map<string, SimDir>): SimFs {
    const next = new SimFs(this.random, dirs);
    next.pace = this.pace;
    next.sectors = this.sectors;
    return next;
  }

  /** Returns the paths of all files, sorted. */
  files(): string[] {
    return [...this.#dirs].flatMap(([path, dir]) => [...dir.names.keys()].map((name) => `${path}/${name}`)).sort();
  }

  /** Total size of all files, in bytes. */
  get usedBytes(): number {
    let bytes = 0;
    for (const dir of this.#dirs.values()) for (const file of dir.names.values()) bytes += file.content.length;
    return bytes;
  }

  /** Replaces the bytes of a file durably, or removes the file if `bytes` is null. */
  replace(path: string, bytes: Uint8Array | null): void {
    const { dir, name } = this.#place(path);
    dir.change(bytes === null ? { remove: name } : { name, file: new SimFile(bytes) });
    dir.commit(dir.pending.mark());
  }

  stop(): void {
    this.stopped = true;
    this.#tellStopped();
  }

  /** Lets a test read the bytes of a file, or damage them durably. */
  edit(path: string, change: (bytes: Uint8Array) => void): void {
    const file = this.#file(path);
    change(file.content);
    file.durable = file.content.slice();
    file.pending.changes.length = 0;
  }

  open(path: string, mode: 'read' | 'write' | 'create'): FileHandle {
    this.#begin('open', path);
    const { dir, name } = this.#place(path);
    if (mode === 'create') {
      if (dir.names.has(name)) throw systemError('EEXIST', path);
      dir.change({ name, file: new SimFile() });
    }
    const file = this.#file(path);
    this.openHandles++;
    return new SimHandle(this, path, file);
  }

  exists(path: string): boolean {
    if (this.#dirs.has(path)) return true;
    const slash = path.lastIndexOf('/');
    return this.#dirs.get(path.slice(0, slash))?.names.has(path.slice(slash + 1)) ?? false;
  }

  kindOf(path: string): 'file' | 'directory' | null {
    if (this.#dirs.has(path)) return 'directory';
    return this.exists(path) ? 'file' : null;
  }

  /** Returns the path unchanged, because there are no symbolic links. */
  realPath(path: string): string {
    if (!this.exists(path)) throw systemError('ENOENT', path);
    return path;
  }

  list(dir: string): string[] {
    const found = this.#dirs.get(dir);
    if (found === undefined) throw systemError('ENOENT', dir);
    const below = [...this.#dirs.keys()].filter((path) => path.startsWith(`${dir}/`));
    const dirs = below.map((path) => path.slice(dir.length + 1).split('/')[0]!);
    return [...new Set([...found.names.keys(), ...dirs])].sort();
  }

  makeDir(dir: string): void {
    for (let end = dir.indexOf('/', 1); ; end = dir.indexOf('/', end + 1)) {
      const path = end < 0 ? dir : dir.slice(0, end);
      if (!this.#dirs.has(path)) this.#dirs.set(path, new SimDir());
      if (end < 0) return;
    }
  }

  rename(from: string, to: string): Promise<void> {
    const act = (): void => {
      if (this.#dirs.has(from)) {
        this.#renameDir(from, to);
        return;
      }
      const file = this.#file(from);
      const { dir, name } = this.#place(to);
      dir.change({ remove: from.slice(from.lastIndexOf('/') + 1), name, file });
    };
    return this.perform('rename', from, { act });
  }

  /** Renames a directory. The change is durable at once, as with `makeDir`. */
  #renameDir(from: string, to: string): void {
    if (this.exists(to)) throw systemError('ENOTEMPTY', to);
    for (const [path, dir] of [...this.#dirs]) {
      if (path !== from && !path.startsWith(`${from}/`)) continue;
      this.#dirs.delete(path);
      this.#dirs.set(`${to}${path.slice(from.length)}`, dir);
    }
  }

  /** Renames a file by a link and a removal. A crash may occur between the two. */
  renameNew(from: string, to: string): Promise<void> {
    const act = (): void => {
      const file = this.#file(from);
      const { dir, name } = this.#place(to);
      if (dir.names.has(name)) throw systemError('EEXIST', to);
      dir.change({ name, file });
      dir.change({ remove: from.slice(from.lastIndexOf('/') + 1) });
    };
    return this.perform('rename', from, { act });
  }

  removeDir(path: string): Promise<void> {
    const act = (): void => {
      const dir = this.#dirs.get(path);
      if (dir === undefined) throw systemError('ENOENT', path);
      const hasDirs = [...this.#dirs.keys()].some((other) => other.startsWith(`${path}/`));
      if (dir.names.size > 0 || hasDirs) throw systemError('ENOTEMPTY', path);
      this.#dirs.delete(path);
    };
    return this.perform('remove', path, { act });
  }

  remove(path: string): Promise<void> {
    const act = (): void => {
      this.#file(path);
      const { dir, name } = this.#place(path);
      dir.change({ remove: name });
    };
    return this.perform('remove', path, { act });
  }

  async syncDir(path: string): Promise<void> {
    const dir = this.#dirs.get(path);
    if (dir === undefined) throw systemError('ENOENT', path);
    const mark = dir.pending.mark();
    await this.perform('syncDir', path, { finish: () => dir.commit(mark), fail: () => dir.forget(mark) });
  }

  async lock(path: string): Promise<FsLock> {
    if (this.#locks.has(path)) throw new HedgerowError('conflict', `${path} is held already`);
    this.#locks.add(path);
    return { release: () => void this.#locks.delete(path) };
  }

  /**
   * Performs one asynchronous operation. `act` runs at once, and `finish` some microtasks later
   * unless the machine stops in between. If the fault is EIO or ENOSPC, `fail` runs instead of
   * both.
   */
  async perform(kind: OperationKind, path: string, { act, finish, fail }: Effects, growth = 0): Promise<void> {
    let fault: Fault | undefined;
    try {
      fault = this.#begin(kind, path, growth);
    } catch (error) {
      if (error instanceof SimStopped) await new Promise(() => {});
      throw error;
    }
    const refused = fault !== undefined && fault !== 'crash' && 'code' in fault ? fault.code : undefined;
    if (fault === 'crash') {
      // The operation is partially done: a write has written some of its bytes, and any other
      // operation has made its change, but the change is not synced.
      act?.(0);
      this.stop();
    } else if (refused !== undefined) fail?.();
    else act?.((fault as { shortBytes: number } | undefined)?.shortBytes);
    await this.pace();
    if (this.stopped) await new Promise(() => {});
    if (refused !== undefined) throw systemError(refused, path);
    finish?.();
  }

  /** Counts the operation. Throws if the operation is synchronous and has a fault. */
  #begin(kind: OperationKind, path: string, growth = 0): Fault | undefined {
    if (this.stopped) throw new SimStopped(`${kind} ${path} after the crash`);
    this.counts[kind]++;
    const fault = this.schedule({ kind, path, index: ++this.operations, growth });
    if (fault === undefined || (kind !== 'open' && kind !== 'read' && kind !== 'writeNow')) return fault;
    if (fault === 'crash') {
      this.stop();
      throw new SimStopped(`${kind} ${path} at the crash`);
    }
    if ('code' in fault) throw systemError(fault.code, path);
    return fault;
  }

  /** Begins a read for a file handle. */
  beginRead(path: string): void {
    this.#begin('read', path);
  }

  /**
   * Performs a synchronous write of `count` bytes for a file handle, which stores them in `take`.
   * At a crash, all bytes or none are stored, and the call throws.
   */
  writeNow(path: string, count: number, take: (count: number) => void): number {
    if (this.stopped) throw new SimStopped(`writeNow ${path} after the crash`);
    const lands = this.random.chance(0.5);
    let fault: Fault | undefined;
    try {
      fault = this.#begin('writeNow', path);
    } catch (error) {
      if (error instanceof SimStopped && lands) take(count);
      throw error;
    }
    const taken =
      fault !== undefined && fault !== 'crash' && 'shortBytes' in fault ? Math.min(fault.shortBytes, count) : count;
    take(taken);
    return taken;
  }

  #place(path: string): { dir: SimDir; name: string } {
    const slash = path.lastIndexOf('/');
    const dir = this.#dirs.get(path.slice(0, slash));
    if (dir === undefined) throw systemError('ENOENT', path);
    return { dir, name: path.slice(slash + 1) };
  }

  #file(path: string): SimFile {
    const { dir, name } = this.#place(path);
    const file = dir.names.get(name);
    if (file === undefined) throw systemError('ENOENT', path);
    return file;
  }
}

class SimHandle implements FileHandle {
  readonly path: string;
  readonly #fs: SimFs;
  readonly #file: SimFile;
  #open = true;

  constructor(fs: SimFs, path: string, file: SimFile) {
    this.#fs = fs;
    this.path = path;
    this.#file = file;
  }

  size(): number {
    this.#check();
    return this.#file.content.length;
  }

  read(target: Uint8Array, position: number): number {
    this.#check();
    this.#fs.beginRead(this.path);
    const found = this.#file.content.subarray(position, position + target.length);
    target.set(found);
    return found.length;
  }

  async write(bytes: Uint8Array, position: number): Promise<number> {
    this.#check();
    let written = bytes.length;
    const act = (shortBytes: number | undefined): void => {
      // 0 means that a crash occurs during the write, so a random number of bytes is written.
      if (shortBytes === 0) written = this.#fs.random.below(bytes.length + 1);
      else if (shortBytes !== undefined) written = Math.min(shortBytes, bytes.length);
      this.#file.write(bytes.subarray(0, written), position);
    };
    const growth = Math.max(0, position + bytes.length - this.#file.content.length);
    await this.#fs.perform('write', this.path, { act }, growth);
    return written;
  }

  writeNow(bytes: Uint8Array, position: number): number {
    this.#check();
    return this.#fs.writeNow(this.path, bytes.length, (count) => this.#file.write(bytes.subarray(0, count), position));
  }

  async writeDurably(bytes: Uint8Array, position: number): Promise<number> {
    const written = await this.write(bytes, position);
    await this.datasync();
    return written;
  }

  datasync(): Promise<void> {
    return this.#sync('datasync');
  }

  sync(): Promise<void> {
    return this.#sync('sync');
  }

  async #sync(kind: 'datasync' | 'sync'): Promise<void> {
    this.#check();
    const mark = this.#file.pending.mark();
    await this.#fs.perform(kind, this.path, {
      finish: () => this.#file.commit(mark),
      fail: () => this.#file.forget(mark),
    });
  }

  truncate(size: number): Promise<void> {
    this.#check();
    return this.#fs.perform('truncate', this.path, { act: () => this.#file.truncate(size) });
  }

  close(): void {
    this.#check();
    this.#open = false;
    this.#fs.openHandles--;
  }

  #check(): void {
    if (!this.#open) throw systemError('EBADF', this.path);
  }
}

function systemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: simulated, ${path}`), { code });
}
