// Parquet files decoded and encoded in a thread of their own, which lives as long as the file is read or written.

import { Worker } from 'node:worker_threads';
import { type ErrorCode, HedgerowError, STATUS_OF_CODE } from '../../errors.ts';
import { ParquetEncoder } from '../../formats/parquet-encoder.ts';
import type { FileHandle } from '../../storage/index.ts';
import type { Value } from '../binder/bound.ts';
import { ParquetDecoder } from './parquet-decoder.ts';
import type { ParquetBatch, ParquetSink, ParquetSource } from './parquet-port.ts';
import type { ResultColumn } from './result-columns.ts';

export type ThreadWork =
  | { readonly kind: 'read'; readonly path: string }
  | { readonly kind: 'next'; readonly columns: readonly string[] }
  | { readonly kind: 'write'; readonly columns: readonly ResultColumn[] }
  | { readonly kind: 'add'; readonly columns: readonly (readonly Value[])[] }
  | { readonly kind: 'end' };

export interface ThreadAnswer {
  readonly value?: unknown;
  readonly error?: {
    readonly message: string;
    readonly code?: string | undefined;
    readonly fields?: Readonly<Record<string, unknown>> | undefined;
  };
}

/** Memory of the thread: what does not fit is refused, and nothing else comes to harm. */
const THREAD_MB = 2048;
/** What comes and goes with a batch is little. */
const THREAD_YOUNG_MB = 8;

/** The thread's script; undefined where the program runs from source (tests): the work is done in place then. */
function threadScript(): URL | undefined {
  return import.meta.url.endsWith('.ts') ? undefined : new URL('./parquet-thread.js', import.meta.url);
}

/** The rows of an open file. */
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

  constructor(script: URL, path: string) {
    this.#thread = new Thread(script);
    this.#path = path;
  }

  names(): Promise<string[]> {
    return this.#thread.call<string[]>({ kind: 'read', path: this.#path });
  }

  next(columns: readonly string[]): Promise<ParquetBatch | undefined> {
    return this.#thread.call<ParquetBatch | undefined>({ kind: 'next', columns });
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
    return this.#thread.call<Uint8Array>({ kind: 'add', columns });
  }

  async end(): Promise<Uint8Array> {
    await this.#begin();
    return this.#thread.call<Uint8Array>({ kind: 'end' });
  }

  async #begin(): Promise<void> {
    if (this.#begun) return;
    this.#begun = true;
    await this.#thread.call({ kind: 'write', columns: this.#columns });
  }

  close(): void {
    this.#thread.end();
  }
}

/** Started by its first call. Calls do not overlap. */
class Thread {
  readonly #script: URL;
  #worker: Worker | undefined;
  #answered: ((answer: ThreadAnswer) => void) | undefined;
  #failed: ((error: Error) => void) | undefined;
  #failure: Error | undefined;

  constructor(script: URL) {
    this.#script = script;
  }

  #start(): Worker {
    const worker = new Worker(this.#script, {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: THREAD_MB, maxYoungGenerationSizeMb: THREAD_YOUNG_MB },
    });
    worker.on('message', (answer: ThreadAnswer) => this.#answered?.(answer));
    worker.on('error', (error) => this.#fail(failureOf(error)));
    worker.on('exit', () => this.#fail(new Error('the thread for Parquet has ended')));
    return worker;
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#failed?.(this.#failure);
  }

  call<T>(work: ThreadWork): Promise<T> {
    this.#worker ??= this.#start();
    const worker = this.#worker;
    return new Promise((resolve, reject) => {
      this.#answered = ({ value, error }) => {
        if (error === undefined) resolve(value as T);
        else reject(errorOf(error));
      };
      this.#failed = reject;
      if (this.#failure === undefined) worker.postMessage(work);
      else reject(this.#failure);
    });
  }

  end(): void {
    void this.#worker?.terminate();
  }
}

function failureOf(error: Error & { code?: unknown }): Error {
  if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') return error;
  return new HedgerowError(
    'query_too_large',
    `A page of the file needs more than ${THREAD_MB} MB of memory. Write it with smaller pages or row groups.`,
    { cause: error },
  );
}

/** The error as it was in the thread: one of ours, or one that keeps the system's code. */
function errorOf({ message, code, fields }: NonNullable<ThreadAnswer['error']>): Error {
  if (code !== undefined && code in STATUS_OF_CODE)
    return new HedgerowError(code as ErrorCode, message, fields === undefined ? {} : { fields });
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}
