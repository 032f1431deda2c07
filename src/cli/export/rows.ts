// The rows of an export, from a server or a data directory, and the columns they have.

import type { ColumnType } from '../../engine/types.ts';
import type { ResultColumn } from '../../query/copy/result-columns.ts';
import { DEFAULT_URL, urlOf } from '../import/options.ts';
import { ServerClient } from '../import/server-client.ts';
import { openDirectory } from '../query/directory-runner.ts';
import { openRunner, type RunnerFlags } from '../query/options.ts';
import type { Row, StatementRunner } from '../query/runner.ts';
import type { World } from '../world.ts';

export interface TableShape {
  readonly name: string;
  readonly columns: readonly { name: string; type: ColumnType }[];
  readonly primary: boolean;
}

export interface RowSource {
  readonly runner: StatementRunner;
  readonly tables: readonly TableShape[];
}

/** Throws UsageError, ConfigError, or what the directory or the server says. */
export async function openRows(flags: RunnerFlags, world: World): Promise<RowSource> {
  const tables = await tablesOf(flags, world);
  return { runner: await openRunner(flags, world), tables };
}

async function tablesOf({ data, config, url, apiKey }: RunnerFlags, world: World): Promise<TableShape[]> {
  if (data === undefined || url !== undefined)
    return new ServerClient({ url: urlOf(url ?? DEFAULT_URL), apiKey }, world.now).tables();
  const { database } = await openDirectory(data, config, world);
  try {
    return database.tables().map((table) => table.item());
  } finally {
    await database.close();
  }
}

const TYPES: Readonly<Record<ColumnType, ResultColumn['type']>> = {
  INTEGER: 'integer',
  REAL: 'real',
  TEXT: 'text',
  BOOLEAN: 'boolean',
};

/** The columns that `RETURN *` gives. */
export function columnsOfTable({ columns }: TableShape): ResultColumn[] {
  return [
    { name: 'id', type: 'integer' },
    { name: 'event_ts', type: 'integer' },
    { name: 'members', type: { listOf: 'integer' } },
    { name: 'weight', type: 'real' },
    { name: 'mean_dist_m', type: 'real' },
    { name: 'formation', type: 'text' },
    ...columns.map(({ name, type }) => ({ name, type: TYPES[type] })),
  ];
}

/** Columns of a statement: types of the tables' columns of that name where there are some, else what the first rows hold. */
export function columnsOfRows(rows: readonly Row[], tables: readonly TableShape[]): ResultColumn[] {
  const names = [...new Set(rows.slice(0, 1000).flatMap((row) => Object.keys(row)))];
  return names.map((name) => ({ name, type: knownType(name, tables) ?? seenType(rows.map((row) => row[name])) }));
}

function knownType(name: string, tables: readonly TableShape[]): ResultColumn['type'] | undefined {
  const last = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  const types = tables.flatMap((table) => columnsOfTable(table).filter((column) => column.name.toLowerCase() === last));
  const isOne = types.every(({ type }) => JSON.stringify(type) === JSON.stringify(types[0]!.type));
  return isOne ? types[0]?.type : undefined;
}

/** Numbers are real ones: whether all that follow are whole is not known. */
function seenType(values: readonly unknown[]): ResultColumn['type'] {
  const seen = values.filter((value) => value !== null && value !== undefined);
  if (seen.length > 0 && seen.every((value) => typeof value === 'number')) return 'real';
  if (seen.length > 0 && seen.every((value) => typeof value === 'boolean')) return 'boolean';
  return seen.some((value) => typeof value === 'object') ? 'json' : 'text';
}
