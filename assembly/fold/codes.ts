// Computes codes: a code is a small number that stands for the value of a field in a row. Selects
// and counts rows by their codes.

import { HG_TYPE_BOOLEAN, HG_TYPE_INTEGER, HG_TYPE_TEXT } from '../limits';
import { bytesOf, cell, get, put } from '../memory/cells';
import { C_BYTES, C_DATA, C_NULLS, C_OFFSETS, C_TYPE, C_WIDTH, openColumn, STATE_VALUES } from '../segment/columns';
import { BLOCK_BYTES, floorDivide, H_BUCKETS, H_MAX_SIZE, S_BASE, S_BLOCKS, S_ROWS, S_SIZES } from '../segment/layout';
import { rowTime } from '../segment/reader';
import { BAD_ARGUMENT, setRows, tooSmall } from '../status';
import { FIELD_BUCKET, FIELD_COLUMN, FIELD_ID, FIELD_SIZE, FIELD_TIME, WORD_ROWS, wordsOf } from './numbers';

/** A code is a u16. */
const MOST_CODES: u32 = 65536;

const cursor: usize = memory.data(32, 16);
/** For every byte, its 8 bits as u16. These are the codes of 8 rows of a boolean column. */
const SPREAD: usize = memory.data(4096, 16);

/**
 * Writes the code of every row (u16[rows]); rows with a null have the last code. Returns the number
 * of codes; `hg_result_rows` returns this number without the code of null. Returns 0 if the field
 * has no values or is not suited to codes: times, ids, reals, and integers with too wide a range.
 * Returns TOO_SMALL if there are more than `capacity` codes without the code of null;
 * `hg_result_needed` then returns their number.
 *
 * `values` (f64[]) receives the value of each code except the code of null. For a text this is its
 * rank among the distinct texts, for a bucket the time of the first row in the bucket.
 */
export function codesOf(s: usize, field: u32, column: u32, codes: usize, values: usize, capacity: u32): i32 {
  const rows = load<u32>(s + S_ROWS);
  if (field == FIELD_SIZE) {
    const count = load<u32>(<usize>load<u32>(s + S_BASE) + H_MAX_SIZE) + 1;
    if (count > capacity) return tooSmall(count);
    widen(<usize>load<u32>(s + S_SIZES), rows, codes);
    countUp(values, count, 0);
    setRows(count);
    return <i32>count;
  }
  if (field == FIELD_BUCKET) return bucketCodes(s, rows, codes, values, capacity);
  if (field == FIELD_TIME || field == FIELD_ID) return 0;
  if (field != FIELD_COLUMN) return BAD_ARGUMENT;
  if (openColumn(<usize>load<u32>(s + S_BASE), rows, column, cursor) != STATE_VALUES) return 0;
  const type = load<u32>(cursor + C_TYPE);
  const data = <usize>load<u32>(cursor + C_DATA);
  let count: u32 = 0;
  let least: f64 = 0;
  if (type == HG_TYPE_TEXT) {
    count = load<u32>(<usize>load<u32>(cursor + C_OFFSETS) - 4);
    if (count > capacity) return tooSmall(count);
    memory.copy(codes, data, bytesOf<u16>(rows));
  } else if (type == HG_TYPE_BOOLEAN) {
    count = 2;
    if (count > capacity) return tooSmall(count);
    spreadBits(data, rows, codes);
  } else if (type == HG_TYPE_INTEGER) {
    const width = load<u32>(cursor + C_WIDTH);
    if (width > 2) return 0;
    if (width == 1) widen(data + 8, rows, codes);
    else memory.copy(codes, data + 8, bytesOf<u16>(rows));
    count = greatest(codes, rows) + 1;
    if (count > capacity) return tooSmall(count);
    least = <f64>load<i64>(data);
  } else return 0;
  countUp(values, count, least);
  setRows(count);
  const nulls = <usize>load<u32>(cursor + C_NULLS);
  if (!nulls) return <i32>count;
  if (count == MOST_CODES) return 0;
  markNulls(nulls, rows, codes, <u16>count);
  return <i32>(count + 1);
}

function countUp(values: usize, count: u32, least: f64): void {
  for (let i: u32 = 0; i < count; i++) put<f64>(values, i, least + <f64>i);
}

function widen(bytes: usize, rows: u32, codes: usize): void {
  let row: u32 = 0;
  if (ASC_FEATURE_SIMD) {
    for (; row + 16 <= rows; row += 16) {
      const some = v128.load(bytes + row);
      v128.store(cell<u16>(codes, row), v128.extend_low<u8>(some));
      v128.store(cell<u16>(codes, row), v128.extend_high<u8>(some), 16);
    }
  }
  for (; row < rows; row++) put<u16>(codes, row, <u16>load<u8>(bytes + row));
}

/** Writes 8 codes at a time, so `codes` must have space up to the next multiple of 8 rows. */
function spreadBits(bits: usize, rows: u32, codes: usize): void {
  if (!load<u16>(SPREAD + 16)) {
    for (let byte: u32 = 0; byte < 256; byte++) {
      for (let bit: u32 = 0; bit < 8; bit++) put<u16>(SPREAD + ((<usize>byte) << 4), bit, <u16>((byte >> bit) & 1));
    }
  }
  const bytes = (rows + 7) >> 3;
  for (let i: u32 = 0; i < bytes; i++) {
    const from = SPREAD + ((<usize>load<u8>(bits + i)) << 4);
    const to = codes + ((<usize>i) << 4);
    store<u64>(to, load<u64>(from));
    store<u64>(to, load<u64>(from, 8), 8);
  }
}

function greatest(codes: usize, rows: u32): u32 {
  let most: u32 = 0;
  let row: u32 = 0;
  if (ASC_FEATURE_SIMD) {
    let tops = i64x2.splat(0);
    for (; row + 8 <= rows; row += 8) tops = v128.max<u16>(tops, v128.load(cell<u16>(codes, row)));
    for (let i: u32 = 0; i < 8; i++) {
      most = max(most, <u32>i16x8.extract_lane_u(tops, 0));
      tops = i8x16.shuffle(tops, tops, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1);
    }
  }
  for (; row < rows; row++) most = max(most, <u32>get<u16>(codes, row));
  return most;
}

function markNulls(present: usize, rows: u32, codes: usize, code: u16): void {
  const words = wordsOf(rows);
  for (let word: u32 = 0; word < words; word++) {
    const left = rows - (word << 6);
    let absent = ~get<u64>(present, word);
    if (left < WORD_ROWS) absent &= ((<u64>1) << (<u64>left)) - 1;
    for (; absent; absent &= absent - 1) put<u16>(codes, (word << 6) + <u32>ctz(absent), code);
  }
}

function bucketCodes(s: usize, rows: u32, codes: usize, values: usize, capacity: u32): i32 {
  const count = load<u32>(<usize>load<u32>(s + S_BASE) + H_BUCKETS);
  if (count > capacity) return tooSmall(count);
  const blocks = <usize>load<u32>(s + S_BLOCKS);
  let bucket: u32 = 0;
  for (let first: u32 = 0; first < rows; first += WORD_ROWS) {
    const end = min(rows, first + WORD_ROWS);
    let row = first;
    for (let starts = load<u64>(blocks + <usize>(first >> 6) * BLOCK_BYTES + 8); starts; starts &= starts - 1) {
      const start = first + <u32>ctz(starts);
      if (start > row) fillCodes(codes, row, start, bucket - 1);
      row = start;
      put<f64>(values, bucket, <f64>rowTime(s, start));
      bucket++;
    }
    fillCodes(codes, row, end, bucket - 1);
  }
  setRows(count);
  return <i32>count;
}

/**
 * Gives the rows [from, to) the same code, 4 rows at a time, so `codes` must have space for 3 more
 * rows.
 */
function fillCodes(codes: usize, from: u32, to: u32, code: u32): void {
  const four = <u64>code * 0x0001000100010001;
  const end = cell<u16>(codes, to);
  for (let at = cell<u16>(codes, from); at < end; at += 8) store<u64>(at, four);
}

/**
 * Writes the end offset of each distinct text of a column (u32[]), followed by the texts; returns
 * the number of bytes written. Returns TOO_SMALL if these do not fit, BAD_ARGUMENT if the column is
 * not a text column or has no values.
 */
export function textsOf(s: usize, column: u32, out: usize, capacity: u32): i32 {
  const state = openColumn(<usize>load<u32>(s + S_BASE), load<u32>(s + S_ROWS), column, cursor);
  if (state != STATE_VALUES || load<u32>(cursor + C_TYPE) != HG_TYPE_TEXT) return BAD_ARGUMENT;
  const offsets = <usize>load<u32>(cursor + C_OFFSETS);
  const ends = bytesOf<u32>(load<u32>(offsets - 4));
  const bytes = load<u32>(offsets + ends);
  if (ends + bytes > capacity) return tooSmall(ends + bytes);
  memory.copy(out, offsets + 4, ends);
  memory.copy(out + ends, <usize>load<u32>(cursor + C_BYTES), bytes);
  return <i32>(ends + bytes);
}

/**
 * Replaces the codes of a field by codes for pairs of values of two fields: codes = codes * count +
 * more, where `count` is the number of codes in `more`.
 */
export function joinCodes(codes: usize, more: usize, count: u32, rows: u32): void {
  let row: u32 = 0;
  if (ASC_FEATURE_SIMD) {
    const factor = i16x8.splat(<i16>count);
    for (; row + 8 <= rows; row += 8) {
      const at = cell<u16>(codes, row);
      v128.store(at, i16x8.add(i16x8.mul(v128.load(at), factor), v128.load(cell<u16>(more, row))));
    }
  }
  for (; row < rows; row++) {
    const at = cell<u16>(codes, row);
    store<u16>(at, <u16>(<u32>load<u16>(at) * count + <u32>get<u16>(more, row)));
  }
}

/**
 * Deselects the rows whose code has the truth value 0. `truth` is u8[count], 0 or 1 for each code.
 */
export function keepCodes(selection: usize, codes: usize, rows: u32, truth: usize, count: u32): void {
  const words = wordsOf(rows);
  for (let word: u32 = 0; word < words; word++) {
    const at = cell<u64>(selection, word);
    const chosen = load<u64>(at);
    if (!chosen) continue;
    const from = codes + ((<usize>word) << 7);
    let held: u64 = 0;
    if (ASC_FEATURE_SIMD && count <= 16 && (word + 1) << 6 <= rows) held = truths16(from, truth, count);
    else {
      const n = min(rows - (word << 6), WORD_ROWS);
      for (let i: u32 = 0; i < n; i++) held |= (<u64>load<u8>(truth + <usize>get<u16>(from, i))) << (<u64>i);
    }
    store<u64>(at, chosen & held);
  }
}

/**
 * Returns, as bits, the truth values of 64 rows with codes below 16. Each table lookup handles 16
 * rows.
 */
function truths16(from: usize, truth: usize, count: u32): u64 {
  if (ASC_FEATURE_SIMD) {
    if (!ASC_NO_ASSERT) assert(count <= 16);
    const table = v128.load(truth);
    const zero = i64x2.splat(0);
    let held: u64 = 0;
    for (let i: u32 = 0; i < WORD_ROWS; i += 16) {
      const at = cell<u16>(from, i);
      const narrow = i8x16.narrow_i16x8_u(v128.load(at), v128.load(at, 16));
      held |= (<u64>i8x16.bitmask(i8x16.ne(i8x16.swizzle(table, narrow), zero))) << (<u64>i);
    }
    return held;
  } else return 0;
}

/** Writes the number of selected rows with each code to `out` (u32[count]). */
export function countCodes(selection: usize, codes: usize, rows: u32, out: usize, count: u32): void {
  memory.fill(out, 0, bytesOf<u32>(count));
  const words = wordsOf(rows);
  for (let word: u32 = 0; word < words; word++) {
    let chosen = get<u64>(selection, word);
    const from = codes + ((<usize>word) << 7);
    if (chosen == u64.MAX_VALUE) {
      for (let i: u32 = 0; i < WORD_ROWS; i++) countOne(out, cell<u16>(from, i));
      continue;
    }
    for (; chosen; chosen &= chosen - 1) countOne(out, cell<u16>(from, <usize>ctz(chosen)));
  }
}

function countOne(out: usize, code: usize): void {
  const at = cell<u32>(out, load<u16>(code));
  store<u32>(at, load<u32>(at) + 1);
}
