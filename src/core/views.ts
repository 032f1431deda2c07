// Typed views of a core instance's linear memory. Only this file uses `memory.buffer`. No view may
// be kept across a call into the core.

import type { WasmMemory } from './abi.ts';

export class CoreMemory {
  readonly #memory: WasmMemory;
  #bytes: Uint8Array<ArrayBuffer>;
  #words: Uint32Array<ArrayBuffer>;
  #numbers: Float64Array<ArrayBuffer>;

  constructor(memory: WasmMemory) {
    this.#memory = memory;
    const buffer = memory.buffer as ArrayBuffer;
    this.#bytes = new Uint8Array(buffer);
    this.#words = new Uint32Array(buffer);
    this.#numbers = new Float64Array(buffer);
  }

  /**
   * Creates the views again if memory has grown. Growth detaches the old buffer, and the views of
   * it become empty. The length of a view is tested because reading `memory.buffer` costs more.
   */
  #refresh(): void {
    if (this.#words.length > 0) return;
    const buffer = this.#memory.buffer as ArrayBuffer;
    this.#bytes = new Uint8Array(buffer);
    this.#words = new Uint32Array(buffer);
    this.#numbers = new Float64Array(buffer);
  }

  /** Size in bytes of the linear memory, which grows and never shrinks. */
  get size(): number {
    return this.#memory.buffer.byteLength;
  }

  /** All memory as bytes; valid until the next call into the core. */
  get bytes(): Uint8Array<ArrayBuffer> {
    this.#refresh();
    return this.#bytes;
  }

  /** All memory as u32; index = address / 4. */
  get words(): Uint32Array<ArrayBuffer> {
    this.#refresh();
    return this.#words;
  }

  /** All memory as f64; index = address / 8. */
  get numbers(): Float64Array<ArrayBuffer> {
    this.#refresh();
    return this.#numbers;
  }

  /** Returns a view of [pointer, pointer + length), valid until the next call into the core. */
  borrow(pointer: number, length: number): Uint8Array<ArrayBuffer> {
    return this.bytes.subarray(pointer, pointer + length);
  }

  /** Returns a copy that the caller owns. Small copies share Node's buffer pool. */
  copyOut(pointer: number, length: number): Uint8Array<ArrayBuffer> {
    const copy = Buffer.allocUnsafe(length);
    copy.set(this.bytes.subarray(pointer, pointer + length));
    return copy as Uint8Array<ArrayBuffer>;
  }

  write(pointer: number, bytes: Uint8Array): void {
    this.bytes.set(bytes, pointer);
  }
}
