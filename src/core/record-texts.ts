// The texts of columns in records (assembly/FORMAT.md, section 1).

/** A column whose texts are read, with the text of records without the column. */
export interface TextColumnOf {
  readonly id: number;
  readonly missing: string | null;
}

const R_PROPERTIES = 6;
const TYPE_NULL = 0;
const TYPE_TEXT = 3;
/** Sizes in bytes of the values of the other types (FORMAT.md, section 1). */
const FIXED_BYTES: Readonly<Record<number, number>> = { 0: 0, 1: 8, 2: 8, 4: 1 };

/** Returns the texts of some columns of the record that begins at `record`, in their order. */
export function textsOf(bytes: Buffer, record: number, columns: readonly TextColumnOf[]): (string | null)[] {
  const texts = columns.map(({ missing }) => missing);
  const offset = bytes.readUInt16LE(record + R_PROPERTIES);
  if (offset === 0) return texts;
  let at = record + offset + 2;
  for (let left = bytes.readUInt16LE(at - 2); left > 0; left--) {
    const id = bytes.readUInt16LE(at);
    const type = bytes[at + 2]!;
    at += 4;
    const size = type === TYPE_TEXT ? 4 + bytes.readUInt32LE(at) : FIXED_BYTES[type]!;
    const place = type === TYPE_TEXT || type === TYPE_NULL ? columns.findIndex((column) => column.id === id) : -1;
    if (place >= 0) texts[place] = type === TYPE_NULL ? null : bytes.toString('utf8', at + 4, at + size);
    at += size;
  }
  return texts;
}
