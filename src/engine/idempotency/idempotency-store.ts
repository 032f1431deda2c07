// Stores the answers to requests with an Idempotency-Key. All are in memory, by id. They are
// durable first in the log frames of their writes, later in files of their own (storage/FORMAT.md).
//
// A key is known for 24 hours, or until there are 100,000 newer ones. All large bodies together
// have a memory budget; beyond it, the oldest bodies are dropped. A request with a known key is
// never executed again: it gets the stored answer or, if the body was dropped, the information that
// it was already executed. After a file was damaged, unknown keys are refused for a time, because
// the file may have contained them.
//
// Invariants: entries are in LSN order, and their times never decrease even if the clock does.
// Entries up to #writtenLsn are in files, later ones in the log. The oldest are evicted first. A
// manifest is installed only after write() has made all entries up to its LSN durable in files.

import { assert } from '../../assert.ts';
import { refusal } from '../../errors.ts';
import { type AnswerToKeep, type KeptAnswer, SMALL_BODY_LENGTH, type WrittenIds } from '../../model/kept-answer.ts';
import { type Crc32c, type Fs, recordBytes } from '../../storage/index.ts';
import type { Orphans } from '../checkpoint/orphans.ts';
import type { Committer } from '../commit/committer.ts';
import { type AnswerRecord, type LostReplayFile, ReplayFiles, type StoredReplays } from './answer-files.ts';
import { decodeReplay, encodeReplay, keptBody } from './kept-answer.ts';

/** Limits for the answers kept, and the size at which a file counts as full. */
export interface KeptAnswerLimits {
  ageMs: number;
  entries: number;
  /** Total memory of the bodies longer than SMALL_BODY_LENGTH. */
  bodyBytes: number;
  fileBytes: number;
}

export const REPLAY_LIMITS: KeptAnswerLimits = {
  ageMs: 24 * 3600 * 1000,
  entries: 100_000,
  bodyBytes: 64 * 2 ** 20,
  fileBytes: 4 * 2 ** 20,
};

// There is one object per key, up to 100,000, so it is flat and has no fields that can be derived.
interface Kept {
  readonly id: string;
  readonly bodyHash: string;
  readonly status: number;
  readonly contentType: string;
  body: string | null;
  readonly at: number;
  /** WrittenIds as JSON, which takes less memory than the object. */
  readonly written: string | undefined;
  readonly lsn: number;
  /** Memory of the body in bytes, if it counts towards the budget for large bodies; else 0. */
  heldBytes: number;
  /** Size of the entry's record in a file, in bytes; 0 if not known yet. */
  recordBytes: number;
  /** False once a newer answer has the same id. */
  isAlive: boolean;
}

/** Figures about the answers kept. */
export interface KeptAnswerFigures {
  entries: number;
  /** Memory of bodies and of `written`, plus ENTRY_BYTES per entry. */
  memoryBytes: number;
}

/**
 * The queue is shortened when at least this many of its slots, and at least half, are evicted; or
 * when as many of its entries are dead.
 */
const MAX_EMPTY = 1024;
/**
 * Memory of an entry besides its body and `written` (measured): two hashes, the object, and its
 * slots in the queue and the map.
 */
const ENTRY_BYTES = 400;
/** Approximate size in bytes of a record in a file without the texts in it. */
const BARE_RECORD_BYTES = 120;

export interface IdempotencyStoreOptions {
  fs: Fs;
  dir: string;
  crc32c: Crc32c;
  committer: Committer;
  /** Called after each answer stored in a frame of its own. */
  committed: () => void;
  /** Epoch milliseconds. */
  now: () => number;
  limits: KeptAnswerLimits;
  notice?: ((message: string, fields: Record<string, unknown>) => void) | undefined;
}

export class IdempotencyStore {
  readonly #options: IdempotencyStoreOptions;
  readonly #files: ReplayFiles;
  readonly #byId = new Map<string, Kept>();
  readonly #contentTypes = new Map<string, string>();
  #queue: Kept[] = [];
  /** Queue index of the oldest entry. */
  #first = 0;
  /** Queue index of the oldest entry that may have a body to drop. */
  #firstBody = 0;
  /** Number of queued entries that are not alive. */
  #dead = 0;
  /** Memory of bodies that can be dropped. */
  #heldBytes = 0;
  /** Memory of small bodies and of `written`, which are kept as long as their key. */
  #smallBytes = 0;
  #newestLsn = 0;
  /**
   * Latest time of an entry or of a call to `time`, so that the times of entries never decrease.
   */
  #latest = 0;
  #writtenLsn = 0;
  /** Whether the files contain records that are no longer needed or larger than necessary. */
  #shrunk = false;

  constructor(options: IdempotencyStoreOptions) {
    const { fs, dir, crc32c, limits, notice } = options;
    assert(limits.ageMs > 0 && limits.entries > 0 && limits.fileBytes > 0, 'limits of stored answers are positive');
    this.#options = options;
    this.#files = new ReplayFiles({ fs, dir, crc32c, fileBytes: limits.fileBytes, notice });
  }

  /**
   * Returns the durable answer stored under `id`, if it is at most 24 hours old. Throws
   * `answers_damaged` if no answer is known, but a damaged file may have contained one.
   */
  find(id: string): KeptAnswer | undefined {
    const kept = this.#byId.get(id);
    if (kept === undefined || this.#isOld(kept.at)) {
      this.#assertNotLost();
      return undefined;
    }
    if (kept.lsn > this.#options.committer.visibleLsn) return undefined;
    return { ...entryOf(kept), lsn: kept.lsn };
  }

  /**
   * Returns the time for a new answer in epoch milliseconds, which is never before the time of an
   * older one.
   */
  time(): number {
    this.#latest = Math.max(this.#latest, this.#options.now());
    return this.#latest;
  }

  /** Time until which unknown keys are refused, epoch milliseconds; null if nothing was lost. */
  get damagedUntil(): number | null {
    const { ageMs } = this.#options.limits;
    const now = this.#options.now();
    const ends = this.#files.lost.map(({ newestAt }) => newestAt + ageMs).filter((end) => end >= now);
    return ends.length === 0 ? null : Math.max(...ends);
  }

  get figures(): KeptAnswerFigures {
    return {
      entries: this.#byId.size,
      memoryBytes: this.#heldBytes + this.#smallBytes + this.#byId.size * ENTRY_BYTES,
    };
  }

  #assertNotLost(): void {
    const until = this.damagedUntil;
    if (until === null) return;
    throw refusal(
      'answers_damaged',
      `A file of stored answers is damaged, so it is not known whether a request with this Idempotency-Key was carried out, and it was not run now. Check whether its write was made; if you are sure that it was not, send the request without an Idempotency-Key. Keys are accepted again after epoch second ${Math.ceil(until / 1000)}, or when the file is restored (hedgerow verify names it) and the server restarted.`,
    );
  }

  /**
   * Stores an answer in a frame of its own, for work that is not logged as a single frame. Resolves
   * when the answer is durable.
   */
  async store(entry: AnswerToKeep): Promise<void> {
    const { committer, committed } = this.#options;
    const { durable } = await committer.write(() => committer.commit(0, [], { entry, urgent: true }));
    await durable;
    committed();
  }

  #isOld(at: number): boolean {
    return at < this.#options.now() - this.#options.limits.ageMs;
  }

  /**
   * Keeps an answer that is in the log at `lsn`, which must be above the LSNs of all earlier
   * answers.
   */
  add(entry: AnswerToKeep, lsn: number): void {
    this.#add(entry, lsn, 0);
    this.#evict();
  }

  #add(entry: AnswerToKeep, lsn: number, recordBytes: number): void {
    assert(lsn > this.#newestLsn, `the answer at LSN ${lsn} comes after that at LSN ${this.#newestLsn}`);
    this.#newestLsn = lsn;
    // An entry made while the clock was ahead must not look expired once the clock is correct.
    this.#latest = Math.max(this.#latest, entry.at);
    const { id, bodyHash, status, contentType } = entry;
    const written = entry.written && JSON.stringify(entry.written);
    const body = keptBody(entry.body);
    const heldBytes = body === null || body.length <= SMALL_BODY_LENGTH ? 0 : memoryOf(body);
    const at = this.#latest;
    const type = this.#sameText(contentType);
    // biome-ignore format: one line for each would be longer than what it does.
    const kept: Kept = { id, bodyHash, status, contentType: type, body, at, written, lsn, heldBytes, recordBytes, isAlive: true };
    const older = this.#byId.get(id);
    if (older !== undefined) this.#replace(older);
    this.#queue.push(kept);
    this.#byId.set(id, kept);
    this.#heldBytes += heldBytes;
    this.#smallBytes += smallBytes(kept);
  }

  /** Returns the same string object for equal content types, of which there are few. */
  #sameText(contentType: string): string {
    const known = this.#contentTypes.get(contentType);
    if (known === undefined) this.#contentTypes.set(contentType, contentType);
    return known ?? contentType;
  }

  /** Marks an entry as dead because a newer answer has the same id. */
  #replace(older: Kept): void {
    this.#letGoBody(older);
    this.#smallBytes -= smallBytes(older);
    older.isAlive = false;
    this.#dead++;
    this.#shrunk = true;
  }

  #letGoBody(kept: Kept): void {
    if (kept.heldBytes === 0) return;
    this.#heldBytes -= kept.heldBytes;
    kept.heldBytes = 0;
    kept.body = null;
    kept.recordBytes = Math.min(kept.recordBytes, stubBytes(kept));
    this.#shrunk = true;
  }

  #evict(): void {
    const { entries, bodyBytes } = this.#options.limits;
    for (; this.#first < this.#queue.length; this.#first++) {
      const oldest = this.#queue[this.#first]!;
      if (oldest.isAlive) {
        if (this.#byId.size <= entries && !this.#isOld(oldest.at)) break;
        this.#letGoBody(oldest);
        this.#smallBytes -= smallBytes(oldest);
        assert(this.#byId.get(oldest.id) === oldest, 'an answer that is alive is found by its id');
        this.#byId.delete(oldest.id);
      } else this.#dead--;
      this.#shrunk = true;
      this.#queue[this.#first] = undefined as unknown as Kept;
    }
    this.#firstBody = Math.max(this.#firstBody, this.#first);
    while (this.#heldBytes > bodyBytes) this.#letGoBody(this.#queue[this.#firstBody++]!);
    this.#cutQueue();
    assert(this.#queue.length - this.#first - this.#dead === this.#byId.size, 'each id has one answer that is alive');
    assert(this.#heldBytes >= 0 && this.#smallBytes >= 0, 'the bytes of answers are counted in and out alike');
  }

  #cutQueue(): void {
    const isEmpty = this.#first >= MAX_EMPTY && this.#first * 2 >= this.#queue.length;
    const isDead = this.#dead >= MAX_EMPTY && this.#dead * 2 >= this.#queue.length - this.#first;
    if (!isEmpty && !isDead) return;
    this.#queue = this.#queue.slice(this.#first).filter((kept) => kept.isAlive);
    this.#first = 0;
    this.#dead = 0;
    // Entries whose bodies were already dropped are passed over again, which is harmless.
    this.#firstBody = 0;
  }

  // Recovery and the manifest

  /**
   * Reads all readable answers from the files that a manifest lists. The next `write` rewrites
   * damaged files.
   */
  load(stored: StoredReplays): void {
    const answers = this.#files.load(stored, this.#options.now());
    for (const { entry, lsn, bytes } of answers) this.#add(entry, lsn, bytes);
    this.#writtenLsn = stored.lsn;
    this.#newestLsn = Math.max(this.#newestLsn, stored.lsn);
    this.#evict();
  }

  /** Applies an operation from the log, unless its answer is already in a file. */
  replay(bytes: Uint8Array, lsn: number): void {
    if (lsn > this.#writtenLsn) this.add(decodeReplay(bytes, `log frame at LSN ${lsn}`, 0), lsn);
  }

  get orphans(): Orphans {
    return this.#files.orphans;
  }

  /**
   * Writes the answers read from damaged files to new files; called after the replay. If that
   * fails, nothing changes, and the next installation of a manifest tries again.
   */
  async settle(installManifest: () => Promise<unknown>): Promise<void> {
    if (!this.#files.mustRewrite) return;
    try {
      await installManifest();
      await this.removeDropped();
    } catch (error) {
      const detail = (error as Error).message;
      this.#options.notice?.('a damaged file of stored answers stays in its place for now', { detail });
    }
  }

  /**
   * Makes all answers up to `lsn` durable in files and returns the list of files for the manifest.
   * The cost grows with the number of new answers; if answers or bodies were dropped, there is also
   * a pass over all answers. Calls must not overlap. If this rejects, the manifest installed before
   * is still correct.
   */
  async write(lsn: number): Promise<StoredReplays> {
    this.#evict();
    const fresh = this.#queue.slice(this.#placeAfter(this.#writtenLsn), this.#placeAfter(lsn));
    let slice: AnswerRecord[] = [];
    let room = this.#files.room;
    for (const kept of fresh) {
      if (!kept.isAlive) continue;
      const record = recordOf(kept);
      slice.push(record);
      room -= kept.recordBytes;
      if (room > 0) continue;
      await this.#append(slice);
      slice = [];
      room = this.#files.room;
    }
    if (slice.length > 0) await this.#append(slice);
    this.#writtenLsn = Math.max(this.#writtenLsn, lsn);
    this.#files.forgetLost(({ newestAt }: LostReplayFile) => this.#isOld(newestAt));
    this.#files.dropBelow(this.#queue[this.#first]?.lsn ?? Infinity);
    if (this.#shrunk || this.#files.mustRewrite) {
      this.#shrunk = false;
      await this.#files.rewrite({
        needed: () => this.#inFiles(),
        records: (firstLsn, lastLsn) => this.#records(firstLsn, lastLsn),
      });
    }
    return { lsn: this.#writtenLsn, ...this.#files.stored() };
  }

  async #append(records: readonly AnswerRecord[]): Promise<void> {
    await this.#files.append(records);
    this.#writtenLsn = records.at(-1)!.lsn;
  }

  *#inFiles(): Generator<{ lsn: number; bytes: number }> {
    const end = this.#placeAfter(this.#writtenLsn);
    for (let place = this.#first; place < end; place++) {
      const { isAlive, lsn, recordBytes } = this.#queue[place]!;
      if (isAlive) yield { lsn, bytes: recordBytes };
    }
  }

  #records(firstLsn: number, lastLsn: number): AnswerRecord[] {
    const wanted = this.#queue.slice(this.#placeAfter(firstLsn - 1), this.#placeAfter(lastLsn));
    return wanted.filter((kept) => kept.isAlive).map(recordOf);
  }

  /** Returns the queue index of the first entry above `lsn`. */
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

  /** Removes the dropped files. Call this only when a manifest without them is durable. */
  removeDropped(): Promise<void> {
    return this.#files.removeDropped();
  }
}

function entryOf({ id, bodyHash, status, contentType, body, at, written }: Kept): AnswerToKeep {
  const entry = { id, bodyHash, status, contentType, body, at };
  return written === undefined ? entry : { ...entry, written: JSON.parse(written) as WrittenIds };
}

/** Returns the record for an answer in its current state; also stores the record's size. */
function recordOf(kept: Kept): AnswerRecord {
  const record = { lsn: kept.lsn, at: kept.at, payload: encodeReplay(entryOf(kept)) };
  kept.recordBytes = recordBytes(record);
  return record;
}

/** Returns the approximate size of a record without its body. */
function stubBytes({ id, bodyHash, contentType, written }: Kept): number {
  return BARE_RECORD_BYTES + id.length + bodyHash.length + contentType.length + (written?.length ?? 0);
}

/** Returns the memory of `written` and, if the body is small, of the body. */
function smallBytes({ body, heldBytes, written }: Kept): number {
  return (heldBytes > 0 || body === null ? 0 : memoryOf(body)) + (written?.length ?? 0);
}

/**
 * Returns the memory of a string in bytes. ASCII strings take one byte per character, others at
 * most two. The result is at least the size in UTF-8.
 */
function memoryOf(body: string): number {
  const bytes = Buffer.byteLength(body);
  return bytes === body.length ? bytes : Math.max(bytes, 2 * body.length);
}
