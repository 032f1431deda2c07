// The end of a backup file: an empty gzip member whose comment is the SHA-256 of all bytes before it.
//
// gzip itself does not notice every changed byte (its header has no checksum, stored blocks have padding), nor that nothing follows. With the seal
// every byte of the file counts, and a cut file is known at once. Other programs read it as what it is: a member without content.

import { assert } from '../../assert.ts';

const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 16, 0, 0, 0, 0, 0, 255); // deflate, with a comment, no time, no system
const COMMENT = 'hedgerow-sha256 ';
const HEX_DIGITS = 64;
/** Ends the comment; an empty last block; CRC32 and size of nothing. */
const FOOTER = Uint8Array.of(0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0);

export const SEAL_BYTES = HEADER.length + COMMENT.length + HEX_DIGITS + FOOTER.length;

/** The seal of a file whose bytes so far have this SHA-256 in lower-case hex. */
export function sealOf(sha256: string): Uint8Array {
  assert(sha256.length === HEX_DIGITS, 'a SHA-256 has 64 digits');
  return Buffer.concat([HEADER, Buffer.from(COMMENT + sha256, 'latin1'), FOOTER]);
}

/** The SHA-256 that a seal says, null when the bytes are none. */
export function sealedSum(bytes: Uint8Array): string | null {
  const start = HEADER.length + COMMENT.length;
  const sum = Buffer.from(bytes).toString('latin1', start, start + HEX_DIGITS);
  return /^[0-9a-f]{64}$/.test(sum) && Buffer.compare(sealOf(sum), bytes) === 0 ? sum : null;
}
