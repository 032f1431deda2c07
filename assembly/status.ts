// Stable status codes of the ABI, and the details of the last call that the return value has no room for.

/** An argument is outside what the function takes. */
export const BAD_ARGUMENT: i32 = -1;
/** The output region is too small; `hg_result_needed` says what is needed. */
export const TOO_SMALL: i32 = -2;
/** Memory cannot grow. */
export const OUT_OF_MEMORY: i32 = -3;
/** The bytes are not what the format says; `hg_result_offset` says where. */
export const CORRUPT: i32 = -4;
/** More distinct members than allowed; `hg_result_offset` is the row. */
export const TOO_MANY_MEMBERS: i32 = -5;
/** An edge without members; `hg_result_offset` is the row. */
export const EMPTY_MEMBERS: i32 = -6;
/** A number that is no safe integer; `hg_result_offset` is the row. */
export const BAD_INTEGER: i32 = -7;
/** A format version this build does not read. */
export const UNSUPPORTED: i32 = -8;

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

/** Bytes (or entries, where the function counts those) that the last TOO_SMALL call needed. */
export function hg_result_needed(): u32 {
  return neededBytes;
}

/** Offset in bytes, or row number, at which the last failed call failed. */
export function hg_result_offset(): u32 {
  return failedOffset;
}

/** Rows that the last call handled, where it can stop early; for `hg_memtable_rows` the position to go on from. */
export function hg_result_rows(): u32 {
  return resultRows;
}

/** Address of what the last call allocated for the caller. */
export function hg_result_pointer(): u32 {
  return resultPointer;
}

/** What a failed assertion does in the debug build: hg_result_pointer() is then the address of its text (UTF-16, its bytes as u32 before it). */
export function failedAssertion(text: string | null, _file: string | null, _line: u32, _column: u32): void {
  resultPointer = <u32>changetype<usize>(text);
  unreachable();
}
