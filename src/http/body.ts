// Collects the chunks of one request body under a limit.

import { type HedgerowError, refusal } from '../errors.ts';
import { MEGABYTE } from '../limits.ts';

/** Bodies over this size grow by doubling instead of being copied per chunk. */
const FIRST_CAPACITY = 64 * 1024;

export const EMPTY_BODY: Buffer = Buffer.alloc(0);

export class BodyCollector {
  readonly #limit: number;
  /** More memory is never taken. */
  readonly #most: number;
  #bytes: Buffer = EMPTY_BODY;
  #size = 0;

  /** `declared`: the length of the body; 0: not known. */
  constructor(limit: number, declared: number) {
    this.#limit = limit;
    this.#most = declared > 0 ? Math.min(limit, declared) : limit;
  }

  /** Copies the chunk (the transport takes its memory back); false when the body is now over the limit. */
  add(chunk: ArrayBuffer | Uint8Array): boolean {
    const size = this.#size + chunk.byteLength;
    if (size > this.#limit) {
      this.drop();
      return false;
    }
    if (size > this.#bytes.length) this.#grow(size);
    this.#bytes.set(chunk instanceof Uint8Array ? chunk : new Uint8Array(chunk), this.#size);
    this.#size = size;
    return true;
  }

  /** Bytes of memory taken. */
  get capacity(): number {
    return this.#bytes.length;
  }

  /** Lets go of what was read. */
  drop(): void {
    this.#bytes = EMPTY_BODY;
    this.#size = 0;
  }

  take(): Buffer {
    return this.#bytes.length === this.#size ? this.#bytes : this.#bytes.subarray(0, this.#size);
  }

  #grow(size: number): void {
    const first = this.#size === 0;
    const capacity = first ? size : Math.min(this.#most, Math.max(FIRST_CAPACITY, this.#bytes.length * 2, size));
    const bytes = first && size < FIRST_CAPACITY ? Buffer.allocUnsafe(capacity) : Buffer.allocUnsafeSlow(capacity);
    if (!first) bytes.set(this.#bytes.subarray(0, this.#size));
    this.#bytes = bytes;
  }
}

export function bodyTooLarge(limit: number): HedgerowError {
  return refusal('body_too_large', `The body is larger than the limit of ${limit / MEGABYTE} MB.`);
}
