// A worker thread as the main thread sees it: calls go in, results come out; when it dies its calls are told.

import type { EdgeRead } from '../engine/index.ts';
import { errorOf } from '../threads/errors.ts';
import { type Chunks, SentChunks } from './chunks.ts';
import { deathError } from './failure.ts';
import type { Basis } from './measure.ts';
import type { FromThread, MeasureWork, ToThread } from './work.ts';

/** What is used of a Worker of node:worker_threads. */
export interface ThreadWorker {
  postMessage(message: ToThread, transfer?: readonly ArrayBuffer[]): void;
  on(event: 'message', heard: (message: FromThread) => void): unknown;
  on(event: 'error' | 'exit', heard: (reason: unknown) => void): unknown;
  ref(): void;
  unref(): void;
  terminate(): Promise<unknown>;
}

export interface ThreadResult {
  definition: string;
  basis: Basis | null;
  chunks: Chunks;
}

interface Call {
  readonly id: number;
  readonly read: EdgeRead;
  readonly chunks: SentChunks;
  readonly progress: ((done: number) => void) | undefined;
  readonly begun: (result: ThreadResult) => void;
  /** Before the result has begun. */
  readonly failed: (error: unknown) => void;
}

let lastCall = 0;

export class Thread {
  readonly #worker: ThreadWorker;
  readonly #idleMs: number;
  /** Until the thread has said its last word, also when nobody waits for it any more. */
  readonly #calls = new Map<number, Call>();
  #idle: ReturnType<typeof setTimeout> | undefined;
  isAlive = true;

  constructor(worker: ThreadWorker, idleMs: number) {
    this.#worker = worker;
    this.#idleMs = idleMs;
    // Only while it has calls does it keep the process alive.
    worker.unref();
    worker.on('message', (message) => this.#receive(message));
    worker.on('error', (error) => this.#died(error as Error));
    worker.on('exit', () => this.#died(new Error('it has ended')));
  }

  /** That are not over. */
  get calls(): number {
    return this.#calls.size;
  }

  run(
    work: MeasureWork,
    read: EdgeRead,
    { signal, progress }: { signal: AbortSignal; progress: ((done: number) => void) | undefined },
  ): Promise<ThreadResult> {
    const id = ++lastCall;
    clearTimeout(this.#idle);
    this.#worker.ref();
    return new Promise((resolve, reject) => {
      const cancel = () => this.#post({ kind: 'cancel', call: id });
      const aborted = () => {
        cancel();
        reject(signal.reason);
      };
      const settle = () => signal.removeEventListener('abort', aborted);
      this.#calls.set(id, {
        id,
        read,
        chunks: new SentChunks(() => this.#post({ kind: 'more', call: id }), cancel),
        progress,
        begun: (result) => {
          settle();
          resolve(result);
        },
        failed: (error) => {
          settle();
          reject(error);
        },
      });
      this.#post({ kind: 'run', call: id, work });
      if (signal.aborted) aborted();
      else signal.addEventListener('abort', aborted, { once: true });
    });
  }

  #post(message: ToThread, transfer: ArrayBuffer[] = []): void {
    if (this.isAlive) this.#worker.postMessage(message, transfer);
  }

  #receive(message: FromThread): void {
    const call = this.#calls.get(message.call);
    if (call === undefined) return;
    switch (message.kind) {
      case 'needs':
        this.#sendPieces(call);
        return;
      case 'read':
        call.read.release();
        return;
      case 'progress':
        call.progress?.(message.done);
        return;
      case 'begun':
        call.begun({ definition: message.definition, basis: message.basis, chunks: call.chunks });
        return;
      case 'chunk':
        call.chunks.add(message.bytes);
        return;
      case 'ended':
        this.#over(call, undefined);
        return;
      case 'failed':
        this.#over(call, call.read.errorOf(errorOf(message.error)));
    }
  }

  /** One piece in a turn of the loop: each takes a few ms at most. */
  #sendPieces(call: Call): void {
    if (!this.#calls.has(call.id)) return;
    try {
      const piece = call.read.nextPiece();
      if (piece === null) {
        this.#post({ kind: 'pieces-end', call: call.id });
        return;
      }
      this.#post({ kind: 'piece', call: call.id, piece }, [
        piece.kind === 'rows' ? piece.blocks.buffer : piece.dead.buffer,
      ]);
    } catch (error) {
      call.failed(error);
      this.#post({ kind: 'cancel', call: call.id });
      return;
    }
    setImmediate(() => this.#sendPieces(call));
  }

  #over(call: Call, error: unknown): void {
    this.#calls.delete(call.id);
    call.read.release();
    // What does not hold any more is not heard.
    if (error !== undefined) call.failed(error);
    call.chunks.end(error);
    if (this.#calls.size > 0 || !this.isAlive) return;
    this.#worker.unref();
    this.#idle = setTimeout(() => void this.stop(new Error('it was idle')), this.#idleMs).unref();
  }

  #died(reason: Error): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    clearTimeout(this.#idle);
    const calls = [...this.#calls.values()];
    for (const call of calls) this.#over(call, deathError(reason, calls.length === 1));
  }

  /** Ends the thread; its calls reject with `reason`. */
  async stop(reason: Error): Promise<void> {
    if (!this.isAlive) return;
    this.isAlive = false;
    clearTimeout(this.#idle);
    for (const call of [...this.#calls.values()]) this.#over(call, reason);
    await this.#worker.terminate();
  }
}
