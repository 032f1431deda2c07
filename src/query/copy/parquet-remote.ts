// Decodes and encodes Parquet files in a separate thread, which lives as long as the file is read
// or written.

import { Worker } from 'node:worker_threads';
import { HedgerowError } from '../../errors.ts';
import { ParquetEncoder } from '../../formats/parquet-encoder.ts';
import type { FileHandle } from '../../storage/index.ts';
import { ThreadLink, type ThreadWorker } from '../../threads/link.ts';
import type { Value } from '../binder/bound.ts';
import { noParquet, ParquetDecoder } from './parquet-decoder.ts';
import type { ParquetBatch, ParquetSink, ParquetSource } from './parquet-port.ts';
import type { ResultColumn } from './result-columns.ts';

/**
 * The calls to the thread. To read a file: `read` with its path, then `next`. To write one:
 * `write`, then `add` and `end`.
 */
export type ParquetCalls = {
  read: (path: string) => string[];
  next: (columns: readonly string[]) => ParquetBatch | undefined;
  write: (columns: readonly ResultColumn[]) => void;
  add: (columns: readonly (readonly Value[])[]) => Uint8Array;
  end: (none: undefined) => Uint8Array;
};

/**
 * Memory limit in MB of the thread's old generation. A file that needs more is refused, and nothing
 * else is affected.
 */
const THREAD_MB = 2048;
/**
 * Time limit in milliseconds for each call that reads a file. A call normally takes a second at
 * most, even on a slow disk. The limit is needed because the library loops forever on some damaged
 * files, for example if a count in the metadata is wrong.
 */
const LONGEST_STEP_MS = 60_000;
/**
 * Memory limit in MB of the thread's young generation. It can be small because few short-lived
 * objects are made per batch.
 */
const THREAD_YOUNG_MB = 8;

/**
 * Returns the thread's script. Returns undefined if the program runs from source (in tests); the
 * work is then done in this thread.
 */
function threadScript(): URL | undefined {
  return import.meta.url.endsWith('.ts') ? undefined : new URL('./parquet-thread.js', import.meta.url);
}

/** Returns a source for the rows of an open file. */
export function parquetSource(handle: FileHandle): ParquetSource {
  const script = threadScript();
  return script === undefined ? new ParquetDecoder(handle) : new ThreadSource(script, handle.path);
}

export function parquetSink(columns: readonly ResultColumn[]): ParquetSink {
  const script = threadScript();
  return script === undefined ? new ParquetEncoder(columns) : new ThreadSink(script, columns);
}

export class ThreadSource implements ParquetSource {
  readonly #thread: Thread;
  readonly #path: string;
  readonly #longestStepMs: number;

  /** `longestStepMs` is the time for one call after which the file counts as damaged. */
  constructor(script: URL, path: string, longestStepMs: number = LONGEST_STEP_MS) {
    this.#thread = new Thread(script);
    this.#path = path;
    this.#longestStepMs = longestStepMs;
  }

  names(): Promise<string[]> {
    return this.#inTime(this.#thread.link.call('read', this.#path));
  }

  next(columns: readonly string[]): Promise<ParquetBatch | undefined> {
    return this.#inTime(this.#thread.link.call('next', columns));
  }

  /** Ends the thread if `step` takes too long; `step` then rejects. */
  async #inTime<T>(step: Promise<T>): Promise<T> {
    const seconds = this.#longestStepMs / 1000;
    const timer = setTimeout(
      () =>
        void this.#thread.link.stop(
          noParquet(`reading a part of it takes more than ${seconds} s, so it is probably damaged`),
        ),
      this.#longestStepMs,
    );
    try {
      return await step;
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#thread.end();
  }
}

export class ThreadSink implements ParquetSink {
  readonly #thread: Thread;
  readonly #columns: readonly ResultColumn[];
  #begun = false;

  constructor(script: URL, columns: readonly ResultColumn[]) {
    this.#thread = new Thread(script);
    this.#columns = columns;
  }

  async add(columns: readonly (readonly Value[])[]): Promise<Uint8Array> {
    await this.#begin();
    return this.#thread.link.call('add', columns);
  }

  async end(): Promise<Uint8Array> {
    await this.#begin();
    return this.#thread.link.call('end', undefined);
  }

  async #begin(): Promise<void> {
    if (this.#begun) return;
    this.#begun = true;
    await this.#thread.link.call('write', this.#columns);
  }

  close(): void {
    this.#thread.end();
  }
}

/**
 * A thread for one file, started by the first call. A thread that dies is not replaced, because its
 * state would be lost.
 */
class Thread {
  readonly #script: URL;
  #link: ThreadLink<ParquetCalls> | undefined;

  constructor(script: URL) {
    this.#script = script;
  }

  get link(): ThreadLink<ParquetCalls> {
    this.#link ??= new ThreadLink({ worker: this.#start(), died: failureOf });
    return this.#link;
  }

  #start(): ThreadWorker {
    const resourceLimits = { maxOldGenerationSizeMb: THREAD_MB, maxYoungGenerationSizeMb: THREAD_YOUNG_MB };
    return new Worker(this.#script, { execArgv: [], resourceLimits }) as ThreadWorker;
  }

  end(): void {
    void this.#link?.stop(new Error('the thread for Parquet has ended'));
  }
}

function failureOf(error: Error & { code?: unknown }): Error {
  if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY')
    return new Error(`the thread for Parquet has ended: ${error.message}`, { cause: error });
  return new HedgerowError(
    'query_too_large',
    `A page of the file needs more than ${THREAD_MB} MB of memory. Write it with smaller pages or row groups.`,
    { cause: error },
  );
}
