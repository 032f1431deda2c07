// Decodes the values of a Parquet page on demand. Values that were not taken yet stay encoded,
// except integers in DELTA_BINARY_PACKED, booleans in RLE, and references to a dictionary: these
// are decoded for the whole page at once.

import { convert, type DecodedArray, deltaBinaryUnpack, type LeafColumn, readPlain } from './parquet-library.ts';
import { readRuns } from './parquet-runs.ts';

/** Returns the next `count` values of a page. At least this many values must remain. */
export type Values = (count: number) => DecodedArray;

/** Encoding and count of a page's values. */
export interface ValueForm {
  readonly encoding: string;
  /** Number of values that are not null. */
  readonly count: number;
}

const FIXED_BYTES: Readonly<Record<string, number>> = { INT32: 4, INT64: 8, INT96: 12, FLOAT: 4, DOUBLE: 8 };

/**
 * Returns a function that decodes the values. Throws for an unknown encoding. If the bytes are too
 * few for this many values, either this call or the function throws.
 */
export function pageValues(
  bytes: Uint8Array,
  { encoding, count }: ValueForm,
  column: LeafColumn,
  dictionary: DecodedArray | undefined,
): Values {
  if (count === 0) return () => [];
  if (encoding === 'PLAIN_DICTIONARY' || encoding === 'RLE_DICTIONARY') return entries(bytes, count, dictionary);
  const values = encodedValues(bytes, encoding, count, column);
  return (taken) => ownValues(convert(values(taken), column.decoder));
}

/** Decodes a dictionary page. */
export function dictionaryValues(bytes: Uint8Array, count: number, column: LeafColumn): DecodedArray {
  return pageValues(bytes, { encoding: 'PLAIN', count }, column, undefined)(count);
}

function entries(bytes: Uint8Array, count: number, dictionary: DecodedArray | undefined): Values {
  if (dictionary === undefined) throw new Error('a page has no dictionary');
  if (bytes.length === 0) throw tooShort();
  const places = readRuns(bytes, 1, bytes[0]!, count);
  let at = 0;
  return (taken) => {
    const values = new Array<unknown>(taken);
    for (let i = 0; i < taken; i++) {
      const place = places[at++]!;
      if (place >= dictionary.length) throw new Error('a value is not in its dictionary');
      values[i] = dictionary[place];
    }
    return values;
  };
}

function encodedValues(bytes: Uint8Array, encoding: string, count: number, { decoder }: LeafColumn): Values {
  const { type, element } = decoder;
  const width = type === 'FIXED_LEN_BYTE_ARRAY' ? (element.type_length ?? 0) : (FIXED_BYTES[type] ?? 0);
  switch (encoding) {
    case 'PLAIN':
      return type === 'BOOLEAN' ? bits(bytes, count) : plainValues(bytes, count, type, width);
    case 'RLE':
      return flags(bytes, count, type);
    case 'DELTA_BINARY_PACKED':
      return windows(deltas(readerOf(bytes), count, type === 'INT32'));
    case 'DELTA_LENGTH_BYTE_ARRAY':
      return texts(bytes, count, false);
    case 'DELTA_BYTE_ARRAY':
      return texts(bytes, count, true);
    case 'BYTE_STREAM_SPLIT':
      return splitValues(bytes, count, type, width);
    default:
      throw new Error(`parquet unsupported encoding: ${encoding}`);
  }
}

function bits(bytes: Uint8Array, count: number): Values {
  if (bytes.length * 8 < count) throw tooShort();
  let at = 0;
  return (taken) => Array.from({ length: taken }, () => ((bytes[at >> 3]! >> (at++ & 7)) & 1) === 1);
}

function flags(bytes: Uint8Array, count: number, type: string): Values {
  if (type !== 'BOOLEAN') throw new Error(`parquet unsupported encoding: RLE of ${type}`);
  const values = readRuns(bytes, 4, 1, count);
  let at = 0;
  return (taken) => Array.from({ length: taken }, () => values[at++] === 1);
}

function plainValues(bytes: Uint8Array, count: number, type: LeafColumn['decoder']['type'], width: number): Values {
  // Values without a fixed width begin with their length, which takes 4 bytes.
  if (bytes.length < count * (width || 4)) throw tooShort();
  const reader = readerOf(bytes);
  return (taken) => {
    const values = readPlain(reader, type, taken, width);
    if (reader.offset > bytes.length) throw tooShort();
    return values;
  };
}

interface Reader {
  readonly view: DataView<ArrayBuffer>;
  offset: number;
}

function readerOf(bytes: Uint8Array): Reader {
  return { view: new DataView(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength), offset: 0 };
}

function windows(values: Int32Array | BigInt64Array): Values {
  let at = 0;
  return (taken) => {
    at += taken;
    return values.subarray(at - taken, at);
  };
}

function deltas(reader: Reader, count: number, narrow: true): Int32Array;
function deltas(reader: Reader, count: number, narrow: boolean): Int32Array | BigInt64Array;
function deltas(reader: Reader, count: number, narrow: boolean): Int32Array | BigInt64Array {
  const values = narrow ? new Int32Array(count) : new BigInt64Array(count);
  deltaBinaryUnpack(reader, count, values);
  return values;
}

/**
 * Decodes byte strings. The lengths of all strings come first. If `shared` is true, the lengths of
 * the prefixes that each string shares with the previous one come before them, and only the rest of
 * each string is stored and measured.
 */
function texts(bytes: Uint8Array, count: number, shared: boolean): Values {
  const reader = readerOf(bytes);
  const heads = shared ? deltas(reader, count, true) : undefined;
  const lengths = deltas(reader, count, true);
  let { offset } = reader;
  let at = 0;
  let before = new Uint8Array();
  const next = () => {
    const end = offset + lengths[at]!;
    if (end < offset || end > bytes.length) throw tooShort();
    const tail = bytes.subarray(offset, end);
    const head = heads?.[at] ?? 0;
    if (head < 0 || head > before.length) throw tooShort();
    const text = new Uint8Array(head + tail.length);
    text.set(before.subarray(0, head));
    text.set(tail, head);
    if (shared) before = text;
    offset = end;
    at++;
    return text;
  };
  return (taken) => Array.from({ length: taken }, next);
}

/**
 * Decodes BYTE_STREAM_SPLIT: the first bytes of all values are stored before the second bytes of
 * all values, and so on.
 */
function splitValues(bytes: Uint8Array, count: number, type: string, width: number): Values {
  if (width === 0) throw new Error(`parquet unsupported encoding: BYTE_STREAM_SPLIT of ${type}`);
  if (bytes.length < count * width) throw tooShort();
  let at = 0;
  return (taken) => {
    const joined = new Uint8Array(taken * width);
    for (let place = 0; place < width; place++)
      for (let i = 0; i < taken; i++) joined[i * width + place] = bytes[place * count + at + i]!;
    at += taken;
    switch (type) {
      case 'INT32':
        return new Int32Array(joined.buffer);
      case 'INT64':
        return new BigInt64Array(joined.buffer);
      case 'FLOAT':
        return new Float32Array(joined.buffer);
      case 'DOUBLE':
        return new Float64Array(joined.buffer);
      default:
        return Array.from({ length: taken }, (_, i) => joined.subarray(i * width, (i + 1) * width));
    }
  };
}

/**
 * Copies values that are views of a page. A view of a single value would keep the whole page in
 * memory and would send the whole page to another thread.
 */
function ownValues(values: DecodedArray): DecodedArray {
  if (!Array.isArray(values)) return values.slice();
  return values[0] instanceof Uint8Array ? values.map((value: Uint8Array) => value.slice()) : values;
}

function tooShort(): Error {
  return new Error('a page ends in the middle of a value');
}
