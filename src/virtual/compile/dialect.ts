// Defines how the SQL of DuckDB differs from that of PostgreSQL: types, times, the order of texts.

import type { BackendColumn, BackendTable, ColumnKind, Dialect } from '../backend.ts';
import { quoted } from '../identifiers.ts';

/** Types that literals are cast to. */
export type BoundType =
  | 'integer'
  | 'wide'
  | 'real'
  | 'text'
  | 'boolean'
  | 'timestamp'
  | 'timestamptz'
  | 'date'
  | 'uuid';

export interface SqlDialect {
  readonly name: Dialect;
  /** Type names for a CAST. The type `wide` can represent every 128-bit integer. */
  readonly types: Readonly<Record<BoundType, string>>;
  /** Returns the SQL of a column in the form that all other functions here expect. */
  base(column: BackendColumn): string;
  /** Converts a timestamp to whole seconds since 1970, rounded down, or null if it is infinite. */
  seconds(sql: string): string;
  /** Converts a timestamp to microseconds since 1970. */
  micros(sql: string): string;
  /** Converts a value to text that is ordered by its bytes. */
  asText(sql: string): string;
  /** Converts a text to its wire form, ordered by its bytes. */
  wireText(sql: string): string;
  /** Orders a text by its bytes, independently of the database's collation. */
  byBytes(sql: string): string;
}

/**
 * Alias of the table in every SELECT, so that a column name cannot be mistaken for a result name.
 */
const TABLE_ALIAS = 'edge';

export function tableSql({ path }: BackendTable): string {
  return `${path.map(quoted).join('.')} AS ${TABLE_ALIAS}`;
}

export function columnSql({ name }: BackendColumn): string {
  return `${TABLE_ALIAS}.${quoted(name)}`;
}

export const DIALECTS: Readonly<Record<Dialect, SqlDialect>> = {
  duckdb: {
    name: 'duckdb',
    types: {
      integer: 'BIGINT',
      wide: 'HUGEINT',
      real: 'DOUBLE',
      text: 'VARCHAR',
      boolean: 'BOOLEAN',
      timestamp: 'TIMESTAMP',
      timestamptz: 'TIMESTAMPTZ',
      date: 'DATE',
      uuid: 'UUID',
    },
    // Nanosecond timestamps only range from 1677 to 2262. Comparing them with times outside this
    // range would fail.
    base: (column) =>
      column.type.toUpperCase() === 'TIMESTAMP_NS' ? `CAST(${columnSql(column)} AS TIMESTAMP)` : columnSql(column),
    // Uses integer arithmetic, because a DOUBLE loses the microseconds of times in distant years.
    // `//` and `%` truncate towards zero.
    seconds: (sql) => `(epoch_us(${sql}) - (epoch_us(${sql}) % 1000000 + 1000000) % 1000000) // 1000000`,
    micros: (sql) => `epoch_us(${sql})`,
    asText: (sql) => `CAST(${sql} AS VARCHAR)`,
    // The library removes a byte order mark from the start of every text it reads. A text that
    // begins with such a mark is therefore given a second mark.
    wireText: (sql) => `CASE WHEN starts_with(${sql}, chr(65279)) THEN chr(65279) || ${sql} ELSE ${sql} END`,
    byBytes: (sql) => sql,
  },
  postgres: {
    name: 'postgres',
    types: {
      integer: 'bigint',
      wide: 'numeric',
      real: 'double precision',
      text: 'text',
      boolean: 'boolean',
      timestamp: 'timestamp',
      timestamptz: 'timestamptz',
      date: 'date',
      uuid: 'uuid',
    },
    base: columnSql,
    seconds: (sql) => `CASE WHEN isfinite(${sql}) THEN CAST(floor(extract(epoch FROM ${sql})) AS bigint) END`,
    micros: (sql) => `CASE WHEN isfinite(${sql}) THEN CAST(extract(epoch FROM ${sql}) * 1000000 AS bigint) END`,
    asText: (sql) => `CAST(${sql} AS text) COLLATE "C"`,
    wireText: (sql) => `${sql} COLLATE "C"`,
    byBytes: (sql) => `${sql} COLLATE "C"`,
  },
};

/** Returns SQL that converts a date to days since 1970, or to null if it is infinite. */
export function daysSql(sql: string): string {
  return `CASE WHEN isfinite(${sql}) THEN ${sql} - DATE '1970-01-01' END`;
}

/** Returns the SQL of a column in the form that hydration reads (`SqlValue`). */
export function wireSql(column: BackendColumn, dialect: SqlDialect): string {
  const sql = dialect.base(column);
  switch (column.kind) {
    case 'integer':
    case 'boolean':
      return sql;
    case 'real':
      return isOf(column, dialect.types.real) ? sql : `CAST(${sql} AS ${dialect.types.real})`;
    case 'timestamp':
    case 'timestamptz':
      return dialect.micros(sql);
    case 'date':
      return daysSql(sql);
    case 'text':
      return isOf(column, dialect.types.text) ? dialect.wireText(sql) : dialect.asText(sql);
    case 'decimal':
    case 'time':
    case 'uuid':
    case 'other':
      return dialect.asText(sql);
  }
}

function isOf({ type }: BackendColumn, name: string): boolean {
  return type.toLowerCase() === name.toLowerCase();
}

/**
 * Returns the SQL of a column in a form that can be grouped and counted. A column of an unusual
 * type becomes text, because some of these types have no equality.
 */
export function groupableSql(column: BackendColumn, dialect: SqlDialect): string {
  return column.kind === 'other' ? dialect.asText(columnSql(column)) : dialect.base(column);
}

/** Types allowed for a time column. */
export const TIME_KINDS: readonly ColumnKind[] = ['integer', 'timestamp', 'timestamptz', 'date'];
