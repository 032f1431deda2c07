// The main thread's side of a measure thread: sends edges, receives results, and ends the thread
// after it has been idle for a while.

import type { EdgeRead } from '../engine/index.ts';
import type { Scheduler } from '../schedule/scheduler.ts';
import { type OpenCall, ThreadLink, type ThreadWorker } from '../threads/link.ts';
import { type Chunks, SentChunks } from './chunks.ts';
import { deathError } from './failure.ts';
import type { Basis } from './measure.ts';
import type { Marks } from './result-text.ts';
import type { FromMeasure, MeasureCalls, MeasureWork, ToMeasure } from './work.ts';

export interface ThreadResult {
  definition: string;
  basis: Basis | null;
  /** What the marks in the chunks become; null: there are none. */
  marks: Marks | null;
  chunks: Chunks;
}

export interface RunInThread {
  /** If it aborts before the answer has begun, cancels the call, which rejects with its reason. */
  signal: AbortSignal;
  progress: ((done: number) => void) | undefined;
}

export class Thread {
  readonly #link: ThreadLink<MeasureCalls>;
  readonly #scheduler: Scheduler;
  readonly #idleMs: number;
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor(worker: ThreadWorker, scheduler: Scheduler, idleMs: number) {
    this.#link = new ThreadLink({ worker, died: deathError });
    this.#scheduler = scheduler;
    this.#idleMs = idleMs;
  }

  get isAlive(): boolean {
    return this.#link.isAlive;
  }

  /** Number of open calls. */
  get calls(): number {
    return this.#link.calls;
  }

  run(work: MeasureWork, read: EdgeRead, { signal, progress }: RunInThread): Promise<ThreadResult> {
    clearTimeout(this.#idle);
    return new Promise((resolve, reject) => {
      const chunks = new SentChunks(
        () => call.send({ kind: 'more' } satisfies ToMeasure),
        () => call.cancel(),
      );
      const aborted = () => {
        call.cancel();
        reject(signal.reason);
      };
      const failed = (error: unknown) => {
        signal.removeEventListener('abort', aborted);
        reject(error);
      };
      const receive = (message: FromMeasure): void => {
        if (message.kind === 'needs') this.#sendPieces(call, read, failed);
        else if (message.kind === 'read') read.release();
        else if (message.kind === 'progress') progress?.(message.done);
        else if (message.kind === 'chunk') chunks.add(message.bytes);
        else {
          signal.removeEventListener('abort', aborted);
          const { definition, basis, marks } = message;
          resolve({ definition, basis, marks, chunks });
        }
      };
      const call = this.#link.open('run', work, { receive });
      const over = (error?: unknown) => {
        read.release();
        // Settling an already settled promise has no effect.
        if (error !== undefined) failed(error);
        chunks.end(error);
        this.#restIfIdle();
      };
      call.output.then(
        () => over(),
        (error) => over(read.errorOf(error)),
      );
      if (signal.aborted) aborted();
      else signal.addEventListener('abort', aborted, { once: true });
    });
  }

  /** Sends one piece per scheduler step, which takes a few ms at most. */
  #sendPieces(call: OpenCall<void>, read: EdgeRead, failed: (error: unknown) => void): void {
    this.#scheduler.add('measure', () => {
      if (!call.isOpen) return false;
      try {
        const piece = read.nextPiece();
        if (piece === null) {
          call.send({ kind: 'pieces-end' } satisfies ToMeasure);
          return false;
        }
        const bytes = piece.kind === 'rows' ? piece.blocks.buffer : piece.dead.buffer;
        call.send({ kind: 'piece', piece } satisfies ToMeasure, [bytes]);
        return true;
      } catch (error) {
        failed(error);
        call.cancel();
        return false;
      }
    });
  }

  #restIfIdle(): void {
    if (this.calls > 0 || !this.isAlive) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.stop(new Error('it was idle')), this.#idleMs).unref();
  }

  /** Ends the thread. Its calls reject with `reason`. */
  stop(reason: Error): Promise<void> {
    clearTimeout(this.#idle);
    return this.#link.stop(reason);
  }
}
