// Plans how the rows of a file become edges; the plan can be reviewed before anything is written.

import { type ColumnType, kindOfType } from '../../model/column-types.ts';
import { RESERVED_NAMES } from '../../model/columns.ts';
import { isNullWord } from '../../tabular/cell-types.ts';
import { cellsOf } from '../../tabular/foreign-table.ts';
import { commonSeparator, separatorOf } from '../../tabular/list-separators.ts';
import { guessMembers } from '../../tabular/member-columns.ts';
import { hasNames, nodeNumber, nodeTexts } from '../../tabular/nodes.ts';
import { type Decimal, plainNumber } from '../../tabular/number-style.ts';
import { firstColumnOfTimes, guessTimeColumns } from '../../tabular/time-column.ts';
import { guessTimeFormat, type TimeFormat } from '../../tabular/times.ts';
import { decimalIn, propertyName, valueType } from '../../tabular/value-columns.ts';
import type { Reject, SourceFile, SourceRow } from './read-file.ts';
import { secondsOf } from './times.ts';

/** The columns that make an edge, and how to read them. */
export interface Mapping {
  readonly timeColumn: string;
  readonly timeFormat: TimeFormat;
  /** Columns whose cells hold one node or a list of nodes. */
  readonly memberColumns: readonly string[];
  /**
   * Separator between the nodes of a list, in all member columns; empty when each cell is one node.
   */
  readonly separator: string;
  /** True when nodes have names, which get numbers and are stored in a table of nodes. */
  readonly hasNames: boolean;
  readonly propertyColumns: readonly string[];
}

export interface PlannedEdge {
  readonly event_ts: number;
  /** Either all numbers or all names. */
  readonly members: readonly (number | string)[];
  readonly properties: Readonly<Record<string, unknown>>;
}

export interface EdgePlan {
  readonly edges: readonly PlannedEdge[];
  /** Names of the properties, which may differ from the names of the columns in the file. */
  readonly properties: readonly string[];
  readonly rejected: readonly Reject[];
}

/** Guesses the mapping from the names of the columns and the first values. */
export function guessMapping(file: SourceFile): Mapping {
  const { table, columns, valueColumns } = file;
  // The user reviews the guess, so any of several candidates is better than none.
  const [time] = guessTimeColumns(table, { members: [], format: undefined, isNeeded: true });
  const timeColumn = table.names[time ?? firstColumnOfTimes(table) ?? -1] ?? columns[0]!;
  const free = table.names.flatMap((name, index) => (name === timeColumn ? [] : [index]));
  const members = guessMembers(table, { free, mayHoldLists: true });
  const memberColumns = members.indexes.map((index) => table.names[index]!);
  const separator = members.separator ?? '';
  return {
    timeColumn,
    timeFormat: guessTimeFormat(cellsIn(file, timeColumn), timeColumn),
    memberColumns,
    separator,
    hasNames: looksNamed(file, { memberColumns, separator }),
    propertyColumns: valueColumns.filter((column) => column !== timeColumn && !memberColumns.includes(column)),
  };
}

export function cellsIn({ table }: SourceFile, column: string): unknown[] {
  return cellsOf(table, table.names.indexOf(column));
}

/** Guesses the separator between the nodes in these columns; empty when each cell is one node. */
export function guessSeparator({ table }: SourceFile, memberColumns: readonly string[]): string {
  const indexes = memberColumns.map((column) => table.names.indexOf(column));
  return (indexes.length === 1 ? separatorOf(table, indexes[0]!) : commonSeparator(table, indexes)) ?? '';
}

/** Returns whether some member is not an integer. */
export function looksNamed(
  file: SourceFile,
  { memberColumns, separator }: Pick<Mapping, 'memberColumns' | 'separator'>,
): boolean {
  return memberColumns.some((column) => hasNames(cellsIn(file, column), markOf(separator)));
}

function markOf(separator: string): string | undefined {
  return separator === '' ? undefined : separator;
}

/** A column of the file that becomes a property. */
interface ValueColumn {
  readonly column: string;
  /** Name of the property. */
  readonly name: string;
  readonly type: ColumnType;
  readonly decimal: Decimal | undefined;
}

/**
 * Returns the columns in the order of the file, so that the names of the properties do not depend
 * on the order in which the columns were chosen.
 */
function valuesOf({ table }: SourceFile, { propertyColumns }: Mapping): ValueColumn[] {
  const places = table.names.flatMap((name, index) => (propertyColumns.includes(name) ? [index] : []));
  // In JSON, numbers are not written as texts, so there is no decimal comma.
  const decimal = table.delimiter === undefined ? undefined : decimalIn(table, places);
  const taken = new Set<string>();
  return places.map((index) => {
    const name = propertyName(table.names[index]!, taken);
    return { column: table.names[index]!, name, type: valueType(table, index, name, decimal), decimal };
  });
}

export function planEdges(file: SourceFile, mapping: Mapping): EdgePlan {
  const values = valuesOf(file, mapping);
  const edges: PlannedEdge[] = [];
  const rejected: Reject[] = [...file.rejected];
  for (const [index, row] of file.rows.entries()) {
    try {
      edges.push(edgeOf(row, mapping, values));
    } catch (error) {
      rejected.push({ row: file.numbers[index]!, reason: (error as Error).message, source: row });
    }
  }
  const properties = values.map(({ name }) => name);
  return { edges, properties, rejected: rejected.sort((a, b) => a.row - b.row) };
}

/** Returns the columns that the table needs, without those that every table has. */
export function newColumns(file: SourceFile, mapping: Mapping): { name: string; type: ColumnType }[] {
  return valuesOf(file, mapping)
    .filter(({ name }) => !RESERVED_NAMES.has(name.toLowerCase()))
    .map(({ name, type }) => ({ name, type }));
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

function edgeOf(row: SourceRow, mapping: Mapping, values: readonly ValueColumn[]): PlannedEdge {
  const event_ts = secondsOf(row[mapping.timeColumn], mapping.timeFormat);
  const members = membersOf(row, mapping);
  if (members.length === 0) throw new Error('has no members');
  const properties = Object.create(null) as Record<string, unknown>;
  for (const column of values) {
    const cell = row[column.column];
    const value = isMissing(cell) ? undefined : valueIn(cell, column);
    if (value !== undefined) properties[column.name] = value;
  }
  return { event_ts, members, properties };
}

function membersOf(row: SourceRow, { memberColumns, separator, hasNames }: Mapping): (number | string)[] {
  const texts = memberColumns.flatMap((column) => nodeTexts(row[column], markOf(separator), hasNames));
  const nodes = texts.map((text) => {
    if (hasNames) return text;
    const node = nodeNumber(text);
    if (Number.isNaN(node))
      throw new Error(`names the member ${text.slice(0, 40)}, but nodes are integers here; check Nodes have names`);
    return node;
  });
  return [...new Set(nodes)];
}

/** Returns undefined when the column is not text and the cell is a word that means "no value". */
function valueIn(value: unknown, { column, type, decimal }: ValueColumn): unknown {
  if (kindOfType(type) === 'text') return typeof value === 'object' ? JSON.stringify(value) : String(value);
  if (typeof value === 'string' && isNullWord(value.trim())) return undefined;
  if (kindOfType(type) === 'boolean') return String(value).trim().toLowerCase() === 'true';
  const plain = typeof value === 'string' && decimal !== undefined ? plainNumber(value, decimal) : value;
  const number = Number(plain ?? Number.NaN);
  if (!Number.isFinite(number)) throw new Error(`says "${String(value).slice(0, 40)}" where ${column} wants a number`);
  return number;
}
