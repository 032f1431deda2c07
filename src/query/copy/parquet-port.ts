// Interfaces through which COPY reads and writes Parquet column by column, in this thread or in
// another.

import type { Value } from '../binder/bound.ts';

/** Rows of a file by column, in the order in which the columns were requested. */
export interface ParquetBatch {
  /** Number of rows before the batch in the file. */
  readonly start: number;
  readonly count: number;
  readonly columns: readonly ArrayLike<unknown>[];
}

/** A file that is being read. */
export interface ParquetSource {
  /**
   * Returns the names of the columns in the file. Rejects with `invalid_input` if the file is not
   * Parquet.
   */
  names(): Promise<string[]>;
  /**
   * Returns the next rows, or undefined after the last ones. Must be called with the same columns
   * every time.
   */
  next(columns: readonly string[]): Promise<ParquetBatch | undefined>;
  /** Ends the use of the source. */
  close(): void;
}

/** A file that is being written. */
export interface ParquetSink {
  /** Adds rows, by column. Returns the bytes that are ready. */
  add(columns: readonly (readonly Value[])[]): Promise<Uint8Array>;
  /** Returns the remaining bytes. */
  end(): Promise<Uint8Array>;
  close(): void;
}
