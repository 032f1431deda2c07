// The crash model of the simulated disk: file contents with unsynced writes, directories with
// unsynced changes, and what a power loss makes of both.
//
// Every file and directory has two states: what programs see (the page cache), and what is durable.
// Between the two is a list of pending changes. A sync marks the end of that list when it starts;
// when it succeeds, the changes up to the mark become durable, and later ones stay pending. When it
// fails, they leave the list without becoming durable: programs still read them, but the disk never
// gets them, as on Linux after a failed fsync.
//
// A power loss applies the pending changes of a file to its durable bytes one by one, which gives
// versions 0 to n of the file, and then draws
// - the length from one version;
// - for each page of 4,096 bytes one version or, if the page is torn, one for each sector;
// - with `garbled`, random values for the bytes in which the first and the last version of a sector
//   differ.
// So a write may be lost, survive in part, or survive without an earlier one, while bytes that no
// pending change touched keep their value. For example, an unsynced append of two pages may leave
// the new length with zeros in the first page and data in the second. A directory keeps any subset
// of its pending changes.

import type { Random } from './random.ts';

const PAGE_BYTES = 4096;

/** How a power loss affects sectors that were written and not synced. */
export interface Sectors {
  /** 512 or 4,096: the size that the disk writes atomically. */
  bytes: number;
  /** Probability that a sector being written holds neither its old nor its new bytes. */
  garbled: number;
}

export const DEFAULT_SECTORS: Sectors = { bytes: 512, garbled: 0 };

type FileChange = { position: number; bytes: Uint8Array } | { size: number };
/** Removes `remove`, then binds `name` to `file`; a rename does both atomically. */
export interface DirChange {
  remove?: string;
  name?: string;
  file?: SimFile;
}

/** A list of pending changes; a sync makes a prefix of it durable. */
class Pending<Change> {
  changes: Change[] = [];
  /** Total number of changes taken off the list so far. */
  #taken = 0;

  /** The current end of the list; passed to `take` once the sync that starts now has ended. */
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
 * One file: `content` is what programs read (the page cache), `durable` is what is certain to be on
 * the disk.
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

  /** A sync succeeds: the changes up to `mark` become durable. */
  commit(mark: number): void {
    for (const change of this.pending.take(mark)) this.durable = changed(this.durable, change);
  }

  /** A sync fails: the system takes the pages for clean, and they never reach the disk. */
  forget(mark: number): void {
    this.pending.take(mark);
  }

  /**
   * Power loss: every page is old, new, something in between, or torn between two versions at a
   * sector boundary.
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

  /** The same file as the next process on the same machine sees it. */
  survive(): SimFile {
    const file = new SimFile(this.durable.slice());
    file.content = this.content.slice();
    file.pending.changes = [...this.pending.changes];
    return file;
  }
}

/**
 * Randomizes the bytes that differ between two versions of a sector, since the disk may have been
 * writing them. Equal bytes keep their value.
 */
function garble(random: Random, result: Uint8Array, versions: Uint8Array[], sector: number, sectorBytes: number): void {
  const first = versions[0]!;
  const last = versions[versions.length - 1]!;
  for (let at = sector; at < Math.min(sector + sectorBytes, result.length); at++) {
    if (at >= first.length || first[at] !== last[at]) result[at] = random.below(256);
  }
}

/** Like `applied`, but in place if the size does not change. */
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

/** One directory: names as programs see them, and as they are on the disk. */
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
   * Power loss: any subset of the unsynced changes may survive, even a later one without an earlier
   * one.
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

  /** The same directory as the next process on the same machine sees it. */
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
