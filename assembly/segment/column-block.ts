// Writes column blocks of segments: the values of rows, column by column, for a host that computes
// with them.

import { HG_TYPE_BOOLEAN, HG_TYPE_TEXT } from '../limits';
import { alloc, free } from '../memory/alloc';
import { bytesOf, cell, element, get, put } from '../memory/cells';
import { OUT_OF_MEMORY, setRows, tooSmall } from '../status';
import {
  B_HEADER,
  COLUMN_HEADER,
  fixedBytes,
  MISSING_NUMBER,
  MISSING_TEXT,
  P_BYTES,
  P_COLUMN,
  P_HEADER,
  P_KIND,
  P_NUMBER,
  P_TEXT,
  P_TEXT_BYTES,
  P_TYPE,
  PART_IDS,
  PART_MASKS,
  PART_MEMBERS,
  PART_SIZES,
  PART_TIMES,
  padded,
  padEnd,
  rowBytes,
  writeHeader,
} from './column-plan';
import { copyMembers, copyNumbers, copySizes, copyTimes, gatherIds, gatherTimes, markAbsent } from './column-run';
import {
  booleanValue,
  C_OFFSETS,
  C_TYPE,
  CURSOR_BYTES,
  hasValue,
  numericValue,
  openColumn,
  STATE_MISSING,
  STATE_VALUES,
  textCode,
  textLength,
  textStart,
} from './columns';
import { S_BASE, S_ROWS } from './layout';
import { firstIncidence, memberOrdinal, nodeId, rowSize } from './reader';
import { rowMasks } from './roles';

/** A slot: u32 code, u32 number. */
const SLOT_BYTES: usize = 8;
const NO_LOCAL: u32 = 0xffffffff;
/**
 * If the distinct texts of all columns together have at most this size, and no members are
 * requested, their size is counted once per block instead of row by row.
 */
const FEW_TEXT_BYTES: usize = 16384;

function segmentTextBytes(plan: usize, cursors: usize, row: u32): usize {
  const columns = load<u32>(plan);
  let bytes: usize = 0;
  for (let c: u32 = 0; c < columns; c++) {
    const cursor = element(cursors, c, CURSOR_BYTES);
    if (load<u32>(cursor + C_TYPE) == HG_TYPE_TEXT && hasValue(cursor, row))
      bytes += <usize>textLength(cursor, textCode(cursor, row));
  }
  return bytes;
}

/** Returns how many of the n rows certainly fit into `capacity`. */
function fittingRows(s: usize, rows: usize, n: u32, plan: usize, cursors: usize, capacity: u32): u32 {
  let used = fixedBytes(load<u32>(plan));
  if (!(load<u32>(plan + 4) & PART_MEMBERS)) {
    // Without members, all rows have the same size apart from their texts. Often all distinct texts
    // together are small.
    const texts = dictionaryBytes(plan, cursors);
    if (texts <= FEW_TEXT_BYTES && used + texts <= <usize>capacity) {
      const each = rowBytes(plan, 0);
      const room = <usize>capacity - used - texts;
      if (room >= each * <usize>n) return n;
      if (room >= each) return <u32>(room / each);
    }
  }
  let count: u32 = 0;
  for (; count < n; count++) {
    const row = get<u32>(rows, count);
    used += rowBytes(plan, rowSize(s, row)) + segmentTextBytes(plan, cursors, row);
    if (used > <usize>capacity) break;
  }
  return count;
}

/**
 * Returns the size in bytes of the distinct texts of all text columns, including the array of their
 * ends.
 */
function dictionaryBytes(plan: usize, cursors: usize): usize {
  const columns = load<u32>(plan);
  let bytes: usize = 0;
  for (let c: u32 = 0; c < columns; c++) {
    const cursor = element(cursors, c, CURSOR_BYTES);
    if (load<u32>(cursor + C_TYPE) != HG_TYPE_TEXT || load<u32>(cursor) != STATE_VALUES) continue;
    const offsets = <usize>load<u32>(cursor + C_OFFSETS);
    const entries = load<u32>(offsets - 4);
    bytes += bytesOf<u32>(entries) + <usize>get<u32>(offsets, entries);
  }
  return bytes;
}

/**
 * Writes rows (u32[n]) of a segment as one column block. Returns the size of the block in bytes;
 * `hg_result_rows` returns the number of rows written, fewer than n if `capacity` is exhausted.
 * Returns TOO_SMALL if not even one row fits, or OUT_OF_MEMORY.
 */
export function segmentColumns(s: usize, rows: usize, n: u32, plan: usize, out: usize, capacity: u32): i32 {
  const columns = load<u32>(plan);
  const base = <usize>load<u32>(s + S_BASE);
  const cursors = alloc(max<u32>(columns, 1) * CURSOR_BYTES);
  if (!cursors) return OUT_OF_MEMORY;
  for (let c: u32 = 0; c < columns; c++) {
    const column = load<u32>(element(plan + P_HEADER, c, P_BYTES) + P_COLUMN);
    openColumn(base, load<u32>(s + S_ROWS), column, element(cursors, c, CURSOR_BYTES));
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
    if (parts & PART_MASKS) at = segmentMasks(s, rows, count, at);
  }
  let failed = false;
  for (let c: u32 = 0; c < columns && !failed; c++) {
    const column = element(plan + P_HEADER, c, P_BYTES);
    at = segmentColumn(plan, column, element(cursors, c, CURSOR_BYTES), rows, count, at);
    failed = !at;
  }
  free(cursors);
  return failed ? OUT_OF_MEMORY : writeHeader(out, count, incidences, at);
}

function neededBytes(s: usize, rows: usize, plan: usize, cursors: usize): u32 {
  const row = load<u32>(rows);
  return <u32>(fixedBytes(load<u32>(plan)) + rowBytes(plan, rowSize(s, row)) + segmentTextBytes(plan, cursors, row));
}

/**
 * Returns whether the rows are consecutive, which is common. Columns of consecutive rows are copied
 * as a whole.
 */
function isRun(rows: usize, n: u32): bool {
  return get<u32>(rows, n - 1) - load<u32>(rows) == n - 1;
}

function segmentKeys(s: usize, rows: usize, n: u32, parts: u32, out: usize): usize {
  let at = out;
  if (parts & PART_TIMES) {
    if (isRun(rows, n)) copyTimes(s, load<u32>(rows), n, at);
    else gatherTimes(s, rows, n, at);
    at += bytesOf<u64>(n);
  }
  if (parts & PART_IDS) {
    gatherIds(s, rows, n, at);
    at += bytesOf<u64>(n);
  }
  return at;
}

function segmentSizes(s: usize, rows: usize, n: u32, out: usize): usize {
  if (isRun(rows, n)) copySizes(s, load<u32>(rows), n, out);
  else for (let i: u32 = 0; i < n; i++) put<u32>(out, i, rowSize(s, get<u32>(rows, i)));
  return padEnd(cell<u32>(out, n));
}

function segmentMembers(s: usize, rows: usize, n: u32, out: usize): usize {
  if (isRun(rows, n)) return copyMembers(s, load<u32>(rows), n, out);
  let at = out;
  let following: u32 = u32.MAX_VALUE;
  let first: u32 = 0;
  for (let i: u32 = 0; i < n; i++) {
    const row = get<u32>(rows, i);
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

/** Writes one column; returns the end address, or 0 if out of memory. */
function segmentColumn(plan: usize, column: usize, cursor: usize, rows: usize, n: u32, out: usize): usize {
  if (load<u32>(cursor) == STATE_MISSING) return missingColumn(plan, column, n, out);
  if (load<u32>(column + P_TYPE) == HG_TYPE_TEXT) return segmentTexts(cursor, rows, n, out);
  store<f64>(out, 0);
  store<f64>(out + 8, 0);
  const nulls = out + COLUMN_HEADER;
  const values = padded(nulls + <usize>n);
  const isBoolean = load<u32>(cursor + C_TYPE) == HG_TYPE_BOOLEAN;
  store<u64>(values - 8, 0);
  if (!isBoolean && load<u32>(cursor) == STATE_VALUES && isRun(rows, n)) {
    markAbsent(cursor, load<u32>(rows), n, nulls);
    copyNumbers(cursor, load<u32>(rows), n, values);
    return cell<u64>(values, n);
  }
  for (let i: u32 = 0; i < n; i++) {
    const row = get<u32>(rows, i);
    const has = hasValue(cursor, row);
    store<u8>(nulls + <usize>i, <u8>!has);
    const value = !has ? 0 : isBoolean ? <f64>booleanValue(cursor, row) : numericValue(cursor, row);
    put<f64>(values, i, value);
  }
  return cell<u64>(values, n);
}

function segmentMasks(s: usize, rows: usize, n: u32, out: usize): usize {
  let at = out;
  let following: u32 = u32.MAX_VALUE;
  let first: u32 = 0;
  for (let i: u32 = 0; i < n; i++) {
    const row = get<u32>(rows, i);
    if (row != following) first = firstIncidence(s, row);
    const size = rowSize(s, row);
    const masks = rowMasks(s, first);
    if (masks) memory.copy(at, masks, bytesOf<u16>(size));
    else memory.fill(at, 0, bytesOf<u16>(size));
    at += bytesOf<u16>(size);
    first += size;
    following = row + 1;
  }
  return padEnd(at);
}

/** Writes a column that the segment does not have: every row has the default. */
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
    for (let i: u32 = 0; i < n; i++) put<f64>(behind, i, value);
    return cell<u64>(behind, n);
  }
  const bytes = kind == MISSING_TEXT ? load<u32>(column + P_TEXT_BYTES) : 0;
  const distinct: u32 = kind == MISSING_TEXT ? 1 : 0;
  memory.fill(behind, 0, bytesOf<u32>(n));
  const ends = padEnd(cell<u32>(behind, n));
  store<u32>(ends, bytes);
  const texts = padEnd(cell<u32>(ends, distinct));
  memory.copy(texts, plan + load<u32>(column + P_TEXT), bytes);
  store<f64>(out, <f64>distinct);
  store<f64>(out + 8, <f64>bytes);
  return padEnd(texts + bytes);
}

/**
 * Returns the number of slots of the hash table for `n` of `entries` texts, a power of two from 2 n
 * on; 0: a cell for each text takes less.
 */
function slotsFor(n: u32, entries: u32): u32 {
  if (n >= entries >> 3) return 0;
  return (<u32>2) << (32 - <u32>clz(n));
}

/** Returns the address of the number of a text in a hash table; a new one is NO_LOCAL. */
function slotOf(table: usize, slots: u32, code: u32): usize {
  let at = code * 0x9e3779b1;
  at ^= at >> 16;
  while (true) {
    const slot = element(table, at & (slots - 1), SLOT_BYTES);
    if (load<u32>(slot, 4) == NO_LOCAL) store<u32>(slot, code);
    if (load<u32>(slot) == code) return slot + 4;
    at++;
  }
}

/** Writes the texts of a column: each distinct text once, in order of first use. */
function segmentTexts(cursor: usize, rows: usize, n: u32, out: usize): usize {
  const nulls = out + COLUMN_HEADER;
  const codes = padded(nulls + <usize>n);
  store<u64>(codes - 8, 0);
  const offsets = load<u32>(cursor + C_OFFSETS);
  const entries = offsets ? load<u32>(<usize>offsets - 4) : 0;
  // The number of each text among those that are written: by code or, for few of many texts, in a
  // hash table of pairs of a code and a number.
  const slots = slotsFor(n, entries);
  const numbers = slots ? slots * 2 : entries;
  const locals = alloc((numbers + max<u32>(n, 1)) * 4);
  if (!locals) return 0;
  const used = cell<u32>(locals, numbers);
  memory.fill(locals, 0xff, bytesOf<u32>(numbers));
  let distinct: u32 = 0;
  for (let i: u32 = 0; i < n; i++) {
    const row = get<u32>(rows, i);
    const has = hasValue(cursor, row);
    store<u8>(nulls + <usize>i, <u8>!has);
    let local: u32 = 0;
    if (has) {
      const code = textCode(cursor, row);
      const place = slots ? slotOf(locals, slots, code) : cell<u32>(locals, code);
      local = load<u32>(place);
      if (local == NO_LOCAL) {
        local = distinct;
        distinct++;
        store<u32>(place, local);
        put<u32>(used, local, code);
      }
    }
    put<u32>(codes, i, local);
  }
  const ends = padEnd(cell<u32>(codes, n));
  const texts = padEnd(cell<u32>(ends, distinct));
  let at = texts;
  for (let i: u32 = 0; i < distinct; i++) {
    const code = get<u32>(used, i);
    const bytes = textLength(cursor, code);
    memory.copy(at, textStart(cursor, code), bytes);
    at += bytes;
    put<u32>(ends, i, <u32>(at - texts));
  }
  free(locals);
  store<f64>(out, <f64>distinct);
  store<f64>(out + 8, <f64>(at - texts));
  return padEnd(at);
}
