// Property blocks (FORMAT.md section 1): from checked values to bytes and back.

/** Property types of the format. */
export const PROPERTY_TYPE = { NULL: 0, REAL: 1, INTEGER: 2, TEXT: 3, BOOLEAN: 4 } as const;
export type PropertyTypeName = 'REAL' | 'INTEGER' | 'TEXT' | 'BOOLEAN';

export interface Property {
  column: number;
  type: PropertyTypeName;
  /** Checked by the caller: finite number, safe integer, text of at most 64 KB, boolean; null says "null" where a default exists. */
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

/** Encodes properties, ascending by column id. The bytes are borrowed until the next call. Empty for none. */
export function encodeProperties(properties: readonly Property[]): Uint8Array {
  if (properties.length === 0) return buffer.subarray(0, 0);
  let at = 2;
  buffer.writeUInt16LE(properties.length, 0);
  for (const { column, type, value } of properties) {
    ensure(at + 16);
    buffer.writeUInt16LE(column, at);
    buffer.writeUInt16LE(value === null ? 0 : PROPERTY_TYPE[type], at + 2);
    at += 4;
    if (value === null) continue;
    if (type === 'REAL') at = buffer.writeDoubleLE(value as number, at);
    else if (type === 'INTEGER') at = buffer.writeBigInt64LE(BigInt(value as number), at);
    else if (type === 'BOOLEAN') at = buffer.writeUInt8(value ? 1 : 0, at);
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
