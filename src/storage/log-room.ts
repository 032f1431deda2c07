// Tracks the disk space that is prepared for further frames: the rest of the active file, and the
// spare file that follows it.
//
// Frames fill the files in order: if a frame does not fit into the rest of a file, this frame and
// all later ones are written to the next file. `take` accounts for a frame when it is queued,
// before it is written. Therefore `fits` describes the state after everything queued has been
// written. If the caller queues a frame for which no space is prepared, a new file is made when the
// frame is written. Until then `fits` returns false for all frames.

import { assert } from '../assert.ts';
import { HedgerowError } from '../errors.ts';
import type { Fs } from './fs.ts';
import { fileBytesFor, prepareSpare, type Spare } from './log-file.ts';

/**
 * Space reserved for urgent frames: 64 KB, or 1/8 of a file if files are small (in tests). A frame
 * is urgent if writing it allows space to be freed, or if it must not wait.
 */
const URGENT_BYTES = 2 ** 16;
const URGENT_PART = 8;
/** Size of the next file if the disk has no space for a full one. */
const LEAST_FILE_BYTES = 2 ** 20;
const FULL: readonly unknown[] = ['ENOSPC', 'EDQUOT'];

export interface LogRoomOptions {
  fs: Fs;
  dir: string;
  fileBytes: number;
  /** Throws if another process owns the log, because the spare then belongs to that process. */
  assertOwner: () => void;
}

export class LogRoom {
  readonly #options: LogRoomOptions;
  readonly #urgentBytes: number;
  /** Bytes left in the file to which the newest queued frame will be written. */
  #leftBytes = 0;
  /**
   * The spare that is ready or being made; null if there is none. Resolves with null if making it
   * failed.
   */
  #spare: Promise<Spare | null> | null = null;
  /**
   * Total size of the frames for which the spare has space, in bytes; 0 if no spare is ready or if
   * a queued frame will be written to it.
   */
  #spareBytes = 0;
  /**
   * Whether a queued frame will be written to the spare, or the spare is just becoming a log file.
   * If so, no other spare can be made until that is finished.
   */
  #spareTaken = false;
  /** Whether a frame is queued for which no space is prepared. */
  #overdrawn = false;
  /**
   * Error of the last attempt to make a spare, if it failed. Then `prepare` does not try again
   * until `make` or `takeSpare` has succeeded.
   */
  #failure: unknown;
  #closed = false;

  constructor(options: LogRoomOptions) {
    this.#options = options;
    this.#urgentBytes = Math.min(URGENT_BYTES, Math.floor(options.fileBytes / URGENT_PART));
  }

  /**
   * Returns whether a frame of `bytes` (including header and padding) fits into the prepared
   * space. A frame that is not urgent must not use the space reserved for urgent frames.
   */
  fits(bytes: number, urgent: boolean): boolean {
    if (this.#overdrawn) return false;
    const kept = urgent ? 0 : this.#urgentBytes;
    if (bytes <= this.#leftBytes) return Math.max(this.#leftBytes - bytes, this.#spareBytes) >= kept;
    return this.#spareBytes >= bytes + kept;
  }

  /** Accounts for a queued frame of `bytes`. */
  take(bytes: number): void {
    if (this.#overdrawn) return;
    if (bytes <= this.#leftBytes) this.#leftBytes -= bytes;
    else if (bytes <= this.#spareBytes) {
      this.#leftBytes = this.#spareBytes - bytes;
      this.#spareBytes = 0;
      this.#spareTaken = true;
    } else {
      this.#leftBytes = 0;
      this.#overdrawn = true;
    }
    assert(this.#leftBytes >= 0, 'no more room is taken than there is');
  }

  /**
   * Accounts for a group that was written: `leftBytes` are left in the active file, and frames of
   * `queuedBytes` are still to be written.
   */
  written(leftBytes: number, queuedBytes: number): void {
    assert(leftBytes >= 0, 'a file is not written past its capacity');
    if (!this.#overdrawn) return;
    this.#overdrawn = queuedBytes > leftBytes;
    this.#leftBytes = this.#overdrawn ? 0 : leftBytes - queuedBytes;
  }

  /**
   * Makes a spare of `fileBytes` in the background, unless there is one. A failure is not reported;
   * `make` and `takeSpare` try again.
   */
  prepare(fileBytes: number): void {
    if (this.#spare === null && !this.#spareTaken && this.#failure === undefined && !this.#closed)
      this.#replace(0, fileBytes);
  }

  /**
   * Does one step to prepare space for a frame of `bytes`; when this resolves, the caller must
   * check `fits` again. `flush` must resolve when everything queued has been written. Rejects with
   * `disk_full` or `disk_failed` if there is no space; the log stays open.
   */
  async make(bytes: number, fileBytes: number, flush: () => Promise<void>): Promise<void> {
    if (this.#overdrawn || this.#spareTaken) return flush();
    const isBeingMade = this.#spare !== null && this.#spareBytes === 0;
    if (!isBeingMade) this.#replace(bytes + this.#urgentBytes, fileBytes);
    if ((await this.#spare) === null && this.#spare === null) throw noRoom(this.#failure, this.#options.dir);
  }

  /**
   * Returns the spare for the next file, which must have space for a frame of `bytes`: the prepared
   * spare, or one made now. No other spare is made until `placed` is called. Rejects with the
   * system error.
   */
  async takeSpare(bytes: number, fileBytes: number): Promise<Spare> {
    const { fs, dir } = this.#options;
    const ready = await this.#spare;
    this.#spare = null;
    this.#spareBytes = 0;
    this.#spareTaken = true;
    if (ready !== null && ready.bytes >= fileBytesFor(bytes)) return ready;
    ready?.handle.close();
    const made = await prepareSpare(fs, dir, Math.max(fileBytes, fileBytesFor(bytes)));
    assert(made.bytes >= fileBytesFor(bytes), 'a spare holds the frame that it is made for');
    this.#failure = undefined;
    return made;
  }

  /** Must be called when the spare that was taken has its final name. */
  placed(): void {
    assert(this.#spareTaken, 'a spare is taken before it gets its name');
    this.#spareTaken = false;
  }

  /** Closes the spare. */
  async close(): Promise<void> {
    this.#closed = true;
    (await this.#spare)?.handle.close();
    this.#spare = null;
    this.#spareBytes = 0;
  }

  /**
   * Makes a spare with space for frames of `bytes` in total. It replaces the current spare, if any,
   * which is too small. The file has `fileBytes` bytes, more if `bytes` require it, or fewer if the
   * disk has not enough space. The space counts as soon as the spare exists.
   */
  #replace(bytes: number, fileBytes: number): void {
    const least = fileBytesFor(bytes);
    const wished = Math.max(fileBytes, least);
    const work = this.#prepared(this.#spare, new Set([wished, Math.max(Math.min(wished, LEAST_FILE_BYTES), least)]));
    this.#spareBytes = 0;
    this.#spare = work;
    void work.then((spare) => {
      if (this.#spare !== work) return;
      if (spare === null) this.#spare = null;
      else this.#spareBytes = spare.bytes - fileBytesFor(0);
    });
  }

  /**
   * Prepares a spare of the first size for which the disk has space. If there is no such size,
   * resolves with null and keeps the error in `#failure`.
   */
  async #prepared(old: Promise<Spare | null> | null, sizes: Iterable<number>): Promise<Spare | null> {
    const { fs, dir, assertOwner } = this.#options;
    (await old)?.handle.close();
    for (const size of sizes) {
      try {
        assertOwner();
        const spare = await prepareSpare(fs, dir, size);
        this.#failure = undefined;
        return spare;
      } catch (error) {
        this.#failure = error;
      }
    }
    return null;
  }
}

function noRoom(cause: unknown, dir: string): unknown {
  if (cause instanceof HedgerowError) return cause;
  const { code, message } = cause as { code?: unknown; message: string };
  if (FULL.includes(code)) {
    return new HedgerowError(
      'disk_full',
      `There is no room on the disk for the next file of the log (${dir}: ${message}). Nothing was written. Free disk space and try again; no restart is needed.`,
      { fields: { file: dir }, cause },
    );
  }
  return new HedgerowError(
    'disk_failed',
    `The next file of the log cannot be prepared (${dir}: ${message}). Nothing was written. Check the disk and try again.`,
    { fields: { file: dir }, cause },
  );
}
