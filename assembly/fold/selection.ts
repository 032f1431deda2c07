// Builds selections: a selection marks rows of a segment, with one bit per row and one u64 per 64
// rows. Selects by windows, lists, ranges of numbers and texts, and removes dead rows.

import { HG_RANGE_ENTRY_BYTES, HG_TYPE_TEXT } from '../limits';
import { bytesOf, cell, get, put } from '../memory/cells';
import { codeOfText, TEXT_RANGE, withCode } from '../psi/text';
import { C_DATA, C_NULLS, C_TYPE, CURSOR_BYTES, openColumn, STATE_MISSING, STATE_VALUES } from '../segment/columns';
import { S_BASE, S_ROWS } from '../segment/layout';
import { BAD_ARGUMENT } from '../status';
import {
  chosenRows,
  FIELD_COLUMN,
  N_DATA,
  N_LEAST,
  N_NULLS,
  N_REAL,
  N_WIDTH,
  offsetOf,
  openNumbers,
  STATE_NO_NUMBERS,
  WORD_ROWS,
  wordsOf,
} from './numbers';

/** Offsets of the fields of a range, the same as for `hg_segment_filter` (psi/filter.ts). */
const R_LOW: usize = 0;
const R_HIGH: usize = 8;
const R_MISSING: usize = 16;
const R_COLUMN: usize = 24;
const R_FLAGS: usize = 28;
const LOW_OPEN: u32 = 1;
const HIGH_OPEN: u32 = 2;
/** Flag: keep the values outside the range. Nulls are never kept. */
const OUTSIDE: u32 = 4;

const numbers: usize = memory.data(32, 16);
const texts: usize = memory.data(CURSOR_BYTES, 16);

/** Selects rows [from, to) and no others. */
export function selectWindow(out: usize, rows: u32, from: u32, to: u32): void {
  const words = wordsOf(rows);
  for (let word: u32 = 0; word < words; word++) {
    const first = word << 6;
    const low = from > first ? min(from - first, WORD_ROWS) : 0;
    const high = to > first ? min(to - first, WORD_ROWS) : 0;
    put<u64>(out, word, low < high ? bitsBelow(high) & ~bitsBelow(low) : 0);
  }
}

function bitsBelow(n: u32): u64 {
  return n < WORD_ROWS ? ((<u64>1) << (<u64>n)) - 1 : u64.MAX_VALUE;
}

/** Selects the listed rows (u32[n]) and no others. */
export function selectRows(out: usize, rows: u32, list: usize, n: u32): void {
  memory.fill(out, 0, bytesOf<u64>(wordsOf(rows)));
  for (let i: u32 = 0; i < n; i++) {
    const row = get<u32>(list, i);
    const at = cell<u64>(out, row >> 6);
    store<u64>(at, load<u64>(at) | ((<u64>1) << (<u64>(row & 63))));
  }
}

/**
 * Deselects the rows of `dead` (u32[m]) whose deletion has an LSN (f64, in `deaths`) <= `lsn`. If
 * `deaths` is 0, deselects all rows of `dead`.
 */
export function dropRows(selection: usize, dead: usize, deaths: usize, m: u32, lsn: f64): void {
  for (let i: u32 = 0; i < m; i++) {
    if (deaths && get<f64>(deaths, i) > lsn) continue;
    const row = get<u32>(dead, i);
    const at = cell<u64>(selection, row >> 6);
    store<u64>(at, load<u64>(at) & ~((<u64>1) << (<u64>(row & 63))));
  }
}

export function countRows(selection: usize, rows: u32): u32 {
  const words = wordsOf(rows);
  let count: u64 = 0;
  for (let word: u32 = 0; word < words; word++) count += popcnt(get<u64>(selection, word));
  return <u32>count;
}

/**
 * Keeps the selected rows whose number is in the range or, with the flag OUTSIDE, not in it. Rows
 * with a null are dropped. With the flag TEXT_RANGE, keeps the rows with that text. Returns 0, or
 * BAD_ARGUMENT if the field has another type than the range.
 */
export function selectRange(s: usize, selection: usize, field: u32, range: usize): i32 {
  if (!ASC_NO_ASSERT) assert(HG_RANGE_ENTRY_BYTES == 32);
  if (load<u32>(range + R_FLAGS) & TEXT_RANGE) return selectText(s, selection, field, range);
  const rows = load<u32>(s + S_ROWS);
  const state = openNumbers(s, field, load<u32>(range + R_COLUMN), numbers);
  if (state == STATE_NO_NUMBERS) return BAD_ARGUMENT;
  const flags = load<u32>(range + R_FLAGS);
  if (state != STATE_VALUES) {
    const missing = state == STATE_MISSING ? load<f64>(range + R_MISSING) : NaN;
    const kept = missing == missing && lies(missing, range) != bool(flags & OUTSIDE);
    if (!kept) memory.fill(selection, 0, bytesOf<u64>(wordsOf(rows)));
    return 0;
  }
  const flip: u64 = flags & OUTSIDE ? u64.MAX_VALUE : 0;
  if (load<u32>(numbers + N_REAL)) selectReals(selection, rows, range, flip);
  else selectIntegers(selection, rows, range, flip);
  return 0;
}

function lies(value: f64, range: usize): bool {
  const flags = load<u32>(range + R_FLAGS);
  const low = load<f64>(range + R_LOW);
  const high = load<f64>(range + R_HIGH);
  return (flags & LOW_OPEN ? value > low : value >= low) && (flags & HIGH_OPEN ? value < high : value <= high);
}

// Texts

function selectText(s: usize, selection: usize, field: u32, range: usize): i32 {
  if (field != FIELD_COLUMN) return BAD_ARGUMENT;
  const rows = load<u32>(s + S_ROWS);
  const state = openColumn(<usize>load<u32>(s + S_BASE), rows, load<u32>(range + R_COLUMN), texts);
  const words = wordsOf(rows);
  let code: i32 = -1;
  if (state == STATE_VALUES) {
    if (load<u32>(texts + C_TYPE) != HG_TYPE_TEXT) return BAD_ARGUMENT;
    code = codeOfText(texts, range);
  } else if (state == STATE_MISSING && load<f64>(range + R_MISSING)) return 0;
  if (code < 0) {
    memory.fill(selection, 0, bytesOf<u64>(words));
    return 0;
  }
  const codes = <usize>load<u32>(texts + C_DATA);
  const nulls = <usize>load<u32>(texts + C_NULLS);
  for (let word: u32 = 0; word < words; word++) {
    const first = word << 6;
    let chosen = chosenRows(selection, nulls, word);
    if (chosen) chosen &= withCode(cell<u16>(codes, first), min(rows - first, WORD_ROWS), <u32>code);
    put<u64>(selection, word, chosen);
  }
  return 0;
}

// Reals

/** Returns the next greater double; +Infinity for +Infinity. */
function above(value: f64): f64 {
  if (value == Infinity) return value;
  if (value == 0) return reinterpret<f64>(<u64>1);
  const bits = reinterpret<i64>(value);
  return reinterpret<f64>(value > 0 ? bits + 1 : bits - 1);
}

function selectReals(selection: usize, rows: u32, range: usize, flip: u64): void {
  const flags = load<u32>(range + R_FLAGS);
  let low = load<f64>(range + R_LOW);
  let high = load<f64>(range + R_HIGH);
  // No value is above +Infinity or below -Infinity, so an open bound there selects nothing.
  let none = (flags & LOW_OPEN && low == Infinity) || (flags & HIGH_OPEN && high == -Infinity);
  if (flags & LOW_OPEN) low = above(low);
  if (flags & HIGH_OPEN) high = -above(-high);
  if (none) {
    low = Infinity;
    high = -Infinity;
  }
  const data = <usize>load<u32>(numbers + N_DATA);
  const nulls = <usize>load<u32>(numbers + N_NULLS);
  if (load<u32>(numbers + N_WIDTH) == 4) keepReals<f32>(selection, rows, data, nulls, low, high, flip);
  else keepReals<f64>(selection, rows, data, nulls, low, high, flip);
}

function keepReals<T>(selection: usize, rows: u32, data: usize, nulls: usize, low: f64, high: f64, flip: u64): void {
  const words = wordsOf(rows);
  for (let word: u32 = 0; word < words; word++) {
    let chosen = chosenRows(selection, nulls, word);
    if (chosen) {
      const from = cell<T>(data, (<usize>word) << 6);
      const held =
        (word + 1) << 6 <= rows ? realsWithin<T>(from, low, high) : fewRealsWithin<T>(from, rows & 63, low, high);
      chosen &= held ^ flip;
    }
    put<u64>(selection, word, chosen);
  }
}

function fewRealsWithin<T>(from: usize, n: u32, low: f64, high: f64): u64 {
  let held: u64 = 0;
  for (let i: u32 = 0; i < n; i++) {
    const value = <f64>get<T>(from, i);
    held |= u64(value >= low && value <= high) << (<u64>i);
  }
  return held;
}

/** Returns, as bits, which of the 64 reals at `from` are within the bounds. */
function realsWithin<T>(from: usize, low: f64, high: f64): u64 {
  if (ASC_FEATURE_SIMD) {
    const lows = f64x2.splat(low);
    const highs = f64x2.splat(high);
    let held: u64 = 0;
    for (let i: u32 = 0; i < WORD_ROWS; i += 2) {
      const at = cell<T>(from, i);
      const pair = sizeof<T>() == 8 ? v128.load(at) : f64x2.promote_low_f32x4(v128.load64_zero(at));
      const within = v128.and(f64x2.ge(pair, lows), f64x2.le(pair, highs));
      held |= (<u64>i64x2.bitmask(within)) << (<u64>i);
    }
    return held;
  } else return fewRealsWithin<T>(from, WORD_ROWS, low, high);
}

// Integers

const SAFE_BEHIND: f64 = 9007199254740992;

/**
 * Returns the least integer that is >= the bound (> the bound if it is open), clamped to [-2^53,
 * 2^53 + 1].
 */
function firstFrom(bound: f64, open: bool): i64 {
  if (bound < -SAFE_BEHIND) return -(<i64>SAFE_BEHIND);
  if (bound > SAFE_BEHIND) return <i64>SAFE_BEHIND + 1;
  const first = ceil(bound);
  return <i64>first + i64(open && first == bound);
}

function selectIntegers(selection: usize, rows: u32, range: usize, flip: u64): void {
  const flags = load<u32>(range + R_FLAGS);
  const least = load<i64>(numbers + N_LEAST);
  const width = load<u32>(numbers + N_WIDTH);
  const data = <usize>load<u32>(numbers + N_DATA);
  const nulls = <usize>load<u32>(numbers + N_NULLS);
  // Packed values are compared, so the range is converted to packed values [first, first + span].
  let low = firstFrom(load<f64>(range + R_LOW), bool(flags & LOW_OPEN)) - least;
  const high = -firstFrom(-load<f64>(range + R_HIGH), bool(flags & HIGH_OPEN)) - least;
  if (low < 0) low = 0;
  const most: i64 = width == 1 ? 0xff : width == 2 ? 0xffff : width == 4 ? 0xffffffff : i64.MAX_VALUE;
  const last = min(high, most);
  const none = low > last;
  const first = <u64>low;
  const span = none ? 0 : <u64>(last - low);
  if (width == 1) keepIntegers<u8>(selection, rows, data, nulls, <u8>first, <u8>span, none, flip);
  else if (width == 2) keepIntegers<u16>(selection, rows, data, nulls, <u16>first, <u16>span, none, flip);
  else if (width == 4) keepIntegers<u32>(selection, rows, data, nulls, <u32>first, <u32>span, none, flip);
  else keepWide(selection, rows, data, width, nulls, first, span, none, flip);
}

function keepIntegers<T>(
  selection: usize,
  rows: u32,
  data: usize,
  nulls: usize,
  first: T,
  span: T,
  none: bool,
  flip: u64,
): void {
  const words = wordsOf(rows);
  for (let word: u32 = 0; word < words; word++) {
    let chosen = chosenRows(selection, nulls, word);
    if (chosen) {
      const from = cell<T>(data, (<usize>word) << 6);
      let held: u64 = 0;
      if (!none)
        held =
          (word + 1) << 6 <= rows
            ? integersWithin<T>(from, first, span)
            : fewIntegersWithin<T>(from, rows & 63, first, span);
      chosen &= held ^ flip;
    }
    put<u64>(selection, word, chosen);
  }
}

function fewIntegersWithin<T>(from: usize, n: u32, first: T, span: T): u64 {
  let held: u64 = 0;
  for (let i: u32 = 0; i < n; i++) {
    const value = get<T>(from, i);
    held |= u64(<T>(value - first) <= span) << (<u64>i);
  }
  return held;
}

/** Returns, as bits, which of the 64 packed integers at `from` are in [first, first + span]. */
function integersWithin<T>(from: usize, first: T, span: T): u64 {
  if (ASC_FEATURE_SIMD) {
    const firsts = v128.splat<T>(first);
    const spans = v128.splat<T>(span);
    let held: u64 = 0;
    const lanes = <u32>(16 / sizeof<T>());
    for (let i: u32 = 0; i < WORD_ROWS; i += lanes) {
      const distances = v128.sub<T>(v128.load(cell<T>(from, i)), firsts);
      held |= (<u64>v128.bitmask<T>(v128.le<T>(distances, spans))) << (<u64>i);
    }
    return held;
  } else return fewIntegersWithin<T>(from, WORD_ROWS, first, span);
}

function keepWide(
  selection: usize,
  rows: u32,
  data: usize,
  width: u32,
  nulls: usize,
  first: u64,
  span: u64,
  none: bool,
  flip: u64,
): void {
  const words = wordsOf(rows);
  for (let word: u32 = 0; word < words; word++) {
    let chosen = chosenRows(selection, nulls, word);
    const n = chosen ? min(rows - (word << 6), WORD_ROWS) : 0;
    let held: u64 = 0;
    for (let i: u32 = 0; i < n && !none; i++)
      held |= u64(offsetOf(data, width, (word << 6) + i) - first <= span) << (<u64>i);
    chosen &= held ^ flip;
    put<u64>(selection, word, chosen);
  }
}
