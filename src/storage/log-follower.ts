// Reads a log that is being written, from one LSN on, a few frames at a time. Between two calls the
// follower holds no lease and no open file, so a slow reader does not keep the log from being
// truncated; at the end of the log it holds no memory either.

import { assert } from '../assert.ts';
import type { Crc32c } from './crc32c.ts';
import { FILE_HEADER_BYTES, peekFrame, regionOf } from './frame.ts';
import type { Fs } from './fs.ts';
import { readLogFileHeader } from './inspect-log.ts';
import { framesFrom, type LogFilePart, WINDOW_BYTES } from './log-reader.ts';
import { badFrame } from './log-recovery.ts';
import type { LogFollower, LogFrame } from './log-store.ts';
import { readFully } from './whole-file.ts';

/** A place in a file of the log: where the next frame begins, and its LSN. */
interface Place {
  readonly path: string;
  readonly epoch: number;
  offset: number;
  lsn: number;
}

export class FileFollower implements LogFollower {
  readonly #fs: Fs;
  readonly #crc32c: Crc32c;
  readonly #pause: () => Promise<void>;
  readonly #partOf: (lsn: number) => LogFilePart;
  /** Contains the frames that were returned last. */
  #buffer: Uint8Array | undefined;
  #lsn: number;
  #place: Place | undefined;
  #closed = false;

  /**
   * `partOf` returns the file that contains an LSN, with `stopLsn` one above the newest durable LSN
   * in it; it throws `invalid_lsn` if the LSN is no longer in the log.
   */
  constructor(
    fs: Fs,
    crc32c: Crc32c,
    pause: () => Promise<void>,
    partOf: (lsn: number) => LogFilePart,
    fromLsn: number,
  ) {
    this.#fs = fs;
    this.#crc32c = crc32c;
    this.#pause = pause;
    this.#partOf = partOf;
    this.#lsn = fromLsn;
  }

  async next(upToLsn: number): Promise<readonly LogFrame[]> {
    while (!this.#closed && this.#lsn <= upToLsn) {
      const part = this.#partOf(this.#lsn);
      const frames = await this.#read(part, Math.min(part.stopLsn, upToLsn + 1));
      const wanted = frames.filter((frame) => frame.firstLsn + frame.operations > this.#lsn);
      const { lsn } = this.#place!;
      assert(lsn > this.#lsn === wanted.length > 0, 'a follower skips only frames that it has passed');
      if (wanted.length > 0) {
        this.#lsn = lsn;
        return wanted;
      }
      await this.#pause();
    }
    this.#buffer = undefined;
    return [];
  }

  /** Reads the next frames of a file, with LSNs below `stopLsn`. */
  async #read(part: LogFilePart, stopLsn: number): Promise<readonly LogFrame[]> {
    const place = this.#placeIn(part);
    const handle = this.#fs.open(part.path, 'read');
    try {
      this.#buffer ??= new Uint8Array(WINDOW_BYTES);
      const window = regionOf(this.#buffer.subarray(0, readFully(handle, this.#buffer, place.offset)));
      const found = await framesFrom(window, { ...place, handle }, stopLsn, this.#crc32c, this.#pause);
      if (found.bytes === 0 || found.nextLsn > stopLsn)
        throw badFrame(part.path, place.offset, place.lsn, peekFrame(window, 0));
      place.lsn = found.nextLsn;
      place.offset += found.bytes;
      return found.frames;
    } finally {
      handle.close();
    }
  }

  #placeIn({ path, firstLsn }: LogFilePart): Place {
    if (this.#place?.path === path) return this.#place;
    const { epoch } = readLogFileHeader(this.#fs, path, this.#crc32c);
    this.#place = { path, epoch, offset: FILE_HEADER_BYTES, lsn: firstLsn };
    return this.#place;
  }

  close(): void {
    this.#closed = true;
  }
}
