// Keeps many small byte ranges in a few large buffers: a buffer of its own for each costs more than the bytes.

const FIRST_BYTES = 1024;
const MOST_BYTES = 262_144;

export class ByteArena {
  #chunk = new Uint8Array(0);
  #used = 0;
  #next = FIRST_BYTES;

  /** A copy that stays as it is. */
  keep(bytes: Uint8Array): Uint8Array {
    if (bytes.length > this.#chunk.length - this.#used) this.#grow(bytes.length);
    const kept = this.#chunk.subarray(this.#used, this.#used + bytes.length);
    kept.set(bytes);
    this.#used += bytes.length;
    return kept;
  }

  #grow(least: number): void {
    this.#chunk = new Uint8Array(Math.max(least, this.#next));
    this.#used = 0;
    this.#next = Math.min(MOST_BYTES, this.#next * 4);
  }
}
