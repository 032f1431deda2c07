// The answers kept under Idempotency-Keys: in memory by id, durable in the frames of their writes, later in files of their own (storage/FORMAT.md).
//
// Invariants: entries stand in LSN order, which is (about) the order of their age; those up to #writtenLsn are in the files, those above in the log; the
// oldest go first. A manifest is installed only after write() made everything up to its LSN durable in files.

import { corruption } from '../errors.ts';
import type { Crc32c } from '../storage/crc32c.ts';
import type { Fs } from '../storage/fs.ts';
import {
  appendRecords,
  type ReplayFile,
  type ReplayRecord,
  readRecords,
  recordBytes,
  replayFileName,
  replayFileNumber,
} from '../storage/replay-file.ts';
import type { Committer } from './committer.ts';
import type { Orphans } from './orphans.ts';
import { decodeReplay, encodeReplay, type ReplayEntry } from './replay-entry.ts';

/** How much is kept (contract section 1), and how large a file grows. */
export interface ReplayLimits {
  ageMs: number;
  entries: number;
  /** UTF-8 bytes of all bodies. */
  bodyBytes: number;
  fileBytes: number;
}

export const REPLAY_LIMITS: ReplayLimits = {
  ageMs: 24 * 3600 * 1000,
  entries: 100_000,
  bodyBytes: 64 * 2 ** 20,
  fileBytes: 4 * 2 ** 20,
};

/** What the manifest says of the files. */
export interface StoredReplays {
  /** Answers with an LSN up to here are in the files. */
  lsn: number;
  /** Number of the next file. */
  next: number;
  /** Oldest first. */
  files: ReplayFile[];
}

interface Kept {
  entry: ReplayEntry;
  lsn: number;
  bodyBytes: number;
}

interface KnownFile extends ReplayFile {
  /** LSN of its newest answer. */
  lastLsn: number;
}

/** Places at the front of the queue that may stand empty before it is cut. */
const MAX_EMPTY = 1024;

export interface ReplaysOptions {
  fs: Fs;
  dir: string;
  crc32c: Crc32c;
  committer: Committer;
  /** Told after every answer that was stored alone. */
  committed: () => void;
  /** Epoch milliseconds. */
  now: () => number;
  limits: ReplayLimits;
}

export class Replays {
  readonly #options: ReplaysOptions;
  readonly #byId = new Map<string, Kept>();
  #queue: Kept[] = [];
  /** Place of the oldest entry in the queue. */
  #first = 0;
  #bodyBytes = 0;
  #writtenLsn = 0;
  #files: KnownFile[] = [];
  #nextFile = 1;
  /** The newest file may be appended to: no append to it has failed. */
  #appendable = true;
  /** Files that were found and that the manifest did not list. */
  #orphans: Orphans = { unlisted: [], replaced: [] };
  /** Files that the next manifest does not list. */
  #dropped: string[] = [];

  constructor(options: ReplaysOptions) {
    this.#options = options;
  }

  /** The durable answer stored under `id`, not older than 24 hours. */
  find(id: string): ReplayEntry | undefined {
    const kept = this.#byId.get(id);
    const { committer } = this.#options;
    if (kept === undefined || kept.lsn > committer.visibleLsn || this.#isOld(kept.entry)) return undefined;
    return kept.entry;
  }

  /** Stores an answer in a frame of its own, for work that is no single frame; resolves when it is durable. */
  async store(entry: ReplayEntry): Promise<void> {
    const { committer, committed } = this.#options;
    const { durable } = await committer.write(() => committer.commit(0, [], { entry, urgent: true }));
    await durable;
    committed();
  }

  #isOld(entry: ReplayEntry): boolean {
    return entry.at < this.#options.now() - this.#options.limits.ageMs;
  }

  /** Keeps an answer that is in the log at `lsn`, above all before it. */
  add(entry: ReplayEntry, lsn: number): void {
    const kept = { entry, lsn, bodyBytes: Buffer.byteLength(entry.body) };
    this.#queue.push(kept);
    this.#byId.set(entry.id, kept);
    this.#bodyBytes += kept.bodyBytes;
    this.#evict();
  }

  #evict(): void {
    const { entries, bodyBytes } = this.#options.limits;
    for (;;) {
      const oldest = this.#queue[this.#first];
      if (oldest === undefined) break;
      const count = this.#queue.length - this.#first;
      if (count <= entries && this.#bodyBytes <= bodyBytes && !this.#isOld(oldest.entry)) break;
      this.#bodyBytes -= oldest.bodyBytes;
      if (this.#byId.get(oldest.entry.id) === oldest) this.#byId.delete(oldest.entry.id);
      this.#queue[this.#first++] = undefined as unknown as Kept;
    }
    if (this.#first < MAX_EMPTY || this.#first * 2 < this.#queue.length) return;
    this.#queue = this.#queue.slice(this.#first);
    this.#first = 0;
  }

  // Recovery and the manifest

  /** Reads the files of a manifest. Throws `corrupt`. */
  load({ lsn: storedLsn, next, files }: StoredReplays): void {
    const { fs, dir, crc32c } = this.#options;
    let lastLsn = 0;
    for (const file of files) {
      for (const { lsn, payload, offset } of readRecords(fs, dir, file, crc32c)) {
        const path = `${dir}/${replayFileName(file.number)}`;
        if (lsn <= lastLsn || lsn > storedLsn)
          throw corruption(path, offset, `a record has LSN ${lsn}, not one between ${lastLsn + 1} and ${storedLsn}`);
        this.add(decodeReplay(payload, path, offset), lsn);
        lastLsn = lsn;
      }
      this.#files.push({ ...file, lastLsn });
    }
    this.#writtenLsn = storedLsn;
    this.#nextFile = next;
    this.#findOrphans();
  }

  /** Files that a crash left: a number that one of them has is not given out again. */
  #findOrphans(): void {
    const { fs, dir } = this.#options;
    if (!fs.exists(dir)) return;
    const listed = new Set(this.#files.map((file) => file.number));
    const next = this.#nextFile;
    for (const name of fs.list(dir)) {
      const number = replayFileNumber(name);
      if (number === null || listed.has(number)) continue;
      (number >= next ? this.#orphans.unlisted : this.#orphans.replaced).push(`${dir}/${name}`);
      this.#nextFile = Math.max(this.#nextFile, number + 1);
    }
  }

  /** Takes an operation of the log, unless a file has it. */
  replay(bytes: Uint8Array, lsn: number): void {
    if (lsn > this.#writtenLsn) this.add(decodeReplay(bytes, `log frame at LSN ${lsn}`, 0), lsn);
  }

  get orphans(): Orphans {
    return this.#orphans;
  }

  /**
   * Makes all answers up to `lsn` durable in files and says what the manifest must list; its cost follows the new ones. Calls do not overlap. When it
   * rejects, the manifest that is installed still says the truth.
   */
  async write(lsn: number): Promise<StoredReplays> {
    this.#evict();
    const fresh = this.#queue.slice(this.#placeAfter(this.#writtenLsn), this.#placeAfter(lsn));
    let slice: ReplayRecord[] = [];
    let room = this.#room();
    for (const kept of fresh) {
      const record = { lsn: kept.lsn, payload: encodeReplay(kept.entry) };
      slice.push(record);
      room -= recordBytes(record);
      if (room > 0) continue;
      await this.#append(slice);
      slice = [];
      room = this.#room();
    }
    if (slice.length > 0) await this.#append(slice);
    this.#writtenLsn = Math.max(this.#writtenLsn, lsn);
    this.#dropFiles();
    const files = this.#files.map(({ number, bytes }) => ({ number, bytes }));
    return { lsn: this.#writtenLsn, next: this.#nextFile, files };
  }

  /** Place in the queue of the first entry above `lsn`. */
  #placeAfter(lsn: number): number {
    let low = this.#first;
    let high = this.#queue.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#queue[middle]!.lsn <= lsn) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Bytes that the next append may add to the newest file; a new file takes as many as it may hold. */
  #room(): number {
    const { fileBytes } = this.#options.limits;
    const newest = this.#files[this.#files.length - 1];
    return newest !== undefined && this.#appendable && newest.bytes < fileBytes ? fileBytes - newest.bytes : fileBytes;
  }

  async #append(records: readonly ReplayRecord[]): Promise<void> {
    const { fs, dir, crc32c, limits } = this.#options;
    let file = this.#files[this.#files.length - 1];
    if (file === undefined || !this.#appendable || file.bytes >= limits.fileBytes)
      file = { number: this.#nextFile++, bytes: 0, lastLsn: 0 };
    this.#appendable = false;
    const bytes = await appendRecords(fs, dir, file, records, crc32c);
    this.#appendable = true;
    if (file.bytes === 0) this.#files.push(file);
    file.bytes = bytes;
    file.lastLsn = records[records.length - 1]!.lsn;
    this.#writtenLsn = file.lastLsn;
  }

  /** Lets go of the files all of whose answers are gone. */
  #dropFiles(): void {
    const oldestLsn = this.#queue[this.#first]?.lsn ?? Infinity;
    while (this.#files.length > 0 && this.#files[0]!.lastLsn < oldestLsn)
      this.#dropped.push(`${this.#options.dir}/${replayFileName(this.#files.shift()!.number)}`);
  }

  /** Removes the files that were let go. To be called when the manifest without them is surely on the disk. */
  async removeDropped(): Promise<void> {
    for (const path of this.#dropped.splice(0)) await this.#options.fs.remove(path);
  }
}
