// Column blocks: rows of a segment, or records of a memtable, as columns of numbers for a host that computes with them.

import { findProperty, R_COUNT, R_ID, R_MEMBERS, R_PROPERTIES, R_TIME } from '../codec/record';
import { decodeMembers } from '../codec/vbyte';
import { HG_TYPE_BOOLEAN, HG_TYPE_INTEGER, HG_TYPE_TEXT } from '../limits';
import { alloc, free } from '../memory/alloc';
import { OUT_OF_MEMORY, setRows, tooSmall } from '../status';
import {
  booleanValue,
  C_OFFSETS,
  C_TYPE,
  CURSOR_BYTES,
  hasValue,
  numericValue,
  openColumn,
  STATE_MISSING,
  textCode,
  textLength,
  textStart,
} from './columns';
import { S_BASE, S_ROWS } from './layout';
import { firstIncidence, memberOrdinal, nodeId, rowId, rowSize, rowTime } from './reader';

/*
 * The plan, made by the host: u32 columns, u32 parts, then per column 32 bytes: u32 column id, u32 type, u32 kind of what a row without the column
 * has (0 null, 1 number, 2 text), u32 bytes of that text, f64 that number (booleans: 0 or 1), u32 offset of that text from the plan's start, u32 0.
 */
export const PART_TIMES: u32 = 1;
export const PART_IDS: u32 = 2;
export const PART_SIZES: u32 = 4;
export const PART_MEMBERS: u32 = 8;
const P_HEADER: usize = 8;
const P_BYTES: usize = 32;
const P_COLUMN: usize = 0;
const P_TYPE: usize = 4;
const P_KIND: usize = 8;
const P_TEXT_BYTES: usize = 12;
const P_NUMBER: usize = 16;
const P_TEXT: usize = 24;
const MISSING_NUMBER: u32 = 1;
const MISSING_TEXT: u32 = 2;

/*
 * A block, every part padded to 8 bytes: f64 rows, f64 incidences, f64 bytes of the block, f64 0; then as asked for: f64 times[rows], f64 ids[rows],
 * u32 sizes[rows], f64 members[incidences]; then per column of the plan: f64 distinct texts, f64 bytes of text, u8 nulls[rows] (1: null), and f64 values[rows],
 * or for TEXT u32 codes[rows], u32 ends[distinct], the texts behind each other.
 */
const B_HEADER: usize = 32;
const COLUMN_HEADER: usize = 16;
const NO_LOCAL: u32 = 0xffffffff;

const scratch: usize = memory.data(255 * 8 + 16, 16);

function padded(bytes: usize): usize {
  return (bytes + 7) & ~7;
}

/** Bytes of a block that do not depend on its rows: headers and paddings. */
function fixedBytes(columns: u32): usize {
  return B_HEADER + 32 + <usize>columns * (COLUMN_HEADER + 32);
}

/** Most bytes one row adds, its texts aside. */
function rowBytes(plan: usize, size: u32): usize {
  const columns = load<u32>(plan);
  const parts = load<u32>(plan + 4);
  let bytes: usize = 0;
  if (parts & PART_TIMES) bytes += 8;
  if (parts & PART_IDS) bytes += 8;
  if (parts & PART_SIZES) bytes += 4;
  if (parts & PART_MEMBERS) bytes += (<usize>size) << 3;
  for (let c: u32 = 0; c < columns; c++) {
    const column = plan + P_HEADER + <usize>c * P_BYTES;
    bytes += 9;
    // A text that is missing stands in the block once, but may be counted for every row: it is a bound.
    if (load<u32>(column + P_TYPE) == HG_TYPE_TEXT) bytes += <usize>load<u32>(column + P_TEXT_BYTES);
  }
  return bytes;
}

function writeHeader(out: usize, rows: u32, incidences: u32, end: usize): i32 {
  store<f64>(out, <f64>rows);
  store<f64>(out + 8, <f64>incidences);
  store<f64>(out + 16, <f64>(end - out));
  store<f64>(out + 24, 0);
  setRows(rows);
  return <i32>(end - out);
}

// Segments

function segmentTextBytes(plan: usize, cursors: usize, row: u32): usize {
  const columns = load<u32>(plan);
  let bytes: usize = 0;
  for (let c: u32 = 0; c < columns; c++) {
    const cursor = cursors + <usize>c * <usize>CURSOR_BYTES;
    if (load<u32>(cursor + C_TYPE) == HG_TYPE_TEXT && hasValue(cursor, row))
      bytes += <usize>textLength(cursor, textCode(cursor, row));
  }
  return bytes;
}

/** How many of the rows fit into `capacity`. */
function fittingRows(s: usize, rows: usize, n: u32, plan: usize, cursors: usize, capacity: u32): u32 {
  let used = fixedBytes(load<u32>(plan));
  let count: u32 = 0;
  for (; count < n; count++) {
    const row = load<u32>(rows + ((<usize>count) << 2));
    used += rowBytes(plan, rowSize(s, row)) + segmentTextBytes(plan, cursors, row);
    if (used > <usize>capacity) break;
  }
  return count;
}

/**
 * Writes rows (u32[n]) of a segment as one column block. Returns its bytes; hg_result_rows = rows written, it stops where `capacity` ends.
 * TOO_SMALL when not one row fits; OUT_OF_MEMORY.
 */
export function segmentColumns(s: usize, rows: usize, n: u32, plan: usize, out: usize, capacity: u32): i32 {
  const columns = load<u32>(plan);
  const base = <usize>load<u32>(s + S_BASE);
  const cursors = alloc(max<u32>(columns, 1) * CURSOR_BYTES);
  if (!cursors) return OUT_OF_MEMORY;
  for (let c: u32 = 0; c < columns; c++) {
    const column = load<u32>(plan + P_HEADER + <usize>c * P_BYTES + P_COLUMN);
    openColumn(base, load<u32>(s + S_ROWS), column, cursors + <usize>c * <usize>CURSOR_BYTES);
  }
  const count = fittingRows(s, rows, n, plan, cursors, capacity);
  if (!count) {
    free(cursors);
    setRows(0);
    return n ? tooSmall(neededBytes(s, rows, plan, cursors)) : 0;
  }
  const parts = load<u32>(plan + 4);
  let at = segmentKeys(s, rows, count, parts, out + B_HEADER);
  let incidences: u32 = 0;
  if (parts & (PART_SIZES | PART_MEMBERS)) {
    if (parts & PART_SIZES) at = segmentSizes(s, rows, count, at);
    if (parts & PART_MEMBERS) {
      const end = segmentMembers(s, rows, count, at);
      incidences = <u32>((end - at) >> 3);
      at = end;
    }
  }
  let failed = false;
  for (let c: u32 = 0; c < columns && !failed; c++) {
    const column = plan + P_HEADER + <usize>c * P_BYTES;
    at = segmentColumn(plan, column, cursors + <usize>c * <usize>CURSOR_BYTES, rows, count, at);
    failed = !at;
  }
  free(cursors);
  return failed ? OUT_OF_MEMORY : writeHeader(out, count, incidences, at);
}

function neededBytes(s: usize, rows: usize, plan: usize, cursors: usize): u32 {
  const row = load<u32>(rows);
  return <u32>(fixedBytes(load<u32>(plan)) + rowBytes(plan, rowSize(s, row)) + segmentTextBytes(plan, cursors, row));
}

function segmentKeys(s: usize, rows: usize, n: u32, parts: u32, out: usize): usize {
  let at = out;
  if (parts & PART_TIMES) {
    for (let i: u32 = 0; i < n; i++)
      store<f64>(at + ((<usize>i) << 3), <f64>rowTime(s, load<u32>(rows + ((<usize>i) << 2))));
    at += (<usize>n) << 3;
  }
  if (parts & PART_IDS) {
    for (let i: u32 = 0; i < n; i++)
      store<f64>(at + ((<usize>i) << 3), <f64>rowId(s, load<u32>(rows + ((<usize>i) << 2))));
    at += (<usize>n) << 3;
  }
  return at;
}

function segmentSizes(s: usize, rows: usize, n: u32, out: usize): usize {
  for (let i: u32 = 0; i < n; i++) store<u32>(out + ((<usize>i) << 2), rowSize(s, load<u32>(rows + ((<usize>i) << 2))));
  return padEnd(out + ((<usize>n) << 2));
}

/** Fills up to the next multiple of 8 with zeros. */
function padEnd(at: usize): usize {
  const end = padded(at);
  for (; at < end; at++) store<u8>(at, 0);
  return end;
}

function segmentMembers(s: usize, rows: usize, n: u32, out: usize): usize {
  let at = out;
  let following: u32 = u32.MAX_VALUE;
  let first: u32 = 0;
  for (let i: u32 = 0; i < n; i++) {
    const row = load<u32>(rows + ((<usize>i) << 2));
    if (row != following) first = firstIncidence(s, row);
    const size = rowSize(s, row);
    for (let m: u32 = 0; m < size; m++) {
      store<f64>(at, <f64>nodeId(s, memberOrdinal(s, first + m)));
      at += 8;
    }
    first += size;
    following = row + 1;
  }
  return at;
}

/** Writes one column; returns the address behind, 0: out of memory. */
function segmentColumn(plan: usize, column: usize, cursor: usize, rows: usize, n: u32, out: usize): usize {
  if (load<u32>(cursor) == STATE_MISSING) return missingColumn(plan, column, n, out);
  if (load<u32>(column + P_TYPE) == HG_TYPE_TEXT) return segmentTexts(cursor, rows, n, out);
  store<f64>(out, 0);
  store<f64>(out + 8, 0);
  const nulls = out + COLUMN_HEADER;
  const values = padded(nulls + <usize>n);
  const isBoolean = load<u32>(cursor + C_TYPE) == HG_TYPE_BOOLEAN;
  store<u64>(values - 8, 0);
  for (let i: u32 = 0; i < n; i++) {
    const row = load<u32>(rows + ((<usize>i) << 2));
    const has = hasValue(cursor, row);
    store<u8>(nulls + <usize>i, <u8>!has);
    const value = !has ? 0 : isBoolean ? <f64>booleanValue(cursor, row) : numericValue(cursor, row);
    store<f64>(values + ((<usize>i) << 3), value);
  }
  return values + ((<usize>n) << 3);
}

/** Every row has what a row without the column has. */
function missingColumn(plan: usize, column: usize, n: u32, out: usize): usize {
  const kind = load<u32>(column + P_KIND);
  const nulls = out + COLUMN_HEADER;
  const behind = padded(nulls + <usize>n);
  store<u64>(behind - 8, 0);
  memory.fill(nulls, kind == 0 ? 1 : 0, n);
  if (load<u32>(column + P_TYPE) != HG_TYPE_TEXT) {
    store<f64>(out, 0);
    store<f64>(out + 8, 0);
    const value = kind == MISSING_NUMBER ? load<f64>(column + P_NUMBER) : 0;
    for (let i: u32 = 0; i < n; i++) store<f64>(behind + ((<usize>i) << 3), value);
    return behind + ((<usize>n) << 3);
  }
  const bytes = kind == MISSING_TEXT ? load<u32>(column + P_TEXT_BYTES) : 0;
  const distinct: u32 = kind == MISSING_TEXT ? 1 : 0;
  memory.fill(behind, 0, (<usize>n) << 2);
  const ends = padEnd(behind + ((<usize>n) << 2));
  store<u32>(ends, bytes);
  const texts = padEnd(ends + ((<usize>distinct) << 2));
  memory.copy(texts, plan + load<u32>(column + P_TEXT), bytes);
  store<f64>(out, <f64>distinct);
  store<f64>(out + 8, <f64>bytes);
  return padEnd(texts + bytes);
}

/** Texts of a segment: each distinct one once, in order of first use. */
function segmentTexts(cursor: usize, rows: usize, n: u32, out: usize): usize {
  const nulls = out + COLUMN_HEADER;
  const codes = padded(nulls + <usize>n);
  store<u64>(codes - 8, 0);
  const offsets = load<u32>(cursor + C_OFFSETS);
  const entries = offsets ? load<u32>(<usize>offsets - 4) : 0;
  const locals = alloc((entries + max<u32>(n, 1)) * 4);
  if (!locals) return 0;
  const used = locals + ((<usize>entries) << 2);
  memory.fill(locals, 0xff, (<usize>entries) << 2);
  let distinct: u32 = 0;
  for (let i: u32 = 0; i < n; i++) {
    const row = load<u32>(rows + ((<usize>i) << 2));
    const has = hasValue(cursor, row);
    store<u8>(nulls + <usize>i, <u8>!has);
    let local: u32 = 0;
    if (has) {
      const code = textCode(cursor, row);
      local = load<u32>(locals + ((<usize>code) << 2));
      if (local == NO_LOCAL) {
        local = distinct;
        distinct++;
        store<u32>(locals + ((<usize>code) << 2), local);
        store<u32>(used + ((<usize>local) << 2), code);
      }
    }
    store<u32>(codes + ((<usize>i) << 2), local);
  }
  const ends = padEnd(codes + ((<usize>n) << 2));
  const texts = padEnd(ends + ((<usize>distinct) << 2));
  let at = texts;
  for (let i: u32 = 0; i < distinct; i++) {
    const code = load<u32>(used + ((<usize>i) << 2));
    const bytes = textLength(cursor, code);
    memory.copy(at, textStart(cursor, code), bytes);
    at += bytes;
    store<u32>(ends + ((<usize>i) << 2), <u32>(at - texts));
  }
  free(locals);
  store<f64>(out, <f64>distinct);
  store<f64>(out + 8, <f64>(at - texts));
  return padEnd(at);
}

// Records

/** As segmentColumns, for records: addresses u32[n]. */
export function recordColumns(records: usize, n: u32, plan: usize, out: usize, capacity: u32): i32 {
  const columns = load<u32>(plan);
  let used = fixedBytes(columns);
  let count: u32 = 0;
  for (; count < n; count++) {
    const record = <usize>load<u32>(records + ((<usize>count) << 2));
    // The record's own property block is a bound of its texts; every row may bring a text of its own.
    const block = <u32>load<u16>(record + R_PROPERTIES);
    const texts = block ? load<u32>(record) - block : 0;
    used += rowBytes(plan, <u32>load<u8>(record + R_COUNT)) + <usize>texts + ((<usize>columns) << 2);
    if (used > <usize>capacity) break;
  }
  setRows(0);
  if (!count) return n ? tooSmall(<u32>used) : 0;
  const parts = load<u32>(plan + 4);
  let at = recordKeys(records, count, parts, out + B_HEADER);
  let incidences: u32 = 0;
  if (parts & PART_SIZES) {
    for (let i: u32 = 0; i < count; i++) {
      const record = <usize>load<u32>(records + ((<usize>i) << 2));
      store<u32>(at + ((<usize>i) << 2), <u32>load<u8>(record + R_COUNT));
    }
    at = padEnd(at + ((<usize>count) << 2));
  }
  if (parts & PART_MEMBERS) {
    const end = recordMembersOf(records, count, at);
    incidences = <u32>((end - at) >> 3);
    at = end;
  }
  for (let c: u32 = 0; c < columns; c++) {
    const column = plan + P_HEADER + <usize>c * P_BYTES;
    at =
      load<u32>(column + P_TYPE) == HG_TYPE_TEXT
        ? recordTexts(plan, column, records, count, at)
        : recordNumbers(column, records, count, at);
  }
  return writeHeader(out, count, incidences, at);
}

function recordKeys(records: usize, n: u32, parts: u32, out: usize): usize {
  let at = out;
  if (parts & PART_TIMES) {
    for (let i: u32 = 0; i < n; i++) {
      const record = <usize>load<u32>(records + ((<usize>i) << 2));
      store<f64>(at + ((<usize>i) << 3), <f64>load<i64>(record + R_TIME));
    }
    at += (<usize>n) << 3;
  }
  if (parts & PART_IDS) {
    for (let i: u32 = 0; i < n; i++) {
      const record = <usize>load<u32>(records + ((<usize>i) << 2));
      store<f64>(at + ((<usize>i) << 3), <f64>load<i64>(record + R_ID));
    }
    at += (<usize>n) << 3;
  }
  return at;
}

function recordMembersOf(records: usize, n: u32, out: usize): usize {
  let at = out;
  for (let i: u32 = 0; i < n; i++) {
    const record = <usize>load<u32>(records + ((<usize>i) << 2));
    const size = <u32>load<u8>(record + R_COUNT);
    decodeMembers(record + R_MEMBERS, size, scratch);
    for (let m: u32 = 0; m < size; m++) {
      store<f64>(at, <f64>load<i64>(scratch + ((<usize>m) << 3)));
      at += 8;
    }
  }
  return at;
}

function recordNumbers(column: usize, records: usize, n: u32, out: usize): usize {
  store<f64>(out, 0);
  store<f64>(out + 8, 0);
  const nulls = out + COLUMN_HEADER;
  const values = padded(nulls + <usize>n);
  store<u64>(values - 8, 0);
  const id = load<u32>(column + P_COLUMN);
  const kind = load<u32>(column + P_KIND);
  for (let i: u32 = 0; i < n; i++) {
    const record = <usize>load<u32>(records + ((<usize>i) << 2));
    const entry = findProperty(record, id);
    let isNull = kind == 0;
    let value: f64 = kind == MISSING_NUMBER ? load<f64>(column + P_NUMBER) : 0;
    if (entry) {
      const type = <u32>load<u8>(entry + 2);
      isNull = type == 0;
      if (type == HG_TYPE_INTEGER) value = <f64>load<i64>(entry + 4);
      else if (type == HG_TYPE_BOOLEAN) value = <f64>load<u8>(entry + 4);
      else value = isNull ? 0 : load<f64>(entry + 4);
    }
    store<u8>(nulls + <usize>i, <u8>isNull);
    store<f64>(values + ((<usize>i) << 3), value);
  }
  return values + ((<usize>n) << 3);
}

/** Texts of records: every row's own one, in order. */
function recordTexts(plan: usize, column: usize, records: usize, n: u32, out: usize): usize {
  const nulls = out + COLUMN_HEADER;
  const codes = padded(nulls + <usize>n);
  store<u64>(codes - 8, 0);
  const id = load<u32>(column + P_COLUMN);
  const kind = load<u32>(column + P_KIND);
  let distinct: u32 = 0;
  for (let i: u32 = 0; i < n; i++) {
    const entry = findProperty(load<u32>(records + ((<usize>i) << 2)), id);
    const isNull = entry ? load<u8>(entry + 2) == 0 : kind != MISSING_TEXT;
    store<u8>(nulls + <usize>i, <u8>isNull);
    store<u32>(codes + ((<usize>i) << 2), isNull ? 0 : distinct);
    if (!isNull) distinct++;
  }
  const ends = padEnd(codes + ((<usize>n) << 2));
  const texts = padEnd(ends + ((<usize>distinct) << 2));
  let at = texts;
  let place: u32 = 0;
  for (let i: u32 = 0; i < n; i++) {
    if (load<u8>(nulls + <usize>i)) continue;
    const entry = findProperty(load<u32>(records + ((<usize>i) << 2)), id);
    const bytes = entry ? load<u32>(entry + 4) : load<u32>(column + P_TEXT_BYTES);
    memory.copy(at, entry ? entry + 8 : plan + load<u32>(column + P_TEXT), bytes);
    at += bytes;
    store<u32>(ends + ((<usize>place) << 2), <u32>(at - texts));
    place++;
  }
  store<f64>(out, <f64>distinct);
  store<f64>(out + 8, <f64>(at - texts));
  return padEnd(at);
}
