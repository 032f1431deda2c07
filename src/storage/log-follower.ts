// Reads a log that is being written, from one LSN on, a few frames at a time. Between two calls the
// follower holds no lease, so a slow reader does not keep the log from being truncated.

import { assert } from '../assert.ts';
import type { Crc32c } from './crc32c.ts';
import { FILE_HEADER_BYTES, peekFrame, regionOf } from './frame.ts';
import type { FileHandle, Fs } from './fs.ts';
import { readLogFileHeader } from './inspect-log.ts';
import { framesFrom, type LogFilePart, WINDOW_BYTES } from './log-reader.ts';
import { badFrame } from './log-recovery.ts';
import type { LogFollower, LogFrame } from './log-store.ts';
import { readFully } from './whole-file.ts';

interface OpenFile {
  readonly path: string;
  readonly handle: FileHandle;
  readonly epoch: number;
  /** Place of the next frame, and its LSN. */
  offset: number;
  lsn: number;
}

export class FileFollower implements LogFollower {
  readonly #fs: Fs;
  readonly #crc32c: Crc32c;
  readonly #pause: () => Promise<void>;
  readonly #partOf: (lsn: number) => LogFilePart;
  readonly #buffer = new Uint8Array(WINDOW_BYTES);
  #lsn: number;
  #file: OpenFile | undefined;
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
      const file = this.#open(part);
      const stopLsn = Math.min(part.stopLsn, upToLsn + 1);
      const window = regionOf(this.#buffer.subarray(0, readFully(file.handle, this.#buffer, file.offset)));
      const found = await framesFrom(window, file, stopLsn, this.#crc32c, this.#pause);
      if (this.#closed) break;
      if (found.bytes === 0 || found.nextLsn > stopLsn)
        throw badFrame(part.path, file.offset, file.lsn, peekFrame(window, 0));
      file.lsn = found.nextLsn;
      file.offset += found.bytes;
      const wanted = found.frames.filter((frame) => frame.firstLsn + frame.operations > this.#lsn);
      assert(file.lsn > this.#lsn === wanted.length > 0, 'a follower skips only frames that it has passed');
      if (wanted.length > 0) {
        this.#lsn = file.lsn;
        return wanted;
      }
      await this.#pause();
    }
    return [];
  }

  #open({ path, firstLsn }: LogFilePart): OpenFile {
    if (this.#file?.path === path) return this.#file;
    this.#file?.handle.close();
    this.#file = undefined;
    const { epoch } = readLogFileHeader(this.#fs, path, this.#crc32c);
    const handle = this.#fs.open(path, 'read');
    this.#file = { path, handle, epoch, offset: FILE_HEADER_BYTES, lsn: firstLsn };
    return this.#file;
  }

  close(): void {
    this.#closed = true;
    this.#file?.handle.close();
    this.#file = undefined;
  }
}
