// Implements the crash model of the simulated disk: files with unsynced writes, directories with
// unsynced changes, and the effect of a power loss on both.
//
// Every file and directory has two states: the state that programs see (the page cache), and the
// durable state. A list of pending changes leads from the durable state to the visible state. When
// a sync starts, it marks the end of that list. When the sync succeeds, the changes up to the mark
// become durable, and later changes stay pending. When the sync fails, the changes up to the
// mark are removed from the list without becoming durable: programs still read them, but they
// never reach the disk. Linux behaves like this after a failed fsync.
//
// A power loss applies the pending changes of a file to its durable bytes one by one, which gives
// versions 0 to n of the file. It then chooses at random:
// - the length of one version
// - for each page of 4,096 bytes, one version or, if the page is torn, one version for each sector
// - with the probability `garbled`, random values for the bytes of a sector that differ between the
//   first and the last version
// So a write may be lost, may survive in part, or may survive although an earlier write is lost.
// Bytes that no pending change touched keep their value. For example, an unsynced append of two
// pages may leave the new length with zeros in the first page and data in the second. A directory
// keeps any subset of its pending changes.

import type { Random } from './random.ts';

const PAGE_BYTES = 4096;

/** Defines how a power loss affects sectors that were written but not synced. */
export interface Sectors {
  /** Number of bytes that the disk writes atomically, 512 or 4,096. */
  bytes: number;
  /** Probability that a sector being written ends up with neither the old nor the new bytes. */
  garbled: number;
}

export const DEFAULT_SECTORS: Sectors = { bytes: 512, garbled: 0 };

type FileChange = { position: number; bytes: Uint8Array } | { size: number };
/** Removes the name `remove`, then binds `name` to `file`. A rename does both atomically. */
export interface DirChange {
  remove?: string;
  name?: string;
  file?: SimFile;
}

/** A list of pending changes. A sync makes the changes before its mark durable. */
class Pending<Change> {
  changes: Change[] = [];
  /** Total number of changes that were removed from the list so far. */
  #taken = 0;

  /** Returns the current end of the list. A sync passes it to `take` when it has ended. */
  mark(): number {
    return this.#taken + this.changes.length;
  }

  take(mark: number): Change[] {
    const count = Math.max(0, mark - this.#taken);
    this.#taken += count;
    return this.changes.splice(0, count);
  }
}

/**
 * One file. `content` is the state that programs read (the page cache), `durable` is the state that
 * is certainly on the disk.
 */
export class SimFile {
  content: Uint8Array;
  durable: Uint8Array;
  readonly pending = new Pending<FileChange>();

  constructor(durable: Uint8Array = new Uint8Array(0)) {
    this.content = durable.slice();
    this.durable = durable.slice();
  }

  write(bytes: Uint8Array, position: number): void {
    const change = { position, bytes: bytes.slice() };
    this.content = changed(this.content, change);
    this.pending.changes.push(change);
  }

  truncate(size: number): void {
    this.content = applied(this.content, { size });
    this.pending.changes.push({ size });
  }

  /** Makes the changes up to `mark` durable, because a sync has succeeded. */
  commit(mark: number): void {
    for (const change of this.pending.take(mark)) this.durable = changed(this.durable, change);
  }

  /** Drops the changes up to `mark`, because a sync has failed. They never reach the disk. */
  forget(mark: number): void {
    this.pending.take(mark);
  }

  /**
   * Returns the file after a power loss. Every page is old, new, a version in between, or torn
   * between versions at sector boundaries.
   */
  crash(random: Random, sectors: Sectors = DEFAULT_SECTORS): SimFile {
    const { changes } = this.pending;
    if (changes.length === 0) return new SimFile(this.durable);
    const versions: Uint8Array[] = [this.durable];
    for (const change of changes) versions.push(applied(versions.at(-1)!, change));
    const cut = (): Uint8Array => versions[random.chance(0.3) ? versions.length - 1 : random.below(versions.length)]!;
    const result = new Uint8Array(cut().length);
    for (let page = 0; page < result.length; page += PAGE_BYTES) {
      const torn = random.chance(0.4);
      const whole = cut();
      for (let sector = page; sector < Math.min(page + PAGE_BYTES, result.length); sector += sectors.bytes) {
        const source = (torn ? cut() : whole).subarray(sector, Math.min(sector + sectors.bytes, result.length));
        result.set(source, sector);
        if (sectors.garbled > 0 && random.chance(sectors.garbled))
          garble(random, result, versions, sector, sectors.bytes);
      }
    }
    return new SimFile(result);
  }

  /** Returns the file as the next process on the same machine sees it. */
  survive(): SimFile {
    const file = new SimFile(this.durable.slice());
    file.content = this.content.slice();
    file.pending.changes = [...this.pending.changes];
    return file;
  }
}

/**
 * Randomizes the bytes that differ between the first and the last version of a sector, because the
 * disk may have been writing them. Equal bytes keep their value.
 */
function garble(random: Random, result: Uint8Array, versions: Uint8Array[], sector: number, sectorBytes: number): void {
  const first = versions[0]!;
  const last = versions[versions.length - 1]!;
  for (let at = sector; at < Math.min(sector + sectorBytes, result.length); at++) {
    if (at >= first.length || first[at] !== last[at]) result[at] = random.below(256);
  }
}

/** Applies a change like `applied`, but in place if the file does not grow or shrink. */
function changed(bytes: Uint8Array, change: FileChange): Uint8Array {
  if (!('bytes' in change) || change.position + change.bytes.length > bytes.length) return applied(bytes, change);
  bytes.set(change.bytes, change.position);
  return bytes;
}

function applied(bytes: Uint8Array, change: FileChange): Uint8Array {
  const size = 'size' in change ? change.size : Math.max(bytes.length, change.position + change.bytes.length);
  const result = new Uint8Array(size);
  result.set(bytes.subarray(0, size));
  if ('bytes' in change) result.set(change.bytes, change.position);
  return result;
}

/** One directory: its names as programs see them, and as they are on the disk. */
export class SimDir {
  names = new Map<string, SimFile>();
  durable = new Map<string, SimFile>();
  readonly pending = new Pending<DirChange>();

  change(change: DirChange): void {
    changeNames(this.names, change);
    this.pending.changes.push(change);
  }

  commit(mark: number): void {
    for (const change of this.pending.take(mark)) changeNames(this.durable, change);
  }

  forget(mark: number): void {
    this.pending.take(mark);
  }

  /**
   * Returns the directory after a power loss. Any subset of the unsynced changes may survive, even
   * a later change without an earlier one.
   */
  crash(random: Random, sectors: Sectors = DEFAULT_SECTORS): SimDir {
    const names = new Map(this.durable);
    const keep = random.below(3) / 2;
    for (const change of this.pending.changes) if (random.chance(keep)) changeNames(names, change);
    const dir = new SimDir();
    for (const [name, file] of names) dir.durable.set(name, file.crash(random, sectors));
    dir.names = new Map(dir.durable);
    return dir;
  }

  /** Returns the directory as the next process on the same machine sees it. */
  survive(): SimDir {
    const copies = new Map<SimFile, SimFile>();
    const copyOf = (file: SimFile): SimFile => {
      const copy = copies.get(file) ?? file.survive();
      copies.set(file, copy);
      return copy;
    };
    const dir = new SimDir();
    for (const [name, file] of this.names) dir.names.set(name, copyOf(file));
    for (const [name, file] of this.durable) dir.durable.set(name, copyOf(file));
    dir.pending.changes = this.pending.changes.map((change) =>
      change.file === undefined ? change : { ...change, file: copyOf(change.file) },
    );
    return dir;
  }
}

function changeNames(names: Map<string, SimFile>, change: DirChange): void {
  if (change.remove !== undefined) names.delete(change.remove);
  if (change.name !== undefined) names.set(change.name, change.file!);
}
