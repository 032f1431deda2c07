// Names and creates the files of the log: preallocates a file (the spare), and turns a spare into a
// log file.

import { assert } from '../assert.ts';
import { HedgerowError } from '../errors.ts';
import type { Crc32c } from './crc32c.ts';
import { encodeFileHeader, FILE_HEADER_BYTES, type FileHeader, FRAME_HEADER_BYTES } from './frame.ts';
import type { FileHandle, Fs } from './fs.ts';
import { readFully, writeWhole } from './whole-file.ts';

/** A log file to which nothing is written any more. */
export interface ClosedLogFile {
  path: string;
  sequence: number;
  firstLsn: number;
  bytes: number;
  /** When the newest frame of the file was appended, in epoch seconds; 0 or absent if unknown. */
  newestSeconds?: number;
}

/** The log file to which frames are being written. */
export interface ActiveLogFile extends ClosedLogFile {
  handle: FileHandle;
  /** Offset up to which frames may fill the file; a seal still fits after them. */
  capacity: number;
}

/**
 * Maximum size in bytes of the first log file after an open, unless its first frame needs more. It
 * is small because the first write, and a close without any write, wait until the file is
 * preallocated.
 */
export const FIRST_FILE_BYTES = 2 ** 20;

const NAME = /^log-[0-9a-f]{16}$/;
const SPARE_NAME = 'log-spare';
const ZEROS = new Uint8Array(2 ** 20);
/** The unused rest of a file is cut off only if it is larger than this. */
const WORTH_TRIMMING_BYTES = 2 ** 16;

export function logFilePath(dir: string, sequence: number): string {
  return `${dir}/log-${sequence.toString(16).padStart(16, '0')}`;
}

/** Returns the paths of the log files in `dir`, oldest first. */
export function listLogFiles(fs: Fs, dir: string): string[] {
  return fs
    .list(dir)
    .filter((name) => NAME.test(name))
    .map((name) => `${dir}/${name}`);
}

export function sequenceOfPath(path: string): number {
  return Number.parseInt(path.slice(-16), 16);
}

export async function removeSpare(fs: Fs, dir: string): Promise<void> {
  const path = `${dir}/${SPARE_NAME}`;
  if (fs.exists(path)) await fs.remove(path);
}

/** The spare: a preallocated file of durable zeros, without a header. At most one exists. */
export interface Spare {
  handle: FileHandle;
  bytes: number;
}

/**
 * Makes a spare of `zeroBytes` zeros, which are actually written and synced. Removes any previous
 * spare first. If this rejects, no spare is left.
 */
export async function prepareSpare(fs: Fs, dir: string, zeroBytes: number): Promise<Spare> {
  await removeSpare(fs, dir);
  const handle = fs.open(`${dir}/${SPARE_NAME}`, 'create');
  try {
    // A write that was short may be continued here: no data can be lost, and the next write will
    // fail with the reason (ENOSPC).
    for (let position = 0; position < zeroBytes; ) {
      const written = await handle.write(ZEROS.subarray(0, Math.min(ZEROS.length, zeroBytes - position)), position);
      if (written === 0) throw new Error(`${handle.path} takes no bytes at offset ${position}`);
      position += written;
      // Each piece is synced, so that the sync of a group of frames never waits for the whole file.
      await handle.datasync();
    }
    await handle.sync();
    return { handle, bytes: zeroBytes };
  } catch (error) {
    handle.close();
    // On a full disk, a partial file would take space that is needed elsewhere.
    await removeSpare(fs, dir).catch(() => undefined);
    throw error;
  }
}

/**
 * Turns the spare into a log file with the header fields of `place`. When this resolves, header and
 * name are durable; but frames may be written only when the mark names the file. Always closes
 * `spare`. Rejects with `conflict` if another process has created a file with that name or has
 * replaced the spare.
 */
export async function placeSpare(
  fs: Fs,
  dir: string,
  spare: Spare,
  place: Omit<FileHeader, 'fileBytes'>,
  crc32c: Crc32c,
): Promise<FileHandle> {
  assert(spare.bytes > fileBytesFor(0), 'a log file holds a frame and a seal');
  const path = logFilePath(dir, place.sequence);
  const header = encodeFileHeader({ ...place, fileBytes: spare.bytes }, crc32c);
  try {
    await writeWhole(spare.handle, header, 0);
    await spare.handle.sync();
  } finally {
    spare.handle.close();
  }
  await fs.renameNew(`${dir}/${SPARE_NAME}`, path).catch((error: { code?: unknown }) => {
    throw error.code === 'EEXIST' ? takenOver(path) : error;
  });
  await fs.syncDir(dir);
  const handle = fs.open(path, 'write');
  try {
    const found = new Uint8Array(header.length);
    readFully(handle, found, 0);
    if (found.some((byte, index) => byte !== header[index])) throw takenOver(path);
    return handle;
  } catch (error) {
    handle.close();
    throw error;
  }
}

function takenOver(path: string): HedgerowError {
  return new HedgerowError(
    'conflict',
    `Another process created the log file ${path}: it took over the data directory. This process refuses writes from now on. Stop this process, and make sure that only one process at a time uses the directory.`,
    { fields: { file: path } },
  );
}

/**
 * Cuts off the unused rest of a file that has a successor. A failure is ignored, because it only
 * costs disk space.
 */
export async function trimFile(fs: Fs, { path, bytes }: ClosedLogFile): Promise<void> {
  assert(bytes >= FILE_HEADER_BYTES, 'a log file keeps its header');
  try {
    const handle = fs.open(path, 'write');
    try {
      if (handle.size() > bytes + WORTH_TRIMMING_BYTES) await handle.truncate(bytes);
    } finally {
      handle.close();
    }
  } catch {
    // The zeros stay until the file is removed.
  }
}

/** Returns the size of a file that has space for frames of `bytes` in total and a seal. */
export function fileBytesFor(bytes: number): number {
  return FILE_HEADER_BYTES + bytes + FRAME_HEADER_BYTES;
}

/**
 * Returns the offset up to which frames may fill a file of `fileBytes` bytes, so that a seal still
 * fits after them.
 */
export function capacityOf(fileBytes: number): number {
  return fileBytes - FRAME_HEADER_BYTES;
}
