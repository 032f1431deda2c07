// The bytes of a result as they are taken: from a shape here, or from a thread that sends them.

import type { Shape } from './measure.ts';
import { resultBytes } from './result-bytes.ts';

export interface Chunks {
  /** The next bytes, null at the end; empty: nothing there yet. Bounded to a few ms. */
  next(): Uint8Array<ArrayBuffer> | null;
  /** After an empty chunk. True: `resume` is called once when there is more; false: call `next` again at once. */
  wait(resume: () => void): boolean;
  /** Nothing more is taken. */
  close(): void;
}

/** Work between two chunks, at most about. */
const SLICE_MS = 3;

/** Bytes made when they are taken. */
export class ShapeChunks implements Chunks {
  readonly #bytes: Generator<Uint8Array<ArrayBuffer> | null, void, void>;
  readonly #now: () => number;

  constructor(shape: Shape, now: () => number) {
    this.#bytes = resultBytes(shape);
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

/** Bytes that a thread sends. */
export class SentChunks implements Chunks {
  readonly #taken: () => void;
  readonly #closed: () => void;
  readonly #waiting: Uint8Array<ArrayBuffer>[] = [];
  #resume: (() => void) | undefined;
  #isEnded = false;
  #error: unknown;

  /** `taken`: the thread may send one more; `closed`: it need not send any more. */
  constructor(taken: () => void, closed: () => void) {
    this.#taken = taken;
    this.#closed = closed;
  }

  add(bytes: Uint8Array<ArrayBuffer>): void {
    this.#waiting.push(bytes);
    this.#go();
  }

  /** No more come; `error`: because of it. */
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
