// Writes reject files: the lines that were not imported, one JSON object each, with their position
// and the reason.

import { type FileHandle, open, truncate } from 'node:fs/promises';
import { FILE_MODE } from '../../../storage/index.ts';

export interface Reject {
  /** Path of the input; `-` for stdin. */
  file: string;
  /** 1-based number of the line. */
  line: number;
  reason: string;
  text: string;
}

interface OpenFile {
  readonly handle: FileHandle;
  bytes: number;
}

/**
 * The reject files by path. A file is created (or emptied) when the first line is written to it.
 */
export class RejectFiles {
  readonly #files = new Map<string, Promise<OpenFile>>();

  /** Continues a file that an earlier import began, truncated to `bytes`. */
  async resume(path: string, bytes: number): Promise<void> {
    if (bytes === 0) return;
    try {
      await truncate(path, bytes);
    } catch (error) {
      throw new Error(`The reject file ${path} cannot be continued (${(error as Error).message}).`, {
        cause: error,
      });
    }
    const handle = await open(path, 'a', FILE_MODE);
    this.#files.set(path, Promise.resolve({ handle, bytes }));
  }

  /** Resolves when the lines are durable. */
  async add(path: string, rejects: readonly Reject[]): Promise<void> {
    if (rejects.length === 0) return;
    // A batch is checked in several passes, so its rejects may be out of order. They are sorted
    // within one write.
    const lines = [...rejects].sort((a, b) => a.line - b.line).map((reject) => `${JSON.stringify(reject)}\n`);
    try {
      await this.#append(path, Buffer.from(lines.join('')));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new Error(`The reject file ${path} cannot be written (${code}). Name another one with --rejects.`, {
        cause: error,
      });
    }
  }

  async #append(path: string, bytes: Buffer): Promise<void> {
    let opening = this.#files.get(path);
    if (opening === undefined) {
      opening = open(path, 'w', FILE_MODE).then((handle) => ({ handle, bytes: 0 }));
      this.#files.set(path, opening);
      // A file that could not be opened needs no closing and is not listed.
      opening.catch(() => this.#files.delete(path));
    }
    const file = await opening;
    await file.handle.appendFile(bytes);
    await file.handle.datasync();
    file.bytes += bytes.length;
  }

  async bytesOf(path: string): Promise<number> {
    return (await this.#files.get(path))?.bytes ?? 0;
  }

  /** Paths of the files that this run has continued or written. */
  get paths(): string[] {
    return [...this.#files.keys()];
  }

  async close(): Promise<void> {
    for (const opening of this.#files.values()) await (await opening).handle.close();
  }
}
