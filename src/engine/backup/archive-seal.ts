// The seal of a backup file: an empty gzip member at its end, whose comment is the SHA-256 of all
// preceding bytes.
//
// gzip itself misses some changed bytes (its header has no checksum, stored blocks have padding)
// and cannot tell that nothing is missing after a member. With the seal, every byte of the file is
// covered and a truncated file is detected at once. Other programs read it as an ordinary empty
// member.

import { assert } from '../../assert.ts';

// deflate, comment flag set, no time, unknown system
const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 16, 0, 0, 0, 0, 0, 255);
const COMMENT = 'hedgerow-sha256 ';
const HEX_DIGITS = 64;
/** End of the comment, an empty final block, CRC32 and size of empty content. */
const FOOTER = Uint8Array.of(0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0);

export const SEAL_BYTES = HEADER.length + COMMENT.length + HEX_DIGITS + FOOTER.length;

/** The seal of a file whose bytes so far have this SHA-256 in lower-case hex. */
export function sealOf(sha256: string): Uint8Array {
  assert(sha256.length === HEX_DIGITS, 'a SHA-256 has 64 digits');
  return Buffer.concat([HEADER, Buffer.from(COMMENT + sha256, 'latin1'), FOOTER]);
}

/** The SHA-256 recorded in a seal; null if the bytes are not a seal. */
export function sealedSum(bytes: Uint8Array): string | null {
  const start = HEADER.length + COMMENT.length;
  const sum = Buffer.from(bytes).toString('latin1', start, start + HEX_DIGITS);
  return /^[0-9a-f]{64}$/.test(sum) && Buffer.compare(sealOf(sum), bytes) === 0 ? sum : null;
}
