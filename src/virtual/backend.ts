// Defines the interface between virtual graphs and a backend. A backend provides its schema, the
// rows of a SELECT, and a fingerprint of its files.

/**
 * The type of a column, as far as hydration and comparisons need it. A `decimal` is exact and has a
 * scale. A `timestamptz` is an instant. A `timestamp` has no time zone and is taken as UTC.
 */
export type ColumnKind =
  | 'integer'
  | 'decimal'
  | 'real'
  | 'text'
  | 'boolean'
  | 'timestamp'
  | 'timestamptz'
  | 'date'
  | 'time'
  | 'uuid'
  | 'other';

export interface BackendColumn {
  readonly name: string;
  /** The backend's own name for the type. */
  readonly type: string;
  readonly kind: ColumnKind;
}

export interface BackendTable {
  /** The name as specs write it: the bare name in the default schema, `schema.table` elsewhere. */
  readonly name: string;
  /**
   * The parts of the name, which SQL quotes one by one and joins with dots: `['orders']` or
   * `['sales', 'orders']`.
   */
  readonly path: readonly string[];
  readonly columns: readonly BackendColumn[];
  /** The number of rows, possibly an estimate; null if unknown. */
  readonly row_count: number | null;
}

/** A primary key or unique constraint; `table` is a `BackendTable.name`. */
export interface UniqueKey {
  readonly table: string;
  readonly columns: readonly string[];
}

export interface ForeignKey {
  readonly table: string;
  readonly columns: readonly string[];
  readonly references: { readonly table: string; readonly columns: readonly string[] };
}

export interface BackendSchema {
  readonly tables: readonly BackendTable[];
  readonly keys?: readonly UniqueKey[];
  readonly foreignKeys?: readonly ForeignKey[];
}

/** The SQL dialect of a backend. */
export type Dialect = 'duckdb' | 'postgres';

/**
 * A value in a row. The SQL itself converts every type that has no counterpart here: decimals,
 * times of day and unusual types arrive as text, timestamps as microseconds and dates as days since
 * 1970. Integers of any width are numbers or, beyond 2^53, bigints. A list contains the members of
 * a group as texts or numbers.
 */
export type SqlValue = number | bigint | string | boolean | null | readonly (string | number | null)[];
export type SqlRow = readonly SqlValue[];

export interface SqlStatement {
  /** One SELECT with the placeholders $1 to $n, each inside a CAST that gives its type. */
  readonly sql: string;
  readonly parameters: readonly (number | string | boolean)[];
}

export interface QueryOptions {
  /** Milliseconds from now after which the query fails with `timeout`. */
  readonly deadlineMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The values of one column, one per row. A column of numbers without nulls may be an array of
 * doubles.
 */
export type SqlColumn = Float64Array | readonly SqlValue[];

/** Rows in the order of the SELECT. A plain array of rows qualifies. */
export interface RowBatch extends Iterable<SqlRow> {
  readonly length: number;
  /**
   * The same values by column, if they arrived that way. Large results are read by column, which
   * avoids allocating an array per row.
   */
  readonly columns?: readonly SqlColumn[] | undefined;
}

/** Rows in batches. Leaving the loop early ends the query. */
export type RowBatches = AsyncIterable<RowBatch>;

export interface SchemaOptions extends QueryOptions {
  /** If false, `row_count` is null wherever counting would need a scan. Default true. */
  readonly counts?: boolean | undefined;
}

export interface BackendSession {
  readonly dialect: Dialect;
  schema(options?: SchemaOptions): Promise<BackendSchema>;
  query(statement: SqlStatement, options: QueryOptions): RowBatches;
  /**
   * Returns, for files, a text that changes when their names, sizes or modification times change.
   * Returns an empty text for database servers, which have no cheap sign of a change.
   */
  fingerprint(): Promise<string>;
  close(): Promise<void>;
}
