// Classifies the columns of a table: finds its time, its own key, and the columns that refer to
// something else.

import { guessMembers } from '../../tabular/member-columns.ts';
import { guessTimeColumns, saysOtherTime } from '../../tabular/time-column.ts';
import { guessTimeFormat } from '../../tabular/times.ts';
import { roleOf, saysId, singular, thingOf, wordsOf } from '../../tabular/words.ts';
import type {
  BackendColumn,
  BackendSchema,
  BackendTable,
  Dialect,
  SqlRow,
  SqlStatement,
  SqlValue,
} from '../backend.ts';
import { DIALECTS, TIME_KINDS, tableSql, wireSql } from '../compile/dialect.ts';

/**
 * Sampled rows by the name of their table. The columns are in the table's order, as
 * `sampleStatement` reads them.
 */
export type Samples = ReadonlyMap<string, readonly SqlRow[]>;

export const SAMPLE_ROWS = 2000;

/** Returns a statement that reads the first rows of a table. */
export function sampleStatement(table: BackendTable, dialect: Dialect): SqlStatement {
  const select = table.columns.map((column) => wireSql(column, DIALECTS[dialect])).join(', ');
  const sql = `SELECT ${select} FROM ${tableSql(table)} LIMIT ${SAMPLE_ROWS}`;
  return { sql, parameters: [] };
}

export interface TableView {
  readonly table: BackendTable;
  /** The sampled values that are not null, by column. */
  readonly values: ReadonlyMap<BackendColumn, readonly SqlValue[]>;
  readonly rows: readonly SqlRow[];
  readonly time: BackendColumn | undefined;
  /** The column that identifies the rows, so that each value occurs in one row. */
  readonly key: BackendColumn | undefined;
  /** Columns that identify something else. */
  readonly references: readonly BackendColumn[];
}

export function viewOf(table: BackendTable, schema: BackendSchema, samples: Samples): TableView {
  const rows = samples.get(table.name) ?? [];
  const values = new Map(
    table.columns.map((column, index) => [column, rows.map((row) => row[index]!).filter((value) => value !== null)]),
  );
  const time = timeColumn(table, values);
  const key = keyColumn(table, schema, values, rows.length);
  const free = table.columns.filter((column) => column !== time && column !== key && isIdKind(column));
  const named = guessMembers(
    { names: table.columns.map(({ name }) => name), rows, isText: () => false },
    { free: free.map((column) => table.columns.indexOf(column)), mayHoldLists: false },
  ).indexes.map((index) => table.columns[index]!);
  const isReference = (column: BackendColumn) =>
    referencedBy(column, table, schema) !== undefined ||
    (free.includes(column) && (named.includes(column) || namesTable(column, schema) !== undefined));
  const references = table.columns.filter((column) => column !== time && isReference(column));
  return { table, values, rows, time, key, references };
}

/**
 * Finds the column with the times. A column of integers counts as seconds if its name suggests a
 * time and its values do not contradict that. If no name suggests a time, any column of dates or
 * timestamps is taken.
 */
function timeColumn({ columns }: BackendTable, values: TableView['values']): BackendColumn | undefined {
  const names = columns.map((column) => (canBeTime(column, values.get(column)!) ? column.name : ''));
  const integers = columns.map((column) => (column.kind === 'integer' ? values.get(column)! : []));
  const rows = Array.from({ length: Math.max(0, ...integers.map(({ length }) => length)) }, (_, row) =>
    integers.map((cells) => cells[row]),
  );
  const table = { names, rows, isText: () => false };
  const [guessed] = guessTimeColumns(table, { members: [], format: undefined, isNeeded: false });
  if (guessed !== undefined) return columns[guessed];
  const times = columns.filter(({ kind, name }, index) => names[index] === name && kind !== 'integer');
  return times.find(({ name }) => !saysOtherTime(name)) ?? times[0];
}

/** Returns whether a column can be the time. Integers must look like seconds, as specs require. */
function canBeTime({ kind, name }: BackendColumn, values: readonly SqlValue[]): boolean {
  return TIME_KINDS.includes(kind) && (kind !== 'integer' || guessTimeFormat(values, name) === 's');
}

function isIdKind({ kind }: BackendColumn): boolean {
  return kind === 'integer' || kind === 'text' || kind === 'uuid';
}

/**
 * Finds the key of a table. It is a declared key of one column or, if there is none, a column that
 * is called `id` or named after the table, and whose sampled values are all distinct. With fewer
 * than two sampled rows, the first word of its name must be `id` instead.
 */
function keyColumn(
  table: BackendTable,
  schema: BackendSchema,
  values: TableView['values'],
  rowCount: number,
): BackendColumn | undefined {
  const isKey = ({ name }: BackendColumn) =>
    (schema.keys ?? []).some((key) => key.table === table.name && key.columns.length === 1 && key.columns[0] === name);
  const own = [...wordsOf(table.name)].map(singular).join(' ');
  const isNamed = ({ name }: BackendColumn) => {
    const thing = thingOf(name).map(singular).join(' ');
    // The role in a name such as `origin_id` shows that the column refers to another row.
    return (
      roleOf(name) === undefined &&
      saysId(name) &&
      (thing === '' || thing === own) &&
      wordsOf(name).length <= own.split(' ').length + 1
    );
  };
  const isUnique = (column: BackendColumn) =>
    rowCount > 1 ? new Set(values.get(column)).size === rowCount : wordsOf(column.name)[0] === 'id';
  const candidates = table.columns.filter(isIdKind);
  return candidates.find(isKey) ?? candidates.find((column) => isNamed(column) && isUnique(column));
}

/** Returns the target of a foreign key that consists of this column alone. */
export function referencedBy(
  { name }: BackendColumn,
  table: BackendTable,
  { foreignKeys = [] }: BackendSchema,
): { table: string; column: string } | undefined {
  const found = foreignKeys.find(
    (key) => key.table === table.name && key.columns.length === 1 && key.columns[0] === name,
  );
  return found === undefined ? undefined : { table: found.references.table, column: found.references.columns[0]! };
}

/** Finds the table a column is named after: `customer` and `customer_id` refer to `customers`. */
export function namesTable({ name }: BackendColumn, { tables }: BackendSchema): BackendTable | undefined {
  const thing = thingOf(name).map(singular).join(' ');
  if (thing === '') return undefined;
  return tables.find((table) => wordsOf(table.name.split('.').at(-1)!).map(singular).join(' ') === thing);
}
