// Cuts short-lived answers out of larger blocks: a memory block of its own for each answer costs more than filling it.

/** Below the size from which malloc asks the system for fresh, unmapped pages each time. */
const BLOCK_BYTES = 112 * 1024;
/** Larger answers get a block of their own, so that little of a block is left unused. */
const LARGEST_SHARE = BLOCK_BYTES / 8;

export class BytePool {
  #block: Buffer = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  #used = 0;

  /** `size` bytes of unknown content, the caller's for good. */
  take(size: number): Uint8Array {
    if (size > LARGEST_SHARE) return Buffer.allocUnsafeSlow(size);
    if (this.#used + size > BLOCK_BYTES) {
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      this.#used = 0;
    }
    const view = new Uint8Array(this.#block.buffer, this.#used, size);
    this.#used += size;
    return view;
  }
}
