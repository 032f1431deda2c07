// A result as a stream of byte chunks, either produced in this thread from a shape or sent by a
// worker thread.

import type { Shape } from './measure.ts';
import { resultBytes } from './result-bytes.ts';

export interface Chunks {
  /**
   * Returns the next bytes: empty if none are ready yet, null at the end. Takes a few ms at most.
   */
  next(): Uint8Array<ArrayBuffer> | null;
  /**
   * Must be called after an empty chunk. If it returns true, `resume` will be called once, when
   * there is more or the stream has ended. If it returns false, `next` can be called at once.
   */
  wait(resume: () => void): boolean;
  /** Ends the stream: no more chunks will be read. */
  close(): void;
}

/** Approximate upper bound on the work in one call of `next`, in milliseconds. */
const SLICE_MS = 3;

/** Chunks produced on demand in this thread. */
export class ShapeChunks implements Chunks {
  readonly #bytes: Generator<Uint8Array<ArrayBuffer> | null, void, void>;
  readonly #now: () => number;

  /** `isNamed`: nodes are written as marks. */
  constructor(shape: Shape, isNamed: boolean, now: () => number) {
    this.#bytes = resultBytes(shape, isNamed);
    this.#now = now;
  }

  next(): Uint8Array<ArrayBuffer> | null {
    const end = this.#now() + SLICE_MS;
    do {
      const step = this.#bytes.next();
      if (step.done) return null;
      if (step.value !== null) return step.value;
    } while (this.#now() < end);
    return NOTHING;
  }

  wait(): boolean {
    return false;
  }

  close(): void {
    this.#bytes.return();
  }
}

/** Chunks received from a worker thread. */
export class SentChunks implements Chunks {
  readonly #taken: () => void;
  readonly #closed: () => void;
  readonly #waiting: Uint8Array<ArrayBuffer>[] = [];
  #resume: (() => void) | undefined;
  #isEnded = false;
  #error: unknown;

  /**
   * `taken` is called when the thread may send one more chunk, `closed` when it need not send any
   * more.
   */
  constructor(taken: () => void, closed: () => void) {
    this.#taken = taken;
    this.#closed = closed;
  }

  add(bytes: Uint8Array<ArrayBuffer>): void {
    this.#waiting.push(bytes);
    this.#go();
  }

  /**
   * Ends the stream: no more chunks will arrive. `error` is the reason if the result was cut short.
   */
  end(error?: unknown): void {
    this.#isEnded = true;
    this.#error = error;
    this.#go();
  }

  #go(): void {
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.();
  }

  next(): Uint8Array<ArrayBuffer> | null {
    const bytes = this.#waiting.shift();
    if (bytes !== undefined) {
      if (!this.#isEnded) this.#taken();
      return bytes;
    }
    if (this.#error !== undefined) throw this.#error;
    return this.#isEnded ? null : NOTHING;
  }

  wait(resume: () => void): boolean {
    if (this.#waiting.length > 0 || this.#isEnded) return false;
    this.#resume = resume;
    return true;
  }

  close(): void {
    this.#waiting.length = 0;
    if (!this.#isEnded) this.#closed();
  }
}

const NOTHING = new Uint8Array(0);
