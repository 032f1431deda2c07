// Reads the header and the section directory of a segment file field by field, even of a damaged
// file (assembly/FORMAT.md section 2).
//
// The core checks a segment as a whole and reports where it is wrong. This file lists the content
// instead, section by section.

import { SEGMENT_HEADER_BYTES, sectionEntries, segmentHeadBytes } from '../../engine/verify/index.ts';
import { KIND_CODES } from '../../model/column-types.ts';
import type { Crc32c } from '../../storage/index.ts';

export interface SegmentHeader {
  format_version: number;
  bytes: number;
  rows: number;
  incidences: number;
  nodes: number;
  buckets: number;
  bucket_seconds: number;
  time_min: number;
  time_max: number;
  id_min: number;
  id_max: number;
  node_min: number;
  node_max: number;
  first_id: number;
  last_id: number;
  largest_member_count: number;
  table: number;
  crc_ok: boolean;
}

export interface SegmentSection {
  kind: string;
  /** Column number, for the sections of a column. */
  column: number | null;
  type: string;
  /** Size of an entry in bytes; 0 when the entries differ in size. */
  width: number;
  offset: number;
  bytes: number;
  count: number;
  crc_ok: boolean;
}

export const SEGMENT_MAGIC = 'HEDGESEG';
const COLUMN_KIND = 16;
const KINDS: Readonly<Record<number, string>> = {
  1: 'blocks',
  2: 'times',
  3: 'ids',
  4: 'sizes',
  5: 'members',
  6: 'nodes',
  7: 'posting offsets',
  8: 'postings',
  9: 'filter',
  10: 'roles',
  16: 'column',
  17: 'psi',
  18: 'interval',
  19: 'text',
};
/** Kinds of values by their codes, written like the types of columns. */
const TYPES: readonly string[] = Object.entries(KIND_CODES).reduce<string[]>(
  (names, [kind, code]) => {
    names[code] = kind.toUpperCase();
    return names;
  },
  [''],
);

/** Returns null when there are too few bytes for a header. */
export function readSegmentHeader(bytes: Uint8Array, crc32c: Crc32c): SegmentHeader | null {
  if (bytes.length < SEGMENT_HEADER_BYTES) return null;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const word = (at: number) => view.getUint32(at, true);
  const long = (at: number) => Number(view.getBigInt64(at, true));
  const end = segmentHeadBytes(bytes);
  const crc = crc32c(bytes.subarray(16, end), crc32c(bytes.subarray(0, 12), 0)) >>> 0;
  return {
    format_version: word(8),
    bytes: word(16),
    rows: word(24),
    incidences: word(28),
    nodes: word(32),
    buckets: word(36),
    bucket_seconds: long(40),
    time_min: long(48),
    time_max: long(56),
    id_min: long(64),
    id_max: long(72),
    node_min: long(80),
    node_max: long(88),
    first_id: long(96),
    last_id: long(104),
    largest_member_count: word(116),
    table: word(120),
    crc_ok: end <= bytes.length && crc === word(12),
  };
}

/** Returns the sections whose directory entries are within the file. */
export function readSections(bytes: Uint8Array, crc32c: Crc32c): SegmentSection[] {
  return sectionEntries(bytes).map(({ kind, column, type, width, offset, bytes: size, checksum, count }) => ({
    kind: KINDS[kind] ?? `unknown kind ${kind}`,
    column: kind >= COLUMN_KIND ? column : null,
    type: kind >= COLUMN_KIND ? (TYPES[type] ?? `unknown type ${type}`) : '',
    width,
    offset,
    bytes: size,
    count,
    crc_ok: offset + size <= bytes.length && crc32c(bytes.subarray(offset, offset + size), 0) >>> 0 === checksum,
  }));
}
