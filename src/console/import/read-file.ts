// What a file holds: its columns and rows, and the lines that are neither.

import { csvRows, separatorOf } from './csv.ts';

export type SourceRow = Readonly<Record<string, unknown>>;

/** A line or row that cannot be taken, with its number in the file. */
export interface Reject {
  readonly row: number;
  readonly reason: string;
  /** As it is in the file. */
  readonly source: unknown;
}

export interface SourceFile {
  readonly columns: readonly string[];
  readonly rows: readonly SourceRow[];
  /** Number in the file of each row: of its line, or of its row after the header. */
  readonly numbers: readonly number[];
  readonly rejected: readonly Reject[];
  /** Commas part its cells: a comma within a cell may part a list as well as a number. */
  readonly hasCommas?: boolean;
}

/** Throws an Error with a sentence that says what is wrong. */
export function readSource(name: string, text: string): SourceFile {
  const isLines = /\.(ndjson|jsonl|json)$/i.test(name) || /^\s*\{/.test(text);
  const found = isLines ? lineRows(text) : tableRows(text);
  if (found.rows.length === 0) {
    const [first] = found.rejected;
    throw new Error(
      first === undefined ? 'The file holds no rows.' : `No row can be read. Row ${first.row} ${first.reason}.`,
    );
  }
  const columns = new Set<string>();
  for (const row of found.rows) for (const column of Object.keys(row)) columns.add(column);
  return { columns: [...columns], ...found };
}

type Found = Omit<SourceFile, 'columns'>;

function lineRows(text: string): Found {
  const found = { rows: [] as SourceRow[], numbers: [] as number[], rejected: [] as Reject[] };
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
      found.rejected.push({ row, reason: 'is no JSON; NDJSON has one object on each line', source: line });
      continue;
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      found.rejected.push({ row, reason: 'is no object; NDJSON has one object on each line', source: line });
      continue;
    }
    // Without what objects bring along by themselves: a column may be called constructor.
    found.rows.push(Object.assign(Object.create(null), value) as SourceRow);
    found.numbers.push(row);
  }
  return found;
}

function tableRows(text: string): Found {
  const separator = separatorOf(text);
  const [header, ...lines] = csvRows(text, separator);
  const found = {
    rows: [] as SourceRow[],
    numbers: [] as number[],
    rejected: [] as Reject[],
    hasCommas: separator === ',',
  };
  if (header === undefined) return found;
  if (header.fault !== undefined) throw new Error(`The header ${header.fault}.`);
  const names = header.cells.map((name, at) => (name.trim() === '' ? `column_${at + 1}` : name.trim()));
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined)
    throw new Error(`The header names ${twice.slice(0, 40)} twice; give each column its own name.`);
  for (const [index, { cells, fault }] of lines.entries()) {
    const row = index + 1;
    if (fault !== undefined || cells.length > names.length) {
      const reason = fault ?? `has ${cells.length} cells, but the header names ${names.length} columns`;
      found.rejected.push({ row, reason, source: cells });
      continue;
    }
    found.rows.push(Object.fromEntries(names.map((name, at) => [name, cells[at] ?? ''])));
    found.numbers.push(row);
  }
  return found;
}
