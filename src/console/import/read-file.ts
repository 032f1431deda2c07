// Reads the columns and rows of a file, and the lines that are invalid.

import type { ForeignTable } from '../../tabular/foreign-table.ts';
import { columnNames, DELIMITER_LINE, delimiterOf, looksLikeRow } from '../../tabular/header.ts';
import { quotedTexts } from '../../tabular/quotes.ts';
import { isKey, isValueName } from '../../tabular/value-columns.ts';
import { csvRows } from './csv.ts';

export type SourceRow = Readonly<Record<string, unknown>>;

/** A line or row that cannot be imported, with its number in the file. */
export interface Reject {
  readonly row: number;
  readonly reason: string;
  /** The row as it is in the file: its line or, in CSV, its cells. */
  readonly source: unknown;
}

export interface SourceFile {
  /** The columns that have a name. */
  readonly columns: readonly string[];
  /** Those of `columns` that may become properties. */
  readonly valueColumns: readonly string[];
  /** The same rows with all columns, also those without a name, in the order of the file. */
  readonly table: ForeignTable;
  readonly rows: readonly SourceRow[];
  /** For each row, the number of its line in NDJSON; in CSV, its number after the header. */
  readonly numbers: readonly number[];
  readonly rejected: readonly Reject[];
  /** Changes made to the names of columns, one sentence per change. */
  readonly warnings: readonly string[];
}

const LONGEST_DELIMITER_LINE = 10;
/** Number of characters that are enough to contain the header. */
const HEAD_LENGTH = 2 ** 16;

/** Parses the text of a file. Throws an Error with a sentence about the fault. */
export function readSource(name: string, text: string): SourceFile {
  const isLines = /\.(ndjson|jsonl|json)$/i.test(name) || /^\s*\{/.test(text);
  const found = isLines ? lineRows(text) : tableRows(text);
  if (found.rows.length === 0) {
    const [first] = found.rejected;
    throw new Error(
      first === undefined ? 'The file holds no rows.' : `No row can be read. Row ${first.row} ${first.reason}.`,
    );
  }
  const columns = found.table.names.filter((column) => column !== '');
  return { columns, valueColumns: columns.filter(isLines ? isKey : isValueName), ...found };
}

type Found = Omit<SourceFile, 'columns' | 'valueColumns'>;

function lineRows(text: string): Found {
  const found = noRows();
  for (const [index, line] of text
    .replace(/^\ufeff/, '')
    .split('\n')
    .entries()) {
    if (line.trim() === '') continue;
    const row = index + 1;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      found.rejected.push({ row, reason: 'is not JSON; NDJSON has one object per line', source: line });
      continue;
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      found.rejected.push({ row, reason: 'is not an object; NDJSON has one object per line', source: line });
      continue;
    }
    // Objects without a prototype, because a column may be named `constructor`.
    found.rows.push(Object.assign(Object.create(null), value) as SourceRow);
    found.numbers.push(row);
  }
  const keys = new Set<string>();
  for (const row of found.rows) for (const key of Object.keys(row)) keys.add(key);
  const names = [...keys];
  const rows = found.rows.map((row) => names.map((name) => row[name]));
  return { ...found, table: { names, rows, isText: () => true }, warnings: [] };
}

function noRows() {
  return { rows: [] as SourceRow[], numbers: [] as number[], rejected: [] as Reject[] };
}

function tableRows(text: string): Found {
  // A byte order mark is not part of the first cell.
  const begin = text.startsWith('\ufeff') ? 1 : 0;
  const delimiterLine = DELIMITER_LINE.exec(text.slice(begin, begin + LONGEST_DELIMITER_LINE));
  const from = begin + (delimiterLine?.[0].length ?? 0);
  const delimiter = delimiterLine?.[1] ?? delimiterOf(text.slice(from, from + HEAD_LENGTH), false);
  const [header, ...lines] = csvRows(text, delimiter, from);
  if (header?.fault !== undefined) throw new Error(`The header ${header.fault}.`);
  const { names, warnings } = columnNames(header?.cells.map((name) => name.trim()) ?? []);
  checkNames(names);
  const found = noRows();
  const taken = lines.filter(({ cells, fault }, index) => {
    if (fault === undefined && cells.length <= names.length) {
      found.rows.push(Object.fromEntries(names.map((name, at) => [name, cells[at] ?? ''])));
      found.numbers.push(index + 1);
      return true;
    }
    const reason = fault ?? `has ${cells.length} cells, but the header names ${names.length} columns`;
    found.rejected.push({ row: index + 1, reason, source: cells });
    return false;
  });
  const table = { names, rows: taken.map(({ cells }) => cells), isText: quotedTexts(taken), delimiter };
  return { ...found, table, warnings };
}

/** Throws an Error when the first line of a file does not name columns. */
function checkNames(names: readonly string[]): void {
  if (names.length === 0) return;
  const advice = 'Write the names of the columns above it, as in time,from,to.';
  if (names.every((name) => name === ''))
    throw new Error(`The file has no header: its first line has no names. ${advice}`);
  const shown = names.slice(0, 10).join(', ').slice(0, 100);
  if (looksLikeRow(names))
    throw new Error(`The file has no header: its first line (${shown}) looks like a row. ${advice}`);
}
