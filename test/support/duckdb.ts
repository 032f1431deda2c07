// Opens an in-memory DuckDB, which is an optional dependency. Creates tables with rows, prepares
// statements, and reads complete results.

import type { DuckDBAppender, DuckDBConnection, DuckDBInstance, DuckDBPreparedStatement } from '@duckdb/node-api';

/** Message that explains how to install DuckDB. */
export const DUCKDB_MISSING = '@duckdb/node-api is not installed (npm install --include=optional adds it)';

export type DuckColumn = 'INTEGER' | 'BIGINT' | 'DOUBLE' | 'VARCHAR' | 'BOOLEAN' | 'BIGINT[]';
export type DuckParameters = Readonly<Record<string, number | string>>;
type Module = typeof import('@duckdb/node-api');

/** Opens the database. Returns undefined if DuckDB is not installed. */
export async function openDuckDb(): Promise<DuckDb | undefined> {
  // The name is in a variable, so that this file also loads if the package is not installed.
  const name = '@duckdb/node-api';
  let module: Module;
  try {
    module = (await import(name)) as Module;
  } catch {
    return undefined;
  }
  const instance = await module.DuckDBInstance.create(':memory:');
  return new DuckDb(module, instance, await instance.connect());
}

export class DuckDb {
  readonly #module: Module;
  readonly #instance: DuckDBInstance;
  readonly #connection: DuckDBConnection;

  constructor(module: Module, instance: DuckDBInstance, connection: DuckDBConnection) {
    this.#module = module;
    this.#instance = instance;
    this.#connection = connection;
  }

  async run(sql: string): Promise<void> {
    await this.#connection.run(sql);
  }

  async prepare(sql: string): Promise<DuckStatement> {
    return new DuckStatement(await this.#connection.prepare(sql));
  }

  /**
   * Returns the rows of one statement as JavaScript values: lists as arrays, structs as objects,
   * 64-bit integers as bigints.
   */
  async rows(sql: string): Promise<unknown[][]> {
    return (await this.#connection.runAndReadAll(sql)).getRowsJS();
  }

  /** Creates a table and appends rows to it. Every column may contain nulls. */
  async createTable(
    name: string,
    columns: Readonly<Record<string, DuckColumn>>,
    rows: Iterable<readonly unknown[]>,
  ): Promise<void> {
    const definitions = Object.entries(columns).map(([column, type]) => `"${column}" ${type}`);
    await this.run(`create table "${name}" (${definitions.join(', ')})`);
    const appender = await this.#connection.createAppender(name);
    const append = Object.values(columns).map((type) => this.#appendOf(appender, type));
    for (const row of rows) {
      for (let place = 0; place < append.length; place++) {
        const value = row[place];
        if (value === null || value === undefined) appender.appendNull();
        else append[place]!(value);
      }
      appender.endRow();
    }
    appender.closeSync();
  }

  #appendOf(appender: DuckDBAppender, type: DuckColumn): (value: unknown) => void {
    const { LIST, BIGINT, listValue } = this.#module;
    switch (type) {
      case 'INTEGER':
        return (value) => appender.appendInteger(value as number);
      case 'BIGINT':
        return (value) => appender.appendBigInt(BigInt(value as number));
      case 'DOUBLE':
        return (value) => appender.appendDouble(value as number);
      case 'VARCHAR':
        return (value) => appender.appendVarchar(value as string);
      case 'BOOLEAN':
        return (value) => appender.appendBoolean(value as boolean);
      case 'BIGINT[]':
        return (value) => appender.appendList(listValue((value as readonly number[]).map(BigInt)), LIST(BIGINT));
    }
  }

  close(): void {
    this.#connection.closeSync();
    this.#instance.closeSync();
  }
}

export class DuckStatement {
  readonly #prepared: DuckDBPreparedStatement;

  constructor(prepared: DuckDBPreparedStatement) {
    this.#prepared = prepared;
  }

  /**
   * Runs the statement and returns rows of DuckDB's own values. Binds whole numbers as integers.
   */
  async rows(parameters: DuckParameters): Promise<unknown[][]> {
    for (const [name, value] of Object.entries(parameters)) {
      const index = this.#prepared.parameterIndex(name);
      if (typeof value === 'string') this.#prepared.bindVarchar(index, value);
      else if (Number.isInteger(value)) this.#prepared.bindInteger(index, value);
      else this.#prepared.bindDouble(index, value);
    }
    return (await this.#prepared.runAndReadAll()).getRows();
  }
}
