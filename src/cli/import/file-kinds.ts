// Tells files that no format reads by how they begin, so that they are refused with what to do
// about them; and UTF-16.

const PACKED: readonly (readonly [mark: readonly number[], what: string])[] = [
  [[0x50, 0x4b, 3, 4], 'is a zip archive (spreadsheets are too). Unpack it, or save the sheet as CSV'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'is packed with zstd. Unpack it, or pipe it: zstd -dc FILE | hedgerow import -'],
  [[0xfd, 0x37, 0x7a, 0x58], 'is packed with xz. Unpack it, or pipe it: xz -dc FILE | hedgerow import -'],
  [[0x42, 0x5a, 0x68], 'is packed with bzip2. Unpack it, or pipe it: bzip2 -dc FILE | hedgerow import -'],
];

/** So many bytes tell. */
export const KIND_BYTES = 4;

/** What is wrong with a file that begins like this; undefined: nothing that shows here. */
export function unreadableKind(head: Uint8Array): string | undefined {
  return PACKED.find(([mark]) => mark.every((byte, at) => head[at] === byte))?.[1];
}

/**
 * Of a text that begins like this: by its mark, or by the zeros beside two characters of ASCII.
 * Undefined: it is no UTF-16.
 */
export function wideEncoding(head: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const [first, second, third, fourth] = head;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (fourth === undefined) return undefined;
  if (second === 0 && fourth === 0 && first !== 0 && third !== 0) return 'utf-16le';
  return first === 0 && third === 0 && second !== 0 && fourth !== 0 ? 'utf-16be' : undefined;
}
