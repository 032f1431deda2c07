// Compaction in a worker thread: started when first needed, stopped when it has been idle.

import { Worker } from 'node:worker_threads';
import { ThreadLink, type ThreadWorker } from '../../threads/link.ts';
import { builtScript } from '../../threads/script.ts';
import type { CompactionCalls, CompactionRunner, OpenWork, PartWork, WorkDone } from './work.ts';

const IDLE_MS = 5000;

export class WorkerRunner implements CompactionRunner {
  #link: ThreadLink<CompactionCalls> | undefined;
  /** Compactions opened so far: tells whether the thread has been idle since. */
  #opened = 0;
  /** Files were written that `flush` has not seen synced; and the thread ended meanwhile. */
  #unsynced = false;
  #lost = false;
  readonly #schedule: (callback: () => void, delayMs: number) => void;

  /**
   * `schedule` calls back once after so many milliseconds; an idle thread and its memory go after
   * IDLE_MS.
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
    // The thread has syncs to end, for which `flush` waits.
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

  /** Ends the thread. */
  async stop(): Promise<void> {
    const link = this.#link;
    this.#link = undefined;
    this.#lost = this.#unsynced;
    await link?.stop(new Error('the compaction thread was stopped'));
  }

  /** The thread, or a new one where there is none or it has died. */
  #thread(): ThreadLink<CompactionCalls> {
    if (this.#link?.isAlive) return this.#link;
    const worker = new Worker(builtScript(import.meta.url, 'worker.js'), { execArgv: [] }) as ThreadWorker;
    const link = new ThreadLink<CompactionCalls>({
      worker,
      died: (reason) => {
        // The end of a thread that was stopped comes late: what is lost may be of the next one by
        // then.
        if (this.#link === link) this.#lost = this.#unsynced;
        return new Error(`the compaction thread ended: ${reason.message}`, { cause: reason });
      },
    });
    this.#link = link;
    return link;
  }
}
