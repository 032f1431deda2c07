// Reads the frames of log files, during recovery and also while the log is being written. Files are
// read in windows of fixed size, and every frame is checked before it is yielded.
//
// A file is always read from its first frame, even if only later LSNs are requested: a frame is
// valid only if it follows the previous one without a gap (rule 3 of FORMAT.md). Bytes after the
// requested frames are not examined.

import { assert } from '../assert.ts';
import type { Crc32c } from './crc32c.ts';
import {
  FILE_HEADER_BYTES,
  FRAME_HEADER_BYTES,
  frameBytes,
  frameChecksum,
  MAX_PAYLOAD_BYTES,
  peekFrame,
  type Region,
  readExpectedFrame,
  regionOf,
} from './frame.ts';
import type { FileHandle, Fs } from './fs.ts';
import { readLogFileHeader } from './inspect-log.ts';
import { badFrame } from './log-recovery.ts';
import type { LogFrame } from './log-store.ts';
import { readFully } from './whole-file.ts';

/**
 * A part of a log file: the frames with the LSNs `firstLsn` to `stopLsn` - 1. They are durable and
 * therefore never written again.
 */
export interface LogFilePart {
  path: string;
  firstLsn: number;
  stopLsn: number;
}

/** Returns the parts of `files` (oldest first) that contain the LSNs `fromLsn` to `lastLsn`. */
export function partsOf(
  files: readonly { path: string; firstLsn: number }[],
  fromLsn: number,
  lastLsn: number,
): LogFilePart[] {
  const parts: LogFilePart[] = [];
  for (const [index, { path, firstLsn }] of files.entries()) {
    const stopLsn = Math.min(files[index + 1]?.firstLsn ?? Infinity, lastLsn + 1);
    if (stopLsn > fromLsn && stopLsn > firstLsn) parts.push({ path, firstLsn, stopLsn });
  }
  assert(lastLsn < fromLsn || parts.at(-1)?.stopLsn === lastLsn + 1, 'the files hold every durable LSN');
  return parts;
}

/**
 * Number of bytes that are read and checked in one step. A larger frame is read in pieces of this
 * size, with pauses in between.
 */
export const WINDOW_BYTES = 2 ** 18;

/**
 * Yields the frames in `files` that contain LSNs of at least `fromLsn`, in batches: the frames of
 * one window, or one larger frame. A batch is valid only until the next one is requested. The files
 * must be consecutive. Awaits `pause` between two steps. Throws `corrupt` at the first place that
 * violates the recovery rule.
 */
export async function* readLogFiles(
  fs: Fs,
  files: readonly LogFilePart[],
  fromLsn: number,
  crc32c: Crc32c,
  pause: () => Promise<void>,
): AsyncGenerator<readonly LogFrame[], void> {
  const buffer = new Uint8Array(WINDOW_BYTES);
  let lsn = files[0]?.firstLsn ?? 0;
  for (const file of files) {
    assert(file.firstLsn === lsn, 'the files of a log follow one another without a gap');
    const { epoch } = readLogFileHeader(fs, file.path, crc32c);
    const handle = fs.open(file.path, 'read');
    try {
      for (let offset = FILE_HEADER_BYTES; lsn < file.stopLsn; ) {
        const window = regionOf(buffer.subarray(0, readFully(handle, buffer, offset)));
        const found = await framesFrom(window, { handle, epoch, offset, lsn }, file.stopLsn, crc32c, pause);
        if (found.bytes === 0 || found.nextLsn > file.stopLsn)
          throw badFrame(file.path, offset, lsn, peekFrame(window, 0));
        lsn = found.nextLsn;
        offset += found.bytes;
        const wanted = found.frames.filter((frame) => frame.firstLsn + frame.operations > fromLsn);
        if (wanted.length > 0) yield wanted;
        await pause();
      }
    } finally {
      handle.close();
    }
  }
}

/** Consecutive frames that were found from one offset on. */
export interface FoundFrames {
  frames: LogFrame[];
  /** Total size of the frames in bytes; 0 if no frame was found. */
  bytes: number;
  /** LSN at which the next frame must start. */
  nextLsn: number;
}

/**
 * Returns the frames at a place in a file, up to `stopLsn` at most: the complete ones in `window`,
 * which contains the bytes from that place on, or one larger frame.
 */
export async function framesFrom(
  window: Region,
  { handle, epoch, offset, lsn }: { handle: FileHandle; epoch: number; offset: number; lsn: number },
  stopLsn: number,
  crc32c: Crc32c,
  pause: () => Promise<void>,
): Promise<FoundFrames> {
  const found = framesIn(window, epoch, lsn, stopLsn, crc32c);
  if (found.bytes === 0) await addLargeFrame(found, handle, offset, window, epoch, crc32c, pause);
  return found;
}

/**
 * Returns the consecutive complete frames from the start of the window on, up to `stopLsn` at most.
 */
function framesIn(window: Region, epoch: number, lsn: number, stopLsn: number, crc32c: Crc32c): FoundFrames {
  const frames: LogFrame[] = [];
  let bytes = 0;
  let nextLsn = lsn;
  while (nextLsn < stopLsn) {
    const frame = readExpectedFrame(window, bytes, epoch, nextLsn, crc32c);
    // A frame that extends past `stopLsn` is left for the next step, which reports it with its own
    // offset.
    if (frame === null || (bytes > 0 && nextLsn + frame.operations > stopLsn)) break;
    const { firstLsn, operations, payloadBytes, seconds } = frame;
    const start = bytes + FRAME_HEADER_BYTES;
    if (operations > 0)
      frames.push({ firstLsn, operations, seconds, payload: window.bytes.subarray(start, start + payloadBytes) });
    bytes += frameBytes(payloadBytes);
    nextLsn += operations;
  }
  return { frames, bytes, nextLsn };
}

/** Adds the frame at `offset` to `found` if the frame is complete but larger than the window. */
async function addLargeFrame(
  found: FoundFrames,
  handle: FileHandle,
  offset: number,
  window: Region,
  epoch: number,
  crc32c: Crc32c,
  pause: () => Promise<void>,
): Promise<void> {
  const header = peekFrame(window, 0);
  if (header === null || header.epoch !== epoch || header.firstLsn !== found.nextLsn) return;
  const bytes = frameBytes(header.payloadBytes);
  // If the frame fits into the window, `framesIn` has found it invalid. A frame with an impossible
  // length is rejected before memory is allocated for it.
  if (bytes <= window.bytes.length || header.payloadBytes > MAX_PAYLOAD_BYTES || offset + bytes > handle.size()) return;
  const { start, expected } = frameChecksum(window, 0);
  const frame = new Uint8Array(bytes);
  let sum = 0;
  for (let at = 0; at < bytes; at += WINDOW_BYTES) {
    const piece = frame.subarray(at, Math.min(bytes, at + WINDOW_BYTES));
    if (readFully(handle, piece, offset + at) < piece.length) return;
    sum = crc32c(at === 0 ? piece.subarray(start) : piece, sum) >>> 0;
    await pause();
  }
  if (sum !== expected) return;
  const { firstLsn, operations, payloadBytes, seconds } = header;
  const payload = frame.subarray(FRAME_HEADER_BYTES, FRAME_HEADER_BYTES + payloadBytes);
  found.frames.push({ firstLsn, operations, seconds, payload });
  found.bytes = bytes;
  found.nextLsn += operations;
}
