// Recognizes files by their first bytes: packed files, which are refused with advice on how to
// unpack them, and text in UTF-16, which is decoded.

const PACKED: readonly (readonly [mark: readonly number[], what: string])[] = [
  [[0x50, 0x4b, 3, 4], 'is a zip archive (spreadsheets are too). Unpack it, or save the sheet as CSV'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'is packed with zstd. Unpack it, or pipe it: zstd -dc FILE | hedgerow import -'],
  [[0xfd, 0x37, 0x7a, 0x58], 'is packed with xz. Unpack it, or pipe it: xz -dc FILE | hedgerow import -'],
  [[0x42, 0x5a, 0x68], 'is packed with bzip2. Unpack it, or pipe it: bzip2 -dc FILE | hedgerow import -'],
];

/** Number of bytes that are needed to recognize a file. */
export const KIND_BYTES = 4;

/** Returns why a file that begins with these bytes cannot be read; undefined for any other file. */
export function unreadableKind(head: Uint8Array): string | undefined {
  return PACKED.find(([mark]) => mark.every((byte, at) => head[at] === byte))?.[1];
}

/**
 * Returns the UTF-16 encoding of a text that begins with these bytes. Recognizes it by its byte
 * order mark, or by the zero bytes beside two ASCII characters. Undefined when it is not UTF-16.
 */
export function wideEncoding(head: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const [first, second, third, fourth] = head;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (fourth === undefined) return undefined;
  if (second === 0 && fourth === 0 && first !== 0 && third !== 0) return 'utf-16le';
  return first === 0 && third === 0 && second !== 0 && fourth !== 0 ? 'utf-16be' : undefined;
}
