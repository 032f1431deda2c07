// The rows that operations of a frame delete, as readers of changes need them: encoded beside the
// operations, because a compaction may remove the rows before anybody reads the frame.
//
// A BEFORE run precedes a KILL or TOMBSTONE run. For each operation of that run it has a u32, the
// number of rows deleted, followed by that many records (assembly/FORMAT.md). A KILL has one row,
// or none if the rows of the frame would take more than MOST_BYTES.

import { CoreMemtable, type ResidentSegment } from '../../core/index.ts';
import type { RowPlace } from '../table/live-rows.ts';
import type { Table } from '../table/table.ts';

/** Maximum size in bytes of the deleted rows that one frame records for KILL operations. */
export const MOST_BYTES = 2 ** 27;
/** Number of rows that are read in one call. */
export const ROWS_AT_ONCE = 1024;

/** Returns the records of rows, which may be of several sources, in the given order. */
export function recordsOf(table: Table, places: readonly RowPlace[]): Uint8Array[] {
  const records: Uint8Array[] = [];
  for (let from = 0; from < places.length; ) {
    const { source } = places[from]!;
    let to = from + 1;
    while (to < places.length && to - from < ROWS_AT_ONCE && places[to]!.source === source) to++;
    const rows = Uint32Array.from({ length: to - from }, (_, place) => places[from + place]!.row);
    const reader: CoreMemtable | ResidentSegment = source instanceof CoreMemtable ? source : table.resident(source);
    for (const record of splitRecords(reader.recordsOf(rows))) records.push(record);
    from = to;
  }
  return records;
}

/** Yields consecutive records. */
export function* splitRecords(bytes: Uint8Array): Generator<Uint8Array, void, void> {
  for (let at = 0; at < bytes.length; ) {
    const size = sizeAt(bytes, at);
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

/** Encodes the rows of consecutive operations: for each operation, the records of its rows. */
export function encodeBefore(operations: readonly (readonly Uint8Array[])[]): Uint8Array {
  let size = 0;
  for (const records of operations) for (const record of records) size += record.length;
  const bytes = new Uint8Array(size + 4 * operations.length);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const records of operations) {
    view.setUint32(at, records.length, true);
    at += 4;
    for (const record of records) {
      bytes.set(record, at);
      at += record.length;
    }
  }
  return bytes;
}

/** Yields the rows of each operation of a BEFORE run. Throws a RangeError if it is cut off. */
export function* decodeBefore(bytes: Uint8Array): Generator<Uint8Array[], void, void> {
  for (let at = 0; at < bytes.length; ) {
    const records: Uint8Array[] = [];
    let left = wordAt(bytes, at);
    for (at += 4; left > 0; left--) {
      const size = sizeAt(bytes, at);
      records.push(bytes.subarray(at, at + size));
      at += size;
    }
    yield records;
  }
}

function sizeAt(bytes: Uint8Array, at: number): number {
  const size = wordAt(bytes, at);
  if (size < MIN_RECORD_BYTES || at + size > bytes.length) throw new RangeError(`a record at ${at} is cut off`);
  return size;
}

export const MIN_RECORD_BYTES = 24;

/** Returns the u32 at an offset. Throws a RangeError if it is cut off. */
export function wordAt(bytes: Uint8Array, at: number): number {
  if (at + 4 > bytes.length) throw new RangeError(`a number at ${at} is cut off`);
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
}
