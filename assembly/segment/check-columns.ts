// Checks the property columns of a segment file, their orders (PSI) and the tree of the ends of
// intervals, as part of the deep check.
//
// Each of them is checked in phases, each of which goes through the rows or the texts once.

import { checkTree, treeEntries } from '../interval/tree';
import { HG_MAX_TEXT_BYTES, HG_TYPE_BOOLEAN, HG_TYPE_INTEGER, HG_TYPE_REAL, HG_TYPE_TEXT, MAX_SAFE } from '../limits';
import { after, cell, element, get } from '../memory/cells';
import { CORRUPT, failAt } from '../status';
import { BYTES_A_UNIT, K_AT, K_DONE, K_LEFT, K_VALUES, MORE, spend } from './check-state';
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
  H_VERSION,
  HEADER_BYTES,
  K_COLUMN,
  K_INTERVAL,
  K_PSI,
  packed,
} from './layout';

const cursor: usize = memory.data(32, 16);

/** Fields of the state while columns are checked. `K_DONE` is the next row or text of the phase. */
const V_PHASE: usize = K_VALUES;
/** Id and type of the last column, and which of its indexes was seen last (ORDER_SEEN, ...). */
const V_COLUMN: usize = K_VALUES + 4;
const V_TYPE: usize = K_VALUES + 8;
const V_ORDERED: usize = K_VALUES + 12;
/** Phase COUNT: the rows with a value so far. */
const V_COUNT: usize = K_VALUES + 16;
/** Phase ORDER: the last row and its value. */
const V_ROW: usize = K_VALUES + 20;
const V_VALUE: usize = K_VALUES + 24;

/** The phases of a section. */
const SHAPE: u32 = 0;
const NUMBERS: u32 = 1;
const OFFSETS: u32 = 2;
const CODES: u32 = 3;
const TEXTS: u32 = 4;
const COUNT: u32 = 5;
const ORDER: u32 = 6;
const TREE: u32 = 7;
const GOOD: u32 = 8;
const BAD: u32 = 9;

const ORDER_SEEN: u32 = 1;
const TREE_SEEN: u32 = 2;

/** Returns the address of a column's values, which follow its null bits. */
function valuesOf(base: usize, entry: usize, rows: u32): usize {
  return base + load<u32>(entry + E_OFFSET) + (load<u16>(entry + E_FLAGS) & FLAG_NULLS ? <usize>nullBytes(rows) : 0);
}

/**
 * Returns the index behind the last of the `count` items that the phase may examine in this call,
 * and takes the work of examining them.
 */
function endOfStep(state: usize, count: u32): u32 {
  const from = load<u32>(state + K_DONE);
  const items = min(count - from, load<u32>(state + K_LEFT));
  spend(state, items);
  store<u32>(state + K_DONE, from + items);
  return from + items;
}

/** Checks the sizes in a text column, `left` bytes at `at`. The dictionary must be in bounds. */
function textShape(at: usize, left: u64, rows: u32): u32 {
  if (left < 8) return BAD;
  const entries = load<u32>(at);
  const head = 4 + (<u64>entries + 1) * 4 + <u64>rows * 2;
  if (!entries || entries > rows || head > left) return BAD;
  const offsets = at + 4;
  return load<u32>(offsets) || head + <u64>get<u32>(offsets, entries) != left ? BAD : OFFSETS;
}

/** Checks that the texts of a dictionary are in bounds. */
function checkOffsets(at: usize, state: usize): u32 {
  const entries = load<u32>(at);
  const offsets = at + 4;
  const from = load<u32>(state + K_DONE);
  const to = endOfStep(state, entries);
  for (let i = from; i < to; i++) {
    const start = get<u32>(offsets, i);
    const end = after<u32>(offsets, i);
    if (start > end || end - start > HG_MAX_TEXT_BYTES) return BAD;
  }
  return to < entries ? OFFSETS : CODES;
}

/** Checks that every code of a text column is in its dictionary. */
function checkCodes(at: usize, rows: u32, state: usize): u32 {
  const entries = load<u32>(at);
  const codes = cell<u32>(at + 4, entries + 1);
  const from = load<u32>(state + K_DONE);
  const to = endOfStep(state, rows);
  for (let row = from; row < to; row++) if (<u32>get<u16>(codes, row) >= entries) return BAD;
  return to < rows ? CODES : TEXTS;
}

/** Checks that the texts of a dictionary ascend strictly by bytes. */
function checkTexts(at: usize, rows: u32, state: usize): u32 {
  const entries = load<u32>(at);
  const offsets = at + 4;
  const bytes = cell<u16>(cell<u32>(offsets, entries + 1), rows);
  let i = max(load<u32>(state + K_DONE), 1);
  for (; i < entries && load<u32>(state + K_LEFT); i++) {
    const start = get<u32>(offsets, i - 1);
    const middle = get<u32>(offsets, i);
    const shorter = min(middle - start, after<u32>(offsets, i) - middle);
    const order = memory.compare(bytes + start, bytes + middle, shorter);
    if (order > 0 || (!order && middle - start >= after<u32>(offsets, i) - middle)) return BAD;
    spend(state, shorter / BYTES_A_UNIT + 1);
  }
  store<u32>(state + K_DONE, i);
  return i < entries ? TEXTS : GOOD;
}

/**
 * Checks that every value is a finite number (real columns) or a safe integer (integer columns).
 * Sizes must have been checked before.
 */
function checkNumbers(base: usize, entry: usize, rows: u32, state: usize): u32 {
  openColumn(base, rows, <u32>load<u16>(entry + E_COLUMN), cursor);
  const from = load<u32>(state + K_DONE);
  const to = endOfStep(state, rows);
  const next = to < rows ? NUMBERS : GOOD;
  if (load<u8>(entry + E_TYPE) == <u8>HG_TYPE_REAL) {
    for (let row = from; row < to; row++) if (hasValue(cursor, row) && !isFinite(numericValue(cursor, row))) return BAD;
    return next;
  }
  const data = valuesOf(base, entry, rows);
  const least = load<i64>(data);
  if (least < -MAX_SAFE || least > MAX_SAFE) return BAD;
  const range = <u64>(MAX_SAFE - least);
  const width = <u32>load<u8>(entry + E_WIDTH);
  for (let row = from; row < to; row++) if (hasValue(cursor, row) && packed(data + 8, width, row) > range) return BAD;
  return next;
}

/** Checks the sizes in a column, and returns the phase that checks its values. */
function columnShape(base: usize, entry: usize, rows: u32): u32 {
  const flags = <u32>load<u16>(entry + E_FLAGS);
  const type = <u32>load<u8>(entry + E_TYPE);
  const width = <u64>load<u8>(entry + E_WIDTH);
  const bytes = <u64>load<u32>(entry + E_BYTES);
  if (type < HG_TYPE_REAL || type > HG_TYPE_BOOLEAN) return BAD;
  if (flags & FLAG_ALL_NULL) return bytes == 0 ? GOOD : BAD;
  const nulls = flags & FLAG_NULLS ? <u64>nullBytes(rows) : 0;
  if (nulls > bytes) return BAD;
  const left = bytes - nulls;
  if (type == HG_TYPE_BOOLEAN) return left == <u64>nullBytes(rows) ? GOOD : BAD;
  if (type == HG_TYPE_TEXT) return textShape(valuesOf(base, entry, rows), left, rows);
  const known = width == 4 || width == 8 || (type == HG_TYPE_INTEGER && (width == 1 || width == 2));
  return known && left == width * rows + (type == HG_TYPE_INTEGER ? 8 : 0) ? NUMBERS : BAD;
}

/** Checks the sizes of the order of a column that was checked before. */
function orderShape(base: usize, entry: usize, rows: u32): u32 {
  const count = load<u32>(entry + E_COUNT);
  if (count > rows || load<u32>(entry + E_BYTES) != count * 2) return BAD;
  if (openColumn(base, rows, <u32>load<u16>(entry + E_COLUMN), cursor) != STATE_VALUES) return BAD;
  const type = <u32>load<u8>(entry + E_TYPE);
  return type == HG_TYPE_REAL || type == HG_TYPE_INTEGER ? COUNT : BAD;
}

/** Checks the sizes of the tree of ends of a column that was checked before. */
function treeShape(base: usize, entry: usize, rows: u32): u32 {
  const count = load<u32>(entry + E_COUNT);
  if (load<u32>(base + H_VERSION) < 2 || load<u8>(entry + E_TYPE) != <u8>HG_TYPE_INTEGER) return BAD;
  if (count != treeEntries(rows) || load<u32>(entry + E_BYTES) != count * 8) return BAD;
  return openColumn(base, rows, <u32>load<u16>(entry + E_COLUMN), cursor) == STATE_VALUES ? TREE : BAD;
}

/** Checks the entries of a tree of ends. An entry has at most 16 rows or entries below it. */
function checkEnds(base: usize, entry: usize, rows: u32, state: usize): u32 {
  const count = load<u32>(entry + E_COUNT);
  const from = load<u32>(state + K_DONE);
  const to = endOfStep(state, count);
  spend(state, (to - from) * 16);
  if (!checkTree(base, entry, rows, from, to)) return BAD;
  return to < count ? TREE : GOOD;
}

/** Checks that an order has as many rows as its column has values. */
function checkCount(base: usize, entry: usize, rows: u32, state: usize): u32 {
  openColumn(base, rows, <u32>load<u16>(entry + E_COLUMN), cursor);
  const from = load<u32>(state + K_DONE);
  const to = endOfStep(state, rows);
  let values = load<u32>(state + V_COUNT);
  for (let row = from; row < to; row++) values += u32(hasValue(cursor, row));
  store<u32>(state + V_COUNT, values);
  if (to < rows) return COUNT;
  return values == load<u32>(entry + E_COUNT) ? ORDER : BAD;
}

/**
 * Checks that an order lists only rows that have a value, strictly ascending by (value, row).
 * Together with their number this means that it lists all of them.
 */
function checkOrder(base: usize, entry: usize, rows: u32, state: usize): u32 {
  openColumn(base, rows, <u32>load<u16>(entry + E_COLUMN), cursor);
  const count = load<u32>(entry + E_COUNT);
  const order = base + load<u32>(entry + E_OFFSET);
  const from = load<u32>(state + K_DONE);
  const to = endOfStep(state, count);
  let previous = load<f64>(state + V_VALUE);
  let previousRow = load<u32>(state + V_ROW);
  for (let i = from; i < to; i++) {
    const row = <u32>get<u16>(order, i);
    if (row >= rows || !hasValue(cursor, row)) return BAD;
    const value = numericValue(cursor, row);
    if (i && (value < previous || (value == previous && row <= previousRow))) return BAD;
    previous = value;
    previousRow = row;
  }
  store<f64>(state + V_VALUE, previous);
  store<u32>(state + V_ROW, previousRow);
  return to < count ? ORDER : GOOD;
}

/**
 * Checks the place and the sizes of a section: columns must ascend strictly by id, an order must
 * directly follow its column, and a tree of ends its column or the order.
 */
function checkShape(base: usize, entry: usize, rows: u32, state: usize): u32 {
  const id = <u32>load<u16>(entry + E_COLUMN);
  const type = <u32>load<u8>(entry + E_TYPE);
  // Column ids are stored with 1 added, so that 0 means that there was no column yet.
  const last = load<u32>(state + V_COLUMN);
  if (<u32>load<u16>(entry + E_KIND) == K_COLUMN) {
    store<u32>(state + V_COLUMN, id + 1);
    store<u32>(state + V_TYPE, type);
    store<u32>(state + V_ORDERED, 0);
    return id + 1 > last ? columnShape(base, entry, rows) : BAD;
  }
  if (id + 1 != last || type != load<u32>(state + V_TYPE)) return BAD;
  const seen = load<u32>(state + V_ORDERED);
  if (<u32>load<u16>(entry + E_KIND) == K_INTERVAL) {
    store<u32>(state + V_ORDERED, TREE_SEEN);
    return seen < TREE_SEEN ? treeShape(base, entry, rows) : BAD;
  }
  if (seen) return BAD;
  store<u32>(state + V_ORDERED, ORDER_SEEN);
  store<u32>(state + V_COUNT, 0);
  return orderShape(base, entry, rows);
}

/** Continues a phase. Returns the same phase if it has not ended, the next one, GOOD or BAD. */
function checkPhase(phase: u32, base: usize, entry: usize, state: usize): u32 {
  const rows = load<u32>(base + H_ROWS);
  switch (phase) {
    case SHAPE:
      spend(state, 1);
      return checkShape(base, entry, rows, state);
    case NUMBERS:
      return checkNumbers(base, entry, rows, state);
    case OFFSETS:
      return checkOffsets(valuesOf(base, entry, rows), state);
    case CODES:
      return checkCodes(valuesOf(base, entry, rows), rows, state);
    case TEXTS:
      return checkTexts(valuesOf(base, entry, rows), rows, state);
    case COUNT:
      return checkCount(base, entry, rows, state);
    case TREE:
      return checkEnds(base, entry, rows, state);
    default:
      return checkOrder(base, entry, rows, state);
  }
}

/**
 * Checks all sections of columns and their indexes. Returns 0, MORE, or CORRUPT with the section's
 * offset. Bounds and fixed sizes must have been checked before.
 */
export function checkColumns(base: usize, state: usize): i32 {
  const sections = load<u32>(base + H_SECTIONS);
  let phase = load<u32>(state + V_PHASE);
  for (let i = load<u32>(state + K_AT); i < sections; i++) {
    const entry = element(base + HEADER_BYTES, i, ENTRY_BYTES);
    const kind = <u32>load<u16>(entry + E_KIND);
    if (kind != K_COLUMN && kind != K_PSI && kind != K_INTERVAL) continue;
    while (phase != GOOD) {
      if (!load<u32>(state + K_LEFT)) {
        store<u32>(state + K_AT, i);
        store<u32>(state + V_PHASE, phase);
        return MORE;
      }
      const next = checkPhase(phase, base, entry, state);
      if (next == BAD) return failAt(CORRUPT, load<u32>(entry + E_OFFSET));
      if (next != phase) store<u32>(state + K_DONE, 0);
      phase = next;
      // Opening a column searches the directory.
      spend(state, sections >> 3);
    }
    phase = SHAPE;
  }
  return 0;
}
