// Reads and writes complete byte ranges, using calls that may transfer fewer bytes than requested.

import { assert } from '../assert.ts';
import type { FileHandle, Fs } from './fs.ts';

/**
 * Maximum number of bytes per write call. The system writes at most 2 GB per call, so a larger
 * write would be short although nothing failed.
 */
const MAX_WRITE_BYTES = 2 ** 26;

/**
 * Writes `bytes` at `position`. A short write is an error (code EIO) whose message has the expected
 * and actual byte counts. The write is not continued, because the contents of the disk are then
 * unknown and the log must stop.
 */
export async function writeWhole(
  handle: FileHandle,
  bytes: Uint8Array,
  position: number,
  isDurable = false,
): Promise<void> {
  for (let from = 0; from < bytes.length; from += MAX_WRITE_BYTES) {
    const part = bytes.length <= MAX_WRITE_BYTES ? bytes : bytes.subarray(from, from + MAX_WRITE_BYTES);
    const at = position + from;
    const written = await (isDurable ? handle.writeDurably(part, at) : handle.write(part, at));
    if (written !== part.length) {
      throw Object.assign(
        new Error(`short write to ${handle.path} at offset ${at}: ${written} of ${part.length} bytes were written`),
        { code: 'EIO' },
      );
    }
  }
}

export function readWhole(fs: Fs, path: string): Uint8Array {
  const handle = fs.open(path, 'read');
  try {
    const target = new Uint8Array(handle.size());
    return target.subarray(0, readFully(handle, target, 0));
  } finally {
    handle.close();
  }
}

/** Reads until `target` is full or the file ends; returns the number of bytes read. */
export function readFully(handle: FileHandle, target: Uint8Array, position: number): number {
  let filled = 0;
  while (filled < target.length) {
    const count = handle.read(target.subarray(filled), position + filled);
    if (count === 0) break;
    filled += count;
    assert(filled <= target.length, 'a read gives at most what was asked for');
  }
  return filled;
}
