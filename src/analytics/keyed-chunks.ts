// The chunks of a result of a named table, in which marks are replaced by keys.

import type { Database } from '../engine/index.ts';
import type { Chunks } from './chunks.ts';
import type { Marks } from './result-text.ts';

export class KeyedChunks implements Chunks {
  readonly #marked: Chunks;
  readonly #database: Database;
  readonly #form: Marks | 'kind texts';

  /** With several kinds of members, a node is shown as the text `Kind:key` wherever it stands. */
  constructor(marked: Chunks, marks: Marks, kinds: number, database: Database) {
    this.#marked = marked;
    this.#form = kinds > 1 ? 'kind texts' : marks;
    this.#database = database;
  }

  next(): Uint8Array<ArrayBuffer> | null {
    const bytes = this.#marked.next();
    if (bytes === null || bytes.length === 0) return bytes;
    return this.#database.nodes.translate(bytes, this.#form);
  }

  wait(resume: () => void): boolean {
    return this.#marked.wait(resume);
  }

  close(): void {
    this.#marked.close();
  }
}
