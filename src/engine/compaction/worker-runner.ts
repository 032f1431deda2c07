// Runs compactions in a worker thread that is started on demand and stopped when idle.

import { Worker } from 'node:worker_threads';
import { ThreadLink, type ThreadWorker } from '../../threads/link.ts';
import { builtScript } from '../../threads/script.ts';
import type { CompactionCalls, CompactionRunner, OpenWork, PartWork, WorkDone } from './work.ts';

const IDLE_MS = 5000;

export class WorkerRunner implements CompactionRunner {
  #link: ThreadLink<CompactionCalls> | undefined;
  /** Number of compactions opened so far; if it has not changed for IDLE_MS, the thread is idle. */
  #opened = 0;
  /**
   * `#unsynced`: whether there are files whose sync `flush` has not confirmed yet. `#lost`: whether
   * the thread ended while there were such files.
   */
  #unsynced = false;
  #lost = false;
  readonly #schedule: (callback: () => void, delayMs: number) => void;

  /**
   * `schedule` calls back once after `delayMs` milliseconds; an idle thread is stopped after
   * IDLE_MS to free its memory.
   */
  constructor(schedule: (callback: () => void, delayMs: number) => void) {
    this.#schedule = schedule;
  }

  open(work: OpenWork): Promise<void> {
    this.#opened++;
    this.#unsynced ||= work.syncLater;
    return this.#thread().call('open', work);
  }

  part(work: PartWork): Promise<WorkDone> {
    return this.#thread().call('part', work, { transfer: work.runs.map((run) => run.buffer as ArrayBuffer) });
  }

  async close(): Promise<void> {
    await this.#thread().call('close', undefined);
    // Unsynced files keep the thread running until `flush` has waited for their syncs.
    if (!this.#unsynced) this.#stopWhenIdle();
  }

  async flush(): Promise<void> {
    if (this.#unsynced && !this.#lost)
      await this.#thread()
        .call('flush', undefined)
        .finally(() => this.#stopWhenIdle());
    const lost = this.#lost;
    this.#unsynced = false;
    this.#lost = false;
    if (lost) throw new Error('the compaction thread ended before its files were synced');
  }

  #stopWhenIdle(): void {
    const opened = this.#opened;
    this.#schedule(() => {
      if (this.#opened === opened) void this.stop();
    }, IDLE_MS);
  }

  /** Stops the thread. */
  async stop(): Promise<void> {
    const link = this.#link;
    this.#link = undefined;
    this.#lost = this.#unsynced;
    await link?.stop(new Error('the compaction thread was stopped'));
  }

  /** Returns the running thread; starts a new one if there is none or if it has died. */
  #thread(): ThreadLink<CompactionCalls> {
    if (this.#link?.isAlive) return this.#link;
    const worker = new Worker(builtScript(import.meta.url, 'worker.js'), { execArgv: [] }) as ThreadWorker;
    const link = new ThreadLink<CompactionCalls>({
      worker,
      died: (reason) => {
        // The end of a stopped thread is reported late; by then `#lost` may describe its successor.
        if (this.#link === link) this.#lost = this.#unsynced;
        return new Error(`the compaction thread ended: ${reason.message}`, { cause: reason });
      },
    });
    this.#link = link;
    return link;
  }
}
