// Conditions that the value of a text column is a given text. In a segment the text is looked up
// once among the distinct texts of the column, and then the codes of the rows are compared. In a
// record the bytes are compared.

import { HG_TYPE_TEXT } from '../limits';
import { bytesOf, cell, get } from '../memory/cells';
import { C_DATA, C_NULLS, findText, hasValue, textCode } from '../segment/columns';

/**
 * Flag of a range that is such a condition. Its lowest value is the distance in bytes from the
 * range to the text, its highest value the length of the text in bytes. Its value for rows without
 * the column is 1 if they match, otherwise 0.
 */
export const TEXT_RANGE: u32 = 16;

/** Offsets of fields of a range, as in psi/filter.ts. */
const R_LOW: usize = 0;
const R_HIGH: usize = 8;

function textOf(range: usize): usize {
  return range + <usize>load<f64>(range + R_LOW);
}

function lengthOf(range: usize): u32 {
  return <u32>load<f64>(range + R_HIGH);
}

/**
 * Returns the code that the text of a condition has in a text column with values, or -1 if no row
 * has the text.
 */
export function codeOfText(cursor: usize, range: usize): i32 {
  return findText(cursor, textOf(range), lengthOf(range));
}

/**
 * Removes, in place, the rows of a list (u32[n]) whose value in a text column is not the text of
 * the condition; returns how many rows remain.
 */
export function keepText(cursor: usize, rows: usize, n: u32, range: usize): u32 {
  const found = codeOfText(cursor, range);
  if (found < 0) return 0;
  const code = <u32>found;
  const end = cell<u32>(rows, n);
  let at = rows;
  if (load<u32>(cursor + C_NULLS)) {
    for (let from = rows; from < end; from += 4) {
      const row = load<u32>(from);
      store<u32>(at, row);
      at += bytesOf<u32>(u32(textCode(cursor, row) == code && hasValue(cursor, row)));
    }
  } else {
    const codes = <usize>load<u32>(cursor + C_DATA);
    for (let from = rows; from < end; from += 4) {
      const row = load<u32>(from);
      store<u32>(at, row);
      at += bytesOf<u32>(u32(<u32>get<u16>(codes, row) == code));
    }
  }
  return <u32>((at - rows) >> 2);
}

/** Returns, as bits, which of the n codes at `from` are `code`; n is at most 64. */
function fewWithCode(from: usize, n: u32, code: u32): u64 {
  let held: u64 = 0;
  for (let i: u32 = 0; i < n; i++) held |= u64(<u32>get<u16>(from, i) == code) << (<u64>i);
  return held;
}

/** Returns, as bits, which of the n codes (u16) at `from` are `code`; n is at most 64. */
export function withCode(from: usize, n: u32, code: u32): u64 {
  if (ASC_FEATURE_SIMD) {
    if (n < 64) return fewWithCode(from, n, code);
    const wanted = i16x8.splat(<i16>code);
    let held: u64 = 0;
    for (let i: u32 = 0; i < 64; i += 8) {
      const same = i16x8.eq(v128.load(cell<u16>(from, i)), wanted);
      held |= (<u64>i16x8.bitmask(same)) << (<u64>i);
    }
    return held;
  } else return fewWithCode(from, n, code);
}

/** Returns whether the property entry of a record contains the text of the condition. */
export function entryHasText(entry: usize, range: usize): bool {
  const length = lengthOf(range);
  if (load<u8>(entry + 2) != HG_TYPE_TEXT || load<u32>(entry + 4) != length) return false;
  return memory.compare(entry + 8, textOf(range), length) == 0;
}
