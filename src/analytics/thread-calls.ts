// The side of the worker thread: takes calls, gets the edges they need, computes, and sends the results as bytes.

import { type CoreModule, type Steps, within } from '../core/index.ts';
import { type EdgePiece, readEdges } from '../engine/index.ts';
import { HedgerowError } from '../errors.ts';
import type { Fs } from '../storage/index.ts';
import { type Held, ProjectionCache } from './cache.ts';
import { measureError, plainError } from './failure.ts';
import { measureNamed } from './registry.ts';
import { resultBytes } from './result-bytes.ts';
import { SharedProjections } from './shared-projections.ts';
import { Turns, type Watch } from './turns.ts';
import { CHUNKS_AHEAD, type FromThread, type MeasureWork, type ToThread } from './work.ts';

const PROGRESS_MS = 100;
/** Part of a call that is over when its edges are read. */
const READ_SHARE = 0.2;

export interface ThreadOptions {
  post: (message: FromThread, transfer: ArrayBuffer[]) => void;
  fs: Fs;
  module: CoreModule;
  /** Projections kept, at most. */
  cacheBytes: number;
  /** Milliseconds of a monotonic clock. */
  now: () => number;
}

export class ThreadCalls {
  readonly #options: ThreadOptions;
  readonly #cache: ProjectionCache;
  readonly #turns: Turns;
  readonly #calls = new Map<number, ThreadCall>();

  constructor(options: ThreadOptions) {
    this.#options = options;
    this.#cache = new ProjectionCache(options.cacheBytes, options.module);
    this.#turns = new Turns(options.now);
  }

  receive(message: ToThread): void {
    if (message.kind === 'run') {
      const call = new ThreadCall(message.call, message.work, this.#options);
      this.#calls.set(message.call, call);
      void this.#answer(call);
      return;
    }
    const call = this.#calls.get(message.call);
    // It has ended meanwhile.
    if (call === undefined) return;
    if (message.kind === 'piece') call.pieces.push(message.piece);
    else if (message.kind === 'more') call.credit += 1;
    else if (message.kind === 'pieces-end') call.hasPieces = true;
    else call.isCancelled = true;
    call.wake();
  }

  async #answer(call: ThreadCall): Promise<void> {
    try {
      await this.#compute(call);
      call.post({ kind: 'ended', call: call.id });
    } catch (error) {
      call.post({ kind: 'failed', call: call.id, error: plainError(measureError(error)) });
    } finally {
      this.#calls.delete(call.id);
    }
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
      // After any other error of ours the instance is as it was; a trap, or memory that is full, leaves it in doubt.
      broken = !(error instanceof HedgerowError) || error.code === 'overloaded';
      throw error;
    } finally {
      held.release(broken);
    }
  }

  async #read(call: ThreadCall) {
    call.post({ kind: 'needs', call: call.id });
    while (!call.hasPieces) await call.news();
    const { window } = call.work;
    const steps = readEdges(call.pieces, window, this.#options.fs, this.#options.module);
    const columns = await this.#turns.drive(within(steps, 0, READ_SHARE), call);
    call.pieces.length = 0;
    call.post({ kind: 'read', call: call.id });
    return columns;
  }

  async #send(call: ThreadCall, { projections }: Held): Promise<void> {
    const { measure, params } = call.work;
    const input = { projections, nowMs: this.#options.now };
    const steps = measureNamed(measure).run(input, params);
    const { shape, definition, basis } = await this.#turns.drive(within(steps, READ_SHARE, 1), call);
    call.post({ kind: 'begun', call: call.id, definition, basis });
    const chunks = resultBytes(shape);
    for (;;) {
      while (call.credit === 0) await call.news();
      const bytes = await this.#turns.drive(nextOf(chunks), call);
      if (bytes === null) return;
      call.credit -= 1;
      call.post({ kind: 'chunk', call: call.id, bytes }, [bytes.buffer]);
    }
  }
}

/** The next chunk, null at the end. */
function* nextOf(chunks: Iterator<Uint8Array<ArrayBuffer> | null>): Steps<Uint8Array<ArrayBuffer> | null> {
  for (;;) {
    const step = chunks.next();
    if (step.done) return null;
    if (step.value !== null) return step.value;
    yield 0;
  }
}

class ThreadCall implements Watch {
  readonly id: number;
  readonly work: MeasureWork;
  readonly pieces: EdgePiece[] = [];
  hasPieces = false;
  /** Chunks that may be sent. */
  credit = CHUNKS_AHEAD;
  isCancelled = false;
  readonly #options: ThreadOptions;
  #wake: (() => void) | undefined;
  #toldMs = -Infinity;
  #told = 0;

  constructor(id: number, work: MeasureWork, options: ThreadOptions) {
    this.id = id;
    this.work = work;
    this.#options = options;
  }

  post(message: FromThread, transfer: ArrayBuffer[] = []): void {
    this.#options.post(message, transfer);
  }

  wake(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  /** Resolves when the next message comes. Rejects when the call is cancelled. */
  async news(): Promise<void> {
    this.look();
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.look();
  }

  look(): void {
    // Nobody reads this any more.
    if (this.isCancelled) throw new HedgerowError('timeout', 'The call was given up.');
  }

  progress(done: number): void {
    const nowMs = this.#options.now();
    if (nowMs - this.#toldMs < PROGRESS_MS || done <= this.#told) return;
    this.#toldMs = nowMs;
    this.#told = done;
    this.post({ kind: 'progress', call: this.id, done });
  }
}
