// The worker thread's side of a call: receives the call, requests the edges that the measure needs,
// computes the measure, and sends the result as bytes.

import { type CoreModule, type Steps, within } from '../core/index.ts';
import { type EdgePiece, readEdges } from '../engine/index.ts';
import { HedgerowError } from '../errors.ts';
import { Scheduler, type Watch } from '../schedule/scheduler.ts';
import type { Fs } from '../storage/index.ts';
import type { FromThread, ToThread } from '../threads/messages.ts';
import { type ServedCall, serve } from '../threads/serve.ts';
import { type Held, ProjectionCache } from './cache.ts';
import { measureError } from './failure.ts';
import { measureNamed } from './registry.ts';
import { resultBytes } from './result-bytes.ts';
import { marksOf } from './result-text.ts';
import { SharedProjections } from './shared-projections.ts';
import { CHUNKS_AHEAD, type FromMeasure, type MeasureCalls, type MeasureWork, type ToMeasure } from './work.ts';

const PROGRESS_MS = 100;
/** Fraction of a call's progress that is reported when its edges have been read. */
const READ_SHARE = 0.2;

export interface ThreadOptions {
  post: (message: FromThread, transfer: readonly ArrayBuffer[]) => void;
  fs: Fs;
  module: CoreModule;
  /** Maximum size in bytes of the cached projections. */
  cacheBytes: number;
  /** Milliseconds of a monotonic clock. */
  now: () => number;
}

export class ThreadCalls {
  readonly #options: ThreadOptions;
  readonly #cache: ProjectionCache;
  /** This thread's scheduler. */
  readonly #scheduler: Scheduler;
  /** Handles a message from the main thread. */
  readonly receive: (message: ToThread) => void;

  constructor(options: ThreadOptions) {
    this.#options = options;
    this.#cache = new ProjectionCache(options.cacheBytes, options.module);
    this.#scheduler = new Scheduler(options.now);
    this.receive = serve<MeasureCalls>(options.post, {
      run: async (work, served) => {
        try {
          await this.#compute(new ThreadCall(work, served, options.now));
        } catch (error) {
          throw measureError(error);
        }
      },
    });
  }

  async #compute(call: ThreadCall): Promise<void> {
    const held = await this.#cache.take(
      call.work,
      async (core) => new SharedProjections(core, await this.#read(call), call.work.bucketSeconds),
      () => call.isCancelled,
    );
    let broken = true;
    try {
      await this.#send(call, held);
      broken = false;
    } catch (error) {
      // After a trap or exhausted memory (`overloaded`), the instance may be corrupt. Any other
      // HedgerowError leaves it intact.
      broken = !(error instanceof HedgerowError) || error.code === 'overloaded';
      throw error;
    } finally {
      held.release(broken);
    }
  }

  async #read(call: ThreadCall) {
    call.post({ kind: 'needs' });
    while (!call.hasPieces) await call.news();
    const { window, hasRoles } = call.work;
    const steps = readEdges(call.pieces, window, this.#options.fs, this.#options.module, hasRoles);
    const columns = await this.#scheduler.drive('measure', within(steps, 0, READ_SHARE), call);
    call.pieces.length = 0;
    call.post({ kind: 'read' });
    return columns;
  }

  async #send(call: ThreadCall, { projections }: Held): Promise<void> {
    const { measure, params, isNamed, direction } = call.work;
    const input = { projections, direction, nowMs: this.#options.now };
    const steps = measureNamed(measure).run(input, params);
    const { shape, definition, basis } = await this.#scheduler.drive('measure', within(steps, READ_SHARE, 1), call);
    call.post({ kind: 'begun', definition, basis, marks: marksOf(shape, isNamed) });
    const chunks = resultBytes(shape, isNamed);
    for (;;) {
      while (call.credit === 0) await call.news();
      const bytes = await this.#scheduler.drive('measure', nextOf(chunks), call);
      if (bytes === null) return;
      call.credit -= 1;
      call.post({ kind: 'chunk', bytes }, [bytes.buffer]);
    }
  }
}

/** Returns the next chunk, or null at the end. */
function* nextOf(chunks: Iterator<Uint8Array<ArrayBuffer> | null>): Steps<Uint8Array<ArrayBuffer> | null> {
  for (;;) {
    const step = chunks.next();
    if (step.done) return null;
    if (step.value !== null) return step.value;
    yield 0;
  }
}

class ThreadCall implements Watch {
  readonly work: MeasureWork;
  readonly pieces: EdgePiece[] = [];
  hasPieces = false;
  /** Number of chunks that may still be sent. */
  credit = CHUNKS_AHEAD;
  isCancelled = false;
  readonly #served: ServedCall;
  readonly #now: () => number;
  #wake: (() => void) | undefined;
  #toldMs = -Infinity;
  #told = 0;

  constructor(work: MeasureWork, served: ServedCall, now: () => number) {
    this.work = work;
    this.#served = served;
    this.#now = now;
    served.receive = (message) => this.#receive(message as ToMeasure);
    served.cancelled = () => {
      this.isCancelled = true;
      this.wake();
    };
  }

  #receive(message: ToMeasure): void {
    if (message.kind === 'piece') this.pieces.push(message.piece);
    else if (message.kind === 'more') this.credit += 1;
    else this.hasPieces = true;
    this.wake();
  }

  post(message: FromMeasure, transfer: readonly ArrayBuffer[] = []): void {
    this.#served.send(message, transfer);
  }

  wake(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  /** Resolves on the next message. Rejects when the call is cancelled. */
  async news(): Promise<void> {
    this.look();
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.look();
  }

  look(): void {
    // The caller no longer waits for the call, so this error is never seen.
    if (this.isCancelled) throw new HedgerowError('timeout', 'The call was cancelled.');
  }

  progress(done: number): void {
    const nowMs = this.#now();
    if (nowMs - this.#toldMs < PROGRESS_MS || done <= this.#told) return;
    this.#toldMs = nowMs;
    this.#told = done;
    this.post({ kind: 'progress', done });
  }
}
