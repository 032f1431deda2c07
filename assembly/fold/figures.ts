// Computes figures of a segment's numbers: the count, the sum, the least and the greatest number,
// over all selected rows together or for each code separately.

import { element, get } from '../memory/cells';
import { STATE_VALUES } from '../segment/columns';
import { S_ROWS } from '../segment/layout';
import { BAD_ARGUMENT } from '../status';
import {
  chosenRows,
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
import { endsOfReals, sumOfReals } from './reals';

/**
 * Offsets of the figures of one group, f64 each: the count of numbers, their sum, the compensation
 * of the sum, the least and the greatest number. For reals, sum + compensation is more accurate
 * than one double; for integers both parts are exact.
 */
export const F_COUNT: usize = 0;
export const F_SUM: usize = 8;
export const F_LACK: usize = 16;
export const F_LEAST: usize = 24;
export const F_GREATEST: usize = 32;
export const FIGURES_BYTES: u32 = 40;

/** Flags for the requested figures. */
export const WANT_COUNT: u32 = 1;
export const WANT_SUM: u32 = 2;
export const WANT_ENDS: u32 = 4;

const numbers: usize = memory.data(32, 16);

/**
 * Writes the figures of `groups` groups. If `codes` (u16[rows]) is 0, all selected rows form one
 * group. Figures that were not requested have the values of an empty group (0, +Infinity,
 * -Infinity), except that the count may be present without being requested. Returns 0, or
 * BAD_ARGUMENT if the field is not numeric.
 */
export function figuresOf(
  s: usize,
  field: u32,
  column: u32,
  selection: usize,
  codes: usize,
  groups: u32,
  wants: u32,
  out: usize,
): i32 {
  const state = openNumbers(s, field, column, numbers);
  if (state == STATE_NO_NUMBERS) return BAD_ARGUMENT;
  for (let group: u32 = 0; group < groups; group++) clear(element(out, group, FIGURES_BYTES));
  if (state != STATE_VALUES) return 0;
  const rows = load<u32>(s + S_ROWS);
  const isReal = load<u32>(numbers + N_REAL) != 0;
  if (codes) {
    // A sum of integers needs the count.
    if (wants & WANT_COUNT || (wants & WANT_SUM && !isReal)) countGroups(selection, rows, codes, out);
    if (wants & WANT_SUM) {
      if (!isReal) sumIntegerGroups(selection, rows, codes, groups, out);
      else if (load<u32>(numbers + N_WIDTH) == 4) sumRealGroups<f32>(selection, rows, codes, out);
      else sumRealGroups<f64>(selection, rows, codes, out);
    }
    if (wants & WANT_ENDS) {
      if (!isReal) integerGroupEnds(selection, rows, codes, out);
      else if (load<u32>(numbers + N_WIDTH) == 4) realGroupEnds<f32>(selection, rows, codes, out);
      else realGroupEnds<f64>(selection, rows, codes, out);
    }
    return 0;
  }
  const data = <usize>load<u32>(numbers + N_DATA);
  const nulls = <usize>load<u32>(numbers + N_NULLS);
  store<f64>(out + F_COUNT, <f64>countChosen(selection, rows, nulls));
  if (wants & WANT_SUM) {
    if (!isReal) sumIntegers(selection, rows, out);
    else if (load<u32>(numbers + N_WIDTH) == 4) sumOfReals<f32>(data, nulls, selection, rows, out + F_SUM);
    else sumOfReals<f64>(data, nulls, selection, rows, out + F_SUM);
  }
  if (wants & WANT_ENDS) {
    if (!isReal) integerEnds(selection, rows, out);
    else if (load<u32>(numbers + N_WIDTH) == 4) endsOfReals<f32>(data, nulls, selection, rows, out + F_LEAST);
    else endsOfReals<f64>(data, nulls, selection, rows, out + F_LEAST);
  }
  return 0;
}

function clear(out: usize): void {
  store<f64>(out + F_COUNT, 0);
  store<f64>(out + F_SUM, 0);
  store<f64>(out + F_LACK, 0);
  store<f64>(out + F_LEAST, Infinity);
  store<f64>(out + F_GREATEST, -Infinity);
}

function countChosen(selection: usize, rows: u32, nulls: usize): u64 {
  const words = wordsOf(rows);
  let count: u64 = 0;
  for (let word: u32 = 0; word < words; word++) count += popcnt(chosenRows(selection, nulls, word));
  return count;
}

// Integers are packed: stored as the difference from the least integer of the column. The low and
// the high 32 bits of packed values are summed separately, each in an i64, which cannot overflow
// with the rows of one segment.

function storeIntegerSum(out: usize, count: i64, low: i64, high: i64): void {
  const least = load<i64>(numbers + N_LEAST);
  store<f64>(out + F_SUM, <f64>(high + count * (least >> 32)) * 4294967296);
  store<f64>(out + F_LACK, <f64>(low + count * (least & 0xffffffff)));
}

function sumIntegers(selection: usize, rows: u32, out: usize): void {
  const data = <usize>load<u32>(numbers + N_DATA);
  const width = load<u32>(numbers + N_WIDTH);
  const nulls = <usize>load<u32>(numbers + N_NULLS);
  const words = wordsOf(rows);
  let low: i64 = 0;
  let high: i64 = 0;
  for (let word: u32 = 0; word < words; word++) {
    let chosen = chosenRows(selection, nulls, word);
    if (chosen == u64.MAX_VALUE && width == 4) {
      const from = data + ((<usize>word) << 8);
      for (let i: usize = 0; i < WORD_ROWS; i++) low += <i64>get<u32>(from, i);
      continue;
    }
    for (; chosen; chosen &= chosen - 1) {
      const packed = offsetOf(data, width, (word << 6) + <u32>ctz(chosen));
      low += <i64>(packed & 0xffffffff);
      high += <i64>(packed >> 32);
    }
  }
  storeIntegerSum(out, <i64>load<f64>(out + F_COUNT), low, high);
}

function integerEnds(selection: usize, rows: u32, out: usize): void {
  const data = <usize>load<u32>(numbers + N_DATA);
  const width = load<u32>(numbers + N_WIDTH);
  const nulls = <usize>load<u32>(numbers + N_NULLS);
  const words = wordsOf(rows);
  let least = u64.MAX_VALUE;
  let greatest: u64 = 0;
  for (let word: u32 = 0; word < words; word++) {
    let chosen = chosenRows(selection, nulls, word);
    for (; chosen; chosen &= chosen - 1) {
      const packed = offsetOf(data, width, (word << 6) + <u32>ctz(chosen));
      least = min(least, packed);
      greatest = max(greatest, packed);
    }
  }
  if (load<f64>(out + F_COUNT) == 0) return;
  store<f64>(out + F_LEAST, <f64>(load<i64>(numbers + N_LEAST) + <i64>least));
  store<f64>(out + F_GREATEST, <f64>(load<i64>(numbers + N_LEAST) + <i64>greatest));
}

// Figures per code

function groupOf(codes: usize, row: u32, out: usize): usize {
  return out + <usize>(<u32>get<u16>(codes, row) * FIGURES_BYTES);
}

function countGroups(selection: usize, rows: u32, codes: usize, out: usize): void {
  const nulls = <usize>load<u32>(numbers + N_NULLS);
  const words = wordsOf(rows);
  for (let word: u32 = 0; word < words; word++) {
    for (let chosen = chosenRows(selection, nulls, word); chosen; chosen &= chosen - 1) {
      const group = groupOf(codes, (word << 6) + <u32>ctz(chosen), out);
      store<f64>(group + F_COUNT, load<f64>(group + F_COUNT) + 1);
    }
  }
}

/**
 * Sums reals by group. Adjacent rows often belong to the same group, so the sum of the current
 * group stays in local variables until a row of another group follows. Sums in memory would make
 * every row wait for the store of the row before.
 */
function sumRealGroups<T>(selection: usize, rows: u32, codes: usize, out: usize): void {
  const data = <usize>load<u32>(numbers + N_DATA);
  const nulls = <usize>load<u32>(numbers + N_NULLS);
  const words = wordsOf(rows);
  let group = out;
  let sum = load<f64>(out + F_SUM);
  let lack = load<f64>(out + F_LACK);
  for (let word: u32 = 0; word < words; word++) {
    for (let chosen = chosenRows(selection, nulls, word); chosen; chosen &= chosen - 1) {
      const row = (word << 6) + <u32>ctz(chosen);
      const next = groupOf(codes, row, out);
      if (next != group) {
        store<f64>(group + F_SUM, sum);
        store<f64>(group + F_LACK, lack);
        group = next;
        sum = load<f64>(group + F_SUM);
        lack = load<f64>(group + F_LACK);
      }
      const value = <f64>get<T>(data, row);
      const total = sum + value;
      const back = total - sum;
      lack += sum - (total - back) + (value - back);
      sum = total;
    }
  }
  store<f64>(group + F_SUM, sum);
  store<f64>(group + F_LACK, lack);
}

function realGroupEnds<T>(selection: usize, rows: u32, codes: usize, out: usize): void {
  const data = <usize>load<u32>(numbers + N_DATA);
  const nulls = <usize>load<u32>(numbers + N_NULLS);
  const words = wordsOf(rows);
  for (let word: u32 = 0; word < words; word++) {
    for (let chosen = chosenRows(selection, nulls, word); chosen; chosen &= chosen - 1) {
      const row = (word << 6) + <u32>ctz(chosen);
      const group = groupOf(codes, row, out);
      const value = <f64>get<T>(data, row);
      store<f64>(group + F_LEAST, min(load<f64>(group + F_LEAST), value));
      store<f64>(group + F_GREATEST, max(load<f64>(group + F_GREATEST), value));
    }
  }
}

/**
 * Sums integers by group. Until the end, F_SUM and F_LACK contain the sums of the low and the high
 * halves as i64.
 */
function sumIntegerGroups(selection: usize, rows: u32, codes: usize, groups: u32, out: usize): void {
  const data = <usize>load<u32>(numbers + N_DATA);
  const width = load<u32>(numbers + N_WIDTH);
  const nulls = <usize>load<u32>(numbers + N_NULLS);
  const words = wordsOf(rows);
  for (let word: u32 = 0; word < words; word++) {
    for (let chosen = chosenRows(selection, nulls, word); chosen; chosen &= chosen - 1) {
      const row = (word << 6) + <u32>ctz(chosen);
      const group = groupOf(codes, row, out);
      const packed = offsetOf(data, width, row);
      store<i64>(group + F_SUM, load<i64>(group + F_SUM) + <i64>(packed & 0xffffffff));
      store<i64>(group + F_LACK, load<i64>(group + F_LACK) + <i64>(packed >> 32));
    }
  }
  for (let i: u32 = 0; i < groups; i++) {
    const group = element(out, i, FIGURES_BYTES);
    storeIntegerSum(group, <i64>load<f64>(group + F_COUNT), load<i64>(group + F_SUM), load<i64>(group + F_LACK));
  }
}

function integerGroupEnds(selection: usize, rows: u32, codes: usize, out: usize): void {
  const data = <usize>load<u32>(numbers + N_DATA);
  const width = load<u32>(numbers + N_WIDTH);
  const nulls = <usize>load<u32>(numbers + N_NULLS);
  const least = load<i64>(numbers + N_LEAST);
  const words = wordsOf(rows);
  for (let word: u32 = 0; word < words; word++) {
    for (let chosen = chosenRows(selection, nulls, word); chosen; chosen &= chosen - 1) {
      const row = (word << 6) + <u32>ctz(chosen);
      const group = groupOf(codes, row, out);
      const value = <f64>(least + <i64>offsetOf(data, width, row));
      store<f64>(group + F_LEAST, min(load<f64>(group + F_LEAST), value));
      store<f64>(group + F_GREATEST, max(load<f64>(group + F_GREATEST), value));
    }
  }
}
