// What the service and the process that runs DuckDB say to each other.

import type { WireBatch } from './duckdb-columns.ts';

export type FileFormat = 'parquet' | 'csv' | 'json';

/** A file as it was found. */
export interface SourceFile {
  /** Absolute, without links. */
  readonly path: string;
  /** Device and inode. */
  readonly identity: string;
}

/** What is opened. The key changes when a file does, so that nothing stale is kept. */
export interface DuckDbSource {
  readonly key: string;
  readonly files: readonly SourceFile[];
  /** A database file, or files of rows that become one table. */
  readonly opened:
    | { readonly kind: 'database'; readonly log: SourceFile | undefined }
    | { readonly kind: 'files'; readonly format: FileFormat; readonly table: string; readonly bytes: number };
}

export interface DuckDbLimits {
  readonly memoryMb: number;
  readonly threads: number;
  /** Rows that did not fit into memory go here. */
  readonly spillFolder: string;
  readonly spillMb: number;
  /** A database that nobody asks is closed after so long: its file can then be written by others. */
  readonly keepOpenMs: number;
}

export type Parameter = number | string | boolean;

/** Each question has a number; every answer names it. */
export type ToDuckDb =
  | { readonly kind: 'limits'; readonly limits: DuckDbLimits }
  | {
      readonly kind: 'run';
      readonly id: number;
      readonly source: DuckDbSource;
      readonly sql: string;
      readonly parameters: readonly Parameter[];
      /** SQL of this package itself: may ask the catalog. */
      readonly ours: boolean;
    }
  /** The last batch has been taken: send one more. */
  | { readonly kind: 'more'; readonly id: number }
  | { readonly kind: 'stop'; readonly id: number };

export type FromDuckDb =
  | { readonly kind: 'ready' }
  /** The library is not installed, or does not run on this machine. */
  | { readonly kind: 'absent'; readonly reason: string }
  | { readonly kind: 'rows'; readonly id: number; readonly rows: WireBatch }
  /** Nothing more is said about this question. */
  | { readonly kind: 'end'; readonly id: number }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string; readonly refused: boolean };

export const DUCKDB_PACKAGE = '@duckdb/node-api';
