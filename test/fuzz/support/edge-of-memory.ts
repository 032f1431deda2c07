// A core instance whose input is placed as close to the end of memory as the ABI allows, so that a
// read well beyond it traps. Its outputs are followed by guard bytes.

import { Instance } from '../../core/support/instance.ts';

const PAGES = 128;
const GUARD_BYTES = 64;
const GUARD = 0xa5;
/** Number of readable bytes that the ABI promises after every region. */
const SLACK_BYTES = 16;

export class EdgeOfMemory extends Instance {
  #guards: { at: number; name: string }[] = [];

  constructor() {
    super('debug');
    const memory = this.x.memory as WebAssembly.Memory;
    memory.grow(PAGES - memory.buffer.byteLength / 65_536);
  }

  /** Frees all regions, and places `bytes` as close to the end of memory as the ABI allows. */
  place(bytes: Uint8Array): number {
    this.x.hg_memory_reset();
    this.#guards = [];
    const at = (this.core.memory.size - SLACK_BYTES - bytes.length) & ~7;
    this.core.memory.write(at, bytes);
    this.core.memory.bytes.fill(0xee, at + bytes.length);
    return at;
  }

  /** Returns the u32 at any address. */
  word(at: number): number {
    const bytes = this.core.memory.bytes;
    return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
  }

  /** Returns a region for a result of at most `bytes` bytes, followed by guard bytes. */
  out(name: string, bytes: number): number {
    const at = this.alloc(bytes + GUARD_BYTES);
    this.core.memory.bytes.fill(GUARD, at + bytes, at + bytes + GUARD_BYTES);
    this.#guards.push({ at: at + bytes, name });
    return at;
  }

  /** Throws if a call wrote beyond a region. */
  checkGuards(): void {
    for (const { at, name } of this.#guards) {
      const bytes = this.core.memory.bytes;
      for (let i = at; i < at + GUARD_BYTES; i++)
        if (bytes[i] !== GUARD) throw new Error(`written ${i - at} bytes behind ${name}`);
    }
  }
}
