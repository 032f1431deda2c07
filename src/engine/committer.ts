// The committer: gives operations to the log, and tells those who wait when their LSN is durable, which is when readers see it.

import { HedgerowError } from '../errors.ts';
import type { LogStore } from '../storage/log.ts';
import type { LsnWaits } from './lsn-waits.ts';
import { OPERATION, singleRun } from './operations.ts';
import { encodeReplay, type ReplayEntry } from './replay-entry.ts';

interface Waiter {
  lsn: number;
  /** What becomes visible with the LSN, before any of those who wait goes on. */
  apply: (() => void) | undefined;
  resolve: () => void;
  reject: (error: HedgerowError) => void;
}

/** Answered waiters that the queue may hold. */
const MAX_RESOLVED = 1024;

/** Takes the answers that stand in frames. */
export interface ReplaySink {
  add(entry: ReplayEntry, lsn: number): void;
}

export class Committer {
  #log: LogStore | undefined;
  #replays: ReplaySink | undefined;
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
  /** What is above is not visible yet, though it may be durable: it is still being applied. */
  #ceilingLsn = Infinity;
  /** Newest LSN that the log told to be durable. */
  #toldLsn = 0;

  constructor(waits: LsnWaits) {
    this.#waits = waits;
  }

  attach(log: LogStore, replays: ReplaySink): void {
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

  /** Somebody writes alone. Whoever wants to append: `while (committer.isTaken) await committer.free()`, and no other await before `append`. */
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
      const done = await work();
      this.#ceilingLsn = Infinity;
      return done;
    } catch (cause) {
      if (this.#ceilingLsn !== Infinity) this.#refuseFor(cause);
      throw cause;
    } finally {
      this.#alone = undefined;
      // Before those who wait go on: they see what was applied.
      if (Math.min(this.#toldLsn, this.#ceilingLsn) > this.visibleLsn) this.onDurable(this.#toldLsn);
      end();
    }
  }

  #refuseFor(cause: unknown): void {
    const error = new HedgerowError(
      'log_failed',
      `A commit is in the log, but could not be applied in memory (${(cause as Error).message}). Reads go on, writes are refused. Restart: the log is whole.`,
      { cause },
    );
    this.refuse(error);
    // Those before the frame are answered when they are durable.
    const [waiter] = this.#waiters.splice(this.#waiters.length - 1);
    if (waiter !== undefined && waiter.lsn > this.#ceilingLsn) waiter.reject(error);
    else if (waiter !== undefined) this.#waiters.push(waiter);
  }

  /** As `append`, within `alone`, for a frame that is too large to be written into memory at once; nothing of it is visible before `alone` ends. */
  async appendInSlices(
    operations: number,
    parts: readonly Uint8Array[],
    entry: ReplayEntry | undefined,
    pause: () => Promise<void>,
  ): Promise<number> {
    if (this.failed !== null) throw this.failed;
    const replay = entry === undefined ? [] : singleRun(OPERATION.replay, encodeReplay(entry));
    const lsn = await this.#log!.appendInSlices(
      operations + (entry === undefined ? 0 : 1),
      [...parts, ...replay],
      pause,
    );
    this.#ceilingLsn = lsn - 1;
    if (entry !== undefined) this.#replays!.add(entry, lsn + operations);
    return lsn;
  }

  /**
   * Queues one frame; returns its first LSN. What it does must be applied before the next await, in LSN order. `entry`, the answer to what the frame does,
   * is one more operation at its end. Nobody may write alone (`free`). Throws when the log has failed.
   */
  append(operations: number, parts: readonly Uint8Array[], entry?: ReplayEntry): number {
    if (this.failed !== null) throw this.failed;
    if (this.#alone !== undefined) throw new Error('somebody appends while another writes alone');
    if (entry === undefined) return this.#log!.append(operations, parts);
    const lsn = this.#log!.append(operations + 1, [...parts, ...singleRun(OPERATION.replay, encodeReplay(entry))]);
    this.#replays!.add(entry, lsn + operations);
    return lsn;
  }

  /**
   * Resolves when `lsn`, which was just appended, is durable; rejects when the log fails before. `apply` runs in the moment the LSN becomes visible: nobody sees
   * the LSN without it.
   */
  durable(lsn: number, apply?: () => void): Promise<void> {
    if (lsn <= this.visibleLsn) throw new Error(`LSN ${lsn} is waited for too late`);
    if (this.failed !== null) return Promise.reject(this.failed);
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
    const lsn = Math.min(durableLsn, this.#ceilingLsn);
    if (lsn <= this.visibleLsn) return;
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
