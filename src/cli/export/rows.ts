// Opens the place from which an export reads rows, a server or a data directory, and determines the
// columns of the rows.

import type { ColumnType } from '../../engine/index.ts';
import { kindOfType } from '../../model/column-types.ts';
import { builtInColumns } from '../../model/columns.ts';
import type { ResultColumn } from '../../query/copy/index.ts';
import { openRunner, type RunnerFlags } from '../query/options.ts';
import type { Row, StatementRunner } from '../run/runner.ts';
import type { World } from '../world.ts';

export interface TableShape {
  readonly name: string;
  readonly columns: readonly { name: string; type: ColumnType }[];
  /** Older servers leave it out. */
  readonly intervals?: boolean | undefined;
  /** Absent in the answers of older servers. */
  readonly roles?: readonly string[];
  readonly primary: boolean;
}

export interface RowSource {
  readonly runner: StatementRunner;
  readonly tables: readonly TableShape[];
}

/** Throws UsageError, ConfigError, or the error of the directory or the server. */
export async function openRows(flags: RunnerFlags, world: World): Promise<RowSource> {
  const runner = await openRunner(flags, withSmallBudget(world));
  try {
    return { runner, tables: await tablesOf(runner) };
  } catch (error) {
    await runner.close();
    throw error;
  }
}

/**
 * Memory budget in megabytes, unless the environment sets another. Little is enough: every row is
 * read only once, so nothing needs to stay in memory.
 */
const MEMORY_MB = '64';

function withSmallBudget(world: World): World {
  const environment = { HEDGEROW_MEMORY_BUDGET_MB: MEMORY_MB, ...world.environment };
  const { cwd, stdin, stdout, stderr, now } = world;
  return {
    environment,
    cwd,
    stdin,
    stdout,
    stderr,
    now,
    onInterrupt: (callback) => world.onInterrupt(callback),
    onHangup: (callback) => world.onHangup(callback),
  };
}

async function tablesOf(runner: StatementRunner): Promise<TableShape[]> {
  const { batches } = await runner.run('SHOW TABLES', {}, new AbortController().signal);
  const tables: TableShape[] = [];
  for await (const rows of batches) tables.push(...(rows as readonly unknown[] as readonly TableShape[]));
  return tables;
}

/** Returns the columns of `RETURN *`. */
export function columnsOfTable({ columns, intervals, roles = [] }: TableShape): ResultColumn[] {
  return [
    { name: 'id', type: 'integer' },
    { name: 'event_ts', type: 'integer' },
    { name: 'members', type: { listOf: 'integer' } },
    ...roles.map((name): ResultColumn => ({ name, type: { listOf: 'integer' } })),
    ...[...builtInColumns(intervals), ...columns].map(({ name, type }) => ({ name, type: kindOfType(type) })),
  ];
}

/**
 * Returns the columns of a statement. If all table columns of the same name have one type, and the
 * rows fit that type, a column gets that type. Otherwise the type is inferred from the rows.
 * `names` is needed when there are no rows.
 */
export function columnsOfRows(
  rows: readonly Row[],
  tables: readonly TableShape[],
  names: readonly string[] = [...new Set(rows.flatMap((row) => Object.keys(row)))],
): ResultColumn[] {
  return names.map((name) => {
    const values = rows.map((row) => row[name]);
    const known = knownType(name, tables);
    return {
      name,
      type: known !== undefined && values.every((value) => fits(value, known)) ? known : seenType(values),
    };
  });
}

function knownType(name: string, tables: readonly TableShape[]): ResultColumn['type'] | undefined {
  const last = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  const types = tables.flatMap((table) => columnsOfTable(table).filter((column) => column.name.toLowerCase() === last));
  const isOne = types.every(({ type }) => JSON.stringify(type) === JSON.stringify(types[0]!.type));
  return isOne ? types[0]?.type : undefined;
}

/**
 * Infers the type from the values. Takes every number as real, because later rows may hold
 * fractions.
 */
function seenType(values: readonly unknown[]): ResultColumn['type'] {
  const seen = values.filter((value) => value !== null && value !== undefined);
  const found = (['real', 'boolean', 'text'] as const).find((type) => seen.every((value) => fits(value, type)));
  return seen.length === 0 ? 'text' : (found ?? 'json');
}

/** Returns whether a value fits a column of this type; null fits every column. */
function fits(value: unknown, type: ResultColumn['type']): boolean {
  if (value === null || value === undefined) return true;
  if (type === 'json') return true;
  if (typeof type !== 'string') return Array.isArray(value) && value.every((item) => fits(item, type.listOf));
  switch (type) {
    case 'integer':
      return Number.isSafeInteger(value);
    case 'real':
      return typeof value === 'number';
    case 'boolean':
      return typeof value === 'boolean';
    case 'text':
      return typeof value === 'string';
  }
}

/**
 * Throws an Error when a later row of a statement has a value that does not fit the type inferred
 * from the first rows. `format` is the name of the format in the message.
 */
export function checkTypes(batch: readonly Row[], columns: readonly ResultColumn[], format: string): void {
  for (const { name, type } of columns) {
    const row = batch.find((each) => !fits(each[name], type));
    if (row === undefined) continue;
    throw new Error(
      `The column ${name} holds ${JSON.stringify(row[name]).slice(0, 60)}, but its first rows are ${typeof type === 'string' ? type : 'lists'}, and a column has one type in ${format}. Export as NDJSON or CSV.`,
    );
  }
}
