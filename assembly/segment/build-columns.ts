// Builds the property columns of a segment from records: types, null bitmaps, values, text
// dictionaries and orders (PSI).

import { findProperty } from '../codec/record';
import { planTree } from '../interval/tree';
import { HG_TYPE_BOOLEAN, HG_TYPE_INTEGER, HG_TYPE_REAL, HG_TYPE_TEXT } from '../limits';
import { bytesOf, cell, get, put } from '../memory/cells';
import { psiOrder } from '../psi/order';
import { hasValue, nullBytes, numericValue, openColumn } from './columns';
import {
  E_COLUMN,
  E_COUNT,
  E_FLAGS,
  E_OFFSET,
  E_WIDTH,
  FLAG_ALL_NULL,
  FLAG_NULLS,
  K_COLUMN,
  K_PSI,
  storePacked,
} from './layout';
import { planSection } from './writer';

/** Indexes of a column: the order of its values, and the tree of the ends of intervals. */
const INDEX_ORDER: u8 = 1;
const INDEX_INTERVAL: u8 = 2;

/**
 * Returns the address of the row's property entry, or 0 if the value is null. `missing` is the
 * entry used if the record does not have the column (0: null).
 */
function valueOf(record: usize, column: u32, missing: usize): usize {
  const entry = findProperty(record, column);
  const used = entry ? entry : missing;
  return used && load<u8>(used + 2) ? used : 0;
}

function integerWidth(range: u64): u32 {
  return range < 0x100 ? 1 : range < 0x10000 ? 2 : range < 0x100000000 ? 4 : 8;
}

/**
 * Compares two texts by bytes, given as addresses of property entries; returns a number < 0, 0 or >
 * 0.
 */
function compareText(a: usize, b: usize): i32 {
  const lengthA = load<u32>(a + 4);
  const lengthB = load<u32>(b + 4);
  const length = lengthA < lengthB ? lengthA : lengthB;
  // Long equal texts are compared often, so this loop takes eight bytes at a time, at any
  // alignment.
  let same: usize = 0;
  while (same + 8 <= <usize>length && load<u64>(a + 8 + same) == load<u64>(b + 8 + same)) same += 8;
  const order = memory.compare(a + 8 + same, b + 8 + same, length - same);
  return order ? order : <i32>(lengthA > lengthB) - <i32>(lengthA < lengthB);
}

/** Sorts items {u32 entry, u32 row} by text with a bottom-up merge sort. */
function sortTexts(items: usize, n: u32, tmp: usize): void {
  let from = items;
  let to = tmp;
  for (let width: u32 = 1; width < n; width *= 2) {
    for (let start: u32 = 0; start < n; start += 2 * width) {
      const middle = min<u32>(start + width, n);
      const end = min<u32>(start + 2 * width, n);
      let i = start;
      let j = middle;
      for (let k = start; k < end; k++) {
        const left =
          i < middle && (j >= end || compareText(load<u32>(cell<u64>(from, i)), load<u32>(cell<u64>(from, j))) <= 0);
        put<u64>(to, k, get<u64>(from, left ? i++ : j++));
      }
    }
    const swap = from;
    from = to;
    to = swap;
  }
  if (from != items) memory.copy(items, from, bytesOf<u64>(n));
}

/**
 * Lists the rows that have a text as {u32 entry, u32 row}, sorted by text; returns their number.
 */
function gatherTexts(records: usize, rows: u32, column: u32, missing: usize, items: usize, tmp: usize): u32 {
  let n: u32 = 0;
  for (let row: u32 = 0; row < rows; row++) {
    const entry = valueOf(get<u32>(records, row), column, missing);
    if (!entry) continue;
    store<u32>(cell<u64>(items, n), <u32>entry);
    store<u32>(cell<u64>(items, n) + 4, row);
    n++;
  }
  sortTexts(items, n, tmp);
  return n;
}

function planText(
  plan: usize,
  records: usize,
  rows: u32,
  column: u32,
  missing: usize,
  scratch: usize,
  flags: u32,
): void {
  const n = gatherTexts(records, rows, column, missing, scratch, cell<u64>(scratch, rows));
  let entries: u32 = 0;
  let bytes: u32 = 0;
  for (let i: u32 = 0; i < n; i++) {
    const entry = <usize>load<u32>(cell<u64>(scratch, i));
    if (i && !compareText(entry, load<u32>(cell<u64>(scratch, i - 1)))) continue;
    entries++;
    bytes += load<u32>(entry + 4);
  }
  const nulls = flags & FLAG_NULLS ? nullBytes(rows) : 0;
  planSection(
    plan,
    K_COLUMN,
    column,
    HG_TYPE_TEXT,
    2,
    flags,
    nulls + 4 + (entries + 1) * 4 + rows * 2 + bytes,
    entries,
  );
}

/**
 * Plans the sections of one column. `spec` is {u16 id, u8 type, u8 indexes, u32 missing entry}.
 * `scratch` has 16 bytes per row. Returns false if a value has another type than the column.
 */
export function planColumn(plan: usize, records: usize, rows: u32, spec: usize, scratch: usize): bool {
  const column = <u32>load<u16>(spec);
  const type = <u32>load<u8>(spec + 2);
  const missing = <usize>load<u32>(spec + 4);
  let present: u32 = 0;
  let exact = true;
  let least = i64.MAX_VALUE;
  let greatest = i64.MIN_VALUE;
  for (let row: u32 = 0; row < rows; row++) {
    const entry = valueOf(get<u32>(records, row), column, missing);
    if (!entry) continue;
    if (load<u8>(entry + 2) != type) return false;
    present++;
    if (type == HG_TYPE_REAL) exact = exact && <f64>(<f32>load<f64>(entry + 4)) == load<f64>(entry + 4);
    else if (type == HG_TYPE_INTEGER) {
      const value = load<i64>(entry + 4);
      least = min(least, value);
      greatest = max(greatest, value);
    }
  }
  if (!present) {
    planSection(plan, K_COLUMN, column, type, 0, FLAG_ALL_NULL, 0, 0);
    return true;
  }
  const flags = present < rows ? FLAG_NULLS : 0;
  const nulls = flags ? nullBytes(rows) : 0;
  if (type == HG_TYPE_TEXT) planText(plan, records, rows, column, missing, scratch, flags);
  else if (type == HG_TYPE_BOOLEAN)
    planSection(plan, K_COLUMN, column, type, 0, flags, nulls + nullBytes(rows), present);
  else if (type == HG_TYPE_REAL)
    planSection(plan, K_COLUMN, column, type, exact ? 4 : 8, flags, nulls + rows * (exact ? 4 : 8), present);
  else {
    const width = integerWidth(<u64>(greatest - least));
    planSection(plan, K_COLUMN, column, type, width, flags, nulls + 8 + rows * width, present);
  }
  const indexes = load<u8>(spec + 3);
  if (indexes & INDEX_ORDER && (type == HG_TYPE_REAL || type == HG_TYPE_INTEGER))
    planSection(plan, K_PSI, column, type, 2, 0, present * 2, present);
  if (indexes & INDEX_INTERVAL && type == HG_TYPE_INTEGER) planTree(plan, column, rows);
  return true;
}

function setBit(bitmap: usize, row: u32): void {
  const at = bitmap + (row >> 3);
  store<u8>(at, load<u8>(at) | <u8>((<u32>1) << (row & 7)));
}

function fillText(
  records: usize,
  rows: u32,
  column: u32,
  missing: usize,
  at: usize,
  entries: u32,
  scratch: usize,
): void {
  const n = gatherTexts(records, rows, column, missing, scratch, cell<u64>(scratch, rows));
  store<u32>(at, entries);
  const offsets = at + 4;
  const codes = cell<u32>(offsets, entries + 1);
  const bytes = cell<u16>(codes, rows);
  let code: u32 = 0;
  let length: u32 = 0;
  for (let i: u32 = 0; i < n; i++) {
    const entry = <usize>load<u32>(cell<u64>(scratch, i));
    if (!i || compareText(entry, load<u32>(cell<u64>(scratch, i - 1)))) {
      memory.copy(bytes + length, entry + 8, load<u32>(entry + 4));
      length += load<u32>(entry + 4);
      code++;
      put<u32>(offsets, code, length);
    }
    put<u16>(codes, load<u32>(cell<u64>(scratch, i) + 4), <u16>(code - 1));
  }
}

function leastInteger(records: usize, rows: u32, column: u32, missing: usize): i64 {
  let least = i64.MAX_VALUE;
  for (let row: u32 = 0; row < rows; row++) {
    const entry = valueOf(get<u32>(records, row), column, missing);
    if (entry) least = min(least, load<i64>(entry + 4));
  }
  return least;
}

/** Writes the section of one planned column into the file. */
export function fillColumn(file: usize, entry: usize, records: usize, rows: u32, spec: usize, scratch: usize): void {
  const column = <u32>load<u16>(spec);
  const type = <u32>load<u8>(spec + 2);
  const missing = <usize>load<u32>(spec + 4);
  const flags = <u32>load<u16>(entry + E_FLAGS);
  if (flags & FLAG_ALL_NULL) return;
  const width = <u32>load<u8>(entry + E_WIDTH);
  const bitmap = file + load<u32>(entry + E_OFFSET);
  const at = bitmap + (flags & FLAG_NULLS ? <usize>nullBytes(rows) : 0);
  const least = type == HG_TYPE_INTEGER ? leastInteger(records, rows, column, missing) : 0;
  if (type == HG_TYPE_INTEGER) store<i64>(at, least);
  for (let row: u32 = 0; row < rows; row++) {
    const value = valueOf(get<u32>(records, row), column, missing);
    if (!value) continue;
    if (flags & FLAG_NULLS) setBit(bitmap, row);
    if (type == HG_TYPE_INTEGER) storePacked(at + 8, width, row, <u64>(load<i64>(value + 4) - least));
    else if (type == HG_TYPE_BOOLEAN) {
      if (load<u8>(value + 4)) setBit(at, row);
    } else if (type == HG_TYPE_REAL) {
      if (width == 4) put<f32>(at, row, <f32>load<f64>(value + 4));
      else put<f64>(at, row, load<f64>(value + 4));
    }
  }
  if (type == HG_TYPE_TEXT) fillText(records, rows, column, missing, at, load<u32>(entry + E_COUNT), scratch);
}

/** Writes the (value, row) order of a filled numeric column. `scratch` has 24 bytes per row. */
export function fillOrder(file: usize, entry: usize, rows: u32, scratch: usize): void {
  const cursor = memory.data(32, 16);
  openColumn(file, rows, <u32>load<u16>(entry + E_COLUMN), cursor);
  const keys = scratch;
  const ordinals = cell<u64>(scratch, rows);
  let n: u32 = 0;
  for (let row: u32 = 0; row < rows; row++) {
    if (!hasValue(cursor, row)) continue;
    put<f64>(keys, n, numericValue(cursor, row));
    put<u32>(ordinals, n, row);
    n++;
  }
  psiOrder(keys, ordinals, n, scratch + <usize>rows * 12);
  const out = file + load<u32>(entry + E_OFFSET);
  for (let i: u32 = 0; i < n; i++) put<u16>(out, i, <u16>get<u32>(ordinals, i));
}
