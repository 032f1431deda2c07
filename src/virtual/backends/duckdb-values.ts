// Converts DuckDB values to row values. No digits are lost, and values of types without a
// counterpart become text.

import type { SqlValue } from '../backend.ts';
import { type WireBatch, WireBuilder } from './duckdb-columns.ts';
import type { Chunk, ColumnType, Library, Value } from './duckdb-library.ts';

/** Collects DuckDB's chunks of rows until they are sent as one batch. */
export interface ChunkCollector {
  readonly length: number;
  /** Number of items in the collected lists. */
  readonly items: number;
  /** Whether a column may contain lists. */
  readonly hasLists: boolean;
  /** Adds the rows [from, to) of a chunk. */
  add(chunk: Chunk, from: number, to: number): void;
  /** Returns the collected rows, which are valid until the next chunk is added. */
  take(): WireBatch;
}

/** Maximum number of rows in a DuckDB chunk. */
const CHUNK_ROWS = 2048;

/** Returns a collector that works column by column, because DuckDB stores chunks by column. */
export function chunkCollector(library: Library, types: readonly ColumnType[]): ChunkCollector {
  const builders = types.map(() => new WireBuilder(2 * CHUNK_ROWS));
  const readers = types.map((type) => readerOf(library, type));
  const { BIGINT, INTEGER, DOUBLE, LIST, ARRAY } = library.DuckDBTypeId;
  const isNumber = types.map(({ typeId }) => typeId === BIGINT || typeId === INTEGER || typeId === DOUBLE);
  let length = 0;
  return {
    get length() {
      return length;
    },
    get items() {
      return builders.reduce((sum, { items }) => sum + items, 0);
    },
    hasLists: types.some(({ typeId }) => typeId === LIST || typeId === ARRAY),
    add(chunk, from, to) {
      const { rowCount } = chunk;
      const isWhole = to - from === rowCount;
      for (const [column, read] of readers.entries()) {
        const vector = chunk.getColumnVector(column);
        const builder = builders[column]!;
        const numbers = isWhole && isNumber[column] ? plainNumbers(vector, rowCount) : undefined;
        if (numbers !== undefined) builder.addNumbers(numbers);
        else {
          for (let row = from; row < to; row++) {
            const value = vector.getItem(row);
            builder.add(value === null ? null : read(value));
          }
        }
      }
      length += to - from;
    },
    take() {
      const batch = { length, columns: builders.map((builder) => builder.take()) };
      length = 0;
      return batch;
    },
  };
}

/** Internal fields of the library's vectors. If they are missing, values are read one by one. */
interface VectorInside {
  readonly items?: unknown;
  readonly validity?: { readonly data?: unknown };
}

/**
 * Returns the numbers in a vector, without allocating an object per value. Returns undefined if the
 * vector has nulls, infinite numbers or unsafe integers.
 */
function plainNumbers(vector: object, rowCount: number): ArrayLike<number> | undefined {
  const { items, validity } = vector as VectorInside;
  if (validity?.data !== null) return undefined;
  if (items instanceof BigInt64Array) return items.length === rowCount ? safeIntegers(items) : undefined;
  if (items instanceof Int32Array) return items.length === rowCount ? items : undefined;
  if (!(items instanceof Float64Array) || items.length !== rowCount) return undefined;
  return items.every((value) => Number.isFinite(value)) ? items : undefined;
}

const SAFE_HALF = 2 ** 21;

/**
 * Converts integers to doubles, reading each integer as two 32-bit halves. Returns undefined unless
 * all integers are at least -2^53 + 2^32 and less than 2^53.
 */
function safeIntegers(items: BigInt64Array): Float64Array | undefined {
  const halves = new Int32Array(items.buffer, items.byteOffset, 2 * items.length);
  const numbers = new Float64Array(items.length);
  for (let index = 0; index < numbers.length; index++) {
    const high = halves[2 * index + 1]!;
    if (high >= SAFE_HALF || high <= -SAFE_HALF) return undefined;
    numbers[index] = high * 2 ** 32 + (halves[2 * index]! >>> 0);
  }
  return numbers;
}

/**
 * Names of the infinite dates by their day number. The library would print these dates as days in
 * the far future or past.
 */
const DATES_WITHOUT_END: ReadonlyMap<number, string> = new Map([
  [2147483647, 'infinity'],
  [-2147483647, '-infinity'],
]);

type ValueReader = (value: Value) => SqlValue;

function readerOf({ DuckDBTypeId: id }: Library, type: ColumnType): ValueReader {
  switch (type.typeId) {
    case id.BOOLEAN:
      return (value) => value as boolean;
    case id.TINYINT:
    case id.SMALLINT:
    case id.INTEGER:
    case id.UTINYINT:
    case id.USMALLINT:
    case id.UINTEGER:
      return (value) => value as number;
    case id.BIGINT:
    case id.UBIGINT:
    case id.HUGEINT:
    case id.UHUGEINT:
    case id.BIGNUM:
      return (value) => wholeNumber(value as bigint);
    case id.FLOAT:
    case id.DOUBLE:
      return (value) => (Number.isFinite(value) ? (value as number) : String(value));
    case id.VARCHAR:
    case id.ENUM:
      return (value) => value as string;
    case id.DATE:
      return (value) => DATES_WITHOUT_END.get((value as { days: number }).days) ?? String(value);
    case id.LIST:
    case id.ARRAY:
      return (value) => (value as { items: readonly Value[] }).items.map(member);
    case id.STRUCT:
    case id.MAP:
    case id.UNION:
      return (value) => JSON.stringify(plain(value));
    default:
      return (value) => String(value);
  }
}

function wholeNumber(value: bigint): number | bigint {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}

/**
 * Converts a list item. Safe integers and finite numbers become numbers, null stays null, and all
 * other values become text.
 */
function member(value: Value): string | number | null {
  if (value === null || typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint') {
    const number = wholeNumber(value);
    return typeof number === 'bigint' ? String(number) : number;
  }
  return isNested(value) ? JSON.stringify(plain(value)) : String(value);
}

type Nested = { items?: readonly Value[]; entries?: unknown; tag?: string; value?: Value };

function isNested(value: Value): value is Value & Nested {
  return typeof value === 'object' && value !== null && ('items' in value || 'entries' in value || 'tag' in value);
}

/** Converts a value to a form that JSON can represent. */
function plain(value: Value): unknown {
  if (typeof value === 'boolean' || !isNested(value)) return typeof value === 'boolean' ? value : member(value);
  const { items, entries, tag } = value as Nested;
  if (items !== undefined) return items.map(plain);
  if (tag !== undefined) return { [tag]: plain((value as Nested).value ?? null) };
  if (Array.isArray(entries)) {
    return (entries as { key: Value; value: Value }[]).map((entry) => ({
      key: plain(entry.key),
      value: plain(entry.value),
    }));
  }
  return Object.fromEntries(
    Object.entries(entries as Record<string, Value>).map(([name, inner]) => [name, plain(inner)]),
  );
}
