// A region of an instance's memory that grows on demand and is freed once.

import type { Core } from './load.ts';
import { coreError, STATUS } from './status.ts';

/** Allocates `bytes` bytes in the instance; throws `overloaded` if memory cannot grow. */
export function allocate(core: Core, bytes: number): number {
  const pointer = core.exports.hg_memory_alloc(bytes) >>> 0;
  if (pointer === 0) throw coreError(STATUS.outOfMemory, 'hg_memory_alloc');
  return pointer;
}

export class Region {
  readonly #core: Core;
  pointer: number;
  bytes: number;

  constructor(core: Core, bytes: number) {
    this.#core = core;
    this.bytes = bytes;
    this.pointer = allocate(core, bytes);
  }

  /**
   * Grows the region to at least `bytes` bytes; its contents are lost. Throws `overloaded`, with
   * nothing changed, if out of memory.
   */
  ensure(bytes: number): void {
    if (bytes <= this.bytes) return;
    const wanted = Math.max(bytes, this.bytes * 2);
    // Allocates before freeing. If the allocation fails, the region and its contents are unchanged.
    const next = allocate(this.#core, wanted);
    this.#core.exports.hg_memory_free(this.pointer);
    this.pointer = next;
    this.bytes = wanted;
  }

  /** Same as `ensure`, but keeps the first `used` bytes. */
  extend(bytes: number, used: number): void {
    if (bytes <= this.bytes) return;
    const wanted = Math.max(bytes, this.bytes * 2);
    const next = allocate(this.#core, wanted);
    this.#core.memory.bytes.copyWithin(next, this.pointer, this.pointer + used);
    this.#core.exports.hg_memory_free(this.pointer);
    this.pointer = next;
    this.bytes = wanted;
  }

  free(): void {
    this.#core.exports.hg_memory_free(this.pointer);
    this.pointer = 0;
    this.bytes = 0;
  }
}
