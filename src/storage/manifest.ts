// Reads and writes the manifest file: one JSON document with a checksum, which is replaced
// atomically.

import { assert } from '../assert.ts';
import { corruption } from '../errors.ts';
import { writeFileAtomically } from './atomic-file.ts';
import type { Crc32c } from './crc32c.ts';
import type { Fs } from './fs.ts';
import { readWhole } from './whole-file.ts';

const FORMAT_VERSION = 1;
const HEADER = /^hedgerow-manifest ([0-9]+) ([0-9a-f]{8}) ([0-9]+)\n/;
/** More bytes than any header line has. */
const HEADER_WINDOW_BYTES = 64;

export function manifestPath(dir: string): string {
  return `${dir}/manifest`;
}

/** Returns the installed document, or null if there is none. Throws `corrupt`. */
export function readManifest(fs: Fs, dir: string, crc32c: Crc32c): unknown | null {
  const path = manifestPath(dir);
  return fs.exists(path) ? readManifestFile(fs, path, crc32c) : null;
}

/** Returns the document in the manifest at `path`. Throws `corrupt`. */
export function readManifestFile(fs: Fs, path: string, crc32c: Crc32c): unknown {
  const bytes = readWhole(fs, path);
  const header = HEADER.exec(new TextDecoder('latin1').decode(bytes.subarray(0, HEADER_WINDOW_BYTES)));
  if (header === null) throw corruption(path, 0, 'it does not start with the header line of a manifest');
  if (Number(header[1]) !== FORMAT_VERSION) {
    throw corruption(path, 0, `its format version is ${header[1]}, this build reads version ${FORMAT_VERSION}`);
  }
  const document = bytes.subarray(header[0].length);
  if (document.length !== Number(header[3])) {
    throw corruption(path, header[0].length, `the document has ${document.length} bytes, the header says ${header[3]}`);
  }
  const sum = checksum(document, crc32c);
  if (sum !== header[2])
    throw corruption(path, header[0].length, `the document's checksum is ${sum}, the header says ${header[2]}`);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(document));
  } catch (error) {
    throw corruption(path, header[0].length, `the document is not JSON (${(error as Error).message})`);
  }
}

/**
 * Number of bytes of the document that are checksummed or copied between two pauses. That takes a
 * few milliseconds.
 */
const SLICE_BYTES = 2 ** 20;

/**
 * Makes `value` (any JSON value) the manifest, which is durable when this resolves. If it rejects
 * with `FileInDoubt`, either the old or the new manifest is in place, and the process must be
 * restarted. After any other error the old manifest is in place.
 */
export function installManifest(fs: Fs, dir: string, crc32c: Crc32c, value: unknown): Promise<void> {
  return installManifestText(fs, dir, crc32c, [new TextEncoder().encode(JSON.stringify(value))], async () => {});
}

/**
 * Like `installManifest`, but takes the document as pieces of UTF-8 text. Awaits `pause` between
 * slices.
 */
export async function installManifestText(
  fs: Fs,
  dir: string,
  crc32c: Crc32c,
  pieces: readonly Uint8Array[],
  pause: () => Promise<void>,
): Promise<void> {
  const slices = await inSlices(pieces, pause);
  let sum = 0;
  let length = 0;
  for (const slice of slices) {
    if (length > 0) await pause();
    sum = crc32c(slice, sum);
    length += slice.length;
  }
  const header = `hedgerow-manifest ${FORMAT_VERSION} ${hex(sum)} ${length}\n`;
  await writeFileAtomically(fs, manifestPath(dir), new TextEncoder().encode(header), ...slices);
}

/** Returns the bytes of the pieces in slices of SLICE_BYTES, so that few writes are needed. */
async function inSlices(pieces: readonly Uint8Array[], pause: () => Promise<void>): Promise<Uint8Array[]> {
  let left = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const slices: Uint8Array[] = [];
  let slice = new Uint8Array(Math.min(left, SLICE_BYTES));
  let used = 0;
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; ) {
      if (used === slice.length) {
        slices.push(slice);
        slice = new Uint8Array(Math.min(left, SLICE_BYTES));
        used = 0;
        await pause();
      }
      const part = piece.subarray(from, from + slice.length - used);
      slice.set(part, used);
      used += part.length;
      from += part.length;
      left -= part.length;
    }
  }
  assert(left === 0 && used === slice.length, 'the slices of a manifest hold its pieces');
  slices.push(slice);
  return slices;
}

function checksum(bytes: Uint8Array, crc32c: Crc32c): string {
  return hex(crc32c(bytes, 0));
}

function hex(sum: number): string {
  return (sum >>> 0).toString(16).padStart(8, '0');
}
