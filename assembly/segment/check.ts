// Checks the bytes of a segment file before anything is read through them: bounds, checksums, and (deep) every structural rule.

import { crc32c } from '../codec/crc32c';
import { HG_MAX_SEGMENT_ROWS, HG_TYPE_BOOLEAN, HG_TYPE_INTEGER, HG_TYPE_REAL, HG_TYPE_TEXT } from '../limits';
import { CORRUPT, failAt, UNSUPPORTED } from '../status';
import { nullBytes } from './columns';
import {
  BLOCK_BYTES, E_BYTES, E_COLUMN, E_COUNT, E_CRC, E_FLAGS, E_KIND, E_OFFSET, E_TYPE, E_WIDTH, ENTRY_BYTES, findEntry, FLAG_ALL_NULL, FLAG_NULLS,
  FORMAT_VERSION, H_BUCKET_SECONDS, H_BYTES, H_CRC, H_ID_WIDTH, H_INCIDENCES, H_NODE_WIDTH, H_NODES, H_ORDINAL_WIDTH, H_ROWS, H_SECTIONS, H_TIME_WIDTH,
  H_VERSION, HEADER_BYTES, K_BLOCKS, K_COLUMN, K_FILTER, K_IDS, K_MEMBERS, K_NODES, K_POSTING_OFFSETS, K_POSTINGS, K_PSI, K_SIZES, K_TIMES, MAGIC, packed,
  sectionOf,
} from './layout';
import { headerChecksum, MAX_SECTIONS } from './writer';

/** Checks the header and directory at `base`; `available` bytes are there, the file has `fileBytes`. 0, CORRUPT or UNSUPPORTED. */
export function checkHeader(base: usize, available: u32, fileBytes: u32): i32 {
  if (available < <u32>HEADER_BYTES) return failAt(CORRUPT, available);
  if (load<u64>(base) != MAGIC) return failAt(CORRUPT, 0);
  const version = load<u32>(base + H_VERSION);
  if (version == 0 || version > FORMAT_VERSION) return failAt(UNSUPPORTED, <u32>H_VERSION);
  const sections = load<u32>(base + H_SECTIONS);
  if (sections > MAX_SECTIONS || <u32>HEADER_BYTES + sections * <u32>ENTRY_BYTES > available) return failAt(CORRUPT, <u32>H_SECTIONS);
  if (headerChecksum(base, sections) != load<u32>(base + H_CRC)) return failAt(CORRUPT, <u32>H_CRC);
  if (load<u32>(base + H_BYTES) != fileBytes) return failAt(CORRUPT, <u32>H_BYTES);
  const rows = load<u32>(base + H_ROWS);
  if (!rows || rows > HG_MAX_SEGMENT_ROWS || load<i64>(base + H_BUCKET_SECONDS) < 1) return failAt(CORRUPT, <u32>H_ROWS);
  for (let i: u32 = 0; i < sections; i++) {
    const at = <u32>HEADER_BYTES + i * <u32>ENTRY_BYTES;
    const entry = base + at;
    const end = <u64>load<u32>(entry + E_OFFSET) + <u64>load<u32>(entry + E_BYTES);
    if (end > <u64>fileBytes || (load<u32>(entry + E_OFFSET) & 7)) return failAt(CORRUPT, at);
  }
  return checkFixedSizes(base);
}

function sizeIs(base: usize, kind: u32, bytes: u64): bool {
  const entry = findEntry(base, kind, 0);
  return entry != 0 && <u64>load<u32>(entry + E_BYTES) == bytes;
}

function checkFixedSizes(base: usize): i32 {
  const rows = <u64>load<u32>(base + H_ROWS);
  const nodes = <u64>load<u32>(base + H_NODES);
  const incidences = <u64>load<u32>(base + H_INCIDENCES);
  const times = <u64>load<u8>(base + H_TIME_WIDTH);
  const ids = <u64>load<u8>(base + H_ID_WIDTH);
  const ordinals = <u64>load<u8>(base + H_ORDINAL_WIDTH);
  const wide = <u64>load<u8>(base + H_NODE_WIDTH);
  if (times != 4 && times != 8) return failAt(CORRUPT, <u32>H_TIME_WIDTH);
  if (ids != 0 && ids != 2 && ids != 4 && ids != 8) return failAt(CORRUPT, <u32>H_ID_WIDTH);
  if (ordinals != 2 && ordinals != 4) return failAt(CORRUPT, <u32>H_ORDINAL_WIDTH);
  if ((wide != 4 && wide != 8) || !nodes || nodes > incidences) return failAt(CORRUPT, <u32>H_NODES);
  const blocks = ((rows + 63) >> 6) + 1;
  const filter = findEntry(base, K_FILTER, 0);
  const good =
    sizeIs(base, K_BLOCKS, blocks * BLOCK_BYTES) && sizeIs(base, K_TIMES, rows * times) && sizeIs(base, K_IDS, rows * ids) &&
    sizeIs(base, K_SIZES, rows) && sizeIs(base, K_MEMBERS, incidences * ordinals) && sizeIs(base, K_NODES, nodes * wide) &&
    sizeIs(base, K_POSTING_OFFSETS, (nodes + 1) * 4) && sizeIs(base, K_POSTINGS, incidences * 2) && filter &&
    load<u32>(filter + E_BYTES) >= 64 && (load<u32>(filter + E_BYTES) & 63) == 0;
  return good ? 0 : failAt(CORRUPT, <u32>HEADER_BYTES);
}

/** Checks every section's checksum. 0, or CORRUPT with the section's offset. */
function checkSums(base: usize): i32 {
  const sections = load<u32>(base + H_SECTIONS);
  for (let i: u32 = 0; i < sections; i++) {
    const entry = base + HEADER_BYTES + <usize>i * ENTRY_BYTES;
    const offset = load<u32>(entry + E_OFFSET);
    if (crc32c(base + offset, load<u32>(entry + E_BYTES), 0) != load<u32>(entry + E_CRC)) return failAt(CORRUPT, offset);
  }
  return 0;
}

function checkRows(base: usize): i32 {
  const rows = load<u32>(base + H_ROWS);
  const times = sectionOf(base, K_TIMES);
  const ids = sectionOf(base, K_IDS);
  const sizes = sectionOf(base, K_SIZES);
  const timeWidth: u32 = load<u8>(base + H_TIME_WIDTH);
  const idWidth: u32 = load<u8>(base + H_ID_WIDTH);
  let incidences: u32 = 0;
  let buckets: u32 = 0;
  for (let row: u32 = 0; row < rows; row++) {
    const block = sectionOf(base, K_BLOCKS) + <usize>(row >> 6) * BLOCK_BYTES;
    if (!(row & 63) && (load<u32>(block) != incidences || load<u32>(block + 4) != buckets)) return failAt(CORRUPT, <u32>(block - base));
    buckets += <u32>((load<u64>(block + 8) >> (row & 63)) & 1);
    const size = load<u8>(sizes + row);
    if (!size) return failAt(CORRUPT, <u32>(sizes + row - base));
    incidences += size;
    if (!row) continue;
    const time = packed(times, timeWidth, row);
    const before = packed(times, timeWidth, row - 1);
    const ordered = time > before || (time == before && (!idWidth || packed(ids, idWidth, row) > packed(ids, idWidth, row - 1)));
    if (!ordered) return failAt(CORRUPT, <u32>(times + row * timeWidth - base));
  }
  return incidences == load<u32>(base + H_INCIDENCES) ? 0 : failAt(CORRUPT, <u32>(sizes - base));
}

function checkMembers(base: usize): i32 {
  const rows = load<u32>(base + H_ROWS);
  const nodes = load<u32>(base + H_NODES);
  const sizes = sectionOf(base, K_SIZES);
  const members = sectionOf(base, K_MEMBERS);
  const width: u32 = load<u8>(base + H_ORDINAL_WIDTH);
  let at: u32 = 0;
  for (let row: u32 = 0; row < rows; row++) {
    const size = <u32>load<u8>(sizes + row);
    for (let i: u32 = 0; i < size; i++, at++) {
      const ordinal = packed(members, width, at);
      if (ordinal >= nodes || (i && ordinal <= packed(members, width, at - 1))) return failAt(CORRUPT, <u32>(members + at * width - base));
    }
  }
  return 0;
}

function checkPostings(base: usize): i32 {
  const rows = load<u32>(base + H_ROWS);
  const nodes = load<u32>(base + H_NODES);
  const ids = sectionOf(base, K_NODES);
  const width: u32 = load<u8>(base + H_NODE_WIDTH);
  const offsets = sectionOf(base, K_POSTING_OFFSETS);
  const postings = sectionOf(base, K_POSTINGS);
  if (load<u32>(offsets) != 0 || load<u32>(offsets + (<usize>nodes << 2)) != load<u32>(base + H_INCIDENCES)) return failAt(CORRUPT, <u32>(offsets - base));
  for (let node: u32 = 0; node < nodes; node++) {
    if (node && packed(ids, width, node) <= packed(ids, width, node - 1)) return failAt(CORRUPT, <u32>(ids + node * width - base));
    const start = load<u32>(offsets + (<usize>node << 2));
    const end = load<u32>(offsets + (<usize>node << 2) + 4);
    if (start >= end || end > load<u32>(base + H_INCIDENCES)) return failAt(CORRUPT, <u32>(offsets + (node << 2) - base));
    for (let i = start; i < end; i++) {
      const row = <u32>load<u16>(postings + (<usize>i << 1));
      if (row >= rows || (i > start && row <= <u32>load<u16>(postings + (<usize>(i - 1) << 1)))) return failAt(CORRUPT, <u32>(postings + (i << 1) - base));
    }
  }
  return 0;
}

function checkText(base: usize, at: usize, left: u64, rows: u32): bool {
  if (left < 8) return false;
  const entries = load<u32>(at);
  const head = 4 + (<u64>entries + 1) * 4 + <u64>rows * 2;
  if (entries > rows || head > left) return false;
  const offsets = at + 4;
  for (let i: u32 = 0; i < entries; i++) {
    if (load<u32>(offsets + (<usize>i << 2)) > load<u32>(offsets + (<usize>i << 2) + 4)) return false;
  }
  if (load<u32>(offsets) || head + <u64>load<u32>(offsets + (<usize>entries << 2)) != left) return false;
  const codes = offsets + (<usize>(entries + 1) << 2);
  for (let row: u32 = 0; row < rows; row++) {
    if (<u32>load<u16>(codes + (<usize>row << 1)) >= entries) return false;
  }
  return true;
}

function checkColumn(base: usize, entry: usize): bool {
  const rows = load<u32>(base + H_ROWS);
  const flags = <u32>load<u16>(entry + E_FLAGS);
  const type = <u32>load<u8>(entry + E_TYPE);
  const width = <u64>load<u8>(entry + E_WIDTH);
  const bytes = <u64>load<u32>(entry + E_BYTES);
  if (flags & FLAG_ALL_NULL) return bytes == 0;
  const nulls = flags & FLAG_NULLS ? <u64>nullBytes(rows) : 0;
  if (nulls > bytes) return false;
  const left = bytes - nulls;
  if (type == HG_TYPE_REAL) return (width == 4 || width == 8) && left == width * rows;
  if (type == HG_TYPE_INTEGER) return (width == 1 || width == 2 || width == 4 || width == 8) && left == 8 + width * rows;
  if (type == HG_TYPE_BOOLEAN) return left == <u64>nullBytes(rows);
  return type == HG_TYPE_TEXT && checkText(base, base + load<u32>(entry + E_OFFSET) + <usize>nulls, left, rows);
}

function checkOrder(base: usize, entry: usize): bool {
  const rows = load<u32>(base + H_ROWS);
  const count = load<u32>(entry + E_COUNT);
  const at = base + load<u32>(entry + E_OFFSET);
  if (count > rows || load<u32>(entry + E_BYTES) != count * 2 || !findEntry(base, K_COLUMN, load<u16>(entry + E_COLUMN))) return false;
  for (let i: u32 = 0; i < count; i++) if (<u32>load<u16>(at + (<usize>i << 1)) >= rows) return false;
  return true;
}

function checkColumns(base: usize): i32 {
  const sections = load<u32>(base + H_SECTIONS);
  for (let i: u32 = 0; i < sections; i++) {
    const entry = base + HEADER_BYTES + <usize>i * ENTRY_BYTES;
    const kind = <u32>load<u16>(entry + E_KIND);
    const good = kind == K_COLUMN ? checkColumn(base, entry) : kind == K_PSI ? checkOrder(base, entry) : true;
    if (!good) return failAt(CORRUPT, load<u32>(entry + E_OFFSET));
  }
  return 0;
}

/**
 * Checks the whole file [base, base + bytes): header, directory and checksums; with `deep` also every order, bound and reference, after
 * which no read through the file can leave it. 0, CORRUPT (hg_result_offset: where) or UNSUPPORTED. Deep costs some 2 ns an incidence.
 */
export function checkSegment(base: usize, bytes: u32, deep: bool): i32 {
  let status = checkHeader(base, bytes, bytes);
  if (!status) status = checkSums(base);
  if (status || !deep) return status;
  status = checkRows(base);
  if (!status) status = checkMembers(base);
  if (!status) status = checkPostings(base);
  return status ? status : checkColumns(base);
}
