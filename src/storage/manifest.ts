// The manifest: one JSON document with a checksum, replaced atomically.

import { corruption } from '../errors.ts';
import { writeFileAtomically } from './atomic-file.ts';
import type { Crc32c } from './crc32c.ts';
import type { Fs } from './fs.ts';
import { readWhole } from './whole-file.ts';

const FORMAT_VERSION = 1;
const HEADER = /^hedgerow-manifest ([0-9]+) ([0-9a-f]{8}) ([0-9]+)\n/;
/** Longer than any header line. */
const HEADER_WINDOW_BYTES = 64;

export function manifestPath(dir: string): string {
  return `${dir}/manifest`;
}

/** The installed document, null when there is none. Throws `corrupt`. */
export function readManifest(fs: Fs, dir: string, crc32c: Crc32c): unknown | null {
  const path = manifestPath(dir);
  return fs.exists(path) ? readManifestFile(fs, path, crc32c) : null;
}

/** The document in the manifest at `path`. Throws `corrupt`. */
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
 * Makes `value` (anything JSON can hold) the manifest. Durable when it resolves. When it rejects, the old one or the new one is there: go on only after a restart.
 */
export async function installManifest(fs: Fs, dir: string, crc32c: Crc32c, value: unknown): Promise<void> {
  const document = new TextEncoder().encode(JSON.stringify(value));
  const header = new TextEncoder().encode(
    `hedgerow-manifest ${FORMAT_VERSION} ${checksum(document, crc32c)} ${document.length}\n`,
  );
  const bytes = new Uint8Array(header.length + document.length);
  bytes.set(header);
  bytes.set(document, header.length);
  await writeFileAtomically(fs, manifestPath(dir), bytes);
}

function checksum(bytes: Uint8Array, crc32c: Crc32c): string {
  return (crc32c(bytes, 0) >>> 0).toString(16).padStart(8, '0');
}
