// Defines the plan with which a host requests a column block, the layout of such a block, and
// bounds on its size.

import { HG_TYPE_TEXT } from '../limits';
import { bytesOf, element } from '../memory/cells';
import { setRows } from '../status';

/*
 * The plan, which the host writes: u32 number of columns, u32 requested parts (PART_*), then 32
 * bytes per column: u32 column id, u32 type, u32 kind of the default for a row without the column
 * (0 null, 1 number, 2 text), u32 size of the default text in bytes, f64 default number (booleans:
 * 0 or 1), u32 offset of the default text from the start of the plan, u32 0.
 */
export const PART_TIMES: u32 = 1;
export const PART_IDS: u32 = 2;
export const PART_SIZES: u32 = 4;
export const PART_MEMBERS: u32 = 8;
export const PART_MASKS: u32 = 16;
export const P_HEADER: usize = 8;
export const P_BYTES: usize = 32;
export const P_COLUMN: usize = 0;
export const P_TYPE: usize = 4;
export const P_KIND: usize = 8;
export const P_TEXT_BYTES: usize = 12;
export const P_NUMBER: usize = 16;
export const P_TEXT: usize = 24;
export const MISSING_NUMBER: u32 = 1;
export const MISSING_TEXT: u32 = 2;

/*
 * The layout of a block, in which every part is padded to 8 bytes. Header: f64 number of rows, f64
 * number of incidences, f64 size of the block in bytes, f64 0. Then the requested parts: f64
 * times[rows], f64 ids[rows], u32 sizes[rows], f64 members[incidences], u16 masks[incidences] (role
 * masks, only with members). Then for each column of the
 * plan: f64 number of distinct texts, f64 size of the texts in bytes, u8 nulls[rows] (1: null); for
 * TEXT u32 codes[rows], u32 ends[distinct] and the concatenated texts, for other types f64
 * values[rows].
 */
export const B_HEADER: usize = 32;
export const COLUMN_HEADER: usize = 16;

export function padded(bytes: usize): usize {
  return (bytes + 7) & ~7;
}

/**
 * Returns an upper bound on the bytes of a block that do not depend on its rows: headers and
 * padding.
 */
export function fixedBytes(columns: u32): usize {
  return B_HEADER + 40 + <usize>columns * (COLUMN_HEADER + 32);
}

/**
 * Returns an upper bound on the number of bytes that a row with `size` members adds to a block,
 * without its own texts.
 */
export function rowBytes(plan: usize, size: u32): usize {
  const columns = load<u32>(plan);
  const parts = load<u32>(plan + 4);
  let bytes: usize = 0;
  if (parts & PART_TIMES) bytes += 8;
  if (parts & PART_IDS) bytes += 8;
  if (parts & PART_SIZES) bytes += 4;
  if (parts & PART_MEMBERS) bytes += bytesOf<u64>(size);
  if (parts & PART_MASKS) bytes += bytesOf<u16>(size);
  for (let c: u32 = 0; c < columns; c++) {
    const column = element(plan + P_HEADER, c, P_BYTES);
    bytes += 9;
    // A block of segment rows contains the default text only once, but it is counted here for every
    // row; the result is only a bound.
    if (load<u32>(column + P_TYPE) == HG_TYPE_TEXT) bytes += <usize>load<u32>(column + P_TEXT_BYTES);
  }
  return bytes;
}

export function writeHeader(out: usize, rows: u32, incidences: u32, end: usize): i32 {
  store<f64>(out, <f64>rows);
  store<f64>(out + 8, <f64>incidences);
  store<f64>(out + 16, <f64>(end - out));
  store<f64>(out + 24, 0);
  setRows(rows);
  return <i32>(end - out);
}

/** Writes zeros up to the next multiple of 8; returns the end address. */
export function padEnd(at: usize): usize {
  const end = padded(at);
  for (; at < end; at++) store<u8>(at, 0);
  return end;
}
