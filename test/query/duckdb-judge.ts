// Uses DuckDB as a reference for statements: loads the rows of naive tables, runs a statement as
// SQL, and returns the rows as a naive result.

import type { MatchNode } from '../../src/query/parser/ast.ts';
import type { DuckColumn, DuckDb } from '../support/duckdb.ts';
import { matchSql } from './duckdb-sql.ts';
import type { NaiveEntry, NaiveResult } from './naive.ts';
import { type NaiveTable, rolesOf } from './naive-expressions.ts';
import type { NaiveValue } from './naive-values.ts';

const TYPES = { INTEGER: 'BIGINT', REAL: 'DOUBLE', TEXT: 'VARCHAR', BOOLEAN: 'BOOLEAN' } as const;

/** Drops and recreates the tables in DuckDB. */
export async function loadTables(duckdb: DuckDb, tables: readonly NaiveTable[]): Promise<void> {
  for (const { name, columns, roles = [], rows } of tables) {
    const types: Record<string, DuckColumn> = { id: 'BIGINT', event_ts: 'BIGINT', members: 'BIGINT[]' };
    for (const role of roles) types[role] = 'BIGINT[]';
    for (const column of columns) types[column.name] = TYPES[column.type];
    const names = Object.keys(types);
    await duckdb.run(`drop table if exists "${name}"`);
    await duckdb.createTable(
      name,
      types,
      rows.map((row) => names.map((column) => (roles.includes(column) ? rolesOf(row)[column] : row[column]))),
    );
  }
}

/** The expected rows, or a message if a value was out of DuckDB's range. */
export type Judgement = Pick<NaiveResult, 'entries' | 'tied' | 'skip' | 'limit'> | string;

export async function judge(
  duckdb: DuckDb,
  node: MatchNode,
  tables: readonly NaiveTable[],
  parameters: Readonly<Record<string, unknown>>,
): Promise<Judgement> {
  const { sql, skip, limit } = matchSql(node, tables, parameters);
  let rows: unknown[][];
  try {
    rows = await duckdb.rows(sql);
  } catch (error) {
    const { message } = error as Error;
    // DuckDB overflows 64 bits even in rows that need not be evaluated, and in constants. The
    // service refuses integers beyond 2^53.
    if (message.startsWith('Out of Range Error')) return message;
    throw new Error(`${message}\n${sql}`);
  }
  const entries = rows.map((row): NaiveEntry => {
    const values = row.map(plainValue);
    return { values: values.slice(0, -1), order: values.slice(-1) };
  });
  return { entries, tied: (a, b) => a.order[0] === b.order[0], skip, limit };
}

function plainValue(value: unknown): NaiveValue {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(plainValue);
  if (typeof value !== 'object' || value === null) return value as NaiveValue;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainValue(item)]));
}
