// Tracks the space for frames not yet appended: the rest of the active file, and the spare file
// that follows it.
//
// Frames fill the files in order: a frame that does not fit the rest of a file goes to the next
// file, and so do all later ones. `take` tracks this at append time, ahead of the writes, so that
// `fits` answers for the state after everything queued has been written. A frame for which no space
// was prepared (the caller did not ask) gets a new file when it is written; until then `fits`
// promises nothing more.

import { assert } from '../assert.ts';
import { HedgerowError } from '../errors.ts';
import type { Fs } from './fs.ts';
import { fileBytesFor, prepareSpare, type Spare } from './log-file.ts';

/**
 * Space reserved for frames that free space or must not wait; a fraction of the file if files are
 * small (in tests).
 */
const URGENT_BYTES = 2 ** 16;
const URGENT_PART = 8;
/** Fallback size of the next file if the disk has no space for a full one. */
const LEAST_FILE_BYTES = 2 ** 20;
const FULL: readonly unknown[] = ['ENOSPC', 'EDQUOT'];

export interface LogRoomOptions {
  fs: Fs;
  dir: string;
  fileBytes: number;
  /** Throws if another process owns the log: its spare must not be touched. */
  assertOwner: () => void;
}

export class LogRoom {
  readonly #options: LogRoomOptions;
  readonly #urgentBytes: number;
  /** Bytes left in the file that the newest frame goes to. */
  #leftBytes = 0;
  /** The spare that is ready or being made; null if making it failed. */
  #spare: Promise<Spare | null> | null = null;
  /**
   * Bytes of frames that the ready spare can hold; 0 if there is none or a queued frame already
   * goes to it.
   */
  #spareBytes = 0;
  /**
   * A queued frame goes to the spare, or the spare is being placed: it is in use until the rotation
   * is over.
   */
  #spareTaken = false;
  /** A queued frame has no space ready for it. */
  #overdrawn = false;
  /** Why the last attempt failed; the background does not retry until a request has. */
  #failure: unknown;
  #closed = false;

  constructor(options: LogRoomOptions) {
    this.#options = options;
    this.#urgentBytes = Math.min(URGENT_BYTES, Math.floor(options.fileBytes / URGENT_PART));
  }

  /**
   * Whether a frame of `bytes` (including header and padding) fits the prepared space. Frames that
   * are not urgent must leave a reserve.
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
   * Accounts for a written group: `leftBytes` are left in the active file, `queuedBytes` are still
   * to be written.
   */
  written(leftBytes: number, queuedBytes: number): void {
    assert(leftBytes >= 0, 'a file is not written past its capacity');
    if (!this.#overdrawn) return;
    this.#overdrawn = queuedBytes > leftBytes;
    this.#leftBytes = this.#overdrawn ? 0 : leftBytes - queuedBytes;
  }

  /**
   * Makes a spare of `fileBytes` in the background, unless there is one. A failure is not reported:
   * a request or the rotation tries again.
   */
  prepare(fileBytes: number): void {
    if (this.#spare === null && !this.#spareTaken && this.#failure === undefined && !this.#closed)
      this.#replace(0, fileBytes);
  }

  /**
   * Takes one step towards space for a frame of `bytes`; the caller checks `fits` again when it
   * resolves. `flush` resolves when everything queued has been written. Rejects with `disk_full` or
   * `disk_failed` if there is no space; the log stays open.
   */
  async make(bytes: number, fileBytes: number, flush: () => Promise<void>): Promise<void> {
    if (this.#overdrawn || this.#spareTaken) return flush();
    const isBeingMade = this.#spare !== null && this.#spareBytes === 0;
    if (!isBeingMade) this.#replace(bytes + this.#urgentBytes, fileBytes);
    if ((await this.#spare) === null && this.#spare === null) throw noRoom(this.#failure, this.#options.dir);
  }

  /**
   * The spare for a file that must hold a frame of `bytes`: the prepared one, or one made now. No
   * other spare is made before `placed`. Rejects with the system error.
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

  /** Call when the spare that was taken has its final name. */
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
   * Replaces the current spare, which is too small, by one for frames of `bytes`; a smaller one
   * than `fileBytes` if the disk has no more space. Its space counts as soon as it exists.
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
   * Prepares a spare of the first of the sizes that the disk has space for; null, with the failure
   * kept, if it has none.
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
