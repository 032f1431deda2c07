// What a file holds, and how its rows become edges: a plan that can be looked at before anything is written.

import type { NewHyperedge } from '../../client/index.ts';
import { BUILT_IN_COLUMNS } from '../statement-words.ts';
import { csvRows, separatorOf } from './csv.ts';

export type SourceRow = Readonly<Record<string, unknown>>;

export interface SourceFile {
  readonly columns: readonly string[];
  readonly rows: readonly SourceRow[];
}

/** Which columns make an edge. */
export interface Mapping {
  readonly timeColumn: string;
  /** One column that lists nodes, or several that hold one each. */
  readonly memberColumns: readonly string[];
  readonly propertyColumns: readonly string[];
}

export type ColumnType = 'INTEGER' | 'REAL' | 'TEXT' | 'BOOLEAN';

export interface PlannedEdges {
  readonly edges: readonly NewHyperedge[];
  /** Rows that are no edge, with their number in the file. */
  readonly rejected: readonly { readonly row: number; readonly reason: string }[];
}

/** Throws an Error with a sentence that says what is wrong. */
export function readSource(name: string, text: string): SourceFile {
  const isLines = /\.(ndjson|jsonl|json)$/i.test(name) || /^\s*\{/.test(text);
  const rows = isLines ? ndjsonRows(text) : tableRows(text);
  if (rows.length === 0) throw new Error('The file holds no rows.');
  const columns = new Set<string>();
  for (const row of rows) for (const column of Object.keys(row)) columns.add(column);
  return { columns: [...columns], rows };
}

function ndjsonRows(text: string): SourceRow[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      throw new Error(`Line ${index + 1} is no JSON. NDJSON has one object on each line.`);
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new Error(`Line ${index + 1} is no object. NDJSON has one object on each line.`);
    }
    return [value as SourceRow];
  });
}

function tableRows(text: string): SourceRow[] {
  const [header, ...rows] = csvRows(text, separatorOf(text));
  if (header === undefined) return [];
  const names = header.map((name, at) => (name.trim() === '' ? `column_${at + 1}` : name.trim()));
  return rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at] ?? ''])));
}

/** The mapping that the names and first values suggest. */
export function guessMapping({ columns, rows }: SourceFile): Mapping {
  const named = (pattern: RegExp) => columns.find((column) => pattern.test(column));
  const timeColumn =
    named(/^event_ts$/i) ??
    named(/^(ts|t|time|timestamp|date|datetime|at)$/i) ??
    named(/time|date|_at$/i) ??
    columns[0]!;
  const list = named(/^members$/i) ?? named(/members|nodes/i);
  const others = columns.filter((column) => column !== timeColumn && column !== 'id');
  const isNode = (column: string) => rows.slice(0, 50).every((row) => /^-?\d+$/.test(String(row[column] ?? '')));
  const memberColumns = list === undefined ? others.filter(isNode).slice(0, 2) : [list];
  const propertyColumns = others.filter(
    (column) => !memberColumns.includes(column) && /^[A-Za-z_]\w{0,63}$/.test(column),
  );
  return { timeColumn, memberColumns, propertyColumns };
}

export function plannedEdges({ rows }: SourceFile, mapping: Mapping): PlannedEdges {
  const types = new Map(mapping.propertyColumns.map((column) => [column, typeOf(column, rows)]));
  const edges: NewHyperedge[] = [];
  const rejected: { row: number; reason: string }[] = [];
  for (const [index, row] of rows.entries()) {
    try {
      edges.push(edgeOf(row, mapping, types));
    } catch (error) {
      rejected.push({ row: index + 1, reason: (error as Error).message });
    }
  }
  return { edges, rejected };
}

/** Columns that the table needs besides those every table has. */
export function newColumns({ rows }: SourceFile, mapping: Mapping): { name: string; type: ColumnType }[] {
  return mapping.propertyColumns
    .filter((name) => !BUILT_IN_COLUMNS.includes(name.toLowerCase()))
    .map((name) => ({ name, type: typeOf(name, rows) }));
}

const BUILT_IN_TYPES: Readonly<Record<string, ColumnType>> = { weight: 'REAL', mean_dist_m: 'REAL', formation: 'TEXT' };

function typeOf(column: string, rows: readonly SourceRow[]): ColumnType {
  const builtIn = BUILT_IN_TYPES[column.toLowerCase()];
  if (builtIn !== undefined) return builtIn;
  const texts = rows.flatMap((row) => (isMissing(row[column]) ? [] : [String(row[column])]));
  if (texts.length === 0) return 'TEXT';
  if (texts.every((text) => /^(true|false)$/i.test(text))) return 'BOOLEAN';
  if (texts.every((text) => /^-?\d+$/.test(text) && Number.isSafeInteger(Number(text)))) return 'INTEGER';
  return texts.every((text) => text.trim() !== '' && Number.isFinite(Number(text))) ? 'REAL' : 'TEXT';
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function edgeOf(row: SourceRow, mapping: Mapping, types: ReadonlyMap<string, ColumnType>): NewHyperedge {
  const members = mapping.memberColumns.flatMap((column) => nodesOf(row[column]));
  if (members.length === 0) throw new Error('it has no members');
  const properties: Record<string, unknown> = {};
  for (const [column, type] of types) {
    const value = row[column];
    if (!isMissing(value)) properties[column] = typed(value, type);
  }
  return { event_ts: secondsOf(row[mapping.timeColumn]), members, ...properties } as NewHyperedge;
}

function nodesOf(value: unknown): number[] {
  const parts = Array.isArray(value) ? value : String(value ?? '').split(/[\s,;|[\]]+/);
  return parts
    .filter((part) => part !== '')
    .map((part) => {
      const node = Number(part);
      if (!Number.isSafeInteger(node))
        throw new Error(`member ${String(part).slice(0, 40)} is no integer; nodes are integers`);
      return node;
    });
}

/** Epoch seconds as they are; dates and times are read as UTC where they name no zone. */
export function secondsOf(value: unknown): number {
  const text = String(value ?? '').trim();
  if (/^-?\d+(\.\d+)?$/.test(text)) return Math.floor(Number(text));
  const isLocal = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/.test(text);
  const ms = Date.parse(isLocal ? `${text.replace(' ', 'T')}Z` : text);
  if (Number.isNaN(ms)) throw new Error(`${text === '' ? 'an empty time' : text.slice(0, 40)} is no time`);
  return Math.floor(ms / 1000);
}

function typed(value: unknown, type: ColumnType): unknown {
  if (typeof value !== 'string') return type === 'TEXT' && typeof value === 'object' ? JSON.stringify(value) : value;
  if (type === 'TEXT') return value;
  return type === 'BOOLEAN' ? value.toLowerCase() === 'true' : Number(value);
}
