// Manages the one DuckDB process. The process is started for the first question, ended when idle,
// replaced when it dies, and killed when a statement does not stop.

import { refusal } from '../../errors.ts';
import { Semaphore } from '../../schedule/locks.ts';
import type { QueryOptions, RowBatch } from '../backend.ts';
import { before, openDeadline } from './deadline.ts';
import { type Answer, DuckDbChild, type DuckDbPeer, forkDuckDb, type Run } from './duckdb-child.ts';
import { spillFolder } from './files.ts';

export interface DuckDbHostOptions {
  /** Memory limit of each open database in MB; default 512. */
  readonly memoryMb?: number | undefined;
  /** Disk space in MB for data that does not fit into memory; default 2048. */
  readonly spillMb?: number | undefined;
  /** Number of DuckDB threads; default 2. */
  readonly threads?: number | undefined;
  /** Maximum number of concurrent statements; default 4. */
  readonly atOnce?: number | undefined;
  /** Idle milliseconds after which the process is ended; default 60,000. */
  readonly idleMs?: number | undefined;
  /** Idle milliseconds after which a database is closed; default 5,000. */
  readonly keepOpenMs?: number | undefined;
  /** Milliseconds a statement has to stop before the process is killed; default 1,000. */
  readonly killAfterMs?: number | undefined;
  /** Starts the process. By default it forks this package's own script. */
  readonly start?: ((cwd: string) => DuckDbPeer) | undefined;
}

interface Running {
  readonly child: DuckDbChild;
  timer: NodeJS.Timeout | undefined;
}

export class DuckDbHost {
  readonly #options: DuckDbHostOptions;
  readonly #places: Semaphore;
  /** One promise per started process, which resolves once the process and its folder are gone. */
  readonly #leaving = new Set<Promise<void>>();
  #running: Promise<Running> | undefined;
  #child: DuckDbChild | undefined;
  #closed = false;

  constructor(options: DuckDbHostOptions = {}) {
    this.#options = options;
    this.#places = new Semaphore(options.atOnce ?? 4);
  }

  /** The id of the process; undefined if no process is running. */
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

  /** Returns the running process, or starts one. */
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

  /**
   * Kills a process. Forgets it first, so that no caller gets it between the signal and its exit.
   */
  #end(child: DuckDbChild): void {
    this.#forget(child);
    child.kill();
  }

  /** Stops the statement, and frees its place only once the statement has really ended. */
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
