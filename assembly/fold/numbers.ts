// Finds out where a segment stores the numbers of a field, for loops over whole columns: the
// address, the width in bytes and the null bitmap.

import { HG_TYPE_INTEGER, HG_TYPE_REAL } from '../limits';
import { get } from '../memory/cells';
import {
  C_DATA,
  C_NULLS,
  C_TYPE,
  C_WIDTH,
  CURSOR_BYTES,
  openColumn,
  STATE_MISSING,
  STATE_VALUES,
} from '../segment/columns';
import {
  packed,
  S_BASE,
  S_ID_MIN,
  S_ID_WIDTH,
  S_IDS,
  S_ROWS,
  S_SIZES,
  S_TIME_MIN,
  S_TIME_WIDTH,
  S_TIMES,
} from '../segment/layout';

/**
 * The fields of a row: a property column, the time, the id, the member count, and the bucket. The
 * bucket has codes but no numbers.
 */
export const FIELD_COLUMN: u32 = 0;
export const FIELD_TIME: u32 = 1;
export const FIELD_ID: u32 = 2;
export const FIELD_SIZE: u32 = 3;
export const FIELD_BUCKET: u32 = 4;

/** Number of rows per word of a selection. */
export const WORD_ROWS: u32 = 64;

/**
 * Fields of a numbers cursor, 32 bytes, which describes the numbers of one field:
 *
 * - N_STATE: the state of the column, as in a column cursor, or STATE_NO_NUMBERS;
 * - N_REAL: 1 for reals, 0 for integers;
 * - N_WIDTH: bytes per value; 0 means that the value is the row number;
 * - N_NULLS: address of the null bitmap; 0 means that every row has a value;
 * - N_DATA: address of the values;
 * - N_LEAST: the number added to packed integers.
 */
export const N_STATE: usize = 0;
export const N_REAL: usize = 4;
export const N_WIDTH: usize = 8;
export const N_NULLS: usize = 12;
export const N_DATA: usize = 16;
export const N_LEAST: usize = 24;
const NUMBERS_BYTES: u32 = 32;

/** The field is not numeric. */
export const STATE_NO_NUMBERS: u32 = 255;

const cursor: usize = memory.data(32, 16);

/** Fills the cursor at `numbers` for a field of an open segment; returns the cursor's state. */
export function openNumbers(s: usize, field: u32, column: u32, numbers: usize): u32 {
  memory.fill(numbers, 0, NUMBERS_BYTES);
  store<u32>(numbers + N_STATE, STATE_VALUES);
  if (field == FIELD_TIME) {
    store<u32>(numbers + N_WIDTH, load<u32>(s + S_TIME_WIDTH));
    store<u32>(numbers + N_DATA, load<u32>(s + S_TIMES));
    store<i64>(numbers + N_LEAST, load<i64>(s + S_TIME_MIN));
  } else if (field == FIELD_ID) {
    store<u32>(numbers + N_WIDTH, load<u32>(s + S_ID_WIDTH));
    store<u32>(numbers + N_DATA, load<u32>(s + S_IDS));
    store<i64>(numbers + N_LEAST, load<i64>(s + S_ID_MIN));
  } else if (field == FIELD_SIZE) {
    store<u32>(numbers + N_WIDTH, 1);
    store<u32>(numbers + N_DATA, load<u32>(s + S_SIZES));
  } else if (field == FIELD_COLUMN) openColumnNumbers(s, column, numbers);
  else store<u32>(numbers + N_STATE, STATE_NO_NUMBERS);
  return load<u32>(numbers + N_STATE);
}

function openColumnNumbers(s: usize, column: u32, numbers: usize): void {
  if (!ASC_NO_ASSERT) assert(CURSOR_BYTES == 32);
  const state = openColumn(<usize>load<u32>(s + S_BASE), load<u32>(s + S_ROWS), column, cursor);
  const type = load<u32>(cursor + C_TYPE);
  if (state != STATE_MISSING && type != HG_TYPE_REAL && type != HG_TYPE_INTEGER) {
    store<u32>(numbers + N_STATE, STATE_NO_NUMBERS);
    return;
  }
  store<u32>(numbers + N_STATE, state);
  if (state != STATE_VALUES) return;
  const data = load<u32>(cursor + C_DATA);
  store<u32>(numbers + N_REAL, u32(type == HG_TYPE_REAL));
  store<u32>(numbers + N_WIDTH, load<u32>(cursor + C_WIDTH));
  store<u32>(numbers + N_NULLS, load<u32>(cursor + C_NULLS));
  // The data of an integer column begins with its least value.
  store<u32>(numbers + N_DATA, type == HG_TYPE_REAL ? data : data + 8);
  if (type == HG_TYPE_INTEGER) store<i64>(numbers + N_LEAST, load<i64>(<usize>data));
}

/** Returns the packed value of a row, which is the row number if the width is 0. */
export function offsetOf(data: usize, width: u32, row: u32): u64 {
  return width ? packed(data, width, row) : <u64>row;
}

/** Returns, as bits, the selected rows of word `word` that have a value. */
export function chosenRows(selection: usize, nulls: usize, word: u32): u64 {
  const chosen = get<u64>(selection, word);
  return nulls ? chosen & get<u64>(nulls, word) : chosen;
}

/** Returns the number of words in a selection of `rows` rows. */
export function wordsOf(rows: u32): u32 {
  return (rows + WORD_ROWS - 1) >> 6;
}
