// Runs DuckDB in this process, with the limits that the service sets for it, as the peer of virtual
// graphs. Also writes the file that both read.

export interface DirectDuckDb {
  /** Writes the rows of a SELECT as Parquet without holding all of them in memory. */
  copy(sql: string, file: string): Promise<void>;
  view(name: string, file: string): Promise<void>;
  /** Runs a SELECT with integers for $1 to $n, reads every row, and returns the number of rows. */
  count(sql: string, parameters: readonly number[]): Promise<number>;
  close(): void;
}

/** Returns undefined if DuckDB is not installed. */
export async function openDirect(): Promise<DirectDuckDb | undefined> {
  const library = await import('@duckdb/node-api').catch(() => undefined);
  if (library === undefined) return undefined;
  const instance = await library.DuckDBInstance.create(':memory:', { threads: '2', memory_limit: '512MB' });
  const connection = await instance.connect();
  return {
    copy: async (sql, file) => void (await connection.run(`COPY (${sql}) TO '${file}' (FORMAT parquet)`)),
    view: async (name, file) =>
      void (await connection.run(`CREATE VIEW ${name} AS SELECT * FROM read_parquet(['${file}'])`)),
    async count(sql, parameters) {
      const prepared = await connection.prepare(sql);
      try {
        for (const [index, value] of parameters.entries()) prepared.bindBigInt(index + 1, BigInt(value));
        return (await (await prepared.run()).getRowsJS()).length;
      } finally {
        prepared.destroySync();
      }
    },
    close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}
