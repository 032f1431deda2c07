// The committer: gives operations to the log, and tells those who wait when their LSN is durable, which is when readers see it.

import type { HedgerowError } from '../errors.ts';
import type { LogStore } from '../storage/log.ts';

interface Waiter {
  lsn: number;
  resolve: () => void;
  reject: (error: HedgerowError) => void;
}

/** Answered waiters that the queue may hold. */
const MAX_RESOLVED = 1024;

export class Committer {
  #log: LogStore | undefined;
  #waiters: Waiter[] = [];
  #first = 0;
  /** Newest LSN that snapshots see: all operations up to it may be answered. */
  visibleLsn = 0;
  failed: HedgerowError | null = null;
  /** While the log is replayed: the LSN reached, which is then the head. A compaction in between must not vouch for more. */
  replayedLsn: number | null = null;

  attach(log: LogStore): void {
    this.#log = log;
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

  /** Queues one frame; returns its first LSN. What it does must be applied before the next await, in LSN order. Throws when the log has failed. */
  append(operations: number, parts: readonly Uint8Array[]): number {
    if (this.failed !== null) throw this.failed;
    return this.#log!.append(operations, parts);
  }

  /** Resolves when `lsn` is durable; rejects when the log fails before. */
  durable(lsn: number): Promise<void> {
    if (lsn <= this.visibleLsn) return Promise.resolve();
    if (this.failed !== null) return Promise.reject(this.failed);
    return new Promise((resolve, reject) => {
      this.#waiters.push({ lsn, resolve, reject });
    });
  }

  /** Called by the log, once a group. */
  onDurable(lsn: number): void {
    this.visibleLsn = lsn;
    const waiters = this.#waiters;
    let at = this.#first;
    while (at < waiters.length && waiters[at]!.lsn <= lsn) waiters[at++]!.resolve();
    if (at === waiters.length) {
      this.#waiters = [];
      this.#first = 0;
    } else if (at >= MAX_RESOLVED) {
      // While writers overlap the queue is never empty: what was answered is let go all the same.
      this.#waiters = waiters.slice(at);
      this.#first = 0;
    } else this.#first = at;
  }

  /** Refuses new writes from now on; what is in the log goes its way. */
  refuse(error: HedgerowError): void {
    this.failed ??= error;
  }

  /** Closes the log of a database that did not open. */
  async abandon(): Promise<void> {
    await this.#log?.close().catch(() => undefined);
  }

  onFailed(error: HedgerowError): void {
    this.failed = error;
    for (const waiter of this.#waiters.splice(this.#first)) waiter.reject(error);
    this.#waiters = [];
    this.#first = 0;
  }
}
