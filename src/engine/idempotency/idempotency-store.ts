// The answers kept under Idempotency-Keys: in memory by id, durable in the frames of their writes, later in files of their own (storage/FORMAT.md).
//
// A key is known for 24 hours, or until 100,000 newer ones are; what it answered is kept as long as all bodies together stay under a budget, the oldest large
// ones go first. So a retry is never run again: it gets its answer, or learns that it was done. A key that is not known while a damaged file may have held it
// is refused.
//
// Invariants: entries are kept in LSN order and their times never decrease, whatever the clock does; those up to #writtenLsn are in the files, those above in
// the log; the oldest go first. A manifest is installed only after write() made everything up to its LSN durable in files.

import { strict as assert } from 'node:assert';
import { refusal } from '../../errors.ts';
import { type Crc32c, type Fs, recordBytes } from '../../storage/index.ts';
import type { Orphans } from '../checkpoint/orphans.ts';
import type { Committer } from '../commit/committer.ts';
import { type AnswerRecord, type LostReplayFile, ReplayFiles, type StoredReplays } from './answer-files.ts';
import {
  type AnswerToKeep,
  decodeReplay,
  encodeReplay,
  type KeptAnswer,
  keptBody,
  SMALL_BODY_LENGTH,
  type WrittenIds,
} from './kept-answer.ts';

/** How much is kept (contract section 1), and how large a file grows. */
export interface KeptAnswerLimits {
  ageMs: number;
  entries: number;
  /** Of all bodies that are longer than SMALL_BODY_LENGTH, as they lie in memory. */
  bodyBytes: number;
  fileBytes: number;
}

export const REPLAY_LIMITS: KeptAnswerLimits = {
  ageMs: 24 * 3600 * 1000,
  entries: 100_000,
  bodyBytes: 64 * 2 ** 20,
  fileBytes: 4 * 2 ** 20,
};

// One for each of 100,000 keys: flat, and without what can be computed.
interface Kept {
  readonly id: string;
  readonly bodyHash: string;
  readonly status: number;
  readonly contentType: string;
  body: string | null;
  readonly at: number;
  /** WrittenIds as JSON, which takes less memory than the value. */
  readonly written: string | undefined;
  readonly lsn: number;
  /** Bytes of memory that the body counts for. */
  heldBytes: number;
  /** That the record takes in a file, as far as that is known. */
  recordBytes: number;
  /** False: a newer answer has the id. */
  isAlive: boolean;
}

/** What is kept, for figures. */
export interface KeptAnswerFigures {
  entries: number;
  /** Of bodies and ids as they lie in memory, and ENTRY_BYTES for each entry. */
  memoryBytes: number;
}

/** Places at the front of the queue that may be empty before it is cut. */
const MAX_EMPTY = 1024;
/**
 * Memory of an entry besides its body and ids: two hashes, the object, its places in queue and map
 * (measured).
 */
const ENTRY_BYTES = 400;
/** Bytes of a record besides its texts. */
const BARE_RECORD_BYTES = 120;

export interface IdempotencyStoreOptions {
  fs: Fs;
  dir: string;
  crc32c: Crc32c;
  committer: Committer;
  /** Told after every answer that was stored alone. */
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
  /** Place of the oldest entry in the queue. */
  #first = 0;
  /** Place of the oldest entry that may have a body to let go. */
  #firstBody = 0;
  /** Entries in the queue that are not alive. */
  #dead = 0;
  /** Of bodies that can be let go. */
  #heldBytes = 0;
  /** Of everything that stays as long as its key. */
  #smallBytes = 0;
  #newestLsn = 0;
  /** The latest time seen: times of entries never decrease. */
  #latest = 0;
  #writtenLsn = 0;
  /** Records in files are larger than they need be, or not needed. */
  #shrunk = false;

  constructor(options: IdempotencyStoreOptions) {
    const { fs, dir, crc32c, limits, notice } = options;
    assert(limits.ageMs > 0 && limits.entries > 0 && limits.fileBytes > 0, 'limits of stored answers are positive');
    this.#options = options;
    this.#files = new ReplayFiles({ fs, dir, crc32c, fileBytes: limits.fileBytes, notice });
  }

  /**
   * The durable answer stored under `id`, not older than 24 hours. Throws `answers_damaged` when it
   * is not known and may have been lost.
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

  /** The time for new answers, epoch milliseconds: never before that of an older one. */
  time(): number {
    this.#latest = Math.max(this.#latest, this.#options.now());
    return this.#latest;
  }

  /** Until when keys that are not known are refused, epoch milliseconds; null: nothing was lost. */
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
      `A file of stored answers is damaged, so it is not known whether a request with this Idempotency-Key was carried out, and it was not run now. Look whether its write is there; if it surely is not, send it without an Idempotency-Key. Keys are taken again after epoch second ${Math.ceil(until / 1000)}, or when the file is restored (hedgerow verify names it) and the server restarted.`,
    );
  }

  /**
   * Stores an answer in a frame of its own, for work that is no single frame; resolves when it is
   * durable.
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

  /** Keeps an answer that is in the log at `lsn`, above all before it. */
  add(entry: AnswerToKeep, lsn: number): void {
    this.#add(entry, lsn, 0);
    this.#evict();
  }

  #add(entry: AnswerToKeep, lsn: number, recordBytes: number): void {
    assert(lsn > this.#newestLsn, `the answer at LSN ${lsn} comes after that at LSN ${this.#newestLsn}`);
    this.#newestLsn = lsn;
    // An entry made while the clock was wrong must not look old when it is right again.
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

  /** Entries share the few content types. */
  #sameText(contentType: string): string {
    const known = this.#contentTypes.get(contentType);
    if (known === undefined) this.#contentTypes.set(contentType, contentType);
    return known ?? contentType;
  }

  /** A newer answer takes the id. */
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
    // Those whose bodies were let go are passed over once more.
    this.#firstBody = 0;
  }

  // Recovery and the manifest

  /**
   * Reads the files of a manifest: all that can be read. What cannot is set aside by the next
   * `write`.
   */
  load(stored: StoredReplays): void {
    const answers = this.#files.load(stored, this.#options.now());
    for (const { entry, lsn, bytes } of answers) this.#add(entry, lsn, bytes);
    this.#writtenLsn = stored.lsn;
    this.#newestLsn = Math.max(this.#newestLsn, stored.lsn);
    this.#evict();
  }

  /** Takes an operation of the log, unless a file has it. */
  replay(bytes: Uint8Array, lsn: number): void {
    if (lsn > this.#writtenLsn) this.add(decodeReplay(bytes, `log frame at LSN ${lsn}`, 0), lsn);
  }

  get orphans(): Orphans {
    return this.#files.orphans;
  }

  /**
   * After an open: puts what was read of damaged files into whole ones. A failure leaves everything
   * as it is, for the next manifest.
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
   * Makes all answers up to `lsn` durable in files and says what the manifest must list; its cost follows the new ones and the bodies let go. Calls do not
   * overlap. When it rejects, the manifest that is installed still says the truth.
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

  /**
   * Removes the files that were let go. To be called when the manifest without them is surely on
   * the disk.
   */
  removeDropped(): Promise<void> {
    return this.#files.removeDropped();
  }
}

function entryOf({ id, bodyHash, status, contentType, body, at, written }: Kept): AnswerToKeep {
  const entry = { id, bodyHash, status, contentType, body, at };
  return written === undefined ? entry : { ...entry, written: JSON.parse(written) as WrittenIds };
}

/** The record of an answer as it is now; its size is known from here on. */
function recordOf(kept: Kept): AnswerRecord {
  const record = { lsn: kept.lsn, at: kept.at, payload: encodeReplay(entryOf(kept)) };
  kept.recordBytes = recordBytes(record);
  return record;
}

/** About what the record takes without its body. */
function stubBytes({ id, bodyHash, contentType, written }: Kept): number {
  return BARE_RECORD_BYTES + id.length + bodyHash.length + contentType.length + (written?.length ?? 0);
}

/** Of a small body and of ids. */
function smallBytes({ body, heldBytes, written }: Kept): number {
  return (heldBytes > 0 || body === null ? 0 : memoryOf(body)) + (written?.length ?? 0);
}

/**
 * A text of ASCII takes a byte a character in memory, any other at most two; never less than its
 * UTF-8 is counted as.
 */
function memoryOf(body: string): number {
  const bytes = Buffer.byteLength(body);
  return bytes === body.length ? bytes : Math.max(bytes, 2 * body.length);
}
