// Returns how the command, the console and a proposal of a virtual graph interpret the columns of a
// table. Each interpretation comes from the function that the program itself uses.

import { csvHead } from '../../src/cli/import/csv/csv-head.ts';
import { planRows, type RowFlags } from '../../src/cli/import/rows/row-plan.ts';
import { UsageError } from '../../src/cli/world.ts';
import { newColumns } from '../../src/console/import/edge-plan.ts';
import { guessMapping } from '../../src/console/import/mapping.ts';
import { readSource } from '../../src/console/import/read-file.ts';
import { MEGABYTE } from '../../src/limits.ts';
import { builtInType } from '../../src/model/columns.ts';
import { cellType, commonType } from '../../src/tabular/cell-types.ts';
import { cellsOf, type ForeignTable } from '../../src/tabular/foreign-table.ts';
import { guessTimeFormat, secondsIn } from '../../src/tabular/times.ts';
import type { BackendTable, ColumnKind, SqlRow } from '../../src/virtual/backend.ts';
import { proposeSpec } from '../../src/virtual/propose/propose.ts';

export interface Answer {
  /** The name of the column with the time, and the format of its cells. */
  readonly time: string;
  readonly members: readonly string[];
  /** The separator between the nodes of a list. If undefined, each cell is one node. */
  readonly separator: string | undefined;
  /** Whether the nodes are names, which are given numbers. */
  readonly hasNames: boolean;
  /** Name and type of each property that is not a built-in column. */
  readonly values: Readonly<Record<string, string>>;
}

const NO_FLAGS: RowFlags = { types: new Map() };
const NO_CSV_FLAGS = { delimiter: undefined, isHeadless: false, columns: undefined };

/**
 * Returns the table as the command reads it. The command replaces carriage returns by newlines if
 * there are no newlines.
 */
export async function tableIn(text: string): Promise<ForeignTable> {
  const lines = text.includes('\n') ? text : text.replaceAll('\r', '\n');
  const head = { head: Buffer.from(lines), isWhole: true };
  return (await csvHead(head, NO_CSV_FLAGS, MEGABYTE, [], 'a.csv')).sample;
}

/**
 * Returns the interpretation by the command without flags. If the command refuses to import with
 * its guess, `said` is its message, and the result is the interpretation with the flag that the
 * message names.
 */
export async function commandAnswer(text: string): Promise<Answer & { readonly said?: string }> {
  const table = await tableIn(text);
  try {
    return planAnswer(table, NO_FLAGS);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const [, columns, separator] = /--member-columns (\S+)(?: --separator '(.)')? takes/.exec(error.message) ?? [];
    const memberColumns = columns?.split(',') ?? [];
    return { ...planAnswer(table, { ...NO_FLAGS, memberColumns, separator }), said: error.message };
  }
}

function planAnswer(table: ForeignTable, flags: RowFlags): Answer {
  const { names, time, members, properties } = planRows(table, flags, [], []);
  return {
    time: `${names[time.index!]} ${String(time.format)}`,
    members: members.indexes.map((index) => names[index]!),
    separator: members.separator,
    hasNames: members.named,
    values: Object.fromEntries(
      properties
        .filter(({ name }) => builtInType(name.toLowerCase()) === undefined)
        .map(({ name, type }) => [name, type]),
    ),
  };
}

export function consoleAnswer(text: string): Answer {
  const file = readSource('a.csv', text);
  const mapping = guessMapping(file);
  return {
    time: `${mapping.timeColumn} ${mapping.timeFormat}`,
    members: mapping.memberColumns,
    separator: mapping.separator === '' ? undefined : mapping.separator,
    hasNames: mapping.hasNames,
    values: Object.fromEntries(newColumns(file, mapping).map(({ name, type }) => [name, type])),
  };
}

/**
 * Returns the interpretation by a proposal for a database that contains the table with typed
 * columns.
 */
export function proposedAnswer(table: ForeignTable): Pick<Answer, 'members'> & { readonly time: string | undefined } {
  const kinds = table.names.map((_, index) => kindOf(table, index));
  const columns = table.names.map((name, index) => ({ name, kind: kinds[index]!, type: kinds[index]! }));
  const rows = table.rows.map((row) => row.map((cell, index) => wireValue(cell, kinds[index]!)));
  const backendTable: BackendTable = { name: 'events_of_others', path: ['events_of_others'], columns, row_count: null };
  const head = { id: 'p', name: 'p', backend: { type: 'duckdb', path: 'p.duckdb' } } as const;
  try {
    const { spec } = proposeSpec(head, { tables: [backendTable] }, new Map([[backendTable.name, rows as SqlRow[]]]));
    const edge = spec.edges[0]!;
    const members =
      edge.shape === 'row' ? Object.values(edge.row_member_columns) : [...edge.group_columns, edge.member_column];
    return { time: edge.ts_column, members };
  } catch (error) {
    if (!String(error).includes('No table of the backend looks like edges')) throw error;
    return { time: undefined, members: [] };
  }
}

function kindOf(table: ForeignTable, index: number): ColumnKind {
  const cells = cellsOf(table, index).filter((cell) => cell !== null && cell !== '');
  const format = guessTimeFormat(cells);
  const isDate = ['iso', 'dmy', 'mdy'].includes(format);
  if (cells.length > 0 && isDate && cells.every((cell) => !Number.isNaN(secondsIn(cell, format)))) return 'timestamp';
  const types = new Set(cells.flatMap((cell) => cellType(cell, false) ?? []));
  return ({ INTEGER: 'integer', REAL: 'real', BOOLEAN: 'boolean', TEXT: 'text' } as const)[commonType(types)];
}

function wireValue(cell: unknown, kind: ColumnKind): unknown {
  if (cell === null || cell === undefined || cell === '') return null;
  if (kind === 'timestamp') return secondsIn(cell, guessTimeFormat([cell])) * 1e6;
  return kind === 'integer' || kind === 'real' ? Number(cell) : cell;
}
