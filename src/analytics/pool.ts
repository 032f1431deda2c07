// The pool of worker threads for measures: assigns calls to threads, starts threads on demand and
// ends idle threads.

import type { EdgeRead } from '../engine/index.ts';
import { HedgerowError } from '../errors.ts';
import type { Scheduler } from '../schedule/scheduler.ts';
import type { ThreadWorker } from '../threads/link.ts';
import { type RunInThread, Thread, type ThreadResult } from './thread.ts';
import type { MeasureWork } from './work.ts';

/** Maximum number of calls running or waiting. */
const MOST_CALLS = 64;
/** Number of windows whose last thread is remembered. */
const MOST_HOMES = 256;

export interface PoolOptions {
  scheduler: Scheduler;
  /** Maximum number of threads. */
  threads: number;
  start: () => ThreadWorker;
  /** Idle time in milliseconds after which a thread and its cache are dropped. */
  idleMs: number;
}

export class Pool {
  readonly #options: PoolOptions;
  #threads: Thread[] = [];
  /**
   * The thread that last computed each window, by window name. It may have the projections of this
   * window cached.
   */
  readonly #homes = new Map<string, Thread>();

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /**
   * Runs a measure in a thread; resolves when the result begins. Releases `read` once the edges
   * have been read, also if the call fails. Rejects with the error of the measure; throws
   * `overloaded` if too many calls are running.
   */
  run(work: MeasureWork, read: EdgeRead, options: RunInThread): Promise<ThreadResult> {
    const running = this.#threads.reduce((sum, thread) => sum + thread.calls, 0);
    if (running >= MOST_CALLS) {
      read.release();
      throw new HedgerowError('overloaded', `${running} measures are running. Try again later.`);
    }
    return this.#threadFor(work).run(work, read, options);
  }

  /**
   * Returns the thread that may have the projections cached, or another one if that thread is busy.
   */
  #threadFor({ tableId, window }: MeasureWork): Thread {
    const name = `${tableId} ${window.startTs} ${window.endTs}`;
    const home = this.#homes.get(name);
    const chosen = home?.isAlive && home.calls === 0 ? home : this.#freeThread();
    this.#homes.delete(name);
    this.#homes.set(name, chosen);
    if (this.#homes.size > MOST_HOMES) this.#homes.delete(this.#homes.keys().next().value!);
    return chosen;
  }

  /**
   * Returns an idle thread. If all are busy, returns a new thread or, at the limit, the thread with
   * the fewest calls.
   */
  #freeThread(): Thread {
    this.#threads = this.#threads.filter((thread) => thread.isAlive);
    const least = this.#threads.reduce<Thread | undefined>(
      (best, thread) => (best === undefined || thread.calls < best.calls ? thread : best),
      undefined,
    );
    if (least !== undefined && (least.calls === 0 || this.#threads.length >= this.#options.threads)) return least;
    const thread = new Thread(this.#options.start(), this.#options.scheduler, this.#options.idleMs);
    this.#threads.push(thread);
    return thread;
  }

  /** Ends all threads. Running calls reject with `draining`. */
  async close(): Promise<void> {
    const threads = this.#threads;
    this.#threads = [];
    this.#homes.clear();
    await Promise.all(threads.map((thread) => thread.stop(new HedgerowError('draining', 'The service is stopping.'))));
  }
}
