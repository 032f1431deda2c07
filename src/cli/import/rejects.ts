// Reject files: the lines that were not taken, one JSON object each, with where they stand and why.

import { type FileHandle, open } from 'node:fs/promises';

export interface Reject {
  /** The input's path, `-` for stdin. */
  file: string;
  /** From 1. */
  line: number;
  reason: string;
  text: string;
}

/** Files by path, made (or emptied) when the first line goes into them. */
export class RejectFiles {
  readonly #files = new Map<string, Promise<FileHandle>>();
  readonly #waiting = new Map<string, Reject[]>();

  add(path: string, reject: Reject): void {
    const waiting = this.#waiting.get(path);
    if (waiting === undefined) this.#waiting.set(path, [reject]);
    else waiting.push(reject);
  }

  /** Writes what was added. */
  async flush(): Promise<void> {
    for (const [path, rejects] of this.#waiting) {
      this.#waiting.delete(path);
      let opening = this.#files.get(path);
      if (opening === undefined) {
        opening = open(path, 'w');
        this.#files.set(path, opening);
      }
      const file = await opening;
      // Batches are checked in steps: within what is written at once, lines stand in order.
      rejects.sort((a, b) => a.line - b.line);
      await file.appendFile(rejects.map((reject) => `${JSON.stringify(reject)}\n`).join(''));
    }
  }

  /** Paths that hold rejects of this run. */
  get paths(): string[] {
    return [...this.#files.keys()];
  }

  async close(): Promise<void> {
    await this.flush();
    for (const opening of this.#files.values()) await (await opening).close();
  }
}
