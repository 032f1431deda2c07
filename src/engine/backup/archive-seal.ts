// The seal of a backup file: an empty gzip member at the end of the file, whose comment contains
// the SHA-256 of all preceding bytes.
//
// gzip itself does not detect all changed bytes (its header has no checksum, stored blocks have
// padding), nor that whole members are missing at the end. The seal covers every byte of the file,
// and a truncated file is detected immediately because it has no seal. Other programs read the seal
// as an ordinary empty member.

import { assert } from '../../assert.ts';

// deflate, comment flag set, no time, unknown system
const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 16, 0, 0, 0, 0, 0, 255);
const COMMENT = 'hedgerow-sha256 ';
const HEX_DIGITS = 64;
/** End of the comment, an empty final block, CRC32 and size of empty content. */
const FOOTER = Uint8Array.of(0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0);

export const SEAL_BYTES = HEADER.length + COMMENT.length + HEX_DIGITS + FOOTER.length;

/** Returns the seal for a file whose bytes so far have this SHA-256, in lower-case hex. */
export function sealOf(sha256: string): Uint8Array {
  assert(sha256.length === HEX_DIGITS, 'a SHA-256 has 64 digits');
  return Buffer.concat([HEADER, Buffer.from(COMMENT + sha256, 'latin1'), FOOTER]);
}

/** Returns the SHA-256 recorded in a seal, or null if the bytes are not a seal. */
export function sealedSum(bytes: Uint8Array): string | null {
  const start = HEADER.length + COMMENT.length;
  const sum = Buffer.from(bytes).toString('latin1', start, start + HEX_DIGITS);
  return /^[0-9a-f]{64}$/.test(sum) && Buffer.compare(sealOf(sum), bytes) === 0 ? sum : null;
}
