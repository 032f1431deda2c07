// Stores many small byte ranges in a few large buffers. A buffer for each range, or even a view,
// would take more memory than the bytes in it.

import { assert } from '../../assert.ts';
import type { KeptBytes } from '../transaction/staged-list.ts';

const FIRST_BYTES = 1024;
const MOST_BYTES = 262_144;

export class ByteArena {
  #chunk = new Uint8Array(0);
  #used = 0;
  #next = FIRST_BYTES;

  /** Stores a copy of the bytes and returns where it is; the copy never moves. */
  keep(bytes: Uint8Array): KeptBytes {
    if (bytes.length > this.#chunk.length - this.#used) this.#grow(bytes.length);
    const from = this.#used;
    assert(from + bytes.length <= this.#chunk.length, 'a chunk has room for what is kept in it');
    this.#chunk.set(bytes, from);
    this.#used += bytes.length;
    return { chunk: this.#chunk, from, to: this.#used };
  }

  #grow(least: number): void {
    this.#chunk = new Uint8Array(Math.max(least, this.#next));
    this.#used = 0;
    this.#next = Math.min(MOST_BYTES, this.#next * 4);
  }
}

/** Concatenates the ranges. If they all are adjacent in one chunk, nothing is copied. */
export function joined(ranges: readonly KeptBytes[]): Uint8Array {
  const pieces: Uint8Array[] = [];
  for (let first = 0; first < ranges.length; ) {
    const { chunk, from } = ranges[first]!;
    let { to } = ranges[first]!;
    let next = first + 1;
    for (; next < ranges.length && ranges[next]!.chunk === chunk && ranges[next]!.from === to; next++)
      to = ranges[next]!.to;
    pieces.push(chunk.subarray(from, to));
    first = next;
  }
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}
