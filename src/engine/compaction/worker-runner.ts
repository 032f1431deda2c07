// Compaction in a worker thread: started when first needed, stopped when it has been idle.

import { Worker } from 'node:worker_threads';
import { type ErrorCode, HedgerowError, STATUS_OF_CODE } from '../../errors.ts';
import type { CompactionRunner, OpenWork, PartWork, Work, WorkDone } from './work.ts';

interface Answer {
  call: number;
  value?: unknown;
  error?: { message: string; code?: string; fields?: Record<string, unknown> };
}

interface Call {
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
}

/** The worker's script: the built one, also when the engine itself runs from source (tests). */
function workerUrl(): URL {
  const here = import.meta.url;
  if (!here.endsWith('.ts')) return new URL('./worker.js', here);
  return new URL(here.replace(/\/src\/engine\/compaction\/[^/]+$/, '/dist/engine/compaction/worker.js'));
}

const IDLE_MS = 5000;

export class WorkerRunner implements CompactionRunner {
  #worker: Worker | undefined;
  #calls = new Map<number, Call>();
  #next = 1;
  /** Compactions opened so far: tells whether the thread has been idle since. */
  #opened = 0;
  /** Files were written that `flush` has not seen synced; and the thread ended meanwhile. */
  #unsynced = false;
  #lost = false;
  readonly #schedule: (callback: () => void, delayMs: number) => void;

  /** `schedule` calls back once after so many milliseconds; an idle thread and its memory go after IDLE_MS. */
  constructor(schedule: (callback: () => void, delayMs: number) => void) {
    this.#schedule = schedule;
  }

  open(work: OpenWork): Promise<void> {
    this.#opened++;
    this.#unsynced ||= work.syncLater;
    return this.#send(work, []) as Promise<void>;
  }

  part(work: PartWork): Promise<WorkDone> {
    return this.#send(
      work,
      work.runs.map((run) => run.buffer as ArrayBuffer),
    ) as Promise<WorkDone>;
  }

  async close(): Promise<void> {
    await this.#send({ kind: 'close' }, []);
    // The thread has syncs to end, for which `flush` waits.
    if (!this.#unsynced) this.#stopWhenIdle();
  }

  async flush(): Promise<void> {
    if (this.#unsynced && !this.#lost) await this.#send({ kind: 'flush' }, []).finally(() => this.#stopWhenIdle());
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
    const worker = this.#worker;
    this.#worker = undefined;
    this.#lost = this.#unsynced;
    await worker?.terminate();
  }

  #send(work: Work, transfer: ArrayBuffer[]): Promise<unknown> {
    const worker = this.#start();
    const call = this.#next++;
    return new Promise((resolve, reject) => {
      this.#calls.set(call, { resolve, reject });
      worker.postMessage({ call, work }, transfer);
    });
  }

  #start(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(workerUrl(), { execArgv: [] });
    worker.unref();
    worker.on('message', (answer: Answer) => this.#answered(answer));
    worker.on('error', (error) => this.#died(worker, error));
    worker.on('exit', () => this.#died(worker, new Error('the compaction thread ended')));
    this.#worker = worker;
    return worker;
  }

  #answered(answer: Answer): void {
    const call = this.#calls.get(answer.call);
    this.#calls.delete(answer.call);
    if (answer.error === undefined) call?.resolve(answer.value);
    else call?.reject(errorOf(answer.error));
  }

  /** The end of a thread that was stopped comes late: the calls may be those of the next one by then. */
  #died(worker: Worker, error: Error): void {
    if (this.#worker !== worker) return;
    this.#worker = undefined;
    this.#lost = this.#unsynced;
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const call of calls) call.reject(error);
  }
}

/** The error as it was in the thread: one of ours, or one that keeps the system's code. */
function errorOf({ message, code, fields }: NonNullable<Answer['error']>): Error {
  if (code !== undefined && code in STATUS_OF_CODE)
    return new HedgerowError(code as ErrorCode, message, fields ? { fields } : {});
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}
