// Keeps many small byte ranges in a few large buffers: a buffer, or even a view, of its own for each costs more than the bytes.

const FIRST_BYTES = 1024;
const MOST_BYTES = 262_144;

/** Bytes of a buffer that many share. */
export interface KeptBytes {
  readonly chunk: Uint8Array;
  readonly from: number;
  readonly to: number;
}

export class ByteArena {
  /** The buffer that the last range went to. */
  chunk = new Uint8Array(0);
  /** Where it ends there. */
  used = 0;
  #next = FIRST_BYTES;

  /** Copies bytes behind the last ones, where they stay; tells where they begin in `chunk`. */
  keep(bytes: Uint8Array): number {
    if (bytes.length > this.chunk.length - this.used) this.#grow(bytes.length);
    const from = this.used;
    this.chunk.set(bytes, from);
    this.used += bytes.length;
    return from;
  }

  #grow(least: number): void {
    this.chunk = new Uint8Array(Math.max(least, this.#next));
    this.used = 0;
    this.#next = Math.min(MOST_BYTES, this.#next * 4);
  }
}

/** All the ranges, one behind the other; those that lie so already are not copied. */
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
