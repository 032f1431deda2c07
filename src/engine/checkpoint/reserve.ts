// The reserve: a file of zeros in the data directory. It is deleted to make room when the disk is
// full and a DROP or a compaction with a TTL is requested, because these operations free space.
//
// The file is created in the background after a manifest is installed. If it was deleted, it is
// created again in the same way when there is room.

import { HedgerowError } from '../../errors.ts';
import { directoryOf, type Fs } from '../../storage/index.ts';
import { isInDoubt } from '../compaction/failure.ts';

const PIECE_BYTES = 2 ** 20;

export class Reserve {
  readonly #fs: Fs;
  readonly #path: string;
  readonly #leastBytes: number;
  #making: Promise<void> = Promise.resolve();
  #isMaking = false;
  #closed = false;

  /** If `leastBytes` is 0, there is no reserve. */
  constructor(fs: Fs, path: string, leastBytes: number) {
    this.#fs = fs;
    this.#path = path;
    this.#leastBytes = leastBytes;
  }

  /** Current size of the file in bytes; 0 if it does not exist. */
  get bytes(): number {
    if (!this.#fs.exists(this.#path)) return 0;
    const handle = this.#fs.open(this.#path, 'read');
    try {
      return handle.size();
    } finally {
      handle.close();
    }
  }

  /**
   * Creates the file or extends it to `bytes`, and at least to `leastBytes`, in the background.
   * Never fails; if the disk has not enough room, there is no reserve.
   */
  wanted(bytes: number): void {
    if (this.#leastBytes === 0 || this.#isMaking || this.#closed) return;
    this.#isMaking = true;
    this.#making = this.#make(Math.max(bytes, this.#leastBytes))
      .catch(() => undefined)
      .finally(() => {
        this.#isMaking = false;
      });
  }

  /**
   * Runs `work`. If it rejects because the disk is full, deletes the reserve and runs `work` again.
   * `work` must have changed nothing when it rejects with `disk_full`.
   */
  async use<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const isFull = error instanceof HedgerowError && error.code === 'disk_full' && !isInDoubt(error);
      if (!isFull || !(await this.giveUp())) throw error;
    }
    return work();
  }

  /** Deletes the file to free its space. Resolves with false if there was no file. */
  async giveUp(): Promise<boolean> {
    await this.#making;
    if (this.bytes === 0) return false;
    await this.#fs.remove(this.#path);
    await this.#fs.syncDir(directoryOf(this.#path));
    return true;
  }

  /** Stops background work and resolves when none is running any more. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#making;
  }

  async #make(bytes: number): Promise<void> {
    const before = this.bytes;
    if (before >= bytes) return;
    const handle = this.#fs.open(this.#path, this.#fs.exists(this.#path) ? 'write' : 'create');
    let isWhole = false;
    try {
      const zeros = new Uint8Array(Math.min(PIECE_BYTES, bytes));
      for (let at = before; at < bytes && !this.#closed; ) {
        const written = await handle.write(zeros.subarray(0, Math.min(zeros.length, bytes - at)), at);
        if (written <= 0) throw new Error(`${this.#path}: nothing was written at offset ${at}`);
        at += written;
      }
      await handle.datasync();
      isWhole = true;
    } finally {
      handle.close();
      if (!isWhole) await this.#fs.remove(this.#path).catch(() => undefined);
    }
  }
}
