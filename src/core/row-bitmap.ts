// A set of rows of a segment, or of documents of a text block, as a bitmap in an instance.

import type { Core } from './load.ts';
import { allocate } from './region.ts';

export class RowBitmap {
  readonly #core: Core;
  readonly #rows: number;
  /** Address of u64[ceil(rows / 64)], bit = the row is in the set; 0 after `free`. */
  pointer: number;

  /** A set for rows below `rows`, which is empty. Throws `overloaded`. */
  constructor(core: Core, rows: number) {
    this.#core = core;
    this.#rows = rows;
    this.pointer = allocate(core, Math.ceil(rows / 64) * 8);
    this.setRange(0, 0);
  }

  /** Puts rows [from, to) into the set, and no others. */
  setRange(from: number, to: number): void {
    this.#core.exports.hg_selection_window(this.pointer, this.#rows, from, to);
  }

  /** Puts the listed rows into the set, and no others. Throws `overloaded`. */
  setRows(rows: Uint32Array): void {
    const list = this.#place(rows);
    this.#core.exports.hg_selection_rows(this.pointer, this.#rows, list, rows.length);
    this.#core.exports.hg_memory_free(list);
  }

  /** Removes the listed rows. Throws `overloaded`. */
  drop(rows: Uint32Array): void {
    const list = this.#place(rows);
    this.#core.exports.hg_selection_drop(this.pointer, list, 0, rows.length, 0);
    this.#core.exports.hg_memory_free(list);
  }

  #place(rows: Uint32Array): number {
    const list = allocate(this.#core, rows.length * 4);
    this.#core.memory.words.set(rows, list / 4);
    return list;
  }

  /** Returns how many rows are in the set. */
  count(): number {
    return this.#core.exports.hg_selection_count(this.pointer, this.#rows) >>> 0;
  }

  /** Returns the rows of the set, ascending. Throws `overloaded`. */
  list(): Uint32Array {
    const at = allocate(this.#core, this.count() * 4);
    const n = this.#core.exports.hg_selection_list(this.pointer, this.#rows, at) >>> 0;
    const rows = this.#core.memory.words.slice(at / 4, at / 4 + n);
    this.#core.exports.hg_memory_free(at);
    return rows;
  }

  /** Frees the memory; may be called twice. */
  free(): void {
    this.#core.exports.hg_memory_free(this.pointer);
    this.pointer = 0;
  }
}
