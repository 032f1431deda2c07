// Opens an in-memory DuckDB for tests. It runs statements with the parameters $1 to $n, and returns
// rows and schemas in the same form as a backend.

import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import type { BackendSchema, ColumnKind, SqlRow, SqlStatement } from '../../src/virtual/backend.ts';

export interface TestDuckDb {
  run(sql: string): Promise<void>;
  rows(statement: SqlStatement): Promise<SqlRow[]>;
  statementCount(sql: string): Promise<number>;
  schema(): Promise<BackendSchema>;
  close(): void;
}

type Module = typeof import('@duckdb/node-api');

/** Opens the database. Returns undefined if DuckDB is not installed. */
export async function openTestDuckDb(): Promise<TestDuckDb | undefined> {
  const name = '@duckdb/node-api';
  let module: Module;
  try {
    module = (await import(name)) as Module;
  } catch {
    return undefined;
  }
  const { BIGINT, BOOLEAN, DOUBLE, VARCHAR } = module;
  const instance: DuckDBInstance = await module.DuckDBInstance.create(':memory:');
  const connection: DuckDBConnection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'; SET threads = 1");
  return {
    run: async (sql) => void (await connection.run(sql)),
    rows: async ({ sql, parameters }) => {
      // Only safe integers are bound as 64-bit integers; other numbers are bound as doubles.
      const typeOf = (value: number | string | boolean) =>
        typeof value === 'string'
          ? VARCHAR
          : typeof value === 'boolean'
            ? BOOLEAN
            : Number.isSafeInteger(value)
              ? BIGINT
              : DOUBLE;
      const values = parameters.map((value) => (typeOf(value) === BIGINT ? BigInt(value) : value));
      return (await connection.runAndReadAll(sql, values, parameters.map(typeOf))).getRowsJS() as unknown as SqlRow[];
    },
    statementCount: async (sql) => (await connection.extractStatements(sql)).count,
    schema: () => schemaOf(connection),
    close: () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

async function schemaOf(connection: DuckDBConnection): Promise<BackendSchema> {
  const reader = await connection.runAndReadAll(
    'SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal ORDER BY table_oid, column_index',
  );
  const tables = new Map<string, { name: string; type: string; kind: ColumnKind }[]>();
  for (const [table, name, type] of reader.getRowsJS() as [string, string, string][]) {
    const columns = tables.get(table) ?? [];
    columns.push({ name, type, kind: kindOf(type) });
    tables.set(table, columns);
  }
  return { tables: [...tables].map(([name, columns]) => ({ name, path: [name], columns, row_count: null })) };
}

function kindOf(type: string): ColumnKind {
  if (/^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$/.test(type)) return 'integer';
  if (type.startsWith('DECIMAL')) return 'decimal';
  if (type === 'DOUBLE' || type === 'FLOAT') return 'real';
  if (type === 'VARCHAR') return 'text';
  if (type === 'TIMESTAMP WITH TIME ZONE') return 'timestamptz';
  if (type.startsWith('TIMESTAMP')) return 'timestamp';
  return (['boolean', 'date', 'time', 'uuid'] as const).find((kind) => kind === type.toLowerCase()) ?? 'other';
}
