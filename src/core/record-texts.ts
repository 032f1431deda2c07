// The texts of columns in records (assembly/FORMAT.md, section 1).

import { asBuffer } from './key-text.ts';

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

/** In place of an address: the record does not have the column. */
export const MISSING_TEXT = 0xffffffff;

/** Returns the texts of some columns of the record that begins at `record`, in their order. */
export function textsOf(bytes: Uint8Array, record: number, columns: readonly TextColumnOf[]): (string | null)[] {
  const places = new Uint32Array(2 * columns.length);
  textPlacesOf(bytes, record, columns, places);
  const all = asBuffer(bytes);
  return columns.map(({ missing }, column) => {
    const at = places[2 * column]!;
    if (at === MISSING_TEXT) return missing;
    return at === 0 ? null : all.toString('utf8', at, at + places[2 * column + 1]!);
  });
}

/**
 * Writes where the texts of some columns of a record are: of each its offset in `bytes` and its
 * length in bytes. The offset is 0 for null, and MISSING_TEXT if the record has no such column.
 */
export function textPlacesOf(
  bytes: Uint8Array,
  record: number,
  columns: readonly TextColumnOf[],
  places: Uint32Array,
): void {
  for (let column = 0; column < columns.length; column++) places[2 * column] = MISSING_TEXT;
  const offset = u16At(bytes, record + R_PROPERTIES);
  if (offset === 0) return;
  let at = record + offset + 2;
  for (let left = u16At(bytes, at - 2); left > 0; left--) {
    const id = u16At(bytes, at);
    const type = bytes[at + 2]!;
    at += 4;
    const length = type === TYPE_TEXT ? u16At(bytes, at) + u16At(bytes, at + 2) * 0x10000 : 0;
    if (type === TYPE_TEXT || type === TYPE_NULL) {
      const column = columns.findIndex((each) => each.id === id);
      if (column >= 0) {
        places[2 * column] = type === TYPE_NULL ? 0 : at + 4;
        places[2 * column + 1] = length;
      }
    }
    at += type === TYPE_TEXT ? 4 + length : FIXED_BYTES[type]!;
  }
}

function u16At(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8);
}
