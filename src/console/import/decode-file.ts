// Decodes the bytes of a file as text: UTF-8, UTF-16 with a byte order mark, or the encoding that
// the user selects.

/** The file is text, but its encoding could not be determined. */
export class NotUtf8 extends Error {}

export const OLD_ENCODING = 'windows-1252';

/** Number of bytes that are checked to decide whether a file is text. */
const LOOKED_AT = 4096;

/** Throws NotUtf8, or an Error with a sentence about the fault. */
export function decodeFile(bytes: Uint8Array, encoding?: typeof OLD_ENCODING): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  if (encoding !== undefined) return new TextDecoder(encoding).decode(bytes);
  const looked = bytes.subarray(0, LOOKED_AT);
  const zeros = looked.reduce((count, byte) => count + (byte === 0 ? 1 : 0), 0);
  // UTF-16 without a byte order mark may be valid UTF-8, in which every other character is a zero.
  if (zeros * 4 > looked.length) throw new Error(NO_TEXT);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw zeros > 0 ? new Error(NO_TEXT) : new NotUtf8(NOT_UTF8);
  }
}

const NO_TEXT = 'It is not text; save it as CSV in UTF-8, or use hedgerow import on the command line.';
const NOT_UTF8 =
  'It is not written in UTF-8. Files from Windows programs are often written in Windows-1252: read it as such and check the names, or save it as CSV UTF-8.';
