// The committer: the one door to the log. Gives it frames, has them applied in memory, and tells those who wait when their LSN is durable, which is when
// readers see it.
//
// Invariants: what a frame does in memory is reserved before the frame is appended, so that from the append to the end of applying nothing can throw (design.md,
// invariant 13). When applying throws all the same, memory does not say what the log says: the frame is never seen, and writes are refused until a restart, which
// reads the log. Otherwise the next compaction could vouch for rows that no segment has.

import { assert } from '../../assert.ts';
import { HedgerowError } from '../../errors.ts';
import type { LogStore } from '../../storage/index.ts';
import { type AnswerToKeep, encodeReplay } from '../idempotency/kept-answer.ts';
import type { LsnWaits } from './lsn-waits.ts';
import { OPERATION, singleRun } from './operations.ts';

interface CommitOptions {
  entry?: AnswerToKeep | undefined;
  apply?: ((firstLsn: number) => void) | undefined;
  visible?: (() => void) | undefined;
  /** It may take the last of the log's room, which is kept for what frees some. */
  urgent?: boolean;
}

const NO_OPTIONS: CommitOptions = {};

interface Waiter {
  lsn: number;
  /** What becomes visible with the LSN, before any of those who wait goes on. */
  apply: (() => void) | undefined;
  resolve: () => void;
  reject: (error: HedgerowError) => void;
}

/** Answered waiters that the queue may hold. */
const MAX_RESOLVED = 1024;

/** A frame that is in the log and applied. */
export interface CommittedFrame {
  /** LSN of its first operation. */
  firstLsn: number;
  /** Resolves when the frame is durable and visible; rejects when the log fails before. */
  durable: Promise<void>;
}

/** The log has no room for a frame of `payloadBytes` before more of the disk is prepared. Nothing was changed. */
class NoRoom extends Error {
  readonly payloadBytes: number;

  constructor(payloadBytes: number) {
    super('the log must be given room first');
    this.payloadBytes = payloadBytes;
  }
}

/** Takes the answers that are in frames. */
export interface KeptAnswerSink {
  add(entry: AnswerToKeep, lsn: number): void;
}

export class Committer {
  #log: LogStore | undefined;
  #replays: KeptAnswerSink | undefined;
  readonly #waits: LsnWaits;
  #waiters: Waiter[] = [];
  #first = 0;
  /** Newest LSN that snapshots see: all operations up to it may be answered. */
  visibleLsn = 0;
  failed: HedgerowError | null = null;
  /** While the log is replayed: the LSN reached, which is then the head. A compaction in between must not vouch for more. */
  replayedLsn: number | null = null;
  /** Somebody writes alone: resolves when that ends. */
  #alone: Promise<void> | undefined;
  /** Writes that wait for their turn, and the end of the last of them. */
  #queued = 0;
  #lastQueued: Promise<unknown> = Promise.resolve();
  /** What is above is not visible yet, though it may be durable: it is still being applied. */
  #ceilingLsn = Infinity;
  /** Newest LSN that the log told to be durable. */
  #toldLsn = 0;
  /** First LSN of a frame that is in the log and could not be applied: it and what follows is never seen. */
  #tornLsn = Infinity;

  constructor(waits: LsnWaits) {
    this.#waits = waits;
  }

  attach(log: LogStore, replays: KeptAnswerSink): void {
    assert(this.#log === undefined, 'a committer has one log for as long as it lives');
    this.#log = log;
    this.#replays = replays;
    this.visibleLsn = log.headLsn;
  }

  get log(): LogStore {
    return this.#log!;
  }

  /** Newest LSN given out; in a replay the newest one applied. */
  get headLsn(): number {
    return this.replayedLsn ?? this.#log!.headLsn;
  }

  /** Newest LSN that is durable and applied. */
  get durableLsn(): number {
    return this.replayedLsn ?? this.#log!.durableLsn;
  }

  /** Somebody writes alone. */
  get isTaken(): boolean {
    return this.#alone !== undefined;
  }

  /** Resolves when the one who writes alone now has ended; another may have begun since. */
  free(): Promise<void> {
    return this.#alone ?? Promise.resolve();
  }

  /**
   * Runs `work` while nobody else may append: the one frame that it appends, by `appendInSlices`, is applied in as many turns as that takes, and visible when
   * `work` has ended. When it throws behind the append, memory does not say what the log says: writes are refused then, and the frame stays invisible.
   */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    while (this.#alone !== undefined) await this.#alone;
    let end = () => {};
    this.#alone = new Promise((resolve) => {
      end = resolve;
    });
    try {
      return await work();
    } catch (cause) {
      throw this.#ceilingLsn === Infinity ? cause : this.#tear(this.#ceilingLsn + 1, cause);
    } finally {
      this.#alone = undefined;
      this.#ceilingLsn = Infinity;
      // Before those who wait go on: they see what was applied.
      if (this.#toldLsn > this.visibleLsn) this.onDurable(this.#toldLsn);
      end();
    }
  }

  /** Tears: the frame from `lsn` on is in the log, and memory does not say what it says. */
  #tear(lsn: number, cause: unknown): HedgerowError {
    this.#tornLsn = Math.min(this.#tornLsn, lsn);
    const error = new HedgerowError(
      'log_failed',
      `A commit is in the log, but could not be applied in memory (${(cause as Error).message}). Reads go on, writes are refused. Restart: the log is whole.`,
      { cause },
    );
    this.refuse(error);
    this.#rejectFrom(lsn, error);
    return error;
  }

  /** Those who wait for an LSN from `lsn` on wait for nothing; they are the last of the queue. */
  #rejectFrom(lsn: number, error: HedgerowError): void {
    const waiters = this.#waiters;
    let end = waiters.length;
    while (end > this.#first && waiters[end - 1]!.lsn >= lsn) end--;
    for (const waiter of waiters.splice(end)) waiter.reject(error);
  }

  /**
   * Runs `stage`, which plans and commits in one turn of the event loop, when nobody writes alone and the log has room: at once where it can, otherwise in the
   * order of the calls. `stage` may run again, from its beginning, when its `commit` found no room. Throws (rejects) as `stage`, or `disk_full`: then nothing was
   * changed.
   */
  write<T>(stage: () => T): T | Promise<T> {
    if (this.#alone !== undefined || this.#queued > 0) return this.#enqueue(() => this.#writeLater(stage, undefined));
    try {
      return stage();
    } catch (error) {
      if (!(error instanceof NoRoom)) throw error;
      return this.#enqueue(() => this.#writeLater(stage, error));
    }
  }

  /** Resolves when no write waits for its turn. */
  async idle(): Promise<void> {
    while (this.#queued > 0) await this.#lastQueued;
  }

  /** Runs `work` after all that was enqueued before. */
  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    this.#queued++;
    const done = this.#lastQueued.then(work).finally(() => {
      this.#queued--;
    });
    this.#lastQueued = done.catch(() => undefined);
    return done;
  }

  async #writeLater<T>(stage: () => T, refused: NoRoom | undefined): Promise<T> {
    let noRoom = refused;
    for (;;) {
      if (noRoom !== undefined) await this.#log!.makeRoom(noRoom.payloadBytes);
      while (this.#alone !== undefined) await this.#alone;
      try {
        return stage();
      } catch (error) {
        if (!(error instanceof NoRoom)) throw error;
        noRoom = error;
      }
    }
  }

  /** As `append`, within `alone`, for a frame that is too large to be written into memory at once; nothing of it is visible before `alone` ends. */
  async appendInSlices(
    operations: number,
    parts: readonly Uint8Array[],
    entry: AnswerToKeep | undefined,
    pause: () => Promise<void>,
  ): Promise<number> {
    assert(this.#alone !== undefined, 'a frame is made in slices while nobody else writes');
    assert(this.#ceilingLsn === Infinity, 'one frame at a time is applied in slices');
    if (this.failed !== null) throw this.failed;
    const replay = entry === undefined ? [] : singleRun(OPERATION.replay, encodeReplay(entry));
    const all = [...parts, ...replay];
    // Until there is room nobody else may append, so the room that was made is there.
    const payloadBytes = all.reduce((sum, part) => sum + part.length, 0);
    while (!this.#log!.roomFor(payloadBytes, false)) await this.#log!.makeRoom(payloadBytes);
    const lsn = await this.#log!.appendInSlices(operations + (entry === undefined ? 0 : 1), all, pause);
    this.#ceilingLsn = lsn - 1;
    if (entry !== undefined) this.#replays!.add(entry, lsn + operations);
    return lsn;
  }

  /**
   * Appends one frame and applies it with `apply`, which is given the LSN of its first operation and needs nothing that could fail. To be called from a `stage` of
   * `write`, with all that `apply` needs reserved. `entry`, the answer to what the frame does, is one more operation at its end. `visible` runs in the moment the
   * frame becomes visible. Throws, with nothing changed, when the log does not take the frame.
   */
  commit(
    operations: number,
    parts: readonly Uint8Array[],
    { entry, apply, visible, urgent }: CommitOptions = NO_OPTIONS,
  ): CommittedFrame {
    if (this.failed !== null) throw this.failed;
    assert(this.#alone === undefined, 'nobody appends while another writes alone');
    const all = entry === undefined ? parts : [...parts, ...singleRun(OPERATION.replay, encodeReplay(entry))];
    this.#assertRoom(all, urgent === true);
    const total = entry === undefined ? operations : operations + 1;
    const firstLsn = this.#log!.append(total, all);
    assert(firstLsn > this.visibleLsn, 'a frame is not visible before it is applied');
    try {
      apply?.(firstLsn);
      if (entry !== undefined) this.#replays!.add(entry, firstLsn + operations);
    } catch (cause) {
      throw this.#tear(firstLsn, cause);
    }
    // The answer's own operation is no part of what is waited for, unless there is nothing else.
    return { firstLsn, durable: this.durable(firstLsn + Math.max(1, operations) - 1, visible) };
  }

  #assertRoom(parts: readonly Uint8Array[], urgent: boolean): void {
    let payloadBytes = 0;
    for (let index = 0; index < parts.length; index++) payloadBytes += parts[index]!.length;
    if (!this.#log!.roomFor(payloadBytes, urgent)) throw new NoRoom(payloadBytes);
  }

  /**
   * Resolves when `lsn`, which was just appended, is durable; rejects when the log fails before. `apply` runs in the moment the LSN becomes visible: nobody sees
   * the LSN without it.
   */
  durable(lsn: number, apply?: () => void): Promise<void> {
    assert(lsn > this.visibleLsn, 'an LSN is waited for before it is visible');
    if (this.failed !== null) return Promise.reject(this.failed);
    const last = this.#waiters[this.#waiters.length - 1];
    assert(last === undefined || last.lsn <= lsn, 'those who wait are in the order of their LSNs');
    return new Promise((resolve, reject) => {
      this.#waiters.push({ lsn, apply, resolve, reject });
    });
  }

  /** True when reads see `lsn` within so many milliseconds. */
  whenVisible(lsn: number, timeoutMs: number): Promise<boolean> {
    if (lsn <= this.visibleLsn) return Promise.resolve(true);
    return this.failed === null ? this.#waits.wait(lsn, timeoutMs) : Promise.resolve(false);
  }

  /** Called by the log, once a group. */
  onDurable(durableLsn: number): void {
    this.#toldLsn = durableLsn;
    const lsn = Math.min(durableLsn, this.#ceilingLsn, this.#tornLsn - 1);
    if (lsn <= this.visibleLsn) return;
    assert(lsn <= this.#log!.headLsn, 'nothing is visible that was never given out');
    this.visibleLsn = lsn;
    const waiters = this.#waiters;
    let at = this.#first;
    while (at < waiters.length && waiters[at]!.lsn <= lsn) {
      const waiter = waiters[at++]!;
      waiter.apply?.();
      waiter.resolve();
    }
    if (at === waiters.length) {
      this.#waiters = [];
      this.#first = 0;
    } else if (at >= MAX_RESOLVED) {
      // While writers overlap the queue is never empty: what was answered is let go all the same.
      this.#waiters = waiters.slice(at);
      this.#first = 0;
    } else this.#first = at;
    this.#waits.reached(lsn);
  }

  /** Refuses new writes from now on; what is in the log goes its way. */
  refuse(error: HedgerowError): void {
    this.failed ??= error;
  }

  /** Closes the log of a database that did not open. */
  async abandon(): Promise<void> {
    await this.#log?.close().catch(() => undefined);
  }

  /** Nobody waits for an LSN any longer: the database closes. */
  endWaits(): void {
    this.#waits.end();
  }

  onFailed(error: HedgerowError): void {
    this.failed = error;
    this.#waits.end();
    this.#rejectWaiters(error);
  }

  #rejectWaiters(error: HedgerowError): void {
    for (const waiter of this.#waiters.splice(this.#first)) waiter.reject(error);
    this.#waiters = [];
    this.#first = 0;
  }
}
