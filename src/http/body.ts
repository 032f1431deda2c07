// Collects the chunks of one request body, up to a limit.
//
// The body is a list of pieces. The first piece is as large as the first chunk and then doubles
// until it has 1 MB. After that, further pieces of 1 MB are added, so that no chunk causes more
// than 1 MB to be copied. At the end the pieces are joined into one buffer, in steps if there are
// many.

import { type HedgerowError, refusal } from '../errors.ts';
import { MEGABYTE } from '../limits.ts';

/** Minimum capacity once a second chunk arrives. */
const FIRST_CAPACITY = 64 * 1024;
/** Size up to which the first piece grows, and size of all further pieces. */
const PIECE_BYTES = MEGABYTE;
/** Bodies of more pieces than this are joined in steps. */
const FEW_PIECES = 4;

export const EMPTY_BODY: Buffer = Buffer.alloc(0);

export class BodyCollector {
  readonly #limit: number;
  /** Expected maximum size, which bounds allocation: the declared length, or the limit. */
  readonly #most: number;
  /** The full pieces, and the one being filled. */
  #pieces: Buffer[] = [];
  #last: Buffer = EMPTY_BODY;
  #used = 0;
  #size = 0;
  /** The joined body, while pieces are copied into it. */
  #whole: Buffer | undefined;

  /** `declared`: the length of the body; 0 if unknown. */
  constructor(limit: number, declared: number) {
    this.#limit = limit;
    this.#most = declared > 0 ? Math.min(limit, declared) : limit;
  }

  /**
   * Copies the chunk, since the transport reuses its memory. Returns false if the body is now over
   * the limit.
   */
  add(chunk: ArrayBuffer | Uint8Array): boolean {
    const size = this.#size + chunk.byteLength;
    if (size > this.#limit) {
      this.drop();
      return false;
    }
    const bytes = chunk instanceof Uint8Array ? chunk : new Uint8Array(chunk);
    for (let at = 0; at < bytes.length; ) {
      if (this.#used === this.#last.length) this.#grow(bytes.length - at);
      const fitting = Math.min(bytes.length - at, this.#last.length - this.#used);
      this.#last.set(fitting === bytes.length ? bytes : bytes.subarray(at, at + fitting), this.#used);
      this.#used += fitting;
      at += fitting;
    }
    this.#size = size;
    return true;
  }

  /** Number of bytes allocated for the pieces. */
  get capacity(): number {
    return this.#pieces.length * PIECE_BYTES + this.#last.length;
  }

  /** True if joining the body takes longer than one step may; then call `join` first. */
  get isLong(): boolean {
    return this.#pieces.length > FEW_PIECES;
  }

  /** Frees what was read. */
  drop(): void {
    this.#pieces = [];
    this.#last = EMPTY_BODY;
    this.#used = 0;
    this.#size = 0;
    this.#whole = undefined;
  }

  /** Copies one more piece into the joined body; true while there are more. */
  join(): boolean {
    this.#whole ??= Buffer.allocUnsafeSlow(this.#size);
    const piece = this.#pieces.pop();
    if (piece === undefined) return false;
    this.#whole.set(piece, this.#pieces.length * PIECE_BYTES);
    return this.#pieces.length > 0;
  }

  /** Returns the whole body. Call this once, at the end. */
  take(): Buffer {
    const last = this.#last.length === this.#used ? this.#last : this.#last.subarray(0, this.#used);
    if (this.#whole === undefined && this.#pieces.length === 0) return last;
    while (this.join());
    const whole = this.#whole!;
    whole.set(last, whole.length - last.length);
    return whole;
  }

  /** Makes room for at least part of `more` bytes. */
  #grow(more: number): void {
    const isFirst = this.#size === 0 && this.#used === 0;
    if (this.#last.length >= PIECE_BYTES) {
      this.#pieces.push(this.#last);
      const left = this.#most - this.#pieces.length * PIECE_BYTES;
      this.#last = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, Math.max(left, more)));
      this.#used = 0;
      return;
    }
    const doubled = Math.max(FIRST_CAPACITY, this.#last.length * 2, this.#used + more);
    const capacity = Math.min(PIECE_BYTES, isFirst ? more : Math.max(Math.min(this.#most, doubled), this.#used + more));
    const isSmall = isFirst && more < FIRST_CAPACITY;
    const bytes = isSmall ? Buffer.allocUnsafe(capacity) : Buffer.allocUnsafeSlow(capacity);
    if (!isFirst) bytes.set(this.#last.subarray(0, this.#used));
    this.#last = bytes;
  }
}

export function bodyTooLarge(limit: number): HedgerowError {
  return refusal('body_too_large', `The body is larger than the limit of ${limit / MEGABYTE} MB.`);
}
