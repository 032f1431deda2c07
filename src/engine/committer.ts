// The committer: gives operations to the log, and tells those who wait when their LSN is durable, which is when readers see it.

import type { HedgerowError } from '../errors.ts';
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

  /**
   * Queues one frame; returns its first LSN. What it does must be applied before the next await, in LSN order. `entry`, the answer to what the frame does,
   * is one more operation at its end. Throws when the log has failed.
   */
  append(operations: number, parts: readonly Uint8Array[], entry?: ReplayEntry): number {
    if (this.failed !== null) throw this.failed;
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
  onDurable(lsn: number): void {
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
    for (const waiter of this.#waiters.splice(this.#first)) waiter.reject(error);
    this.#waiters = [];
    this.#first = 0;
  }
}
