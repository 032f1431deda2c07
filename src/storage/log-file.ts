// Making the files of the log: names, preallocation, and putting a prepared file in place.

import type { Crc32c } from './crc32c.ts';
import { encodeFileHeader, FILE_HEADER_BYTES, type FileHeader } from './frame.ts';
import type { FileHandle, Fs } from './fs.ts';
import { writeWhole } from './whole-file.ts';

/** A log file that is not written any more. */
export interface ClosedLogFile {
  path: string;
  sequence: number;
  firstLsn: number;
  bytes: number;
}

const NAME = /^log-[0-9a-f]{16}$/;
const SPARE_NAME = 'log-spare';
const ZEROS = new Uint8Array(2 ** 20);

export function logFilePath(dir: string, sequence: number): string {
  return `${dir}/log-${sequence.toString(16).padStart(16, '0')}`;
}

/** Paths of the log files in `dir`, oldest first. */
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

/** Makes the spare: `zeroBytes` zeros, really written and synced. At most one spare exists. */
export async function prepareSpare(fs: Fs, dir: string, zeroBytes: number): Promise<FileHandle> {
  await removeSpare(fs, dir);
  const handle = fs.open(`${dir}/${SPARE_NAME}`, 'create');
  try {
    // Short writes are gone on with here: no data is at stake, and the next write says why (ENOSPC).
    for (let position = 0; position < zeroBytes; ) {
      const written = await handle.write(ZEROS.subarray(0, Math.min(ZEROS.length, zeroBytes - position)), position);
      if (written === 0) throw new Error(`${handle.path} takes no bytes at offset ${position}`);
      position += written;
      // A piece at a time, so that a group's sync never waits for the whole file.
      await handle.datasync();
    }
    await handle.sync();
    return handle;
  } catch (error) {
    handle.close();
    throw error;
  }
}

/** Turns the spare into the log file of `header`. When it resolves, header and name are durable and frames may be written. Closes `spare` in any case. */
export async function placeSpare(
  fs: Fs,
  dir: string,
  spare: FileHandle,
  header: FileHeader,
  crc32c: Crc32c,
): Promise<FileHandle> {
  const path = logFilePath(dir, header.sequence);
  try {
    await writeWhole(spare, encodeFileHeader(header, crc32c), 0);
    await spare.sync();
  } finally {
    spare.close();
  }
  await fs.rename(`${dir}/${SPARE_NAME}`, path);
  await fs.syncDir(dir);
  return fs.open(path, 'write');
}

/** The smallest file that can hold a header and `bytes` of frames. */
export function fileBytesFor(bytes: number): number {
  return FILE_HEADER_BYTES + bytes;
}
