// Lets readers follow what has changed: reads the committed frames of the log from an LSN on, and
// returns their operations as text. A reader keeps nothing in the log and holds a few frames at
// most; if it is so slow that its next frame is removed, it is told so.

import { RecordText } from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';
import type { LogFollower, LogFrame } from '../../storage/index.ts';
import type { TableSet } from '../catalog/table-set.ts';
import type { Committer } from '../commit/committer.ts';
import type { EngineContext } from '../context.ts';
import type { EngineOptions } from '../engine-options.ts';
import { ChangeTail } from './change-tail.ts';
import { type ChangeText, changesOf, type FrameReading } from './frame-changes.ts';
import { changesOfInserts, insertsFrom } from './single-inserts.ts';

export interface ChangeFeedOptions {
  readonly context: EngineContext;
  readonly tables: TableSet;
  readonly schedule: EngineOptions['schedule'];
}

/** Characters of text after which a reader returns what it has. */
const ENOUGH_TEXT = 64 * 1024;
/** Number of frames after which a reader pauses; to read a small one takes about 20 us. */
const FRAMES_A_STEP = 32;
/** A reader pauses after each part of a commit with at least this many changes. */
const MANY_CHANGES = 64;
/** Frames with more bytes than this are counted. */
const LARGE_BYTES = 2 ** 18;
/** A reader holds a frame and a map of its ids, which take about this many times its bytes. */
const BYTES_OF_BYTE = 3;
/** Most bytes that all readers may hold; a single reader may hold more. */
const MOST_HELD_BYTES = 2 ** 28;
/** Most bytes of changes that are kept for those who follow them, of all tails together. */
const MOST_TAIL_BYTES = 2 ** 24;

export class ChangeFeed {
  readonly #options: ChangeFeedOptions;
  #records: RecordText | undefined;
  /** Estimated memory in bytes of the large frames that readers hold. */
  heldBytes = 0;
  /** Number of readers that are open. */
  readers = 0;
  /** The tails that are followed, by table; under `undefined`, the one of all tables. */
  readonly #tails = new Map<number | undefined, ChangeTail>();

  constructor(options: ChangeFeedOptions) {
    this.#options = options;
  }

  /** Whether changes are recorded for readers. */
  get isKept(): boolean {
    return this.#options.context.history.isKept;
  }

  /** The oldest LSN after which all changes are still known. */
  get oldestLsn(): number {
    const { committer, history } = this.#options.context;
    return Math.max(committer.log.oldestLsn, history.fromLsn) - 1;
  }

  /**
   * Returns a reader of the changes after `fromLsn`; by default, of all that are still known. With
   * `table`, only of changes to this table. Throws `lsn_gone` if changes after `fromLsn` are no
   * longer known, `lsn_ahead` if `fromLsn` was never assigned, `invalid_input` if no changes are
   * kept, and `table_not_found`.
   */
  read(fromLsn: number | undefined, table?: string): ChangeReader {
    const { tables } = this.#options;
    const { visibleLsn } = this.#options.context.committer;
    if (!this.isKept)
      throw new HedgerowError('invalid_input', 'No changes are kept: keeping them is turned off.', {
        fields: { settings: ['changesKeepSeconds'] },
      });
    const tableId = table === undefined ? undefined : tables.get(table).id;
    const from = fromLsn ?? this.oldestLsn;
    if (from > visibleLsn)
      throw new HedgerowError(
        'lsn_ahead',
        `The newest LSN is ${visibleLsn}, so LSN ${from} is of another history: the database was restored, perhaps. Read all rows again, then the changes after their LSN.`,
        { fields: { last_lsn: visibleLsn } },
      );
    this.assertKept(from);
    return this.#open(from, tableId);
  }

  #open(fromLsn: number, tableId: number | undefined): ChangeReader {
    const { tables } = this.#options;
    const { committer, history, residency, pauses } = this.#options.context;
    this.#records ??= new RecordText(residency.instance());
    const reading: FrameReading = {
      definitionAt: (id, lsn) => history.definitionAt(id, lsn, tables.byId(id)?.definition),
      records: this.#records,
      nodes: this.#options.context.nodes,
      tableId,
    };
    this.readers++;
    return new ChangeReader(this, committer, reading, pauses.changes, fromLsn);
  }

  /**
   * Returns the tail of the reader's table if it has, or will have, the changes after those that
   * the reader has returned; otherwise undefined, and the reader must read on. The caller has
   * joined the tail, closes the reader, and leaves the tail at the end.
   */
  joinTail({ tableId, lsn }: ChangeReader): ChangeTail | undefined {
    let tail = this.#tails.get(tableId);
    if (tail === undefined) {
      tail = this.#newTail(lsn, tableId);
      this.#tails.set(tableId, tail);
    }
    if (!tail.has(lsn)) return undefined;
    tail.join();
    return tail;
  }

  #newTail(fromLsn: number, tableId: number | undefined): ChangeTail {
    const { context, schedule } = this.#options;
    const { committer, residency } = context;
    return new ChangeTail({
      reader: this.#open(fromLsn, tableId),
      committer,
      after: (ms) => new Promise((resolve) => schedule(resolve, ms)),
      mostBytes: () => MOST_TAIL_BYTES / this.#tails.size,
      charge: (bytes) => residency.charge(bytes),
      ended: () => this.#tails.delete(tableId),
    });
  }

  /**
   * Returns a reader of the changes after `lsn` of the same table as `reader`, which is closed.
   * Throws `lsn_gone`.
   */
  again({ tableId }: ChangeReader, lsn: number): ChangeReader {
    this.assertKept(lsn);
    return this.#open(lsn, tableId);
  }

  /** Throws `lsn_gone` if changes after `lsn` are no longer known. */
  assertKept(lsn: number): void {
    const { oldestLsn } = this;
    if (lsn >= oldestLsn) return;
    throw new HedgerowError(
      'lsn_gone',
      `Changes after LSN ${lsn} are no longer kept; the oldest LSN to read from is ${oldestLsn}. Read all rows again, then the changes after their LSN.`,
      { fields: { oldest_lsn: oldestLsn } },
    );
  }
}

export class ChangeReader {
  readonly #feed: ChangeFeed;
  readonly #committer: Committer;
  readonly #reading: FrameReading;
  readonly #pause: () => Promise<void>;
  readonly #follower: LogFollower;
  /** Changes up to this LSN were returned, or are not of the table. */
  #lsn: number;
  #frames: readonly LogFrame[] = [];
  /** The place of the frame that is being read. */
  #frameAt = 0;
  #changes: Generator<ChangeText[], void, void> | undefined;
  /** The last change that was read: whether it ends its commit is known when the next one is. */
  #held: ChangeText | undefined;
  #ready: ChangeText[] = [];
  /** The place of the next change in `#ready`. */
  #readyAt = 0;
  /** Whether each change in `#ready` is a commit. */
  #areCommits = false;
  /** Number of frames that were read since the last pause. */
  #sincePause = 0;
  #closed = false;
  #heldBytes = 0;

  constructor(
    feed: ChangeFeed,
    committer: Committer,
    reading: FrameReading,
    pause: () => Promise<void>,
    fromLsn: number,
  ) {
    this.#feed = feed;
    this.#committer = committer;
    this.#reading = reading;
    this.#pause = pause;
    this.#lsn = fromLsn;
    this.#follower = committer.log.follow(fromLsn + 1);
  }

  /** Undefined if the reader returns the changes of all tables. */
  get tableId(): number | undefined {
    return this.#reading.tableId;
  }

  /** All changes up to this LSN were returned. */
  get lsn(): number {
    return this.#lsn;
  }

  /**
   * Resolves with the next changes, at most `limit`, each as a JSON object; with none if there is
   * no further one yet. Do not call it again before it has settled. Rejects with `lsn_gone`, or
   * with `corrupt` if the log is damaged.
   */
  async next(limit: number): Promise<{ readonly lsn: number; readonly text: string }[]> {
    const given: { lsn: number; text: string }[] = [];
    let length = 0;
    while (!this.#closed && given.length < limit && length < ENOUGH_TEXT) {
      const change = this.#ready[this.#readyAt];
      if (change === undefined) {
        this.#ready = [];
        this.#readyAt = 0;
        if (!(await this.#more())) break;
        continue;
      }
      this.#readyAt++;
      const isLast = this.#areCommits || (this.#readyAt === this.#ready.length && this.#isCommitOver);
      const text = isLast ? `${change.text},"commit_end":true}` : `${change.text}}`;
      this.#lsn = change.lsn;
      length += text.length;
      given.push({ lsn: change.lsn, text });
    }
    return given;
  }

  get #isCommitOver(): boolean {
    return this.#changes === undefined;
  }

  /** Reads on; returns false if there is nothing more yet. */
  async #more(): Promise<boolean> {
    if (this.#changes === undefined) {
      const frame = this.#frames[this.#frameAt];
      if (frame === undefined) return this.#nextFrames();
      if (await this.#insertedOnly()) return true;
      this.#changes = changesOf(frame, this.#reading, this.#lsn);
    }
    const step = this.#changes.next();
    if (step.done === true) {
      const frame = this.#frames[this.#frameAt]!;
      this.#pass(1);
      this.#changes = undefined;
      if (this.#held === undefined) this.#lsn = Math.max(this.#lsn, frame.firstLsn + frame.operations - 1);
      else this.#ready.push(this.#held);
      this.#held = undefined;
      if (++this.#sincePause >= FRAMES_A_STEP) await this.#rest();
      return true;
    }
    // One change is held back, so that the last one of the commit can be marked.
    for (const change of step.value) {
      if (change.lsn <= this.#lsn) continue;
      if (this.#held !== undefined) this.#ready.push(this.#held);
      this.#held = change;
    }
    // Also if the changes were given before: a reader may begin inside a large commit.
    if (step.value.length === 0 || step.value.length >= MANY_CHANGES) await this.#rest();
    return true;
  }

  /** Reads the next frames if each is one insert; returns false if the next one is not. */
  async #insertedOnly(): Promise<boolean> {
    const inserts = insertsFrom(this.#frames, this.#frameAt, this.#reading);
    this.#areCommits = inserts !== undefined;
    if (inserts === undefined) return false;
    this.#ready = changesOfInserts(inserts, this.#reading);
    this.#pass(inserts.frames.length);
    await this.#rest();
    return true;
  }

  /** The next frames have been read. */
  #pass(frames: number): void {
    this.#frameAt += frames;
    if (this.#frameAt < this.#frames.length) return;
    this.#frames = [];
    this.#frameAt = 0;
    this.#hold(0);
  }

  #rest(): Promise<void> {
    this.#sincePause = 0;
    return this.#pause();
  }

  async #nextFrames(): Promise<boolean> {
    await this.#rest();
    // With durability `async`, reads see operations that the log may still lose.
    const upToLsn = Math.min(this.#committer.visibleLsn, this.#committer.log.durableLsn);
    try {
      this.#frames = await this.#follower.next(upToLsn);
      this.#frameAt = 0;
    } catch (error) {
      if (error instanceof HedgerowError && error.code === 'invalid_lsn') this.#feed.assertKept(this.#lsn);
      throw error;
    }
    if (this.#frames.length > 0) {
      const bytes = this.#frames.reduce((sum, { payload }) => sum + payload.length, 0);
      if (bytes > LARGE_BYTES && !this.#closed) this.#hold(bytes * BYTES_OF_BYTE);
      return true;
    }
    this.#lsn = Math.max(this.#lsn, upToLsn);
    return false;
  }

  /** Counts what the reader holds. Throws `overloaded` if all readers together hold too much. */
  #hold(bytes: number): void {
    this.#feed.heldBytes += bytes - this.#heldBytes;
    this.#heldBytes = bytes;
    if (bytes === 0 || this.#feed.heldBytes === bytes || this.#feed.heldBytes <= MOST_HELD_BYTES) return;
    this.#hold(0);
    this.#frames = [];
    throw new HedgerowError(
      'overloaded',
      'Too many readers of changes are inside very large commits. Try again shortly from the last LSN.',
    );
  }

  /** Frees the reader. A second call does nothing. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#feed.readers--;
    this.#hold(0);
    this.#follower.close();
  }
}
