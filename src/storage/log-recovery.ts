// Examines the log files found at open: determines which of them are needed, where the log ends,
// and whether anything is missing (the recovery rule of FORMAT.md).
//
// Which files are needed: the newest file that begins at or below `minimumLsn + 1`, and all later
// ones. Older files are obsolete.
//
// Where the log ends: at the first place in the newest file without a valid frame. A frame is valid
// if it is complete, has a correct checksum and the epoch of the file, and starts at the LSN after
// the previous frame. If only zeros follow, the log was closed, or a crash happened between two
// writes. Other bytes were left by an unfinished write and are dropped, unless they prove a loss.
// Every frame records the LSN that was durable when the frame was made. So if a complete frame
// follows whose `durableLsn` is at or above the LSN expected at the end, then an acknowledged
// operation is damaged, and opening fails. It also fails if the log ends below an LSN that was in
// the log according to the manifest or the mark.
//
// Example: frames with the LSNs 1-3 and 4-5, then an incomplete frame with LSN 6. If no frame
// follows, the log ends at LSN 5. If a complete frame with LSN 9 follows that says "durable up to
// 8", operation 6 is lost and opening fails.

import { assert } from '../assert.ts';
import { corruption } from '../errors.ts';
import type { Crc32c } from './crc32c.ts';
import {
  FILE_HEADER_BYTES,
  type FileHeader,
  type FrameHeader,
  findFrame,
  frameBytes,
  isZeroFrom,
  peekFrame,
  type Region,
  readExpectedFrame,
  regionOf,
} from './frame.ts';
import type { Fs } from './fs.ts';
import { readLogFileHeader } from './inspect-log.ts';
import { type ClosedLogFile, listLogFiles, logFilePath, sequenceOfPath } from './log-file.ts';
import { type FoundMark, markPath, readMark } from './log-mark.ts';
import { readWhole, writeWhole } from './whole-file.ts';

/** A needed log file, with the fields of its header. */
export interface NeededFile extends ClosedLogFile {
  epoch: number;
  version: number;
  /** 0 in version 1. */
  fileBytes: number;
}

/** What the log must contain according to other files. */
export interface LogBounds {
  /** No table needs the LSNs up to this one from the log, according to the manifest. */
  minimumLsn: number;
  /** Newest LSN that was in the log when the manifest was written. */
  reachedLsn: number;
  /**
   * Whether there is a manifest. A log of format 2 requires one, and a manifest requires a log.
   * Omitted if manifests are not used.
   */
  manifest?: 'present' | 'missing' | undefined;
}

export interface RecoveredLog {
  /**
   * Files that are not needed, oldest first. For example, their removal was interrupted. They are
   * never read.
   */
  obsolete: ClosedLogFile[];
  /** Oldest first. */
  needed: NeededFile[];
  /** Newest LSN in the log; it is durable. */
  headLsn: number;
  mark: FoundMark | null;
  /** Epoch and sequence number for the next file. */
  nextEpoch: number;
  nextSequence: number;
  dropped: DroppedBytes | null;
}

/**
 * Bytes after the end of the log, which were never acknowledged: a write that a crash interrupted.
 */
export interface DroppedBytes {
  file: string;
  offset: number;
  /** Number of bytes up to the last one that is not zero. */
  bytes: number;
}

/**
 * Reads the file headers and the newest file, and makes the end of the log durable. If it throws
 * `corrupt`, nothing was changed. The frames of older files are checked when they are read
 * (log-reader.ts).
 */
export async function recoverLog(fs: Fs, dir: string, crc32c: Crc32c, bounds: LogBounds): Promise<RecoveredLog> {
  const { obsolete, needed, headLsn, mark, end, dropped } = examineLog(fs, dir, crc32c, bounds);
  const newest = needed.at(-1);
  assert(headLsn >= bounds.minimumLsn, 'a log that opens reaches the LSN of the manifest');
  if (newest !== undefined && end !== null) {
    await settle(fs, newest, end);
    newest.bytes = end.offset;
  }
  return {
    obsolete,
    needed,
    headLsn,
    mark,
    nextEpoch: Math.max(newest?.epoch ?? 0, mark?.slot.epoch ?? 0) + 1,
    nextSequence: (newest?.sequence ?? 0) + 1,
    dropped,
  };
}

/** The result of examining the log files. */
export interface ExaminedLog {
  /** Files that are not needed, oldest first. */
  obsolete: ClosedLogFile[];
  /** Oldest first. */
  needed: NeededFile[];
  headLsn: number;
  mark: FoundMark | null;
  /** Where the frames of the newest file end; null if there is no file. */
  end: LogEnd | null;
  dropped: DroppedBytes | null;
}

/** Examines the log files without changing anything. Throws `corrupt`. */
export function examineLog(fs: Fs, dir: string, crc32c: Crc32c, bounds: LogBounds): ExaminedLog {
  // The mark is read before the files: a server that runs at the same time may write more, and the
  // files then contain at least what this mark requires.
  const mark = readMark(fs, dir, crc32c);
  const { obsolete, needed } = selectFiles(fs, dir, crc32c, bounds.minimumLsn);
  const newest = needed.at(-1);
  checkNewest(dir, newest, mark, bounds);
  const reachedLsn = Math.max(
    bounds.minimumLsn,
    bounds.reachedLsn,
    mark?.slot.reachedLsn ?? 0,
    mark?.watermarkLsn ?? 0,
  );
  if (newest === undefined) {
    // The newest file is never removed, so if there is no file, operations have been lost.
    if (reachedLsn > 0)
      throw corruption(dir, 0, `there is no log file, but operations up to ${reachedLsn} or later were in the log`);
    return { obsolete, needed, headLsn: 0, mark, end: null, dropped: null };
  }
  const region = regionOf(readWhole(fs, newest.path));
  checkSize(newest, region);
  const end = findEnd(newest, region, crc32c);
  if (end.lastLsn < reachedLsn) {
    throw corruption(
      newest.path,
      end.offset,
      `the log ends at operation ${end.lastLsn}, but operation ${reachedLsn} was in it`,
    );
  }
  const dropped = end.clean ? null : { file: newest.path, offset: end.offset, bytes: usedFrom(region, end.offset) };
  return { obsolete, needed, headLsn: end.lastLsn, mark, end, dropped };
}

/**
 * Checks rule 6 of FORMAT.md: the log file that the mark names must be there, and log, mark and
 * manifest must be present together.
 */
function checkNewest(
  dir: string,
  newest: NeededFile | undefined,
  mark: FoundMark | null,
  { manifest }: LogBounds,
): void {
  if (mark === null) {
    if (newest !== undefined && newest.version >= 2)
      throw corruption(markPath(dir), 0, `the file is missing, but ${newest.path} was made with it`);
    if (newest === undefined && manifest === 'present')
      throw corruption(dir, 0, 'there is no log file and no mark, but a manifest that needs them');
    return;
  }
  const { sequence, firstLsn } = mark.slot;
  if (sequence > (newest?.sequence ?? 0))
    throw corruption(logFilePath(dir, sequence), 0, `the log file is missing, but the mark of the log names it`);
  if (newest === undefined) return;
  if (newest.version >= 2 && manifest === 'missing')
    throw corruption(newest.path, 8, 'there is a log of format 2 but no manifest: the manifest was lost');
  if (sequence === newest.sequence && firstLsn !== newest.firstLsn)
    throw corruption(newest.path, 24, `it starts at operation ${newest.firstLsn}, the mark says ${firstLsn}`);
}

/** Checks rule 7 of FORMAT.md: the newest file must not have been truncated. */
function checkSize({ path, fileBytes }: NeededFile, { bytes }: Region): void {
  if (bytes.length < fileBytes)
    throw corruption(path, bytes.length, `it ends there, but it was made with ${fileBytes} bytes: it was cut`);
}

/**
 * Goes back from the newest file until a file begins at or below `minimumLsn + 1`. Files older than
 * that one are obsolete.
 */
function selectFiles(
  fs: Fs,
  dir: string,
  crc32c: Crc32c,
  minimumLsn: number,
): { obsolete: ClosedLogFile[]; needed: NeededFile[] } {
  const paths = listLogFiles(fs, dir);
  const needed: NeededFile[] = [];
  while (paths.length > 0 && (needed[0] === undefined || needed[0].firstLsn > minimumLsn + 1)) {
    const path = paths.pop()!;
    const header = readLogFileHeader(fs, path, crc32c);
    checkOrder(path, header, needed[0]);
    needed.unshift({ path, ...header, bytes: sizeOf(fs, path) });
  }
  const first = needed[0];
  if (first !== undefined && first.firstLsn > minimumLsn + 1) {
    throw corruption(
      first.path,
      24,
      `the log starts at operation ${first.firstLsn}; operations ${minimumLsn + 1} to ${first.firstLsn - 1} are missing`,
    );
  }
  const obsolete = paths.map((path) => ({
    path,
    sequence: sequenceOfPath(path),
    firstLsn: 0,
    bytes: sizeOf(fs, path),
  }));
  return { obsolete, needed };
}

function checkOrder(path: string, header: FileHeader, next: NeededFile | undefined): void {
  if (header.sequence !== sequenceOfPath(path))
    throw corruption(path, 16, `its header has sequence number ${header.sequence}, not that of its name`);
  if (next === undefined) return;
  if (header.firstLsn > next.firstLsn) {
    throw corruption(path, 24, `it starts at operation ${header.firstLsn}, the file after it at ${next.firstLsn}`);
  }
  if (header.epoch > next.epoch)
    throw corruption(path, 12, `its epoch is ${header.epoch}, that of the file after it ${next.epoch}`);
}

function sizeOf(fs: Fs, path: string): number {
  const handle = fs.open(path, 'read');
  try {
    return handle.size();
  } finally {
    handle.close();
  }
}

/** The end of the newest file. */
export interface LogEnd {
  /** Offset at which the frames end. */
  offset: number;
  lastLsn: number;
  /**
   * The bytes of the last frames, which no later frame proves durable, so that they must be written
   * again. Empty if all frames are proven durable.
   */
  unproven: Uint8Array;
  /** Whether only zeros follow the last frame. */
  clean: boolean;
}

/**
 * Finds the end of the frames in the newest file. Throws `corrupt` if frames after that prove that
 * acknowledged operations are damaged.
 */
function findEnd(file: NeededFile, region: Region, crc32c: Crc32c): LogEnd {
  let offset = FILE_HEADER_BYTES;
  let lsn = file.firstLsn;
  let provenLsn = file.firstLsn - 1;
  for (;;) {
    const frame = readExpectedFrame(region, offset, file.epoch, lsn, crc32c);
    if (frame === null) break;
    provenLsn = Math.max(provenLsn, frame.durableLsn);
    lsn += frame.operations;
    offset += frameBytes(frame.payloadBytes);
  }
  const clean = isZeroFrom(region, offset);
  if (!clean && provesLoss(file, region, offset, lsn, crc32c))
    throw badFrame(file.path, offset, lsn, peekFrame(region, offset));
  return {
    offset,
    lastLsn: lsn - 1,
    unproven: region.bytes.subarray(skipProven(region, offset, provenLsn), offset),
    clean,
  };
}

/**
 * Returns the offset of the first frame that is not proven durable. All frames are valid and end at
 * `end`.
 */
function skipProven(region: Region, end: number, provenLsn: number): number {
  let offset = FILE_HEADER_BYTES;
  while (offset < end) {
    const frame = peekFrame(region, offset)!;
    if (frame.firstLsn + frame.operations - 1 > provenLsn) break;
    offset += frameBytes(frame.payloadBytes);
  }
  assert(offset <= end, 'the frames of a log file end where its end was found');
  return offset;
}

/**
 * Returns whether a complete frame after `badOffset` records that the LSN expected at `badOffset`
 * was durable.
 */
function provesLoss(file: NeededFile, region: Region, badOffset: number, expectedLsn: number, crc32c: Crc32c): boolean {
  let offset = findFrame(region, badOffset + 8, file.epoch, expectedLsn, crc32c);
  while (offset >= 0) {
    const frame = peekFrame(region, offset)!;
    if (frame.durableLsn >= expectedLsn) return true;
    offset = findFrame(region, offset + frameBytes(frame.payloadBytes), file.epoch, expectedLsn, crc32c);
  }
  return false;
}

/**
 * Makes the last frames of the newest file durable by writing them again, because they may exist
 * only in the page cache (rule 8 of FORMAT.md).
 */
async function settle(fs: Fs, file: NeededFile, end: LogEnd): Promise<void> {
  if (end.unproven.length === 0) return;
  assert(end.offset - end.unproven.length >= FILE_HEADER_BYTES, 'only frames are written again');
  const handle = fs.open(file.path, 'write');
  try {
    await writeWhole(handle, end.unproven, end.offset - end.unproven.length);
    await handle.sync();
  } finally {
    handle.close();
  }
}

/** Returns the number of bytes from `from` to the last byte that is not zero. */
function usedFrom({ bytes }: Region, from: number): number {
  let end = bytes.length;
  while (end > from && bytes[end - 1] === 0) end--;
  return end - from;
}

/**
 * Returns the error for a place in a file where the frame with `expectedLsn` must start. `seen` is
 * the frame header found there, if any.
 */
export function badFrame(path: string, offset: number, expectedLsn: number, seen: FrameHeader | null): Error {
  const what =
    seen === null ? 'no frame starts there' : `the frame there (operations from ${seen.firstLsn}) is not valid`;
  return corruption(path, offset, `operation ${expectedLsn} must follow, but ${what}`);
}
