// Offsets in the segment file (FORMAT.md section 2) and in the handle of an open segment.

import { get, put } from '../memory/cells';

/** The newest version of the format that this build reads. */
export const FORMAT_VERSION: u32 = 3;
/** The version of files without a section of a later version. */
export const FIRST_VERSION: u32 = 1;
/** The version that brought the section of role masks. */
export const ROLES_VERSION: u32 = 2;
/** The version that brought the section of texts. */
export const TEXT_VERSION: u32 = 3;
/** `HEDGESEG` */
export const MAGIC: u64 = 0x4745534547444548;

export const H_VERSION: usize = 8;
export const H_CRC: usize = 12;
export const H_BYTES: usize = 16;
export const H_SECTIONS: usize = 20;
export const H_ROWS: usize = 24;
export const H_INCIDENCES: usize = 28;
export const H_NODES: usize = 32;
export const H_BUCKETS: usize = 36;
export const H_BUCKET_SECONDS: usize = 40;
export const H_TIME_MIN: usize = 48;
export const H_TIME_MAX: usize = 56;
export const H_ID_MIN: usize = 64;
export const H_ID_MAX: usize = 72;
export const H_NODE_MIN: usize = 80;
export const H_NODE_MAX: usize = 88;
export const H_FIRST_ID: usize = 96;
export const H_LAST_ID: usize = 104;
export const H_TIME_WIDTH: usize = 112;
export const H_ID_WIDTH: usize = 113;
export const H_ORDINAL_WIDTH: usize = 114;
export const H_NODE_WIDTH: usize = 115;
export const H_MAX_SIZE: usize = 116;
export const H_TABLE: usize = 120;
/** f32: by how much the greatest end is above the greatest event_ts; 0 without intervals. */
export const H_ENDS: usize = 124;
export const HEADER_BYTES: usize = 128;
export const ENTRY_BYTES: usize = 24;

export const E_KIND: usize = 0;
export const E_COLUMN: usize = 2;
export const E_TYPE: usize = 4;
export const E_WIDTH: usize = 5;
export const E_FLAGS: usize = 6;
export const E_OFFSET: usize = 8;
export const E_BYTES: usize = 12;
export const E_CRC: usize = 16;
export const E_COUNT: usize = 20;

export const K_BLOCKS: u32 = 1;
export const K_TIMES: u32 = 2;
export const K_IDS: u32 = 3;
export const K_SIZES: u32 = 4;
export const K_MEMBERS: u32 = 5;
export const K_NODES: u32 = 6;
export const K_POSTING_OFFSETS: u32 = 7;
export const K_POSTINGS: u32 = 8;
export const K_FILTER: u32 = 9;
export const K_ROLES: u32 = 10;
export const K_COLUMN: u32 = 16;
export const K_PSI: u32 = 17;
export const K_INTERVAL: u32 = 18;
export const K_TEXT: u32 = 19;

export const FLAG_NULLS: u32 = 1;
export const FLAG_ALL_NULL: u32 = 2;

export const BLOCK_ROWS: u32 = 64;
export const BLOCK_BYTES: usize = 16;

/**
 * Offsets of the fields in the handle of an open segment. The handle contains what hot paths need,
 * with absolute addresses in place of offsets.
 */
export const S_BASE: usize = 0;
export const S_ROWS: usize = 4;
export const S_NODES: usize = 8;
export const S_TIME_WIDTH: usize = 12;
export const S_ID_WIDTH: usize = 16;
export const S_ORDINAL_WIDTH: usize = 20;
export const S_NODE_WIDTH: usize = 24;
export const S_BLOCKS: usize = 28;
export const S_TIMES: usize = 32;
export const S_IDS: usize = 36;
export const S_SIZES: usize = 40;
export const S_MEMBERS: usize = 44;
export const S_NODE_IDS: usize = 48;
export const S_POSTING_OFFSETS: usize = 52;
export const S_POSTINGS: usize = 56;
export const S_FILTER: usize = 60;
export const S_FILTER_BYTES: usize = 64;
export const S_SCRATCH: usize = 68;
export const S_TIME_MIN: usize = 72;
export const S_TIME_MAX: usize = 80;
export const S_ID_MIN: usize = 88;
export const S_NODE_MIN: usize = 96;
/** Address of the role masks, u16 per incidence; 0: all are 0. */
export const S_ROLES: usize = 104;
export const S_BYTES: u32 = 112;

/** Returns the address of the directory entry of (kind, column) in the file at `base`, or 0. */
export function findEntry(base: usize, kind: u32, column: u32): usize {
  const sections = load<u32>(base + H_SECTIONS);
  let entry = base + HEADER_BYTES;
  for (let i: u32 = 0; i < sections; i++) {
    if (<u32>load<u16>(entry + E_KIND) == kind && <u32>load<u16>(entry + E_COLUMN) == column) return entry;
    entry += ENTRY_BYTES;
  }
  return 0;
}

/** Returns the address of the bytes of section (kind, 0), or 0 if there is none. */
export function sectionOf(base: usize, kind: u32): usize {
  const entry = findEntry(base, kind, 0);
  return entry ? base + load<u32>(entry + E_OFFSET) : 0;
}

/** Returns unsigned value `index` of a packed column with `width` bytes per value (1, 2, 4, 8). */
export function packed(base: usize, width: u32, index: u32): u64 {
  if (width == 4) return <u64>get<u32>(base, index);
  if (width == 2) return <u64>get<u16>(base, index);
  if (width == 1) return <u64>load<u8>(base + index);
  return get<u64>(base, index);
}

export function storePacked(base: usize, width: u32, index: u32, value: u64): void {
  if (width == 4) put<u32>(base, index, <u32>value);
  else if (width == 2) put<u16>(base, index, <u16>value);
  else if (width == 1) store<u8>(base + index, <u8>value);
  else put<u64>(base, index, value);
}

export function floorDivide(value: i64, by: i64): i64 {
  const quotient = value / by;
  return value % by < 0 ? quotient - 1 : quotient;
}
