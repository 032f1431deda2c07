// The reserve: a file of zeros in the data directory that is given up when a DROP or a compaction with a TTL, which free room, meet a full disk.
//
// It is made in the background after a manifest was installed, and made again when there is room.

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

  /** `leastBytes` 0: there is none. */
  constructor(fs: Fs, path: string, leastBytes: number) {
    this.#fs = fs;
    this.#path = path;
    this.#leastBytes = leastBytes;
  }

  /** Bytes that the file has now, 0: there is none. */
  get bytes(): number {
    if (!this.#fs.exists(this.#path)) return 0;
    const handle = this.#fs.open(this.#path, 'read');
    try {
      return handle.size();
    } finally {
      handle.close();
    }
  }

  /** Makes it in the background, when there is room: `bytes` bytes or what it has at least. Never fails. */
  wanted(bytes: number): void {
    if (this.#leastBytes === 0 || this.#isMaking || this.#closed) return;
    this.#isMaking = true;
    this.#making = this.#make(Math.max(bytes, this.#leastBytes))
      .catch(() => undefined)
      .finally(() => {
        this.#isMaking = false;
      });
  }

  /** Runs `work`; when it meets a full disk, gives up the reserve and runs it again. `work` must have changed nothing when it rejects with `disk_full`. */
  async use<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const isFull = error instanceof HedgerowError && error.code === 'disk_full' && !isInDoubt(error);
      if (!isFull || !(await this.giveUp())) throw error;
    }
    return work();
  }

  /** Gives the room back; false: there was none to give. */
  async giveUp(): Promise<boolean> {
    await this.#making;
    if (this.bytes === 0) return false;
    await this.#fs.remove(this.#path);
    await this.#fs.syncDir(directoryOf(this.#path));
    return true;
  }

  /** Resolves when nothing is being made any more. */
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
