// Regions of an instance's memory that are allocated one by one and freed together, also after an
// error.

import type { Core } from './load.ts';
import { allocate } from './region.ts';

export class Scratch {
  readonly #core: Core;
  readonly #regions = new Map<number, number>();

  constructor(core: Core) {
    this.#core = core;
  }

  /**
   * Returns the address of `bytes` bytes, not zeroed; throws `overloaded` if memory cannot grow.
   */
  take(bytes: number): number {
    const address = allocate(this.#core, bytes);
    this.#regions.set(address, bytes);
    return address;
  }

  /** Returns the address of `bytes` zeroed bytes. */
  zeroed(bytes: number): number {
    const address = this.take(bytes);
    this.#core.memory.borrow(address, bytes).fill(0);
    return address;
  }

  /** Frees one region earlier than the others. */
  drop(address: number): void {
    if (this.#regions.delete(address)) this.#core.exports.hg_memory_free(address);
  }

  /** Number of bytes allocated and not yet freed. */
  get bytes(): number {
    let sum = 0;
    for (const bytes of this.#regions.values()) sum += bytes;
    return sum;
  }

  /** Frees all regions; may be called twice. */
  free(): void {
    for (const address of this.#regions.keys()) this.#core.exports.hg_memory_free(address);
    this.#regions.clear();
  }
}
