// Locates a property column of a segment, and reads the value of one row in it.

import { HG_TYPE_BOOLEAN, HG_TYPE_INTEGER, HG_TYPE_REAL, HG_TYPE_TEXT } from '../limits';
import { bytesOf, cell, get } from '../memory/cells';
import { E_FLAGS, E_OFFSET, E_TYPE, E_WIDTH, FLAG_ALL_NULL, FLAG_NULLS, findEntry, K_COLUMN, packed } from './layout';

/**
 * Offsets of the fields of a column cursor (32 bytes), which contains all that is needed to read
 * the value of a row.
 */
export const C_STATE: usize = 0;
export const C_TYPE: usize = 4;
export const C_WIDTH: usize = 8;
export const C_NULLS: usize = 12;
export const C_DATA: usize = 16;
export const C_OFFSETS: usize = 20;
export const C_BYTES: usize = 24;
/**
 * Dictionary code + 1 of the default text that a record may omit; 0 if there is none. Only the
 * export of records sets this field.
 */
export const C_DEFAULT: usize = 28;
export const CURSOR_BYTES: u32 = 32;

/** The segment was built before the column existed, so every row has the column's default. */
export const STATE_MISSING: u32 = 0;
export const STATE_ALL_NULL: u32 = 1;
export const STATE_VALUES: u32 = 2;

export function nullBytes(rows: u32): u32 {
  return bytesOf<u64>((rows + 63) >> 6);
}

/** Fills the cursor at `cursor` for `column` of the segment file at `base`; returns the state. */
export function openColumn(base: usize, rows: u32, column: u32, cursor: usize): u32 {
  memory.fill(cursor, 0, CURSOR_BYTES);
  const entry = findEntry(base, K_COLUMN, column);
  if (!entry) return STATE_MISSING;
  const flags = <u32>load<u16>(entry + E_FLAGS);
  const type = <u32>load<u8>(entry + E_TYPE);
  store<u32>(cursor + C_TYPE, type);
  if (flags & FLAG_ALL_NULL) {
    store<u32>(cursor, STATE_ALL_NULL);
    return STATE_ALL_NULL;
  }
  let at = base + load<u32>(entry + E_OFFSET);
  store<u32>(cursor, STATE_VALUES);
  store<u32>(cursor + C_WIDTH, <u32>load<u8>(entry + E_WIDTH));
  if (flags & FLAG_NULLS) {
    store<u32>(cursor + C_NULLS, <u32>at);
    at += nullBytes(rows);
  }
  if (type == HG_TYPE_TEXT) {
    const entries = load<u32>(at);
    store<u32>(cursor + C_OFFSETS, <u32>at + 4);
    at += 4 + bytesOf<u32>(entries + 1);
    store<u32>(cursor + C_DATA, <u32>at);
    store<u32>(cursor + C_BYTES, <u32>at + rows * 2);
  } else store<u32>(cursor + C_DATA, <u32>at);
  return STATE_VALUES;
}

export function hasValue(cursor: usize, row: u32): bool {
  if (load<u32>(cursor) != STATE_VALUES) return false;
  const nulls = <usize>load<u32>(cursor + C_NULLS);
  return !nulls || bool((load<u8>(nulls + (row >> 3)) >> <u8>(row & 7)) & 1);
}

export function realValue(cursor: usize, row: u32): f64 {
  const data = <usize>load<u32>(cursor + C_DATA);
  return load<u32>(cursor + C_WIDTH) == 4 ? <f64>get<f32>(data, row) : get<f64>(data, row);
}

export function integerValue(cursor: usize, row: u32): i64 {
  const data = <usize>load<u32>(cursor + C_DATA);
  return load<i64>(data) + <i64>packed(data + 8, load<u32>(cursor + C_WIDTH), row);
}

export function booleanValue(cursor: usize, row: u32): u32 {
  return (load<u8>(<usize>load<u32>(cursor + C_DATA) + (row >> 3)) >> <u8>(row & 7)) & 1;
}

/** Returns the dictionary code of a text value. */
export function textCode(cursor: usize, row: u32): u32 {
  return get<u16>(load<u32>(cursor + C_DATA), row);
}

export function textStart(cursor: usize, code: u32): usize {
  return <usize>load<u32>(cursor + C_BYTES) + get<u32>(load<u32>(cursor + C_OFFSETS), code);
}

export function textLength(cursor: usize, code: u32): u32 {
  const offsets = cell<u32>(load<u32>(cursor + C_OFFSETS), code);
  return load<u32>(offsets + 4) - load<u32>(offsets);
}

/**
 * Returns the dictionary code of a text, or -1 if the dictionary does not contain it. The
 * dictionary is in byte order, and a text follows its prefixes.
 */
export function findText(cursor: usize, text: usize, length: u32): i32 {
  let low: u32 = 0;
  let high = load<u32>(<usize>load<u32>(cursor + C_OFFSETS) - 4);
  while (low < high) {
    const middle = (low + high) >> 1;
    const size = textLength(cursor, middle);
    let order = memory.compare(textStart(cursor, middle), text, size < length ? size : length);
    if (!order) order = <i32>(size > length) - <i32>(size < length);
    if (!order) return <i32>middle;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return -1;
}

/**
 * Returns a numeric column's value as f64. This is exact for INTEGER, whose values are safe
 * integers.
 */
export function numericValue(cursor: usize, row: u32): f64 {
  return load<u32>(cursor + C_TYPE) == HG_TYPE_INTEGER ? <f64>integerValue(cursor, row) : realValue(cursor, row);
}

/** Returns whether the row has the default text (C_DEFAULT), which a record can omit. */
export function isDefault(cursor: usize, row: u32): bool {
  const code = load<u32>(cursor + C_DEFAULT);
  return code != 0 && hasValue(cursor, row) && textCode(cursor, row) == code - 1;
}

/**
 * Returns the size in bytes of the row's value as a record property, including the entry header; 0
 * if the property is omitted because the default applies.
 */
export function propertyBytes(cursor: usize, row: u32): u32 {
  const state = load<u32>(cursor);
  if (state == STATE_MISSING || isDefault(cursor, row)) return 0;
  if (!hasValue(cursor, row)) return 4;
  const type = load<u32>(cursor + C_TYPE);
  if (type == HG_TYPE_TEXT) return 8 + textLength(cursor, textCode(cursor, row));
  return type == HG_TYPE_BOOLEAN ? 5 : 12;
}

/** Writes the property whose size `propertyBytes` returned; returns the end address. */
export function writeProperty(out: usize, column: u32, cursor: usize, row: u32): usize {
  const has = hasValue(cursor, row);
  const type = has ? load<u32>(cursor + C_TYPE) : 0;
  store<u32>(out, column | (type << 16));
  if (!has) return out + 4;
  if (type == HG_TYPE_REAL) store<f64>(out + 4, realValue(cursor, row));
  else if (type == HG_TYPE_INTEGER) store<i64>(out + 4, integerValue(cursor, row));
  else if (type == HG_TYPE_BOOLEAN) {
    store<u8>(out + 4, <u8>booleanValue(cursor, row));
    return out + 5;
  } else {
    const code = textCode(cursor, row);
    const length = textLength(cursor, code);
    store<u32>(out + 4, length);
    memory.copy(out + 8, textStart(cursor, code), length);
    return out + 8 + length;
  }
  return out + 12;
}
