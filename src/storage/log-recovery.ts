// Determines what the log files found at open contain: which are needed, where the log ends, and
// whether anything is missing (the recovery rule of FORMAT.md).
//
// Walking back from the newest file, files are needed until one reaches down to `minimumLsn + 1`;
// older ones are obsolete. In the newest file, frames count while each is complete, has a valid
// checksum and the epoch of the file, and starts at the LSN after its predecessor. The first place
// where this fails is the end of the log. If only zeros follow, the log was closed or the crash
// came between writes. Other bytes are a torn write and are dropped, unless they prove a loss:
// every frame records the LSN that was durable when it was made, so a complete later frame with
// `durableLsn` at or above the expected LSN shows that an acknowledged operation is damaged. That,
// or an end below what the manifest or the mark vouches for, is corruption and refuses to open.
//
// Example: frames 1-3, 4-5, a torn frame at 6. Without any later frame the log ends at LSN 5. With
// a complete frame 9 that says "durable up to 8", operation 6 is lost and opening fails.

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

/** A needed file with the fields of its header. */
export interface NeededFile extends ClosedLogFile {
  epoch: number;
  version: number;
  /** 0 in version 1. */
  fileBytes: number;
}

/** What must hold for a log according to other files. */
export interface LogBounds {
  /** The manifest vouches for all LSNs up to this one. */
  minimumLsn: number;
  /** Newest LSN that the manifest knows to have been in the log. */
  reachedLsn: number;
  /**
   * Whether there is a manifest: a log of format 2 requires one, and a manifest requires a log.
   * Omitted where manifests are not used.
   */
  manifest?: 'present' | 'missing' | undefined;
}

export interface RecoveredLog {
  /** Files below `minimumLsn`, oldest first: left over from an interrupted removal, never read. */
  obsolete: ClosedLogFile[];
  /** Oldest first. */
  needed: NeededFile[];
  /** Newest LSN, durable. */
  headLsn: number;
  mark: FoundMark | null;
  /** Epoch and sequence number for the next file. */
  nextEpoch: number;
  nextSequence: number;
  dropped: DroppedBytes | null;
}

/** Bytes after the end of the log that were never acknowledged: a write torn by a crash. */
export interface DroppedBytes {
  file: string;
  offset: number;
  /** Up to the last non-zero byte. */
  bytes: number;
}

/**
 * Reads the headers and the newest file, and makes the end of the log durable. Throws `corrupt`,
 * having changed nothing. Older files are checked when they are read (log-reader.ts).
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

/** The contents of the log files as `recoverLog` sees them, without changing anything. */
export interface ExaminedLog {
  /** Files below `minimumLsn`, oldest first. */
  obsolete: ClosedLogFile[];
  /** Oldest first. */
  needed: NeededFile[];
  headLsn: number;
  mark: FoundMark | null;
  /** Where the frames of the newest file end; null without a file. */
  end: LogEnd | null;
  dropped: DroppedBytes | null;
}

/** Examines the log files. Throws `corrupt`. */
export function examineLog(fs: Fs, dir: string, crc32c: Crc32c, bounds: LogBounds): ExaminedLog {
  // Read before the files: a server running at the same time only adds to what the mark requires.
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
    // The newest file is never removed, so without it the operations after the manifest would be
    // lost silently.
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

/** Rule 6: the files are those that the mark and the manifest know of. */
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

/** Rule 7: the newest file was not truncated. */
function checkSize({ path, fileBytes }: NeededFile, { bytes }: Region): void {
  if (bytes.length < fileBytes)
    throw corruption(path, bytes.length, `it ends there, but it was made with ${fileBytes} bytes: it was cut`);
}

/**
 * Walks back from the newest file to the first that holds `minimumLsn + 1`; older files are
 * obsolete.
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
   * Bytes to write again: the frames that no other frame proves durable. Empty if all are proven.
   */
  unproven: Uint8Array;
  /** Whether only zeros follow. */
  clean: boolean;
}

/**
 * Finds the end of the newest file. Throws `corrupt` if frames after a bad place prove that
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

/** Offset at which the frames (all valid, ending at `end`) stop being proven durable. */
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

/** Whether a complete frame after the bad place states that the LSN expected there was durable. */
function provesLoss(file: NeededFile, region: Region, badOffset: number, expectedLsn: number, crc32c: Crc32c): boolean {
  let offset = findFrame(region, badOffset + 8, file.epoch, expectedLsn, crc32c);
  while (offset >= 0) {
    const frame = peekFrame(region, offset)!;
    if (frame.durableLsn >= expectedLsn) return true;
    offset = findFrame(region, offset + frameBytes(frame.payloadBytes), file.epoch, expectedLsn, crc32c);
  }
  return false;
}

/** Makes the end of the newest file durable, whatever the page cache says about it (rule 8). */
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

/** Bytes from `from` to the last non-zero byte. */
function usedFrom({ bytes }: Region, from: number): number {
  let end = bytes.length;
  while (end > from && bytes[end - 1] === 0) end--;
  return end - from;
}

/**
 * The error for `offset` in the file, where the frame with `expectedLsn` must start. `seen` is what
 * is there.
 */
export function badFrame(path: string, offset: number, expectedLsn: number, seen: FrameHeader | null): Error {
  const what =
    seen === null ? 'no frame starts there' : `the frame there (operations from ${seen.firstLsn}) does not hold`;
  return corruption(path, offset, `operation ${expectedLsn} must follow, but ${what}`);
}
