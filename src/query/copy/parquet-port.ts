// Parquet files as COPY uses them: columns in, columns out, by whoever does the work.

import type { Value } from '../binder/bound.ts';

/** Rows of a file, column by column, in the order in which the columns were asked for. */
export interface ParquetBatch {
  /** Rows of the file before it. */
  readonly start: number;
  readonly count: number;
  readonly columns: readonly ArrayLike<unknown>[];
}

/** A file that is read. */
export interface ParquetSource {
  /** The columns of the file. Rejects with `invalid_input` when it is no Parquet. */
  names(): Promise<string[]>;
  /** Some more rows; undefined behind the last one. Always to be asked for the same columns. */
  next(columns: readonly string[]): Promise<ParquetBatch | undefined>;
  /** No more is asked of it. */
  close(): void;
}

/** A file that is made. */
export interface ParquetSink {
  /** Takes rows, by column; gives the bytes that are ready. */
  add(columns: readonly (readonly Value[])[]): Promise<Uint8Array>;
  /** The rest of the bytes. */
  end(): Promise<Uint8Array>;
  close(): void;
}
