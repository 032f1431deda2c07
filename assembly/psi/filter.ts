// Keeps the rows of a list whose numeric columns, or ids, are within given ranges, in which a node
// has a role, or whose text columns are given texts. Reads the columns of a segment, or the records
// of a memtable.

import { findProperty, R_COUNT, R_ID, R_MEMBERS, recordMasks } from '../codec/record';
import { decodeMembers } from '../codec/vbyte';
import {
  HG_RANGE_ENTRY_BYTES,
  HG_RANGE_ID,
  HG_RANGE_ROLE,
  HG_TYPE_INTEGER,
  HG_TYPE_REAL,
  HG_TYPE_TEXT,
  MAX_SAFE,
} from '../limits';
import { bytesOf, cell, element, get } from '../memory/cells';
import { recordOf } from '../memtable/layout';
import { C_TYPE, hasValue, integerValue, openColumn, realValue, STATE_MISSING, STATE_VALUES } from '../segment/columns';
import { packed, S_BASE, S_ID_MIN, S_ID_WIDTH, S_IDS, S_ROWS } from '../segment/layout';
import { keepRole } from '../segment/roles';
import { BAD_ARGUMENT } from '../status';
import { entryHasText, keepText, TEXT_RANGE } from './text';

/**
 * Offsets of the fields of a range: f64 lowest and f64 highest value, f64 value for rows that do
 * not have the column (NaN: null), u32 column, u32 flags as for `hg_segment_psi`. With the flag
 * TEXT_RANGE, the fields describe a text (psi/text.ts).
 */
const R_LOW: usize = 0;
const R_HIGH: usize = 8;
const R_MISSING: usize = 16;
const R_COLUMN: usize = 24;
const R_FLAGS: usize = 28;

const LOW_OPEN: u32 = 1;
const HIGH_OPEN: u32 = 2;
/** A null is in the range. */
const NULL_IN: u32 = 8;

const cursor: usize = memory.data(32, 16);
const members: usize = memory.data(255 * 8 + 16, 16);

/** Returns whether a value is in the range. NaN is null. */
function holds(range: usize, value: f64): bool {
  if (value != value) return (load<u32>(range + R_FLAGS) & NULL_IN) != 0;
  return lies(value, load<f64>(range + R_LOW), load<f64>(range + R_HIGH), load<u32>(range + R_FLAGS));
}

function lies(value: f64, low: f64, high: f64, flags: u32): bool {
  return (flags & LOW_OPEN ? value > low : value >= low) && (flags & HIGH_OPEN ? value < high : value <= high);
}

/**
 * Removes, in place, the rows of a list (u32[n], in any order) that are not in all `k` ranges;
 * returns how many rows remain. Returns BAD_ARGUMENT if a column with values has another type than
 * its range. Cost: one access per row and range.
 */
export function filterSegment(s: usize, rows: usize, n: u32, ranges: usize, k: u32): i32 {
  const base = <usize>load<u32>(s + S_BASE);
  let left = n;
  for (let i: u32 = 0; i < k; i++) {
    const range = element(ranges, i, HG_RANGE_ENTRY_BYTES);
    if (load<u32>(range + R_COLUMN) == HG_RANGE_ID) {
      left = keepIds(s, rows, left, range);
      continue;
    }
    if (load<u32>(range + R_COLUMN) == HG_RANGE_ROLE) {
      left = keepRole(s, rows, left, <i64>load<f64>(range + R_LOW), <u32>load<f64>(range + R_MISSING));
      continue;
    }
    const isText = (load<u32>(range + R_FLAGS) & TEXT_RANGE) != 0;
    const state = openColumn(base, load<u32>(s + S_ROWS), load<u32>(range + R_COLUMN), cursor);
    if (state == STATE_VALUES) {
      const type = load<u32>(cursor + C_TYPE);
      if (isText) {
        if (type != HG_TYPE_TEXT) return BAD_ARGUMENT;
        left = keepText(cursor, rows, left, range);
        continue;
      }
      if (type != HG_TYPE_REAL && type != HG_TYPE_INTEGER) return BAD_ARGUMENT;
      left = keepValues(rows, left, range);
    } else if (isText) {
      if (state != STATE_MISSING || !load<f64>(range + R_MISSING)) left = 0;
    } else if (!holds(range, state == STATE_MISSING ? load<f64>(range + R_MISSING) : NaN)) left = 0;
  }
  return <i32>left;
}

function keepValues(rows: usize, n: u32, range: usize): u32 {
  const low = load<f64>(range + R_LOW);
  const high = load<f64>(range + R_HIGH);
  const flags = load<u32>(range + R_FLAGS);
  const isInteger = load<u32>(cursor + C_TYPE) == HG_TYPE_INTEGER;
  const nullBytes = bytesOf<u32>(u32((flags & NULL_IN) != 0));
  const end = cell<u32>(rows, n);
  let at = rows;
  for (let from = rows; from < end; from += 4) {
    const row = load<u32>(from);
    store<u32>(at, row);
    if (!hasValue(cursor, row)) {
      at += nullBytes;
      continue;
    }
    const value = isInteger ? <f64>integerValue(cursor, row) : realValue(cursor, row);
    at += bytesOf<u32>(u32(lies(value, low, high, flags)));
  }
  return <u32>((at - rows) >> 2);
}

/** Compares ids as they are stored: as differences from the segment's least id. */
function keepIds(s: usize, rows: usize, n: u32, range: usize): u32 {
  const flags = load<u32>(range + R_FLAGS);
  const low = whole(load<f64>(range + R_LOW), true, (flags & LOW_OPEN) != 0);
  const high = whole(load<f64>(range + R_HIGH), false, (flags & HIGH_OPEN) != 0);
  const least = load<i64>(s + S_ID_MIN);
  if (high < least || high < low) return 0;
  const from = <u64>(low > least ? low - least : 0);
  const span = <u64>(high - least) - from;
  const ids = <usize>load<u32>(s + S_IDS);
  const width = load<u32>(s + S_ID_WIDTH);
  const end = cell<u32>(rows, n);
  let at = rows;
  for (let next = rows; next < end; next += 4) {
    const row = load<u32>(next);
    store<u32>(at, row);
    const id = width == 0 ? <u64>row : packed(ids, width, row);
    at += bytesOf<u32>(u32(id - from <= span));
  }
  return <u32>((at - rows) >> 2);
}

/** Returns the least integer that a lower bound allows, or the greatest that an upper one does. */
function whole(bound: f64, isLow: bool, isOpen: bool): i64 {
  const within = max(-(<f64>MAX_SAFE), min(<f64>MAX_SAFE, isLow ? ceil(bound) : floor(bound)));
  if (!isOpen || within != bound) return <i64>within;
  return <i64>within + (isLow ? 1 : -1);
}

/**
 * Removes, in place, the rows of a memtable that are not in all `k` ranges; returns how many rows
 * remain. Unlike `filterSegment`, it does not check the types of the columns: a value of another
 * type is in no range. Cost: for each row and range, a scan of the record's properties up
 * to the column.
 */
export function filterMemtable(m: usize, rows: usize, n: u32, ranges: usize, k: u32): u32 {
  let at = rows;
  const end = cell<u32>(rows, n);
  for (let from = rows; from < end; from += 4) {
    const row = load<u32>(from);
    store<u32>(at, row);
    at += bytesOf<u32>(u32(recordHolds(recordOf(m, row), ranges, k)));
  }
  return <u32>((at - rows) >> 2);
}

function recordHolds(record: usize, ranges: usize, k: u32): bool {
  for (let i: u32 = 0; i < k; i++) {
    const range = element(ranges, i, HG_RANGE_ENTRY_BYTES);
    const column = load<u32>(range + R_COLUMN);
    if (column == HG_RANGE_ID) {
      if (!holds(range, <f64>load<i64>(record + R_ID))) return false;
      continue;
    }
    if (column == HG_RANGE_ROLE) {
      if (!hasRole(record, <i64>load<f64>(range + R_LOW), <u32>load<f64>(range + R_MISSING))) return false;
      continue;
    }
    const entry = findProperty(record, column);
    if (load<u32>(range + R_FLAGS) & TEXT_RANGE) {
      if (entry ? !entryHasText(entry, range) : !load<f64>(range + R_MISSING)) return false;
      continue;
    }
    if (!holds(range, entry ? propertyNumber(entry) : load<f64>(range + R_MISSING))) return false;
  }
  return true;
}

/** Returns whether `node` is a member of a record and has a role of `mask`. */
function hasRole(record: usize, node: i64, mask: u32): bool {
  const masks = recordMasks(record);
  if (!masks) return false;
  const n = <u32>load<u8>(record + R_COUNT);
  decodeMembers(record + R_MEMBERS, n, members);
  for (let i: u32 = 0; i < n; i++) if (get<i64>(members, i) == node) return (<u32>get<u16>(masks, i) & mask) != 0;
  return false;
}

/** Returns the number in a property entry; NaN if the value is null or not a number. */
function propertyNumber(entry: usize): f64 {
  const type = <u32>load<u8>(entry + 2);
  if (type == HG_TYPE_REAL) return load<f64>(entry + 4);
  return type == HG_TYPE_INTEGER ? <f64>load<i64>(entry + 4) : NaN;
}
