// Values of DuckDB as values of rows: nothing loses digits, whatever has no form of its own becomes text.

import type { SqlRow, SqlValue } from '../backend.ts';
import type { Chunk, ColumnType, Library, Value } from './duckdb-library.ts';

export type RowReader = (chunk: Chunk) => SqlRow[];

/** Column by column, which is how DuckDB keeps them. */
export function rowReader(library: Library, types: readonly ColumnType[]): RowReader {
  const readers = types.map((type) => readerOf(library, type));
  return (chunk) => {
    const rows: SqlValue[][] = Array.from({ length: chunk.rowCount }, () => new Array<SqlValue>(readers.length));
    for (const [column, read] of readers.entries()) {
      const vector = chunk.getColumnVector(column);
      for (let row = 0; row < rows.length; row++) {
        const value = vector.getItem(row);
        rows[row]![column] = value === null ? null : read(value);
      }
    }
    return rows;
  };
}

/** The library shows them as days far away. */
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

/** A member of a list: texts and numbers as they are, all else as text. */
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

/** Something that JSON can hold. */
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
