// Writes rows of a segment, or records of a memtable, as JSON objects, in one pass from columns to
// bytes.

import { findProperty, R_COUNT, R_ID, R_MEMBERS, R_TIME, recordMasks } from '../codec/record';
import { decodeMembers } from '../codec/vbyte';
import { HG_TYPE_BOOLEAN, HG_TYPE_INTEGER, HG_TYPE_REAL, HG_TYPE_TEXT } from '../limits';
import { alloc, free } from '../memory/alloc';
import { cell, element, get } from '../memory/cells';
import { segmentColumns } from '../segment/column-block';
import {
  booleanValue,
  C_TYPE,
  CURSOR_BYTES,
  hasValue,
  integerValue,
  openColumn,
  realValue,
  STATE_MISSING,
  STATE_VALUES,
  textCode,
  textLength,
  textStart,
} from '../segment/columns';
import { S_BASE, S_MEMBERS, S_NODE_IDS, S_NODE_MIN, S_NODE_WIDTH, S_ORDINAL_WIDTH, S_ROWS } from '../segment/layout';
import { firstIncidence, memberOrdinal, nodeId, rowId, rowMembers, rowSize, rowTime } from '../segment/reader';
import { recordColumns } from '../segment/record-block';
import { rowMasks } from '../segment/roles';
import { OUT_OF_MEMORY, setRows, tooSmall } from '../status';
import { writeMarks, writeSegmentMarks } from './marks';
import { writeFloat, writeInt } from './number';
import { roleMembersBound, rolesBound, writeRoles } from './roles';
import { copyText, writeText } from './text';

/**
 * Separators: 0 = a comma before every row except the first of the call, 1 = a comma before every
 * row, 2 = a newline after every row.
 */
export const ROWS_FIRST: u32 = 0;
export const ROWS_LINES: u32 = 2;
/**
 * Separator value that requests a column block (segment/column-block.ts) instead of text. The plan
 * must then be a column plan.
 */
export const ROWS_COLUMNS: u32 = 3;

/*
 * The row plan, which the host writes: u16 number of columns, u16 number of roles and flags, then
 * for each column {u32 column id, u32 key offset, u32 key bytes, u32 missing offset, u32 missing
 * bytes}, with offsets from the start of the plan, then the roles (roles.ts). A key is the text
 * before a value (`,"weight":`); "missing" is the JSON text of the column's default.
 */
const P_FLAGS: usize = 2;
/** Members are written as marks (marks.ts). */
const PLAN_NAMED: u32 = 0x8000;
/** A row is a node: only its columns are written, and the key of the first has no comma. */
const PLAN_NODE: u32 = 0x4000;
/** The other bits of the second word: the number of roles. */
const MOST_ROLES: u32 = 0xff;
const P_COLUMN: usize = 0;
const P_KEY: usize = 4;
const P_KEY_BYTES: usize = 8;
const P_MISSING: usize = 12;
const P_MISSING_BYTES: usize = 16;
const P_BYTES: usize = 20;
const CURSOR: usize = <usize>CURSOR_BYTES;

const members: usize = memory.data(255 * 8 + 16, 16);
const NULL_TEXT: u32 = 0x6c6c756e;

/**
 * Writes the n member ids of a row, each followed by a comma. `first` is the row's first incidence.
 * The usual widths, u16 ordinals and u32 ids, have a loop of their own.
 */
function writeMembers(out: usize, s: usize, first: u32, n: u32): usize {
  const least = load<i64>(s + S_NODE_MIN);
  let at = out;
  if (load<u32>(s + S_ORDINAL_WIDTH) == 2 && load<u32>(s + S_NODE_WIDTH) == 4) {
    const ordinals = cell<u16>(load<u32>(s + S_MEMBERS), first);
    const ids = <usize>load<u32>(s + S_NODE_IDS);
    for (let i: u32 = 0; i < n; i++) {
      const ordinal = <usize>get<u16>(ordinals, i);
      at = writeInt(at, least + <i64>get<u32>(ids, ordinal));
      store<u8>(at, 0x2c);
      at++;
    }
    return at;
  }
  for (let i: u32 = 0; i < n; i++) {
    at = writeInt(at, nodeId(s, memberOrdinal(s, first + i)));
    store<u8>(at, 0x2c);
    at++;
  }
  return at;
}

/** Writes `{"id":1,"event_ts":2,"members":[`. */
function writeStart(out: usize, id: i64, time: i64): usize {
  store<u64>(out, 0x3a226469227b); // {"id":
  let at = writeInt(out + 6, id);
  store<u64>(at, 0x5f746e657665222c); // ,"event_
  store<u64>(at + 8, 0x3a227374); // ts":
  at = writeInt(at + 12, time);
  store<u64>(at, 0x65626d656d222c); // ,"membe
  store<u32>(at + 7, 0x3a227372); // rs":
  store<u8>(at + 11, 0x5b);
  return at + 12;
}

/** Writes `{"id":1,"event_ts":2,"members":[3,4]`, with the first n entries of `members`. */
function writeHead(out: usize, id: i64, time: i64, n: u32): usize {
  let at = writeStart(out, id, time);
  for (let i: u32 = 0; i < n; i++) {
    at = writeInt(at, get<i64>(members, i));
    store<u8>(at, 0x2c);
    at++;
  }
  store<u8>(at - 1, 0x5d);
  return at;
}

function planColumns(plan: usize): u32 {
  return load<u16>(plan);
}

/** Returns the flags of a plan whose rows do not begin with an edge's numbers, or 0. */
function planForm(plan: usize): u32 {
  return <u32>load<u16>(plan + P_FLAGS) & (PLAN_NAMED | PLAN_NODE);
}

/** Writes `{"id":1,"event_ts":2,"members":[`, marks and `]`, or `{` if the plan is one of nodes. */
function writeSegmentHead(out: usize, form: u32, s: usize, row: u32, first: u32, n: u32): usize {
  if (form & PLAN_NODE) {
    store<u8>(out, 0x7b);
    return out + 1;
  }
  const at = writeSegmentMarks(writeStart(out, rowId(s, row), rowTime(s, row)), s, first, n);
  store<u8>(at - 1, 0x5d);
  return at;
}

/** Same as `writeSegmentHead`, with the first n entries of `members`. */
function writeRecordHead(out: usize, form: u32, id: i64, time: i64, n: u32): usize {
  if (form & PLAN_NODE) {
    store<u8>(out, 0x7b);
    return out + 1;
  }
  const at = writeMarks(writeStart(out, id, time), members, n);
  store<u8>(at - 1, 0x5d);
  return at;
}

function planRoles(plan: usize): u32 {
  return <u32>load<u16>(plan + P_FLAGS) & MOST_ROLES;
}

/** Returns the address of the roles in a plan. */
function rolesOf(plan: usize): usize {
  return element(plan + 4, planColumns(plan), P_BYTES);
}

function writeCell(out: usize, cursor: usize, row: u32): usize {
  if (!hasValue(cursor, row)) {
    store<u32>(out, NULL_TEXT);
    return out + 4;
  }
  const type = load<u32>(cursor + C_TYPE);
  if (type == HG_TYPE_REAL) return writeFloat(out, realValue(cursor, row));
  if (type == HG_TYPE_INTEGER) return writeInt(out, integerValue(cursor, row));
  if (type == HG_TYPE_BOOLEAN) return writeBoolean(out, booleanValue(cursor, row));
  const code = textCode(cursor, row);
  return writeText(out, textStart(cursor, code), textLength(cursor, code));
}

function writeBoolean(out: usize, value: u32): usize {
  if (value) {
    store<u32>(out, 0x65757274);
    return out + 4;
  }
  store<u32>(out, 0x736c6166);
  store<u8>(out + 4, 0x65);
  return out + 5;
}

/**
 * Writes the text after the members for a segment in which no column of the plan has a value; this
 * text is the same for all rows. Returns its end.
 */
function constantTail(plan: usize, cursors: usize, out: usize): usize {
  let at = out;
  const columns = planColumns(plan);
  for (let c: u32 = 0; c < columns; c++) {
    const column = element(plan + 4, c, P_BYTES);
    at = copyText(at, plan + load<u32>(column + P_KEY), load<u32>(column + P_KEY_BYTES));
    if (load<u32>(element(cursors, c, CURSOR)) == STATE_MISSING)
      at = copyText(at, plan + load<u32>(column + P_MISSING), load<u32>(column + P_MISSING_BYTES));
    else {
      store<u32>(at, NULL_TEXT);
      at += 4;
    }
  }
  store<u8>(at, 0x7d);
  return at + 1;
}

/**
 * Returns an upper bound on the size in bytes of the text after the members of one row, without the
 * values of text columns.
 */
function planBound(plan: usize): u32 {
  const columns = planColumns(plan);
  let bytes: u32 = 32;
  for (let c: u32 = 0; c < columns; c++) {
    const column = element(plan + 4, c, P_BYTES);
    bytes += load<u32>(column + P_KEY_BYTES) + load<u32>(column + P_MISSING_BYTES) + 40;
  }
  if (planRoles(plan)) bytes += rolesBound(plan, rolesOf(plan), planRoles(plan));
  return bytes;
}

function textsBound(plan: usize, cursors: usize, row: u32): u32 {
  const columns = planColumns(plan);
  let bytes: u32 = 0;
  for (let c: u32 = 0; c < columns; c++) {
    const cursor = element(cursors, c, CURSOR);
    if (load<u32>(cursor + C_TYPE) == HG_TYPE_TEXT && hasValue(cursor, row))
      bytes += textLength(cursor, textCode(cursor, row)) * 6;
  }
  return bytes;
}

function writeTail(out: usize, plan: usize, cursors: usize, row: u32): usize {
  let at = out;
  const columns = planColumns(plan);
  for (let c: u32 = 0; c < columns; c++) {
    const column = element(plan + 4, c, P_BYTES);
    const cursor = element(cursors, c, CURSOR);
    at = copyText(at, plan + load<u32>(column + P_KEY), load<u32>(column + P_KEY_BYTES));
    if (load<u32>(cursor) == STATE_MISSING)
      at = copyText(at, plan + load<u32>(column + P_MISSING), load<u32>(column + P_MISSING_BYTES));
    else at = writeCell(at, cursor, row);
  }
  store<u8>(at, 0x7d);
  return at + 1;
}

/**
 * Writes rows (u32[n]) of a segment as JSON text. Returns the number of bytes written;
 * `hg_result_rows` returns the number of rows written, fewer than n if `capacity` is exhausted.
 * Returns TOO_SMALL if not even one row fits (`hg_result_needed` then returns an upper bound on the
 * size of this row), or OUT_OF_MEMORY. `separator`: see ROWS_*.
 */
export function segmentRows(
  s: usize,
  rows: usize,
  n: u32,
  plan: usize,
  separator: u32,
  out: usize,
  capacity: u32,
): i32 {
  if (separator == ROWS_COLUMNS) return segmentColumns(s, rows, n, plan, out, capacity);
  const base = <usize>load<u32>(s + S_BASE);
  const columns = planColumns(plan);
  const bound = planBound(plan);
  const form = planForm(plan);
  const cursors = alloc(columns * CURSOR_BYTES + bound);
  if (!cursors) return OUT_OF_MEMORY;
  let valued = false;
  for (let c: u32 = 0; c < columns; c++) {
    const state = openColumn(
      base,
      load<u32>(s + S_ROWS),
      load<u32>(element(plan + 4, c, P_BYTES) + P_COLUMN),
      element(cursors, c, CURSOR),
    );
    if (state == STATE_VALUES) valued = true;
  }
  const roles = planRoles(plan);
  const tail = element(cursors, columns, CURSOR);
  const tailBytes = valued ? 0 : <u32>(constantTail(plan, cursors, tail) - tail);
  const end = out + capacity;
  let at = out;
  let done: u32 = 0;
  let needed: usize = 0;
  let following: u32 = u32.MAX_VALUE;
  let first: u32 = 0;
  for (; done < n; done++) {
    const row = get<u32>(rows, done);
    const size = rowSize(s, row);
    if (row != following) first = firstIncidence(s, row);
    const masks = roles ? rowMasks(s, first) : 0;
    needed = 80 + <usize>size * 18 + bound + (valued ? <usize>textsBound(plan, cursors, row) : 0);
    if (masks) needed += roleMembersBound(masks, size);
    if (at + needed > end) break;
    const start = at;
    if (separator < ROWS_LINES && (done || separator)) store<u8>(at++, 0x2c);
    if (form) at = writeSegmentHead(at, form, s, row, first, size);
    else {
      at = writeMembers(writeStart(at, rowId(s, row), rowTime(s, row)), s, first, size);
      store<u8>(at - 1, 0x5d);
    }
    if (roles) {
      if (masks) rowMembers(s, row, members);
      at = writeRoles(at, plan, rolesOf(plan), roles, masks, members, size, form & PLAN_NAMED);
    }
    first += size;
    following = row + 1;
    at = valued ? writeTail(at, plan, cursors, row) : copyText(at, tail, tailBytes);
    if (separator == ROWS_LINES) store<u8>(at++, 0x0a);
    if (!ASC_NO_ASSERT) assert(at <= start + needed, 'the text of a row is within its bound');
    if (!ASC_NO_ASSERT) assert(at <= end, 'text ends inside of its region');
  }
  free(cursors);
  setRows(done);
  return done || !n ? <i32>(at - out) : tooSmall(<u32>needed);
}

function writeProperty(out: usize, entry: usize): usize {
  const type = <u32>load<u8>(entry + 2);
  if (type == HG_TYPE_REAL) return writeFloat(out, load<f64>(entry + 4));
  if (type == HG_TYPE_INTEGER) return writeInt(out, load<i64>(entry + 4));
  if (type == HG_TYPE_BOOLEAN) return writeBoolean(out, load<u8>(entry + 4));
  if (type == HG_TYPE_TEXT) return writeText(out, entry + 8, load<u32>(entry + 4));
  store<u32>(out, NULL_TEXT);
  return out + 4;
}

function writeRecordTail(out: usize, plan: usize, record: usize): usize {
  let at = out;
  const columns = planColumns(plan);
  for (let c: u32 = 0; c < columns; c++) {
    const column = element(plan + 4, c, P_BYTES);
    at = copyText(at, plan + load<u32>(column + P_KEY), load<u32>(column + P_KEY_BYTES));
    const entry = findProperty(record, load<u32>(column + P_COLUMN));
    at = entry
      ? writeProperty(at, entry)
      : copyText(at, plan + load<u32>(column + P_MISSING), load<u32>(column + P_MISSING_BYTES));
  }
  store<u8>(at, 0x7d);
  return at + 1;
}

/** Same as `segmentRows`, for the records at the addresses `records` (u32[n]). */
export function recordRows(records: usize, n: u32, plan: usize, separator: u32, out: usize, capacity: u32): i32 {
  if (separator == ROWS_COLUMNS) return recordColumns(records, n, plan, out, capacity);
  const bound = planBound(plan);
  const form = planForm(plan);
  const roles = planRoles(plan);
  const end = out + capacity;
  let at = out;
  let done: u32 = 0;
  let needed: usize = 0;
  for (; done < n; done++) {
    const record = <usize>get<u32>(records, done);
    const size = <u32>load<u8>(record + R_COUNT);
    const block = <u32>load<u16>(record + 6);
    needed = 80 + <usize>size * 18 + bound + (block ? <usize>(load<u32>(record) - block) * 6 : 0);
    const masks = roles ? recordMasks(record) : 0;
    if (masks) needed += roleMembersBound(masks, size);
    if (at + needed > end) break;
    const start = at;
    if (separator < ROWS_LINES && (done || separator)) store<u8>(at++, 0x2c);
    decodeMembers(record + R_MEMBERS, size, members);
    at = form
      ? writeRecordHead(at, form, load<i64>(record + R_ID), load<i64>(record + R_TIME), size)
      : writeHead(at, load<i64>(record + R_ID), load<i64>(record + R_TIME), size);
    if (roles) at = writeRoles(at, plan, rolesOf(plan), roles, masks, members, size, form & PLAN_NAMED);
    at = writeRecordTail(at, plan, record);
    if (separator == ROWS_LINES) store<u8>(at++, 0x0a);
    if (!ASC_NO_ASSERT) assert(at <= start + needed, 'the text of a row is within its bound');
    if (!ASC_NO_ASSERT) assert(at <= end, 'text ends inside of its region');
  }
  setRows(done);
  return done || !n ? <i32>(at - out) : tooSmall(<u32>needed);
}
