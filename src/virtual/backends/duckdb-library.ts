// Loads the optional library `@duckdb/node-api` on demand.

import type { DuckDBConnection, DuckDBDataChunk, DuckDBInstance, DuckDBType, DuckDBValue } from '@duckdb/node-api';

export type Connection = DuckDBConnection;
export type Chunk = DuckDBDataChunk;
export type Instance = DuckDBInstance;
export type ColumnType = DuckDBType;
export type Value = DuckDBValue;
export type Library = typeof import('@duckdb/node-api');

/** Loads the library. Rejects if it is not installed. */
export async function loadLibrary(): Promise<Library> {
  // The name is in a variable, so that bundlers and machines without the library can still load
  // this file.
  const name = '@duckdb/node-api';
  return (await import(name)) as Library;
}
