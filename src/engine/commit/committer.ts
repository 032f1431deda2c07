// The committer, the only writer of the log: appends frames, applies them in memory, and resolves
// waiting commits when their LSN is durable. From that moment on readers see them.
//
// Life of a commit: `write(stage)` runs `stage`, which validates, reserves memory and calls
// `commit()`, all in one event loop turn. `commit()` appends the frame to the log and immediately
// applies it to the memtables, under LSNs that no reader sees yet. The log writes and syncs frames
// in groups and calls `onDurable` once per group (with durability `async`: after the write, before
// the sync): `visibleLsn` advances, and the promises of all commits up to it resolve. A frame that
// is too large for one turn is appended and applied by an exclusive writer (`alone`). Until that
// writer ends, `visibleLsn` stays below the frame, even if the frame is already durable.
//
//   headLsn >= LSN reported by the log >= visibleLsn     (appended, durable, seen by readers)
//
// Invariants: the memory that a frame needs is reserved before the frame is appended, so that
// nothing can throw between the append and the end of applying. If applying throws nevertheless,
// memory no longer matches the log: the frame never becomes visible, and writes are refused until a
// restart replays the log. If writes continued, the next compaction could install a manifest that
// claims rows which no segment contains.

import { assert } from '../../assert.ts';
import { HedgerowError, refusal } from '../../errors.ts';
import type { AnswerToKeep } from '../../model/kept-answer.ts';
import type { LogStore } from '../../storage/index.ts';
import { encodeReplay } from '../idempotency/kept-answer.ts';
import type { LsnWaits } from './lsn-waits.ts';
import { OPERATION, singleRun } from './operations.ts';

/**
 * A frame of the leader's log that a follower commits as it is; its stored answer, if any, is among
 * its operations.
 */
export interface LedFrame {
  /** When the leader appended it, in epoch seconds. */
  readonly seconds: number;
}

interface CommitOptions {
  entry?: AnswerToKeep | undefined;
  apply?: ((firstLsn: number) => void) | undefined;
  visible?: (() => void) | undefined;
  /**
   * Whether the frame may use the space of the log that is reserved for operations that lead to
   * free disk space.
   */
  urgent?: boolean;
  led?: LedFrame | undefined;
}

const NO_OPTIONS: CommitOptions = {};

interface Waiter {
  lsn: number;
  /** Called when the LSN becomes visible, before any waiting commit resumes. */
  apply: (() => void) | undefined;
  resolve: () => void;
  reject: (error: HedgerowError) => void;
}

/** The queue of waiters is shortened when this many at its front are settled. */
const MAX_RESOLVED = 1024;

/** A frame that has been appended to the log and applied. */
export interface CommittedFrame {
  /** LSN of the frame's first operation. */
  firstLsn: number;
  /** Resolves when the frame is durable and visible; rejects if the log fails first. */
  durable: Promise<void>;
}

/**
 * Thrown when the log has no room for a frame of `payloadBytes` until it preallocates more disk
 * space. Nothing was changed.
 */
class NoRoom extends Error {
  readonly payloadBytes: number;

  constructor(payloadBytes: number) {
    super('the log must be given room first');
    this.payloadBytes = payloadBytes;
  }
}

/** Receives the stored answers contained in frames. */
export interface KeptAnswerSink {
  add(entry: AnswerToKeep, lsn: number): void;
}

export class Committer {
  #log: LogStore | undefined;
  #replays: KeptAnswerSink | undefined;
  readonly #waits: LsnWaits;
  #waiters: Waiter[] = [];
  #first = 0;
  /** Newest LSN that snapshots see; operations up to it may be acknowledged. */
  visibleLsn = 0;
  failed: HedgerowError | null = null;
  #isFollower: boolean;
  /**
   * During replay: the LSN reached so far, which counts as the head of the log, because a
   * compaction during replay must not claim more than that. Null when there is no replay.
   */
  replayedLsn: number | null = null;
  /** Resolves when the current exclusive writer ends; undefined if there is none. */
  #alone: Promise<void> | undefined;
  /** Number of queued writes, and a promise that resolves when the last of them has settled. */
  #queued = 0;
  #lastQueued: Promise<unknown> = Promise.resolve();
  /**
   * Upper bound of the visible LSN: frames above it are still being applied, though they may be
   * durable.
   */
  #ceilingLsn = Infinity;
  /** Newest LSN that the log has reported durable. */
  #toldLsn = 0;
  /**
   * First LSN of a frame that is in the log but could not be applied; this and all later LSNs never
   * become visible.
   */
  #tornLsn = Infinity;

  constructor(waits: LsnWaits, isFollower = false) {
    this.#waits = waits;
    this.#isFollower = isFollower;
  }

  /** Whether this database follows a leader: it commits only the frames of the leader's log. */
  get isFollower(): boolean {
    return this.#isFollower;
  }

  /** Ends following: from now on, this database commits writes of its own. */
  lead(): void {
    assert(this.visibleLsn === this.headLsn, 'everything of the leader is visible before another one leads');
    this.#isFollower = false;
  }

  /** Throws `not_leader` if this database follows a leader, so that only the leader can write. */
  assertLeads(): void {
    if (this.isFollower) throw refusal('not_leader', 'This database follows another one; write to its leader.');
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

  /** Newest LSN assigned; during replay, the newest one applied. */
  get headLsn(): number {
    return this.replayedLsn ?? this.#log!.headLsn;
  }

  /** Newest durable LSN; during replay, the newest one applied. */
  get durableLsn(): number {
    return this.replayedLsn ?? this.#log!.durableLsn;
  }

  /** Whether an exclusive writer is active. */
  get isTaken(): boolean {
    return this.#alone !== undefined;
  }

  /** Resolves when the current exclusive writer ends; by then another may have begun. */
  free(): Promise<void> {
    return this.#alone ?? Promise.resolve();
  }

  /**
   * Runs `work` as the exclusive writer: nobody else may append meanwhile. `work` may append one
   * frame with `appendInSlices` and apply it over several event loop turns; the frame becomes
   * visible when `work` ends. If `work` throws after the append, memory no longer matches the log:
   * writes are refused and the frame stays invisible.
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
      // This precedes `end()`, so that the writers that resume then see what was applied.
      if (this.#toldLsn > this.visibleLsn) this.onDurable(this.#toldLsn);
      end();
    }
  }

  /**
   * Records that memory does not match the log from LSN `lsn` on, and refuses writes from now on.
   */
  #tear(lsn: number, cause: unknown): HedgerowError {
    this.#tornLsn = Math.min(this.#tornLsn, lsn);
    const error = new HedgerowError(
      'log_failed',
      `A commit is in the log, but could not be applied in memory (${(cause as Error).message}). Reads go on, writes are refused. Restart: the log is complete.`,
      { cause },
    );
    this.refuse(error);
    this.#rejectFrom(lsn, error);
    return error;
  }

  /** Rejects the waiters for `lsn` and all later LSNs, which are at the end of the queue. */
  #rejectFrom(lsn: number, error: HedgerowError): void {
    const waiters = this.#waiters;
    let end = waiters.length;
    while (end > this.#first && waiters[end - 1]!.lsn >= lsn) end--;
    for (const waiter of waiters.splice(end)) waiter.reject(error);
  }

  /**
   * Runs `stage`, which plans a frame and calls `commit` in one event loop turn. If there is an
   * exclusive writer or other writes are queued, `stage` is queued and runs in call order;
   * otherwise it runs immediately. If `commit` finds no room in the log, `stage` runs again from
   * its beginning once there is room. If `write` fails (with the error of `stage` or with
   * `disk_full`), nothing was changed, unless the frame was logged but could not be applied
   * (`#tear`).
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

  /** Resolves when no write is queued. */
  async idle(): Promise<void> {
    while (this.#queued > 0) await this.#lastQueued;
  }

  /** Runs `work` after all writes that are queued already. */
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

  /**
   * Appends the frame of an exclusive writer slice by slice, because it is too large to be copied
   * in one turn. Resolves with the frame's first LSN. Nothing of the frame becomes visible before
   * `alone` ends.
   */
  async appendInSlices(
    operations: number,
    parts: readonly Uint8Array[],
    entry: AnswerToKeep | undefined,
    pause: () => Promise<void>,
    led?: LedFrame,
  ): Promise<number> {
    if (led === undefined) this.assertLeads();
    assert(this.#alone !== undefined, 'a frame is made in slices while nobody else writes');
    assert(this.#ceilingLsn === Infinity, 'one frame at a time is applied in slices');
    if (this.failed !== null) throw this.failed;
    const replay = entry === undefined ? [] : singleRun(OPERATION.replay, encodeReplay(entry));
    const all = [...parts, ...replay];
    // Nobody else appends meanwhile, so the room stays available once it has been made.
    const payloadBytes = all.reduce((sum, part) => sum + part.length, 0);
    while (!this.#log!.roomFor(payloadBytes, false)) await this.#log!.makeRoom(payloadBytes);
    const lsn = await this.#log!.appendInSlices(operations + (entry === undefined ? 0 : 1), all, pause, led?.seconds);
    this.#ceilingLsn = lsn - 1;
    if (entry !== undefined) this.#replays!.add(entry, lsn + operations);
    return lsn;
  }

  /**
   * Appends one frame and applies it with `apply`, which gets the LSN of the frame's first
   * operation and must not fail. Call `commit` only from a `stage` of `write`, after reserving all
   * memory that `apply` needs. `entry`, the stored answer to the frame's operations, becomes one
   * more operation at the end of the frame. `visible` runs when the frame becomes visible. If the
   * log does not accept the frame, throws without having changed anything.
   */
  commit(
    operations: number,
    parts: readonly Uint8Array[],
    { entry, apply, visible, urgent, led }: CommitOptions = NO_OPTIONS,
  ): CommittedFrame {
    if (led === undefined) this.assertLeads();
    if (this.failed !== null) throw this.failed;
    assert(this.#alone === undefined, 'nobody appends while another writes alone');
    const all = entry === undefined ? parts : [...parts, ...singleRun(OPERATION.replay, encodeReplay(entry))];
    this.#assertRoom(all, urgent === true);
    const total = entry === undefined ? operations : operations + 1;
    const firstLsn = this.#log!.append(total, all, led?.seconds);
    try {
      assert(firstLsn > this.visibleLsn, 'a frame is not visible before it is applied');
      apply?.(firstLsn);
      if (entry !== undefined) this.#replays!.add(entry, firstLsn + operations);
      // The caller waits for the last operation before the stored answer, or for the answer if it
      // is the only operation.
      return { firstLsn, durable: this.durable(firstLsn + Math.max(1, operations) - 1, visible) };
    } catch (cause) {
      throw this.#tear(firstLsn, cause);
    }
  }

  #assertRoom(parts: readonly Uint8Array[], urgent: boolean): void {
    let payloadBytes = 0;
    for (let index = 0; index < parts.length; index++) payloadBytes += parts[index]!.length;
    if (!this.#log!.roomFor(payloadBytes, urgent)) throw new NoRoom(payloadBytes);
  }

  /**
   * Resolves when `lsn`, which was just appended, is durable and visible; rejects if the log fails
   * first. `apply` runs at the moment the LSN becomes visible, so no reader sees the LSN without
   * the effect of `apply`.
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

  /** Resolves with true once reads see `lsn`, or with false after `timeoutMs` milliseconds. */
  whenVisible(lsn: number, timeoutMs: number): Promise<boolean> {
    if (lsn <= this.visibleLsn) return Promise.resolve(true);
    return this.failed === null ? this.#waits.wait(lsn, timeoutMs) : Promise.resolve(false);
  }

  /**
   * Makes frames visible. Called by the log once per durable group of frames, and at the end of
   * `alone`. A remote log may report an earlier group again, which changes nothing.
   */
  onDurable(durableLsn: number): void {
    this.#toldLsn = Math.max(this.#toldLsn, durableLsn);
    const lsn = Math.min(durableLsn, this.#ceilingLsn, this.#tornLsn - 1);
    if (lsn <= this.visibleLsn) return;
    assert(lsn <= this.#log!.headLsn, 'nothing is visible that was never given out');
    this.visibleLsn = lsn;
    this.#waits.visible(lsn);
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
      // While writers overlap, the queue is never empty, so the settled waiters are dropped here.
      this.#waiters = waiters.slice(at);
      this.#first = 0;
    } else this.#first = at;
    this.#waits.reached(lsn);
  }

  /** Refuses new writes from now on; frames already in the log are unaffected. */
  refuse(error: HedgerowError): void {
    this.failed ??= error;
  }

  /** Closes the log of a database that failed to open. */
  async abandon(): Promise<void> {
    await this.#log?.close().catch(() => undefined);
  }

  /** Ends all waits for LSNs because the database is closing. */
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
