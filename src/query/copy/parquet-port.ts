// Interfaces through which COPY reads and writes Parquet: columns in, columns out, in this thread
// or another.

import type { Value } from '../binder/bound.ts';

/** Rows of a file by column, in the order in which the columns were requested. */
export interface ParquetBatch {
  /** Number of rows before it in the file. */
  readonly start: number;
  readonly count: number;
  readonly columns: readonly ArrayLike<unknown>[];
}

/** A file that is read. */
export interface ParquetSource {
  /** The columns of the file. Rejects with `invalid_input` if it is not Parquet. */
  names(): Promise<string[]>;
  /** The next rows; undefined after the last. Must be called with the same columns every time. */
  next(columns: readonly string[]): Promise<ParquetBatch | undefined>;
  /** Ends the use of the source. */
  close(): void;
}

/** A file that is written. */
export interface ParquetSink {
  /** Adds rows, by column; returns the bytes that are ready. */
  add(columns: readonly (readonly Value[])[]): Promise<Uint8Array>;
  /** Returns the remaining bytes. */
  end(): Promise<Uint8Array>;
  close(): void;
}
