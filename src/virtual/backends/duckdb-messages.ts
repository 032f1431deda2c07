// Messages between the service and the DuckDB process.

import type { WireBatch } from './duckdb-columns.ts';

export type FileFormat = 'parquet' | 'csv' | 'json';

/** A file that was found on disk. */
export interface SourceFile {
  /** Absolute path with symbolic links resolved. */
  readonly path: string;
  /** Device and inode number. */
  readonly identity: string;
}

/**
 * The source to open. The key changes when a file changes, so that a stale database is never
 * reused.
 */
export interface DuckDbSource {
  readonly key: string;
  readonly files: readonly SourceFile[];
  /** A database file with its WAL, or data files that together form one table. */
  readonly opened:
    | { readonly kind: 'database'; readonly log: SourceFile | undefined }
    | { readonly kind: 'files'; readonly format: FileFormat; readonly table: string; readonly bytes: number };
}

export interface DuckDbLimits {
  readonly memoryMb: number;
  readonly threads: number;
  /** Folder for data that does not fit into memory. */
  readonly spillFolder: string;
  readonly spillMb: number;
  /** Idle milliseconds after which a database is closed, so that others can write to its file. */
  readonly keepOpenMs: number;
}

export type Parameter = number | string | boolean;

/** Messages to the DuckDB process. Every answer to a question repeats the id of the question. */
export type ToDuckDb =
  | { readonly kind: 'limits'; readonly limits: DuckDbLimits }
  | {
      readonly kind: 'run';
      readonly id: number;
      readonly source: DuckDbSource;
      readonly sql: string;
      readonly parameters: readonly Parameter[];
      /** Whether the SQL was written by this package and may therefore query the catalog. */
      readonly ours: boolean;
    }
  /** A batch was consumed, so one more may be sent. */
  | { readonly kind: 'more'; readonly id: number }
  | { readonly kind: 'stop'; readonly id: number };

export type FromDuckDb =
  | { readonly kind: 'ready' }
  /** The library is not installed or does not run on this machine. */
  | { readonly kind: 'absent'; readonly reason: string }
  | { readonly kind: 'rows'; readonly id: number; readonly rows: WireBatch }
  /** All rows were sent; this is the last message about the question. */
  | { readonly kind: 'end'; readonly id: number }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string; readonly refused: boolean };

export const DUCKDB_PACKAGE = '@duckdb/node-api';
