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
  /** Of a node table: its key. Its rows are nodes. */
  readonly key?: NodeTableShape['key'] | undefined;
  /** Of a named table: the node tables of its members. */
  readonly kinds?: readonly NodeTableShape[] | undefined;
}

/** A row of SHOW NODE TABLES. */
export interface NodeTableShape {
  readonly name: string;
  readonly key: { readonly name: string; readonly type: ColumnType };
  readonly columns: TableShape['columns'];
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

/** Returns the hyperedge tables, then the node tables. */
async function tablesOf(runner: StatementRunner): Promise<TableShape[]> {
  const items = await rowsOf<TableShape & { nodes?: string; member_tables?: readonly string[] }>(runner, 'SHOW TABLES');
  // Older servers do not have the statement, and no named table.
  if (items.every(({ nodes }) => nodes !== 'named' && nodes !== 'numbers')) return items;
  const nodes = await rowsOf<NodeTableShape>(runner, 'SHOW NODE TABLES');
  const tables = items.map((item): TableShape => {
    if (item.nodes !== 'named') return item;
    const kinds = item.member_tables!.flatMap((name) => nodes.filter((one) => isSame(one.name, name)));
    return { ...item, kinds };
  });
  return [...tables, ...nodes.map((node): TableShape => ({ ...node, primary: false }))];
}

async function rowsOf<T>(runner: StatementRunner, statement: string): Promise<T[]> {
  const { batches } = await runner.run(statement, {}, new AbortController().signal);
  const found: T[] = [];
  for await (const rows of batches) found.push(...(rows as readonly unknown[] as readonly T[]));
  return found;
}

function isSame(name: string, other: string): boolean {
  return name.toLowerCase() === other.toLowerCase();
}

/** Returns the columns of `RETURN *`. */
export function columnsOfTable({ columns, intervals, roles = [], key, kinds }: TableShape): ResultColumn[] {
  if (key !== undefined) return [key, ...columns].map(({ name, type }) => ({ name, type: kindOfType(type) }));
  const members = membersType(kinds);
  return [
    { name: 'id', type: 'integer' },
    { name: 'event_ts', type: 'integer' },
    { name: 'members', type: members },
    ...roles.map((name): ResultColumn => ({ name, type: members })),
    ...[...builtInColumns(intervals), ...columns].map(({ name, type }) => ({ name, type: kindOfType(type) })),
  ];
}

/** Members of several kinds are objects with `kind` and `key`. */
function membersType(kinds: TableShape['kinds']): ResultColumn['type'] {
  if (kinds === undefined) return { listOf: 'integer' };
  if (kinds.length > 1) return 'json';
  return { listOf: kinds[0]!.key.type === 'INTEGER' ? 'integer' : 'text' };
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
