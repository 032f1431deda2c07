// Writes log frames into a backup as the files of a log directory (FORMAT.md), so that the frames
// of any log implementation can be opened as a log in files.
//
// The frames are read twice: a tar entry starts with its size, so the first pass determines which
// frames each file holds and how large it is.

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
  /** Path of the file, below the log directory. */
  name: string;
  bytes: number;
  /**
   * Exactly `bytes` bytes, in chunks that the consumer may keep. Must be read to the end before the
   * next file.
   */
  chunks: () => AsyncIterable<Uint8Array>;
}

/** Which frames a file holds. */
interface FilePlan {
  sequence: number;
  firstLsn: number;
  stopLsn: number;
  /** Total bytes of its frames. */
  frameBytes: number;
}

/** Epoch of a log that starts with the archive. */
const EPOCH = 1;
/** Further frames go to another file: opening a log reads the newest file as a whole. */
const FILE_BYTES = 2 ** 24;
/** Bytes per chunk. A larger frame is not copied as a whole. */
const PIECE_BYTES = 2 ** 17;

/**
 * The files of the directory `dir` with the frames of the lease, and the mark of a log that was
 * closed in order at `lease.lastLsn`. Throws `corrupt`.
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

/** At least one file: without frames it records the LSN at which the log continues. */
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
 * The bytes of the frames with the LSNs `firstLsn` to `stopLsn` - 1, which must be the next ones of
 * the cursor.
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
    if (!isLarge) group.add([payload], payload.length, EPOCH, frame.firstLsn, frame.firstLsn - 1, operations, crc32c);
    if (group.used > 0 && (isLarge || group.used >= PIECE_BYTES || lsn === stopLsn)) {
      yield group.bytes.subarray(0, group.used);
      group = new FrameGroup(PIECE_BYTES);
    }
    if (isLarge) yield* largeFrame(frame, crc32c, pause);
  }
}

/** The bytes of one frame, in pieces. */
async function* largeFrame(
  { firstLsn, operations, payload }: LogFrame,
  crc32c: Crc32c,
  pause: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  const head = regionOf(new Uint8Array(FRAME_HEADER_BYTES));
  const padding = new Uint8Array(frameBytes(payload.length) - FRAME_HEADER_BYTES - payload.length);
  putFrameHeader(head, 0, payload.length, EPOCH, firstLsn, firstLsn - 1, operations);
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

/** The frame that proves everything before `nextLsn` durable: the orderly end of a log file. */
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

  /** Whether every frame of the batch has been taken; call `fill` before the next `take`. */
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
