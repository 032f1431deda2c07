// Writes values in Thrift's compact protocol, which the headers of Parquet files are in.

export type ThriftValue =
  | { readonly i32: number }
  | { readonly i64: number }
  | { readonly text: string }
  | { readonly list: readonly ThriftValue[] }
  /** Fields by their numbers, in ascending order. */
  | { readonly fields: readonly (readonly [number, ThriftValue])[] };

const encoder = new TextEncoder();

export function thriftBytes(value: ThriftValue): Uint8Array<ArrayBuffer> {
  const bytes: number[] = [];
  write(bytes, value);
  return Uint8Array.from(bytes);
}

function typeOf(value: ThriftValue): number {
  if ('i32' in value) return 5;
  if ('i64' in value) return 6;
  if ('text' in value) return 8;
  return 'list' in value ? 9 : 12;
}

function write(bytes: number[], value: ThriftValue): void {
  if ('i32' in value) writeSigned(bytes, value.i32);
  else if ('i64' in value) writeSigned(bytes, value.i64);
  else if ('text' in value) writeText(bytes, value.text);
  else if ('list' in value) writeList(bytes, value.list);
  else writeFields(bytes, value.fields);
}

function writeText(bytes: number[], text: string): void {
  const encoded = encoder.encode(text);
  writeVarint(bytes, encoded.length);
  for (const byte of encoded) bytes.push(byte);
}

/** All items are of the type of the first; lists of Parquet headers are never empty but for those of no row groups. */
function writeList(bytes: number[], items: readonly ThriftValue[]): void {
  const type = items[0] === undefined ? 12 : typeOf(items[0]);
  if (items.length < 15) {
    bytes.push((items.length << 4) | type);
  } else {
    bytes.push(0xf0 | type);
    writeVarint(bytes, items.length);
  }
  for (const item of items) write(bytes, item);
}

function writeFields(bytes: number[], fields: readonly (readonly [number, ThriftValue])[]): void {
  let last = 0;
  for (const [id, value] of fields) {
    // Field numbers of Parquet headers are never more than 15 apart.
    bytes.push(((id - last) << 4) | typeOf(value));
    write(bytes, value);
    last = id;
  }
  bytes.push(0);
}

/** Zigzag; up to 2^52, which no size or count of a file in a browser comes near. */
function writeSigned(bytes: number[], value: number): void {
  writeVarint(bytes, value < 0 ? -2 * value - 1 : 2 * value);
}

/** Seven bits a byte, the lowest first. */
export function writeVarint(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) | 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
}
