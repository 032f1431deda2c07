// Stable status codes of the ABI, and the details of the last call that do not fit in its return
// value.

/** An argument is outside the accepted range. */
export const BAD_ARGUMENT: i32 = -1;
/** The output region is too small; `hg_result_needed` returns the required size. */
export const TOO_SMALL: i32 = -2;
/** Memory cannot grow. */
export const OUT_OF_MEMORY: i32 = -3;
/** The bytes violate the format; `hg_result_offset` returns the offset of the violation. */
export const CORRUPT: i32 = -4;
/** There are more distinct members than allowed; `hg_result_offset` returns the row. */
export const TOO_MANY_MEMBERS: i32 = -5;
/** An edge has no members; `hg_result_offset` returns the row. */
export const EMPTY_MEMBERS: i32 = -6;
/** A number is not a safe integer; `hg_result_offset` returns the row. */
export const BAD_INTEGER: i32 = -7;
/** This build does not read this format version. */
export const UNSUPPORTED: i32 = -8;
/** Every number that may be given out is in use. */
export const EXHAUSTED: i32 = -9;

let neededBytes: u32 = 0;
let failedOffset: u32 = 0;
let resultRows: u32 = 0;
let resultPointer: u32 = 0;

export function tooSmall(needed: u32): i32 {
  neededBytes = needed;
  return TOO_SMALL;
}

export function failAt(status: i32, offset: u32): i32 {
  failedOffset = offset;
  return status;
}

export function setRows(rows: u32): void {
  resultRows = rows;
}

export function setPointer(pointer: usize): void {
  resultPointer = <u32>pointer;
}

/**
 * Returns the size that the last call with the status TOO_SMALL needed: in entries for functions
 * whose capacity is in entries, in bytes for all others.
 */
export function hg_result_needed(): u32 {
  return neededBytes;
}

/** Returns the byte offset or row number at which the last failed call failed. */
export function hg_result_offset(): u32 {
  return failedOffset;
}

/**
 * Returns the second result of the last call, if the function has one. This is usually the number
 * of rows handled, or the row or position to continue from.
 */
export function hg_result_rows(): u32 {
  return resultRows;
}

/** Returns the address of the region that the last call allocated for the caller. */
export function hg_result_pointer(): u32 {
  return resultPointer;
}

/**
 * Handles a failed assertion in the debug build: stores the address of the assertion's text
 * (UTF-16, preceded by its length in bytes as u32) for `hg_result_pointer()`, and traps.
 */
export function failedAssertion(text: string | null, _file: string | null, _line: u32, _column: u32): void {
  resultPointer = <u32>changetype<usize>(text);
  unreachable();
}
