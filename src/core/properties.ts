// Encodes property blocks (FORMAT.md section 1) from checked values.

import { type ColumnType, KIND_CODES, kindOfType } from '../model/column-types.ts';

export interface Property {
  column: number;
  type: ColumnType;
  /**
   * A finite number, safe integer, text of at most 64 KiB, or boolean; checked by the caller.
   * `null` is written as an explicit null, which is needed where the column has a default.
   */
  value: number | string | boolean | null;
}

const encoder = new TextEncoder();
let buffer = Buffer.allocUnsafe(256 * 1024);

function ensure(bytes: number): void {
  if (bytes <= buffer.length) return;
  const larger = Buffer.allocUnsafe(Math.max(bytes, buffer.length * 2));
  buffer.copy(larger);
  buffer = larger;
}

/**
 * Encodes properties, which must be ascending by column id. The result is empty if there are none,
 * and is valid until the next call.
 */
export function encodeProperties(properties: readonly Property[]): Uint8Array {
  if (properties.length === 0) return buffer.subarray(0, 0);
  let at = 2;
  buffer.writeUInt16LE(properties.length, 0);
  for (const { column, type, value } of properties) {
    ensure(at + 16);
    buffer.writeUInt16LE(column, at);
    const kind = kindOfType(type);
    buffer.writeUInt16LE(value === null ? 0 : KIND_CODES[kind], at + 2);
    at += 4;
    if (value === null) continue;
    if (kind === 'real') at = buffer.writeDoubleLE(value as number, at);
    else if (kind === 'integer') at = buffer.writeBigInt64LE(BigInt(value as number), at);
    else if (kind === 'boolean') at = buffer.writeUInt8(value ? 1 : 0, at);
    else {
      const text = value as string;
      ensure(at + 4 + text.length * 3);
      const { written } = encoder.encodeInto(text, buffer.subarray(at + 4));
      buffer.writeUInt32LE(written, at);
      at += 4 + written;
    }
  }
  return buffer.subarray(0, at);
}
