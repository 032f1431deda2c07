// Encodes and decodes the payload of a log frame, which consists of runs of operations. A frame is
// one atomic commit; each operation in it has an LSN.
//
// A run consists of: u8 kind, u8 0, u16 0, u32 table id (0 if it belongs to no table), u32 number
// of operations, u32 number of bytes, and the bytes. Kinds are never reused:
//   1 INSERT    records, one operation each (assembly/FORMAT.md)
//   2 TOMBSTONE records with id 0, one operation each: deletes every live edge with the same time
//               and member set
//   3 CATALOG   one JSON document, one operation (changes.ts)
//   4 DOCUMENT  one JSON document {store, id, value}, one operation; a null value removes the
//               document (documents.ts)
//   5 REPLAY    one JSON document, one operation: the stored answer to the frame's other
//               operations or, if alone in its frame, to work that is not logged as a single frame
//               (kept-answer.ts)
//   6 KILL      {i64 event_ts, i64 id}, one operation each: deletes the live edge with that key
//               (storage/FORMAT.md)
//   7 BEFORE    no operation: the rows that the operations of the next run delete
//               (changes/before-rows.ts)
//   8 MORE      no bytes: LSNs for the second and further rows that the frame's TOMBSTONEs delete

import { corruption } from '../../errors.ts';
import type { RowKey } from '../types.ts';

export const OPERATION = {
  insert: 1,
  tombstone: 2,
  catalog: 3,
  document: 4,
  replay: 5,
  kill: 6,
  before: 7,
  more: 8,
} as const;
export type OperationKind = (typeof OPERATION)[keyof typeof OPERATION];

export const RUN_HEADER_BYTES = 16;

export interface Run {
  kind: number;
  tableId: number;
  operations: number;
  bytes: Uint8Array;
}

/** Returns the 16-byte header that precedes the bytes of a run. */
export function runHeader(kind: OperationKind, tableId: number, operations: number, bytes: number): Uint8Array {
  const header = new Uint8Array(RUN_HEADER_BYTES);
  writeRunHeader(header, kind, tableId, operations, bytes);
  return header;
}

/** Returns a run of one operation that belongs to no table: its header and its bytes. */
export function singleRun(kind: OperationKind, bytes: Uint8Array): Uint8Array[] {
  return [runHeader(kind, 0, 1, bytes.length), bytes];
}

export function writeRunHeader(
  into: Uint8Array,
  kind: OperationKind,
  tableId: number,
  operations: number,
  bytes: number,
): void {
  putWord(into, 0, kind);
  putWord(into, 4, tableId);
  putWord(into, 8, operations);
  putWord(into, 12, bytes);
}

/**
 * Writes a u32 byte by byte: creating a DataView per header took longer than all the other work.
 */
function putWord(into: Uint8Array, at: number, value: number): void {
  into[at] = value;
  into[at + 1] = value >>> 8;
  into[at + 2] = value >>> 16;
  into[at + 3] = value >>> 24;
}

/** Size of one operation of a KILL run. */
export const KILL_BYTES = 16;

/** Returns the bytes of a KILL run. */
export function encodeKills(keys: readonly RowKey[]): Uint8Array {
  const bytes = new Uint8Array(keys.length * KILL_BYTES);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const { eventTs, id } of keys) {
    view.setUint32(at, eventTs >>> 0, true);
    view.setInt32(at + 4, Math.floor(eventTs / 2 ** 32), true);
    view.setUint32(at + 8, id >>> 0, true);
    view.setInt32(at + 12, Math.floor(id / 2 ** 32), true);
    at += KILL_BYTES;
  }
  return bytes;
}

/**
 * Returns the keys in a KILL run. Throws `corrupt` if the bytes are invalid; `offset` is the
 * position of the run's first byte, for that error.
 */
export function decodeKills({ bytes, operations }: Run, where: string, offset: number): RowKey[] {
  if (bytes.length !== operations * KILL_BYTES)
    throw corruption(where, offset, `${operations} keys of rows take ${bytes.length} bytes`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: operations }, (_, index) => {
    const at = index * KILL_BYTES;
    const key = { eventTs: Number(view.getBigInt64(at, true)), id: Number(view.getBigInt64(at + 8, true)) };
    if (!Number.isSafeInteger(key.eventTs) || !Number.isSafeInteger(key.id))
      throw corruption(where, offset + at, 'the key of a row is not a pair of safe integers');
    return key;
  });
}

/**
 * Yields the runs of a payload whose checksum was verified. Throws `corrupt` if the runs do not
 * fill the payload exactly, or if they do not have `operations` operations in total.
 */
export function* readRuns(payload: Uint8Array, operations: number, where: string): Generator<Run> {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  let at = 0;
  let counted = 0;
  while (at < payload.length) {
    if (at + RUN_HEADER_BYTES > payload.length) throw corruption(where, at, 'a run of operations is cut off');
    const run = { kind: payload[at]!, tableId: view.getUint32(at + 4, true), operations: view.getUint32(at + 8, true) };
    const bytes = view.getUint32(at + 12, true);
    at += RUN_HEADER_BYTES;
    if (at + bytes > payload.length) throw corruption(where, at, 'a run of operations is cut off');
    yield { ...run, bytes: payload.subarray(at, at + bytes) };
    at += bytes;
    counted += run.operations;
  }
  if (counted !== operations)
    throw corruption(where, 0, `the frame says ${operations} operations and holds ${counted}`);
}
