// Converts rows of a segment back to records (the input of compaction), and finds the rows that
// match a tombstone.

import { R_COUNT, R_ID, R_MEMBERS, R_TIME, recordBound, writeRecord } from '../codec/record';
import { decodeMembers } from '../codec/vbyte';
import { findNode } from '../fmi/lookup';
import { HG_TYPE_TEXT } from '../limits';
import { alloc, free } from '../memory/alloc';
import { cell, element, get, put } from '../memory/cells';
import { OUT_OF_MEMORY, setRows, tooSmall } from '../status';
import { lowerBoundTime } from '../tpi/seek';
import {
  C_DEFAULT,
  C_TYPE,
  CURSOR_BYTES,
  findText,
  isDefault,
  openColumn,
  propertyBytes,
  STATE_ALL_NULL,
  STATE_MISSING,
  STATE_VALUES,
  writeProperty,
} from './columns';
import {
  E_COLUMN,
  E_KIND,
  ENTRY_BYTES,
  H_SECTIONS,
  HEADER_BYTES,
  K_COLUMN,
  S_BASE,
  S_ROLES,
  S_ROWS,
  S_SCRATCH,
} from './layout';
import { firstIncidence, memberOrdinal, rowId, rowMembers, rowSize, rowTime } from './reader';
import { rowMasks } from './roles';

/**
 * Writes {u32 column id, opened cursor} for each column section of the file. Returns the number of
 * cursors.
 */
function openAll(base: usize, rows: u32, out: usize): u32 {
  const sections = load<u32>(base + H_SECTIONS);
  let count: u32 = 0;
  for (let i: u32 = 0; i < sections; i++) {
    const entry = element(base + HEADER_BYTES, i, ENTRY_BYTES);
    if (<u32>load<u16>(entry + E_KIND) != K_COLUMN) continue;
    const column = <u32>load<u16>(entry + E_COLUMN);
    const at = element(out, count, CURSOR_BYTES + 4);
    store<u32>(at, column);
    openColumn(base, rows, column, at + 4);
    count++;
  }
  return count;
}

function rowPropertyBytes(cursors: usize, count: u32, row: u32): u32 {
  let bytes: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const at = element(cursors, i, CURSOR_BYTES + 4);
    bytes += propertyBytes(at + 4, row);
  }
  return bytes ? bytes + 2 : 0;
}

function writeProperties(out: usize, cursors: usize, count: u32, row: u32): void {
  let at = out + 2;
  let written: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const cursor = element(cursors, i, CURSOR_BYTES + 4);
    if (load<u32>(cursor + 4) == STATE_MISSING || isDefault(cursor + 4, row)) continue;
    at = writeProperty(at, load<u32>(cursor), cursor + 4, row);
    written++;
  }
  store<u16>(out, <u16>written);
}

/**
 * Stores in the cursors of text columns the code of the column's default text in `specs` (see
 * `hg_segment_build`).
 */
function noteDefaults(cursors: usize, count: u32, specs: usize, columns: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const cursor = element(cursors, i, CURSOR_BYTES + 4) + 4;
    if (load<u32>(cursor) != STATE_VALUES || load<u32>(cursor + C_TYPE) != HG_TYPE_TEXT) continue;
    for (let c: u32 = 0; c < columns; c++) {
      const spec = cell<u64>(specs, c);
      const missing = <usize>load<u32>(spec + 4);
      if (<u32>load<u16>(spec) != load<u32>(cursor - 4) || !missing) continue;
      if (<u32>load<u8>(missing + 2) != HG_TYPE_TEXT) continue;
      store<u32>(cursor + C_DEFAULT, <u32>(findText(cursor, missing + 8, load<u32>(missing + 4)) + 1));
    }
  }
}

/**
 * Removes built-in columns (ids below 3, which have no default) that are null in every row. Rows
 * without other properties then need no property block.
 */
function dropSilent(cursors: usize, count: u32): u32 {
  let kept: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const from = element(cursors, i, CURSOR_BYTES + 4);
    if (load<u32>(from + 4) == STATE_ALL_NULL && load<u32>(from) < 3) continue;
    if (kept != i) memory.copy(element(cursors, kept, CURSOR_BYTES + 4), from, CURSOR_BYTES + 4);
    kept++;
  }
  return kept;
}

/**
 * Writes `rows` (u32[n]) as consecutive records. Omits texts that are equal to their column's
 * default in `specs` (u64[columns], see `hg_segment_build`). Returns the number of bytes written;
 * `hg_result_rows` returns the number of rows written, fewer than n if `capacity` is exhausted.
 * Returns TOO_SMALL if not even one row fits, or OUT_OF_MEMORY.
 */
export function exportRecords(
  s: usize,
  rows: usize,
  n: u32,
  specs: usize,
  columns: u32,
  out: usize,
  capacity: u32,
): i32 {
  const base = <usize>load<u32>(s + S_BASE);
  const sections = load<u32>(base + H_SECTIONS);
  const cursors = alloc(sections * (CURSOR_BYTES + 4));
  if (!cursors) return OUT_OF_MEMORY;
  const count = dropSilent(cursors, openAll(base, load<u32>(s + S_ROWS), cursors));
  noteDefaults(cursors, count, specs, columns);
  const members = <usize>load<u32>(s + S_SCRATCH);
  const hasRoles = load<u32>(s + S_ROLES) != 0;
  let written: u32 = 0;
  let done: u32 = 0;
  let needed: u32 = 0;
  for (; done < n; done++) {
    const row = get<u32>(rows, done);
    const size = rowSize(s, row);
    const extra = rowPropertyBytes(cursors, count, row);
    needed = recordBound(size, extra) + (hasRoles ? size * 2 : 0);
    if (needed > capacity - written) break;
    rowMembers(s, row, members);
    const masks = hasRoles ? rowMasks(s, firstIncidence(s, row)) : 0;
    let bytes = writeRecord(out + written, rowTime(s, row), rowId(s, row), members, size, masks, 0, 0);
    if (extra) {
      store<u16>(out + written + 6, <u16>bytes);
      writeProperties(out + written + bytes, cursors, count, row);
      bytes += extra;
      store<u32>(out + written, bytes);
    }
    written += bytes;
  }
  free(cursors);
  setRows(done);
  return done || !n ? <i32>written : tooSmall(needed);
}

/**
 * Lists the rows that have the record's time and exactly its members, ascending (u32[capacity]).
 * Returns their total number, but writes at most `capacity`.
 */
export function matchRows(s: usize, record: usize, out: usize, capacity: u32): u32 {
  const time = load<i64>(record + R_TIME);
  const from = lowerBoundTime(s, time);
  const to = lowerBoundTime(s, time + 1);
  if (from >= to) return 0;
  const n = <u32>load<u8>(record + R_COUNT);
  const ordinals = <usize>load<u32>(s + S_SCRATCH);
  decodeMembers(record + R_MEMBERS, n, ordinals);
  for (let i: u32 = 0; i < n; i++) {
    const ordinal = findNode(s, get<i64>(ordinals, i));
    if (ordinal < 0) return 0;
    put<u32>(ordinals, i, <u32>ordinal);
  }
  let count: u32 = 0;
  let first = firstIncidence(s, from);
  for (let row = from; row < to; row++) {
    const size = rowSize(s, row);
    if (size == n && sameMembers(s, first, ordinals, n)) {
      if (count < capacity) put<u32>(out, count, row);
      count++;
    }
    first += size;
  }
  return count;
}

function sameMembers(s: usize, first: u32, ordinals: usize, n: u32): bool {
  for (let i: u32 = 0; i < n; i++) {
    if (memberOrdinal(s, first + i) != get<u32>(ordinals, i)) return false;
  }
  return true;
}

/** Writes {event_ts, id} of a row as two f64. */
export function rowKey(s: usize, row: u32, out: usize): void {
  store<f64>(out, <f64>rowTime(s, row));
  store<f64>(out + 8, <f64>rowId(s, row));
}

/** Returns the id of a record. */
export function recordId(record: usize): i64 {
  return load<i64>(record + R_ID);
}
