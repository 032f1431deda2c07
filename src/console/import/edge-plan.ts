// How the rows of a file become edges: a plan that can be looked at before anything is written.

import { type ColumnType, kindOfType } from '../../model/column-types.ts';
import { builtInType, EDGE_FIELDS, IDENTIFIER, RESERVED_NAMES } from '../../model/columns.ts';
import { type Decimal, decimalOf, plainNumber } from '../../tabular/number-style.ts';
import { guessTimeFormat, type TimeFormat } from '../../tabular/times.ts';
import type { Reject, SourceFile, SourceRow } from './read-file.ts';
import { secondsOf } from './times.ts';

/** Which columns make an edge. */
export interface Mapping {
  readonly timeColumn: string;
  readonly timeFormat: TimeFormat;
  /** Each holds one node or a list of them. */
  readonly memberColumns: readonly string[];
  /** Between the nodes of a list, in all of these columns; empty: each cell is one node. */
  readonly separator: string;
  /** Names are given numbers, and are kept in a table beside. */
  readonly hasNames: boolean;
  readonly propertyColumns: readonly string[];
}

export interface PlannedEdge {
  readonly event_ts: number;
  /** All numbers, or all names. */
  readonly members: readonly (number | string)[];
  readonly properties: Readonly<Record<string, unknown>>;
}

export interface EdgePlan {
  readonly edges: readonly PlannedEdge[];
  readonly rejected: readonly Reject[];
}

/** Rows that are looked at to guess what a column holds. */
const SAMPLE_ROWS = 50;
const SEPARATORS = [';', '|', ','];
/** Part of the cells of a column. */
const MANY_CELLS = 0.1;

/** Whether a column can be kept under its name. */
export function canBeProperty(column: string): boolean {
  return IDENTIFIER.test(column) && !EDGE_FIELDS.has(column.toLowerCase());
}

/** The mapping that the names and first values suggest. */
export function guessMapping(file: SourceFile): Mapping {
  const { columns } = file;
  const named = (pattern: RegExp) => columns.find((column) => pattern.test(column));
  const timeColumn =
    named(/^event_ts$/i) ??
    named(/^(ts|t|time|timestamp|date|datetime|at|when|created_at)$/i) ??
    named(/time|date|_at$/i) ??
    columns[0]!;
  const memberColumns = guessMembers(file, timeColumn);
  const others = columns.filter((column) => column !== timeColumn && column.toLowerCase() !== 'id');
  const propertyColumns = others.filter((column) => !memberColumns.includes(column) && canBeProperty(column));
  const separator = guessSeparator(file, memberColumns);
  const timeFormat = guessTimeFormat(cellsOf(file, timeColumn), timeColumn);
  const mapping = { timeColumn, timeFormat, memberColumns, separator, hasNames: false, propertyColumns };
  return { ...mapping, hasNames: looksNamed(file, mapping) };
}

export function cellsOf({ rows }: SourceFile, column: string): unknown[] {
  return rows.map((row) => row[column]);
}

function sampleOf({ rows }: SourceFile, column: string): unknown[] {
  return rows.slice(0, SAMPLE_ROWS).flatMap((row) => (isMissing(row[column]) ? [] : [row[column]]));
}

function guessMembers(file: SourceFile, timeColumn: string): string[] {
  const others = file.columns.filter((column) => column !== timeColumn && column.toLowerCase() !== 'id');
  const byName =
    others.find((column) => /^members$/i.test(column)) ?? others.find((column) => /members|nodes/i.test(column));
  if (byName !== undefined) return [byName];
  const ends = [
    /^(from|source|src|sender|origin|caller)$/i,
    /^(to|target|dst|recipient|receiver|destination|callee)$/i,
  ].map((pattern) => others.find((column) => pattern.test(column)));
  if (ends.every((column) => column !== undefined)) return ends as string[];
  const lists = others.find((column) => {
    const values = sampleOf(file, column);
    const isList = (value: unknown) =>
      Array.isArray(value) || (typeof value === 'string' && /\S\s*[;|]\s*\S/.test(value));
    return values.filter(isList).length >= Math.max(1, values.length * MANY_CELLS);
  });
  if (lists !== undefined) return [lists];
  // One column of numbers is more often an amount than a node.
  const integers = others.filter((column) => {
    const values = sampleOf(file, column);
    return (
      values.length > 0 &&
      values.every(isInteger) &&
      !/minutes|count|amount|size|year|age|weight|duration/i.test(column)
    );
  });
  return integers.length === 2 ? integers : [];
}

/**
 * Names may hold a comma, or once a semicolon: a mark that many cells of a column have is one
 * between names.
 */
export function guessSeparator(file: SourceFile, memberColumns: readonly string[]): string {
  const samples = memberColumns.map((column) => sampleOf(file, column));
  const holders = (values: readonly unknown[], mark: string) =>
    values.filter((value) => typeof value === 'string' && value.includes(mark)).length;
  const isOfMany = (mark: string) =>
    samples.some((values) => holders(values, mark) >= Math.max(2, values.length * MANY_CELLS));
  const clear = [';', '|'].find(isOfMany);
  if (clear !== undefined) return clear;
  if (memberColumns.length > 1) return '';
  const counts = SEPARATORS.map((mark) => holders(samples[0] ?? [], mark));
  const most = Math.max(...counts);
  return most === 0 ? ';' : SEPARATORS[counts.indexOf(most)]!;
}

/** Some member is no integer. */
export function looksNamed(
  file: SourceFile,
  { memberColumns, separator }: Pick<Mapping, 'memberColumns' | 'separator'>,
): boolean {
  const isNamed = (value: unknown) =>
    !numberParts(value).every(isInteger) && partsOf(value, separator).some((part) => !isInteger(part));
  return memberColumns.flatMap((column) => sampleOf(file, column)).some(isNamed);
}

function isInteger(value: unknown): boolean {
  return /^\s*[+-]?\d{1,16}\s*$/.test(String(value)) && Number.isSafeInteger(Number(value));
}

/** Numbers may be separated by any marks; names may contain them. */
function numberParts(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return String(value ?? '')
    .split(/[\s,;|[\]]+/)
    .filter((part) => part !== '');
}

/** Without a separator the whole cell is one node. */
function partsOf(value: unknown, separator: string): unknown[] {
  if (Array.isArray(value)) return value;
  const text = String(value ?? '').trim();
  if (text.startsWith('[') && text.endsWith(']')) {
    try {
      return JSON.parse(text) as unknown[];
    } catch {
      // No list of JSON after all.
    }
  }
  const parts = separator === '' ? [text] : text.split(separator);
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}

export function planEdges(file: SourceFile, mapping: Mapping): EdgePlan {
  const decimal = decimalIn(file, mapping);
  const types = new Map(mapping.propertyColumns.map((column) => [column, typeOf(column, file.rows, decimal)]));
  const edges: PlannedEdge[] = [];
  const rejected: Reject[] = [...file.rejected];
  for (const [index, row] of file.rows.entries()) {
    try {
      edges.push(edgeOf(row, mapping, types, decimal));
    } catch (error) {
      rejected.push({ row: file.numbers[index]!, reason: (error as Error).message, source: row });
    }
  }
  return { edges, rejected: rejected.sort((a, b) => a.row - b.row) };
}

/** Columns that the table needs besides those every table has. */
export function newColumns(file: SourceFile, mapping: Mapping): { name: string; type: ColumnType }[] {
  const decimal = decimalIn(file, mapping);
  return mapping.propertyColumns
    .filter((name) => !RESERVED_NAMES.has(name.toLowerCase()))
    .map((name) => ({ name, type: typeOf(name, file.rows, decimal) }));
}

/** Whether numbers of the file have a decimal comma or point; undefined: nothing shows it. */
function decimalIn(file: SourceFile, { propertyColumns }: Mapping): Decimal | undefined {
  const columns = propertyColumns.map((column) => textsOf(column, file.rows));
  return decimalOf(
    columns.filter((texts) => texts.length > 0),
    file.hasCommas === true,
  );
}

function textsOf(column: string, rows: readonly SourceRow[]): string[] {
  return rows.flatMap((row) => {
    const text = isMissing(row[column]) ? '' : String(row[column]).trim();
    return text === '' ? [] : [text];
  });
}

/** A text as programs write the number that it is; the text itself where it is none. */
function plainText(text: string, decimal: Decimal | undefined): string {
  return decimal === undefined ? text : (plainNumber(text, decimal) ?? text);
}

function typeOf(column: string, rows: readonly SourceRow[], decimal: Decimal | undefined): ColumnType {
  const builtIn = builtInType(column.toLowerCase());
  if (builtIn !== undefined) return builtIn;
  const texts = textsOf(column, rows).map((text) => plainText(text, decimal));
  if (texts.length === 0) return 'TEXT';
  if (texts.every((text) => /^(true|false)$/i.test(text))) return 'BOOLEAN';
  if (texts.every((text) => /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text)))) return 'INTEGER';
  return texts.every((text) => text.trim() !== '' && Number.isFinite(Number(text))) ? 'REAL' : 'TEXT';
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

function edgeOf(
  row: SourceRow,
  mapping: Mapping,
  types: ReadonlyMap<string, ColumnType>,
  decimal: Decimal | undefined,
): PlannedEdge {
  const event_ts = secondsOf(row[mapping.timeColumn], mapping.timeFormat);
  const members = membersOf(row, mapping);
  if (members.length === 0) throw new Error('has no members');
  const properties = Object.create(null) as Record<string, unknown>;
  for (const [column, type] of types) {
    const value = row[column];
    if (!isMissing(value)) properties[column] = typed(value, type, column, decimal);
  }
  return { event_ts, members, properties };
}

function membersOf(row: SourceRow, { memberColumns, separator, hasNames }: Mapping): (number | string)[] {
  const parts = memberColumns.flatMap((column) =>
    hasNames ? partsOf(row[column], separator) : numberParts(row[column]),
  );
  const nodes = parts.map((part) => {
    if (hasNames) return String(part);
    if (!isInteger(part))
      throw new Error(
        `names the member ${String(part).slice(0, 40)}, but nodes are integers here; say that they have names`,
      );
    return Number(part);
  });
  return [...new Set(nodes)];
}

function typed(value: unknown, type: ColumnType, column: string, decimal: Decimal | undefined): unknown {
  if (kindOfType(type) === 'text') return typeof value === 'object' ? JSON.stringify(value) : String(value);
  if (kindOfType(type) === 'boolean') return String(value).toLowerCase() === 'true';
  const number = Number(typeof value === 'string' ? plainText(value, decimal) : value);
  if (!Number.isFinite(number)) throw new Error(`says "${String(value).slice(0, 40)}" where ${column} wants a number`);
  return number;
}
