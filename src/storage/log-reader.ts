// Reads the frames of log files, for recovery and while the log goes on: in windows of fixed size,
// every frame checked before it is handed out.
//
// A file is read from its first frame, whatever LSN is asked for: a frame counts only when it follows
// the one before without a gap (rule 3 of FORMAT.md). What lies after the wanted frames is not looked at.

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

/** A log file whose frames with the LSNs `firstLsn` to `stopLsn` - 1 are durable: they are never written again. */
export interface LogFilePart {
  path: string;
  firstLsn: number;
  stopLsn: number;
}

/** Where in `files`, oldest first, the frames with the LSNs `fromLsn` to `lastLsn` are. */
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

/** Bytes that are read and checked in one step, and of a larger frame between two pauses. */
const WINDOW_BYTES = 2 ** 18;

/**
 * The frames of `files`, which follow one another, with an LSN of `fromLsn` or above: a batch for each
 * window. `pause` is awaited between two steps. Throws `corrupt` at the first place that breaks the
 * recovery rule.
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
        const found = framesIn(window, epoch, lsn, file.stopLsn, crc32c);
        if (found.bytes === 0) await addLargeFrame(found, handle, offset, window, epoch, crc32c, pause);
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

/** Frames that follow one another. */
interface FoundFrames {
  frames: LogFrame[];
  /** Bytes of all of them in the file; 0 = there is none. */
  bytes: number;
  /** LSN that the next frame must begin with. */
  nextLsn: number;
}

/** The frames that are whole in the window, from its start to the first place without one or to `stopLsn`. */
function framesIn(window: Region, epoch: number, lsn: number, stopLsn: number, crc32c: Crc32c): FoundFrames {
  const frames: LogFrame[] = [];
  let bytes = 0;
  let nextLsn = lsn;
  while (nextLsn < stopLsn) {
    const frame = readExpectedFrame(window, bytes, epoch, nextLsn, crc32c);
    // One that goes past `stopLsn` is left for the next step, which finds it at its start and names its offset.
    if (frame === null || (bytes > 0 && nextLsn + frame.operations > stopLsn)) break;
    const { firstLsn, operations, payloadBytes } = frame;
    const start = bytes + FRAME_HEADER_BYTES;
    if (operations > 0)
      frames.push({ firstLsn, operations, payload: window.bytes.subarray(start, start + payloadBytes) });
    bytes += frameBytes(payloadBytes);
    nextLsn += operations;
  }
  return { frames, bytes, nextLsn };
}

/** Adds the frame at `offset`, where it is whole but larger than the window; `found` stays empty where there is none. */
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
  // What does not fill the window was looked at there; a length that cannot be asks for no memory.
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
  const { firstLsn, operations, payloadBytes } = header;
  const payload = frame.subarray(FRAME_HEADER_BYTES, FRAME_HEADER_BYTES + payloadBytes);
  found.frames.push({ firstLsn, operations, payload });
  found.bytes = bytes;
  found.nextLsn += operations;
}
