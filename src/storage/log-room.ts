// The room for frames that are not yet appended: what is left of the active file, and the one spare behind it.
//
// Frames go to the files in order: a frame that does not fit what is left of a file goes to the next one, and all later ones with it. `take` follows that at the
// append, ahead of the writes, so that `fits` answers for the files as they will be when everything queued is written. A frame for which no zeros were ready
// (the caller did not ask) makes a file of its own when it is written; until then nothing more is promised.

import { assert } from '../assert.ts';
import { HedgerowError } from '../errors.ts';
import type { Fs } from './fs.ts';
import { fileBytesFor, prepareSpare, type Spare } from './log-file.ts';

/** The last room, for frames that make room or must not wait; in small files (of tests) a part of the file. */
const URGENT_BYTES = 2 ** 16;
const URGENT_PART = 8;
/** Where there is no room for a whole file, one of this size keeps writes going. */
const LEAST_FILE_BYTES = 2 ** 20;
const FULL: readonly unknown[] = ['ENOSPC', 'EDQUOT'];

export interface LogRoomOptions {
  fs: Fs;
  dir: string;
  fileBytes: number;
  /** Throws when another process owns the log: its spare must not be touched. */
  assertOwner: () => void;
}

export class LogRoom {
  readonly #options: LogRoomOptions;
  readonly #urgentBytes: number;
  /** Bytes left in the file that the newest frame goes to. */
  #leftBytes = 0;
  /** The spare that is ready or being made; null when making it failed. */
  #spare: Promise<Spare | null> | null = null;
  /** Bytes of frames that the ready spare can hold; 0 = there is none, or a queued frame goes to it. */
  #spareBytes = 0;
  /** A queued frame goes to the spare, or it is being placed: it is in use until the rotation is over. */
  #spareTaken = false;
  /** A queued frame has no room ready. */
  #overdrawn = false;
  /** Why the last attempt failed: the background does not try again before a request did. */
  #failure: unknown;
  #closed = false;

  constructor(options: LogRoomOptions) {
    this.#options = options;
    this.#urgentBytes = Math.min(URGENT_BYTES, Math.floor(options.fileBytes / URGENT_PART));
  }

  /** Whether a frame of `bytes` (header and padding counted) fits what is ready. Others than urgent frames leave a rest. */
  fits(bytes: number, urgent: boolean): boolean {
    if (this.#overdrawn) return false;
    const kept = urgent ? 0 : this.#urgentBytes;
    if (bytes <= this.#leftBytes) return Math.max(this.#leftBytes - bytes, this.#spareBytes) >= kept;
    return this.#spareBytes >= bytes + kept;
  }

  /** A frame of `bytes` is queued. */
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

  /** A group was written: `leftBytes` are left in the active file, `queuedBytes` are still to be written. */
  written(leftBytes: number, queuedBytes: number): void {
    assert(leftBytes >= 0, 'a file is not written past its capacity');
    if (!this.#overdrawn) return;
    this.#overdrawn = queuedBytes > leftBytes;
    this.#leftBytes = this.#overdrawn ? 0 : leftBytes - queuedBytes;
  }

  /** Makes a spare of `fileBytes` in the background, unless there is one. A failure is not told: a request or the rotation tries again. */
  prepare(fileBytes: number): void {
    if (this.#spare === null && !this.#spareTaken && this.#failure === undefined && !this.#closed)
      this.#replace(0, fileBytes);
  }

  /**
   * One step towards room for a frame of `bytes`: `fits` may say yes when it resolves. `flush` resolves when everything queued is written. Rejects with `disk_full`
   * or `disk_failed` when there is no room; the log stays open.
   */
  async make(bytes: number, fileBytes: number, flush: () => Promise<void>): Promise<void> {
    if (this.#overdrawn || this.#spareTaken) return flush();
    const isBeingMade = this.#spare !== null && this.#spareBytes === 0;
    if (!isBeingMade) this.#replace(bytes + this.#urgentBytes, fileBytes);
    if ((await this.#spare) === null && this.#spare === null) throw noRoom(this.#failure, this.#options.dir);
  }

  /** The spare for a file that must hold a frame of `bytes`: the ready one, or one that is made now. No other is made before `placed`. Rejects with what the disk says. */
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

  /** The spare that was taken has its own name now. */
  placed(): void {
    assert(this.#spareTaken, 'a spare is taken before it gets its name');
    this.#spareTaken = false;
  }

  /** Lets the spare go. */
  async close(): Promise<void> {
    this.#closed = true;
    (await this.#spare)?.handle.close();
    this.#spare = null;
    this.#spareBytes = 0;
  }

  /**
   * A spare for frames of `bytes`, in the place of the present one, which is too small. A smaller one than wished where the disk has no more. What it gives counts as room
   * as soon as it is there.
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

  /** The first of the sizes that the disk has room for; null, and the failure kept, when it has none. */
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
