// Writes keys of nodes into an instance's memory.

import { isWellFormed } from '../model/text.ts';
import type { Core } from './load.ts';

/** Maximum size of a key in bytes of UTF-8. */
export const MOST_KEY_BYTES = 512;

/** Returns the same bytes as a Buffer, which has the faster methods for text and search. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A region for one key: 3 bytes for each of at most 512 UTF-16 units, and 16 more. */
export class KeyText {
  readonly #core: Core;
  readonly pointer: number;

  constructor(core: Core, pointer: number) {
    this.#core = core;
    this.pointer = pointer;
  }

  /**
   * Writes a text in UTF-8; returns its size in bytes, or 0 if no key has this text, because it is
   * too long or has half of a surrogate pair.
   */
  place(key: string): number {
    const units = key.length;
    if (units > MOST_KEY_BYTES) return 0;
    const bytes = this.#core.memory.bytes;
    const pointer = this.pointer;
    for (let i = 0; i < units; i++) {
      const unit = key.charCodeAt(i);
      if (unit > 0x7f) return this.#placeUtf8(key);
      bytes[pointer + i] = unit;
    }
    return units;
  }

  #placeUtf8(key: string): number {
    if (!isWellFormed(key)) return 0;
    const size = asBuffer(this.#core.memory.borrow(this.pointer, 3 * MOST_KEY_BYTES)).write(key);
    return size > MOST_KEY_BYTES ? 0 : size;
  }

  /** Writes an integer in decimal; returns its size in bytes, or 0 if it is not a safe integer. */
  placeInteger(key: number): number {
    return Number.isSafeInteger(key) ? this.place(String(key)) : 0;
  }
}
