// What virtual graphs ask of a backend: its schema, rows of one SELECT, a fingerprint of its files.

/** What hydration and comparisons need to know of a column's type; `decimal` is exact with a scale, `timestamptz` an instant, `timestamp` has no zone and is taken as UTC. */
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
  /** As the backend names it. */
  readonly type: string;
  readonly kind: ColumnKind;
}

export interface BackendTable {
  /** How a spec names it: plain in the default schema, `schema.table` elsewhere. */
  readonly name: string;
  /** The identifiers that SQL quotes one by one and joins by dots: `['orders']`, `['sales', 'orders']`. */
  readonly path: readonly string[];
  readonly columns: readonly BackendColumn[];
  /** May be an estimate; null when it is not known. */
  readonly row_count: number | null;
}

/** A primary key or a unique constraint; `table` is a `BackendTable.name`. */
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

/** How the SQL is written. */
export type Dialect = 'duckdb' | 'postgres';

/**
 * A value of a row. The SQL itself turns every type that has no value here into one that has: decimals, times and everything unusual come as text,
 * timestamps as integers. Integers of any width are numbers or, beyond 2^53, bigints. A list holds the members of a group: texts or numbers.
 */
export type SqlValue = number | bigint | string | boolean | null | readonly (string | number | null)[];
export type SqlRow = readonly SqlValue[];

export interface SqlStatement {
  /** One SELECT with the placeholders $1 to $n, each inside a CAST that gives its type. */
  readonly sql: string;
  readonly parameters: readonly (number | string | boolean)[];
}

export interface QueryOptions {
  /** Milliseconds from now; passed: `timeout`. */
  readonly deadlineMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The values of one column, a row each. Numbers alone, none of them null, may come as an array of doubles. */
export type SqlColumn = Float64Array | readonly SqlValue[];

/** Rows in the order of the SELECT; an array of rows is one. */
export interface RowBatch extends Iterable<SqlRow> {
  readonly length: number;
  /** The same values column by column, where they came so: a large result is read so, without an array for each row. */
  readonly columns?: readonly SqlColumn[] | undefined;
}

/** Rows by batches. Leaving the loop early ends the query. */
export type RowBatches = AsyncIterable<RowBatch>;

export interface SchemaOptions extends QueryOptions {
  /** False: `row_count` is null where it would have to be counted, which takes a scan. Default true. */
  readonly counts?: boolean | undefined;
}

export interface BackendSession {
  readonly dialect: Dialect;
  schema(options?: SchemaOptions): Promise<BackendSchema>;
  query(statement: SqlStatement, options: QueryOptions): RowBatches;
  /** Of files: names, sizes and times of change; other content, other text. Empty for databases, which do not tell. */
  fingerprint(): Promise<string>;
  close(): Promise<void>;
}
