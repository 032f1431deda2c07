// Offsets in a text block (FORMAT.md section 3), its limits, and its two encodings of numbers:
// lists of numbers with a fixed width in bits, and varints.

import { get } from '../memory/cells';
import { BAD_ARGUMENT, failAt } from '../status';

/** `TEXT` */
export const TEXT_MAGIC: u32 = 0x54584554;
export const TEXT_VERSION: u32 = 3;

export const T_BYTES: usize = 4;
export const T_VERSION: usize = 8;
export const T_DOCUMENTS: usize = 12;
export const T_WITH_WORDS: usize = 16;
export const T_TERMS: usize = 20;
export const T_WORDS: usize = 24;
export const T_TAG: usize = 32;
export const T_WIDTH: usize = 36;
export const T_DIRECTORY: usize = 40;
export const T_DICTIONARY: usize = 44;
export const T_POSTINGS: usize = 48;
export const T_UNUSED: usize = 52;
export const TEXT_HEADER_BYTES: usize = 64;

/** Number of terms in a group of the dictionary. */
export const GROUP_TERMS: u32 = 16;
export const GROUP_BYTES: usize = 8;
/** Number of documents in a block of postings. */
export const BLOCK_DOCUMENTS: u32 = 128;

/** Offsets in the entry of a block of postings. */
export const X_OFFSET: usize = 0;
export const X_LAST: usize = 4;
export const X_FREQUENCY: usize = 6;
export const X_LENGTH: usize = 8;
export const X_WIDTHS: usize = 10;
export const SKIP_BYTES: usize = 12;
/** Frequencies and lengths from here on are stored as this number in an entry. */
export const MOST_STORED: u32 = 65535;

/** Maximum number of words of a block, and bound of all positions and frequencies. */
export const MOST_WORDS: u32 = 1 << 27;
export const MOST_TERM_BYTES: u32 = 1024;
/** A position without a word, in the input of the builder; also an absent term in a query. */
export const NONE: u32 = 0xffffffff;

/** Returns the width in bits of numbers up to `most`. */
export function widthOf(most: u32): u32 {
  return 32 - <u32>clz(most);
}

/** Returns the number of bytes of `n` numbers of `width` bits. */
export function packedBytes(n: u32, width: u32): u32 {
  return <u32>((<u64>n * <u64>width + 7) >> 3);
}

/**
 * Returns number `index` of a list of numbers of `width` bits, at most 32. Reads up to 8 bytes from
 * the byte in which the number begins.
 */
export function bitsAt(list: usize, index: u32, width: u32): u32 {
  const bit = index * width;
  return <u32>((load<u64>(list + <usize>(bit >> 3)) >> <u64>(bit & 7)) & (((<u64>1) << (<u64>width)) - 1));
}

/** Writes number `index` of a list whose bytes from there on are 0. */
export function putBits(list: usize, index: u32, width: u32, value: u32): void {
  const bit = index * width;
  const at = list + <usize>(bit >> 3);
  store<u64>(at, load<u64>(at) | ((<u64>value) << (<u64>(bit & 7))));
}

export function rowWidth(widths: u32): u32 {
  return widths & 31;
}

export function frequencyWidth(widths: u32): u32 {
  return (widths >> 5) & 31;
}

export function positionWidth(widths: u32): u32 {
  return (widths >> 10) & 31;
}

/** Returns the number of bytes of a varint. */
export function varintBytes(value: u32): u32 {
  return value ? (widthOf(value) + 6) / 7 : 1;
}

/** Writes a varint; returns its end. */
export function putVarint(at: usize, value: u32): usize {
  while (value > 127) {
    store<u8>(at++, <u8>(value | 128));
    value >>= 7;
  }
  store<u8>(at, <u8>value);
  return at + 1;
}

/** Reads the varint whose address is at `cursor`, and moves this address to its end. */
export function takeVarint(cursor: usize): u32 {
  let at = <usize>load<u32>(cursor);
  let byte = <u32>load<u8>(at++);
  let value = byte & 127;
  for (let shift: u32 = 7; byte > 127; shift += 7) {
    byte = <u32>load<u8>(at++);
    value |= (byte & 127) << shift;
  }
  store<u32>(cursor, <u32>at);
  return value;
}

/**
 * Returns whether a varint of at most 32 bits is at the address at `cursor`, and ends before `end`.
 */
export function hasVarint(cursor: usize, end: usize): bool {
  const at = <usize>load<u32>(cursor);
  for (let i: usize = 0; i < 5 && at + i < end; i++) {
    const byte = load<u8>(at + i);
    if (byte < 128) return i < 4 || byte < 16;
  }
  return false;
}

/** In a column (columns.ts): this frequency or more; and bytes of a group of 32 documents. */
export const MOST_IN_COLUMN: u32 = 15;
export const GROUP_COLUMN_BYTES: usize = 16;

/** Number of classes of lengths, and lengths that are classes of their own in every block. */
export const LENGTH_CLASSES: u32 = 256;
const EXACT: u32 = 128;

/** Returns the number of words of a document. */
export function lengthAt(lengths: usize, width: u32, row: u32): u32 {
  if (width == 1) return <u32>load<u8>(lengths + row);
  return width == 2 ? <u32>get<u16>(lengths, row) : get<u32>(lengths, row);
}

/**
 * Returns the class of a length in a block whose lengths have `width` bytes: 0 to 255, ascending.
 * Of one byte, each length is its own class. Otherwise lengths up to 127 are, and there are 16
 * classes for each doubling, up to those from 31,744 words on.
 */
export function classOf(length: u32, width: u32): u32 {
  if (width == 1 || length < EXACT) return length;
  const power = 31 - <u32>clz(length);
  if (power > 14) return LENGTH_CLASSES - 1;
  return EXACT + (power - 7) * 16 + ((length >> (power - 4)) & 15);
}

/** Returns the least length of a class. */
export function leastOfClass(lengthClass: u32, width: u32): u32 {
  if (width == 1 || lengthClass < EXACT) return lengthClass;
  const above = lengthClass - EXACT;
  return (16 + (above & 15)) << ((above >> 4) + 3);
}

/** Returns the class of the length of a document. */
export function classAt(lengths: usize, width: u32, row: u32): u32 {
  return classOf(lengthAt(lengths, width, row), width);
}

/** Returns whether a row is in a bitmap (u64 words); the address 0 is a bitmap of all rows. */
export function isAllowed(bitmap: usize, row: u32): bool {
  return !bitmap || ((get<u64>(bitmap, row >> 6) >> <u64>(row & 63)) & 1) != 0;
}

/** Returns the first row from `row` on that is in a bitmap and below `rows`, or NONE. */
export function nextAllowed(bitmap: usize, row: u32, rows: u32): u32 {
  if (row >= rows) return NONE;
  if (!bitmap) return row;
  const words = (rows + 63) >> 6;
  let word = row >> 6;
  let bits = get<u64>(bitmap, word) >> <u64>(row & 63);
  if (bits) return row + <u32>ctz(bits);
  while (++word < words) {
    bits = get<u64>(bitmap, word);
    if (bits) return (word << 6) + <u32>ctz(bits);
  }
  return NONE;
}

/** Reports an argument that is out of its range, and its index. */
export function badAt(index: u32): i32 {
  return failAt(BAD_ARGUMENT, index);
}
