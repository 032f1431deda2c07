// Tells files that no format reads by how they begin, so that they are refused with what to do about them.

const PACKED: readonly (readonly [mark: readonly number[], what: string])[] = [
  [[0x50, 0x4b, 3, 4], 'is a zip archive (spreadsheets are too). Unpack it, or save the sheet as CSV'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'is packed with zstd. Unpack it, or pipe it: zstd -dc FILE | hedgerow import -'],
  [[0xfd, 0x37, 0x7a, 0x58], 'is packed with xz. Unpack it, or pipe it: xz -dc FILE | hedgerow import -'],
  [[0x42, 0x5a, 0x68], 'is packed with bzip2. Unpack it, or pipe it: bzip2 -dc FILE | hedgerow import -'],
];

const WIDE_MARKS = [
  [0xff, 0xfe],
  [0xfe, 0xff],
];

/** So many bytes tell. */
export const KIND_BYTES = 4;

/** What is wrong with a file that begins like this; undefined: nothing that shows here. */
export function unreadableKind(head: Uint8Array): string | undefined {
  const begins = (mark: readonly number[]) => mark.every((byte, at) => head[at] === byte);
  const packed = PACKED.find(([mark]) => begins(mark));
  if (packed !== undefined) return packed[1];
  // A zero beside the first character: UTF-16 without its mark.
  const isBare = head.length >= 2 && (head[0] === 0) !== (head[1] === 0);
  if (isBare || WIDE_MARKS.some(begins)) return 'is UTF-16. Save it as UTF-8; iconv -f UTF-16 -t UTF-8 does it';
  return undefined;
}
