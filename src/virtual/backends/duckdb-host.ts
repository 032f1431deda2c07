// Keeps one DuckDB process: started for the first question, ended when nobody asks, replaced when it died, killed when it does not stop.

import { refusal } from '../../errors.ts';
import { Semaphore } from '../../schedule/locks.ts';
import type { QueryOptions, RowBatch } from '../backend.ts';
import { before, openDeadline } from './deadline.ts';
import { type Answer, DuckDbChild, type DuckDbPeer, forkDuckDb, type Run } from './duckdb-child.ts';
import { spillFolder } from './files.ts';

export interface DuckDbHostOptions {
  /** Of each open database; default 512. */
  readonly memoryMb?: number | undefined;
  /** On disk, for what does not fit into memory; default 2048. */
  readonly spillMb?: number | undefined;
  /** Default 2. */
  readonly threads?: number | undefined;
  /** Statements at once; default 4. */
  readonly atOnce?: number | undefined;
  /** The process goes after so long without work; default 60,000. */
  readonly idleMs?: number | undefined;
  /** A database is closed after so long without work; default 5,000. */
  readonly keepOpenMs?: number | undefined;
  /** How long a statement may take to stop; default 1,000. */
  readonly killAfterMs?: number | undefined;
  /** Default: a process of this package. */
  readonly start?: ((cwd: string) => DuckDbPeer) | undefined;
}

interface Running {
  readonly child: DuckDbChild;
  timer: NodeJS.Timeout | undefined;
}

export class DuckDbHost {
  readonly #options: DuckDbHostOptions;
  readonly #places: Semaphore;
  /** Each resolves when a process and its folder are gone. */
  readonly #leaving = new Set<Promise<void>>();
  #running: Promise<Running> | undefined;
  #child: DuckDbChild | undefined;
  #closed = false;

  constructor(options: DuckDbHostOptions = {}) {
    this.#options = options;
    this.#places = new Semaphore(options.atOnce ?? 4);
  }

  /** Of the process, when one runs. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async *run(question: Run, limits: QueryOptions): AsyncGenerator<RowBatch> {
    const deadline = openDeadline(limits);
    try {
      const leave = await this.#places.take(deadline.signal);
      let found: Running;
      try {
        found = await before(this.#process(), deadline.signal);
      } catch (error) {
        leave();
        throw error;
      }
      const answer = found.child.ask(question);
      try {
        for (;;) {
          const batch = await before(answer.next(), deadline.signal);
          if (batch === undefined) return;
          yield batch;
        }
      } finally {
        this.#finish(found, answer, leave);
      }
    } finally {
      deadline.end();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const found = await this.#running?.catch(() => undefined);
    clearTimeout(found?.timer);
    found?.child.kill();
    await Promise.all(this.#leaving);
  }

  /** The process that runs, or a new one. */
  async #process(): Promise<Running> {
    if (this.#closed) throw refusal('draining', 'The service is stopping. Try again when it has started.');
    this.#running ??= this.#start();
    const found = await this.#running;
    clearTimeout(found.timer);
    try {
      await found.child.ready;
    } catch (error) {
      this.#end(found.child);
      throw error;
    }
    return found;
  }

  async #start(): Promise<Running> {
    const { memoryMb = 512, spillMb = 2048, threads = 2, keepOpenMs = 5000, start = forkDuckDb } = this.#options;
    try {
      const spill = await spillFolder();
      const limits = { memoryMb, threads, spillFolder: spill.path, spillMb, keepOpenMs };
      const child = new DuckDbChild(start(spill.path), limits);
      this.#child = child;
      void child.gone.then(() => this.#forget(child));
      const cleared = child.gone.then(spill.remove).catch(() => undefined);
      this.#leaving.add(cleared);
      void cleared.then(() => this.#leaving.delete(cleared));
      return { child, timer: undefined };
    } catch (error) {
      this.#running = undefined;
      throw cannotStart(error);
    }
  }

  #forget(child: DuckDbChild): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    this.#running = undefined;
  }

  /** Forgotten first: between the signal and the end of a process nobody shall be given it. */
  #end(child: DuckDbChild): void {
    this.#forget(child);
    child.kill();
  }

  /** The turn lasts until the statement has really ended. */
  #finish(found: Running, answer: Answer, leave: () => void): void {
    if (!answer.over) {
      answer.stop();
      const timer = setTimeout(() => this.#end(found.child), this.#options.killAfterMs ?? 1000);
      void answer.ended.then(() => clearTimeout(timer));
    }
    void answer.ended.then(() => {
      leave();
      clearTimeout(found.timer);
      if (found.child.idle) found.timer = setTimeout(() => this.#end(found.child), this.#options.idleMs ?? 60_000);
    });
  }
}

function cannotStart(error: unknown): Error {
  const { code = 'no reason given' } = error as NodeJS.ErrnoException;
  return refusal('backend_failed', `The process that runs DuckDB could not be started (${code}). Try again.`);
}
