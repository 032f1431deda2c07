// A temporary file for the part of a document that arrives first but must be written last.

import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export class AsideFile {
  readonly #dir: string;
  readonly #path: string;
  readonly #file: FileHandle;

  private constructor(dir: string, path: string, file: FileHandle) {
    this.#dir = dir;
    this.#path = path;
    this.#file = file;
  }

  /** Creates the file in the directory for temporary files. The caller must call `remove`. */
  static async create(): Promise<AsideFile> {
    const dir = mkdtempSync(join(tmpdir(), 'hedgerow-export-'));
    try {
      const path = join(dir, 'aside');
      return new AsideFile(dir, path, await open(path, 'wx'));
    } catch (error) {
      rmSync(dir, { recursive: true, force: true });
      throw error;
    }
  }

  async append(text: string): Promise<void> {
    if (text !== '') await this.#file.appendFile(text);
  }

  /** Yields everything that was appended. */
  async *read(): AsyncGenerator<Uint8Array> {
    for await (const piece of createReadStream(this.#path)) yield piece as Buffer;
  }

  async remove(): Promise<void> {
    try {
      await this.#file.close();
    } finally {
      rmSync(this.#dir, { recursive: true, force: true });
    }
  }
}
