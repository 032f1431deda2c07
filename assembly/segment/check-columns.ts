// Checks the property columns of a segment file and their orders (PSI), as part of the deep check.

import { HG_MAX_TEXT_BYTES, HG_TYPE_BOOLEAN, HG_TYPE_INTEGER, HG_TYPE_REAL, HG_TYPE_TEXT, MAX_SAFE } from '../limits';
import { after, cell, element, get } from '../memory/cells';
import { CORRUPT, failAt } from '../status';
import { hasValue, nullBytes, numericValue, openColumn, STATE_VALUES } from './columns';
import {
  E_BYTES,
  E_COLUMN,
  E_COUNT,
  E_FLAGS,
  E_KIND,
  E_OFFSET,
  E_TYPE,
  E_WIDTH,
  ENTRY_BYTES,
  FLAG_ALL_NULL,
  FLAG_NULLS,
  H_ROWS,
  H_SECTIONS,
  HEADER_BYTES,
  K_COLUMN,
  K_PSI,
  packed,
} from './layout';

const cursor: usize = memory.data(32, 16);

/**
 * Checks the data of a text column, `left` bytes at `at`. The dictionary must be in bounds. Its
 * texts must be distinct and in byte order. Every code must be in the dictionary.
 */
function checkText(at: usize, left: u64, rows: u32): bool {
  if (left < 8) return false;
  const entries = load<u32>(at);
  const head = 4 + (<u64>entries + 1) * 4 + <u64>rows * 2;
  if (!entries || entries > rows || head > left) return false;
  const offsets = at + 4;
  if (load<u32>(offsets) || head + <u64>get<u32>(offsets, entries) != left) return false;
  for (let i: u32 = 0; i < entries; i++) {
    const start = get<u32>(offsets, i);
    const end = after<u32>(offsets, i);
    if (start > end || end - start > HG_MAX_TEXT_BYTES) return false;
  }
  const codes = cell<u32>(offsets, entries + 1);
  for (let row: u32 = 0; row < rows; row++) {
    if (<u32>get<u16>(codes, row) >= entries) return false;
  }
  return isSorted(offsets, entries, cell<u16>(codes, rows));
}

/** Returns whether the texts ascend strictly by bytes. */
function isSorted(offsets: usize, entries: u32, bytes: usize): bool {
  for (let i: u32 = 1; i < entries; i++) {
    const start = get<u32>(offsets, i - 1);
    const middle = get<u32>(offsets, i);
    const end = after<u32>(offsets, i);
    const order = memory.compare(bytes + start, bytes + middle, min(middle - start, end - middle));
    if (order > 0 || (!order && middle - start >= end - middle)) return false;
  }
  return true;
}

/**
 * Checks that every value is a finite number (real columns) or a safe integer (integer columns).
 * Sizes must have been checked before.
 */
function checkNumbers(base: usize, entry: usize, rows: u32, type: u32): bool {
  openColumn(base, rows, <u32>load<u16>(entry + E_COLUMN), cursor);
  if (type == HG_TYPE_REAL) {
    for (let row: u32 = 0; row < rows; row++)
      if (hasValue(cursor, row) && !isFinite(numericValue(cursor, row))) return false;
    return true;
  }
  const data =
    base + load<u32>(entry + E_OFFSET) + (load<u16>(entry + E_FLAGS) & FLAG_NULLS ? <usize>nullBytes(rows) : 0);
  const least = load<i64>(data);
  if (least < -MAX_SAFE || least > MAX_SAFE) return false;
  const range = <u64>(MAX_SAFE - least);
  const width = <u32>load<u8>(entry + E_WIDTH);
  for (let row: u32 = 0; row < rows; row++)
    if (hasValue(cursor, row) && packed(data + 8, width, row) > range) return false;
  return true;
}

function checkColumn(base: usize, entry: usize): bool {
  const rows = load<u32>(base + H_ROWS);
  const flags = <u32>load<u16>(entry + E_FLAGS);
  const type = <u32>load<u8>(entry + E_TYPE);
  const width = <u64>load<u8>(entry + E_WIDTH);
  const bytes = <u64>load<u32>(entry + E_BYTES);
  if (type < HG_TYPE_REAL || type > HG_TYPE_BOOLEAN) return false;
  if (flags & FLAG_ALL_NULL) return bytes == 0;
  const nulls = flags & FLAG_NULLS ? <u64>nullBytes(rows) : 0;
  if (nulls > bytes) return false;
  const left = bytes - nulls;
  if (type == HG_TYPE_BOOLEAN) return left == <u64>nullBytes(rows);
  if (type == HG_TYPE_TEXT) return checkText(base + load<u32>(entry + E_OFFSET) + <usize>nulls, left, rows);
  const known = width == 4 || width == 8 || (type == HG_TYPE_INTEGER && (width == 1 || width == 2));
  return known && left == width * rows + (type == HG_TYPE_INTEGER ? 8 : 0) && checkNumbers(base, entry, rows, type);
}

/**
 * Checks the order of a column that passed `checkColumn`: it must list exactly the rows that have a
 * value, strictly ascending by (value, row).
 */
function checkOrder(base: usize, entry: usize): bool {
  const rows = load<u32>(base + H_ROWS);
  const count = load<u32>(entry + E_COUNT);
  if (count > rows || load<u32>(entry + E_BYTES) != count * 2) return false;
  if (openColumn(base, rows, <u32>load<u16>(entry + E_COLUMN), cursor) != STATE_VALUES) return false;
  const type = <u32>load<u8>(entry + E_TYPE);
  if (type != HG_TYPE_REAL && type != HG_TYPE_INTEGER) return false;
  let values: u32 = 0;
  for (let row: u32 = 0; row < rows; row++) values += u32(hasValue(cursor, row));
  if (values != count) return false;
  const order = base + load<u32>(entry + E_OFFSET);
  let previous: f64 = 0;
  let previousRow: u32 = 0;
  for (let i: u32 = 0; i < count; i++) {
    const row = <u32>get<u16>(order, i);
    if (row >= rows || !hasValue(cursor, row)) return false;
    const value = numericValue(cursor, row);
    if (i && (value < previous || (value == previous && row <= previousRow))) return false;
    previous = value;
    previousRow = row;
  }
  return true;
}

/**
 * Checks all column and order sections: columns must ascend strictly by id, and an order must
 * directly follow its column. Returns 0, or CORRUPT with the section's offset. Bounds and fixed
 * sizes must have been checked before.
 */
export function checkColumns(base: usize): i32 {
  const sections = load<u32>(base + H_SECTIONS);
  let column: i32 = -1;
  let type: u32 = 0;
  let ordered = false;
  for (let i: u32 = 0; i < sections; i++) {
    const entry = element(base + HEADER_BYTES, i, ENTRY_BYTES);
    const kind = <u32>load<u16>(entry + E_KIND);
    const id = <i32>load<u16>(entry + E_COLUMN);
    let good = true;
    if (kind == K_COLUMN) {
      good = id > column && checkColumn(base, entry);
      column = id;
      type = load<u8>(entry + E_TYPE);
      ordered = false;
    } else if (kind == K_PSI) {
      good = id == column && !ordered && load<u8>(entry + E_TYPE) == type && checkOrder(base, entry);
      ordered = true;
    }
    if (!good) return failAt(CORRUPT, load<u32>(entry + E_OFFSET));
  }
  return 0;
}
