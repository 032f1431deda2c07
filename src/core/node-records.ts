// Reads records of nodes (assembly/FORMAT.md section 1) on the host's side.

import { HedgerowError } from '../errors.ts';
import { asBuffer } from './key-text.ts';

const PROPERTIES_OFFSET = 6;
const ID_OFFSET = 16;
const TYPE_INTEGER = 2;
const TYPE_TEXT = 3;
/** Sizes of the values by type; those of texts follow. */
const VALUE_BYTES = [0, 8, 8, 4, 1];

interface Piece {
  readonly bytes: Uint8Array;
  /** Number of records. */
  readonly count: number;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Cuts checked records into pieces of at most `most` bytes; a larger record is a piece of its own.
 */
export function* recordPieces(records: Uint8Array, count: number, most: number): Generator<Piece> {
  const view = viewOf(records);
  let from = 0;
  let to = 0;
  let inPiece = 0;
  for (let i = 0; i < count; i++) {
    const size = view.getUint32(to, true);
    if (inPiece > 0 && to + size - from > most) {
      yield { bytes: records.subarray(from, to), count: inPiece };
      from = to;
      inPiece = 0;
    }
    to += size;
    inPiece++;
  }
  if (inPiece > 0) yield { bytes: records.subarray(from, to), count: inPiece };
}

/** Returns the id of a checked record, and the key that it has in the property `column`. */
export function findKeyProperty(record: Uint8Array, column: number): { number: number; key: string | number } {
  const view = viewOf(record);
  const block = view.getUint16(PROPERTIES_OFFSET, true);
  const number = Number(view.getBigInt64(ID_OFFSET, true));
  const count = block === 0 ? 0 : view.getUint16(block, true);
  let at = block + 2;
  for (let i = 0; i < count; i++) {
    const type = record[at + 2]!;
    const value = at + 4;
    const end = value + VALUE_BYTES[type]! + (type === TYPE_TEXT ? view.getUint32(value, true) : 0);
    if (view.getUint16(at, true) === column) {
      if (type === TYPE_INTEGER) return { number, key: Number(view.getBigInt64(value, true)) };
      if (type === TYPE_TEXT) return { number, key: asBuffer(record).toString('utf8', value + 4, end) };
    }
    at = end;
  }
  throw new HedgerowError('internal', `The record of node ${number} has no key. This is a bug; please report it.`);
}
