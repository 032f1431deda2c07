// A stretch of the log as it stands in its files while the log goes on: where it ends in each file, with every frame checked on the way.

import { corruption } from '../errors.ts';
import type { Crc32c } from './crc32c.ts';
import {
  encodeFrame,
  FILE_HEADER_BYTES,
  FRAME_HEADER_BYTES,
  type FrameHeader,
  frameBytes,
  frameChecksum,
  MAX_PAYLOAD_BYTES,
  peekFrame,
  regionOf,
} from './frame.ts';
import type { FileHandle, Fs } from './fs.ts';
import { readLogFileHeader } from './inspect-log.ts';
import { readFully } from './whole-file.ts';

/** A log file of which the frames with the LSNs `firstLsn` to `stopLsn` - 1 count. They are durable and are never written again. */
export interface HeldLogFile {
  path: string;
  sequence: number;
  firstLsn: number;
  stopLsn: number;
}

/** Where the wanted frames of a file stand. */
export interface HeldStretch {
  epoch: number;
  /** LSN of the first one. */
  firstLsn: number;
  offset: number;
  endOffset: number;
}

/** Bytes looked at in one step. */
const STEP_BYTES = 2 ** 18;

/**
 * The frames with an LSN above `afterLsn`. Checks every frame of the file up to `stopLsn`, some 256 KB between two calls of `pause`, whatever the size of a frame. Throws `corrupt` at the first
 * place that breaks the recovery rule.
 */
export async function measureHeldFile(
  fs: Fs,
  file: HeldLogFile,
  afterLsn: number,
  crc32c: Crc32c,
  pause: () => Promise<void>,
): Promise<HeldStretch> {
  const { epoch } = readLogFileHeader(fs, file.path, crc32c);
  const handle = fs.open(file.path, 'read');
  try {
    const frames = new FrameWindow(handle, crc32c, pause);
    let offset = FILE_HEADER_BYTES;
    let start = { firstLsn: file.firstLsn, offset };
    for (let lsn = file.firstLsn; lsn < file.stopLsn; ) {
      const frame = await frames.at(offset);
      const isNext = frame !== null && frame.epoch === epoch && frame.firstLsn === lsn;
      if (!isNext || lsn + frame.operations > file.stopLsn) {
        throw corruption(file.path, offset, `operation ${lsn} must stand there in a whole frame, but it does not`);
      }
      lsn += frame.operations;
      offset += frameBytes(frame.payloadBytes);
      if (lsn - 1 <= afterLsn) start = { firstLsn: lsn, offset };
    }
    return { epoch, ...start, endOffset: offset };
  } finally {
    handle.close();
  }
}

/** The frame that proves everything up to `lastLsn` durable: an orderly end of a log file. */
export function sealBytes(epoch: number, lastLsn: number, crc32c: Crc32c): Uint8Array {
  const region = regionOf(new Uint8Array(FRAME_HEADER_BYTES));
  encodeFrame(region, 0, 0, epoch, lastLsn + 1, lastLsn, 0, crc32c);
  return region.bytes;
}

/** Frames of a file, read through a window of fixed size. */
class FrameWindow {
  readonly #handle: FileHandle;
  readonly #crc32c: Crc32c;
  readonly #pause: () => Promise<void>;
  readonly #bytes = new Uint8Array(STEP_BYTES);
  #offset = 0;
  #filled = 0;

  constructor(handle: FileHandle, crc32c: Crc32c, pause: () => Promise<void>) {
    this.#handle = handle;
    this.#crc32c = crc32c;
    this.#pause = pause;
  }

  /** The frame at `offset` when it is whole and its checksum holds. */
  async at(offset: number): Promise<FrameHeader | null> {
    const head = await this.#look(offset, FRAME_HEADER_BYTES);
    const header = peekFrame(regionOf(head), 0);
    if (header === null || header.payloadBytes > MAX_PAYLOAD_BYTES) return null;
    const { start, expected } = frameChecksum(regionOf(head), 0);
    const end = offset + frameBytes(header.payloadBytes);
    let sum = 0;
    for (let at = offset + start; at < end; ) {
      const piece = await this.#look(at, Math.min(STEP_BYTES, end - at));
      if (piece.length === 0) return null;
      sum = this.#crc32c(piece, sum) >>> 0;
      at += piece.length;
    }
    return sum === expected ? header : null;
  }

  /** `count` bytes at `offset`, fewer at the end of the file. */
  async #look(offset: number, count: number): Promise<Uint8Array> {
    const from = offset - this.#offset;
    if (from < 0 || from + count > this.#filled) {
      await this.#pause();
      this.#offset = offset;
      this.#filled = readFully(this.#handle, this.#bytes, offset);
      return this.#bytes.subarray(0, Math.min(count, this.#filled));
    }
    return this.#bytes.subarray(from, from + count);
  }
}
