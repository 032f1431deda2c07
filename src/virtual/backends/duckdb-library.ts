// The optional library `@duckdb/node-api`, loaded when it is asked for.

import type { DuckDBConnection, DuckDBDataChunk, DuckDBInstance, DuckDBType, DuckDBValue } from '@duckdb/node-api';

export type Connection = DuckDBConnection;
export type Chunk = DuckDBDataChunk;
export type Instance = DuckDBInstance;
export type ColumnType = DuckDBType;
export type Value = DuckDBValue;
export type Library = typeof import('@duckdb/node-api');

/** Rejects when it is not installed. */
export async function loadLibrary(): Promise<Library> {
  // Not written in place: a bundler or a machine without it shall still load this file.
  const name = '@duckdb/node-api';
  return (await import(name)) as Library;
}
