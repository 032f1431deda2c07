// Converts log frames to the files of a log directory (FORMAT.md), for a backup. The frames may
// come from any implementation of the log; the result can be opened as a log in files.
//
// The frames are read twice. A tar entry starts with its size, so a first pass determines which
// frames each file contains and how large the file is.

import { assert } from '../assert.ts';
import type { Crc32c } from './crc32c.ts';
import {
  encodeFileHeader,
  encodeFrame,
  FILE_HEADER_BYTES,
  FRAME_CHECKED_FROM,
  FRAME_HEADER_BYTES,
  frameBytes,
  putFrameChecksum,
  putFrameHeader,
  regionOf,
} from './frame.ts';
import { FrameGroup } from './frame-group.ts';
import { logFilePath } from './log-file.ts';
import { encodeMark, markPath } from './log-mark.ts';
import type { LogBatches, LogFrame, LogLease } from './log-store.ts';

export interface ArchivedFile {
  /** Path of the file, which starts with the log directory. */
  name: string;
  bytes: number;
  /**
   * Returns the content, exactly `bytes` bytes, in chunks that the caller may keep. It must be read
   * to the end before the next file is requested.
   */
  chunks: () => AsyncIterable<Uint8Array>;
}

/** The frames in one file: those with the LSNs `firstLsn` to `stopLsn` - 1. */
interface FilePlan {
  sequence: number;
  firstLsn: number;
  stopLsn: number;
  /** Total size of the frames in bytes. */
  frameBytes: number;
}

/** The epoch of all files in an archive. */
const EPOCH = 1;
/**
 * After a frame with which a file reaches this size, a new file begins. The size is limited because
 * the whole newest file is read when a log is opened.
 */
const FILE_BYTES = 2 ** 24;
/**
 * A chunk ends after the frame with which it reaches this size in bytes. A frame whose payload
 * alone reaches this size is yielded in pieces.
 */
const PIECE_BYTES = 2 ** 17;

/**
 * Yields the files of a log directory `dir` that contains the frames of the lease: the log files,
 * then the mark file of a log that was closed in order at `lease.lastLsn`. Throws `corrupt`.
 */
export async function* archivedLog(
  dir: string,
  lease: LogLease,
  crc32c: Crc32c,
  pause: () => Promise<void>,
): AsyncGenerator<ArchivedFile> {
  const plans = await planFiles(lease);
  const frames = new FrameCursor(lease.frames());
  try {
    for (const plan of plans) yield logFile(dir, plan, plan === plans.at(-1), frames, crc32c, pause);
  } finally {
    await frames.close();
  }
  const { sequence, firstLsn } = plans.at(-1)!;
  const place = { epoch: EPOCH, sequence, firstLsn, reachedLsn: lease.lastLsn };
  const bytes = encodeMark({ ...place, counter: 1, owner: 0, closed: true }, crc32c);
  yield { name: markPath(dir), bytes: bytes.length, chunks: () => onlyPiece(bytes) };
}

/**
 * Determines which frames each file contains. There is at least one file: if there are no frames,
 * its header records the LSN at which the log continues.
 */
async function planFiles(lease: LogLease): Promise<FilePlan[]> {
  const plans: FilePlan[] = [];
  let plan: FilePlan | undefined;
  for await (const batch of lease.frames()) {
    for (const { firstLsn, operations, payload } of batch) {
      if (plan === undefined || plan.frameBytes >= FILE_BYTES) {
        plan = { sequence: plans.length + 1, firstLsn, stopLsn: firstLsn, frameBytes: 0 };
        plans.push(plan);
      }
      plan.stopLsn += operations;
      plan.frameBytes += frameBytes(payload.length);
    }
  }
  const stopLsn = lease.lastLsn + 1;
  assert(plan === undefined || plan.stopLsn === stopLsn, 'the frames of a lease end with its last LSN');
  return plan === undefined ? [{ sequence: 1, firstLsn: stopLsn, stopLsn, frameBytes: 0 }] : plans;
}

function logFile(
  dir: string,
  { sequence, firstLsn, stopLsn, frameBytes: bytesOfFrames }: FilePlan,
  isLast: boolean,
  frames: FrameCursor,
  crc32c: Crc32c,
  pause: () => Promise<void>,
): ArchivedFile {
  const bytes = FILE_HEADER_BYTES + bytesOfFrames + (isLast ? FRAME_HEADER_BYTES : 0);
  return {
    name: logFilePath(dir, sequence),
    bytes,
    async *chunks() {
      yield encodeFileHeader({ epoch: EPOCH, sequence, firstLsn, fileBytes: bytes }, crc32c);
      let left = bytesOfFrames;
      for await (const piece of frameBytesBetween(firstLsn, stopLsn, frames, crc32c, pause)) {
        left -= piece.length;
        yield piece;
      }
      assert(left === 0, 'the frames of an archived file have the bytes that were planned');
      if (isLast) yield sealAt(stopLsn, crc32c);
    },
  };
}

/**
 * Yields the bytes of the frames with the LSNs `firstLsn` to `stopLsn` - 1. These must be the next
 * frames of the cursor.
 */
async function* frameBytesBetween(
  firstLsn: number,
  stopLsn: number,
  frames: FrameCursor,
  crc32c: Crc32c,
  pause: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  let group = new FrameGroup(PIECE_BYTES);
  for (let lsn = firstLsn; lsn < stopLsn; ) {
    if (frames.isEmpty) await frames.fill();
    const frame = frames.take();
    assert(frame.firstLsn === lsn, 'the frames of a lease follow one another without a gap');
    const { payload, operations } = frame;
    lsn += operations;
    const isLarge = payload.length >= PIECE_BYTES;
    const { firstLsn, seconds } = frame;
    if (!isLarge) group.add([payload], payload.length, EPOCH, firstLsn, firstLsn - 1, operations, crc32c, seconds);
    if (group.used > 0 && (isLarge || group.used >= PIECE_BYTES || lsn === stopLsn)) {
      yield group.bytes.subarray(0, group.used);
      group = new FrameGroup(PIECE_BYTES);
    }
    if (isLarge) yield* largeFrame(frame, crc32c, pause);
  }
}

/** Yields the bytes of one frame, in pieces. */
async function* largeFrame(
  { firstLsn, operations, payload, seconds }: LogFrame,
  crc32c: Crc32c,
  pause: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  const head = regionOf(new Uint8Array(FRAME_HEADER_BYTES));
  const padding = new Uint8Array(frameBytes(payload.length) - FRAME_HEADER_BYTES - payload.length);
  putFrameHeader(head, 0, payload.length, EPOCH, firstLsn, firstLsn - 1, operations, seconds);
  let sum = crc32c(head.bytes.subarray(FRAME_CHECKED_FROM), 0);
  for (let at = 0; at < payload.length; at += PIECE_BYTES) {
    sum = crc32c(payload.subarray(at, at + PIECE_BYTES), sum);
    await pause();
  }
  putFrameChecksum(head, 0, crc32c(padding, sum));
  yield head.bytes;
  for (let at = 0; at < payload.length; at += PIECE_BYTES) yield payload.slice(at, at + PIECE_BYTES);
  if (padding.length > 0) yield padding;
}

/**
 * Returns a seal: the frame at the end of a log closed in order, which states that everything
 * before `nextLsn` is durable.
 */
function sealAt(nextLsn: number, crc32c: Crc32c): Uint8Array {
  const region = regionOf(new Uint8Array(FRAME_HEADER_BYTES));
  encodeFrame(region, 0, 0, EPOCH, nextLsn, nextLsn - 1, 0, crc32c);
  return region.bytes;
}

/** Iterates over the frames of batches one by one. */
class FrameCursor {
  readonly #batches: AsyncIterator<readonly LogFrame[]>;
  #batch: readonly LogFrame[] = [];
  #next = 0;

  constructor(batches: LogBatches) {
    this.#batches = batches[Symbol.asyncIterator]();
  }

  /** Whether every frame of the current batch has been taken. If so, call `fill` before `take`. */
  get isEmpty(): boolean {
    return this.#next === this.#batch.length;
  }

  async fill(): Promise<void> {
    const { done, value } = await this.#batches.next();
    assert(done !== true && value.length > 0, 'a lease has the same frames at each reading');
    this.#batch = value;
    this.#next = 0;
  }

  take(): LogFrame {
    return this.#batch[this.#next++]!;
  }

  async close(): Promise<void> {
    await this.#batches.return?.();
  }
}

async function* onlyPiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
