// Saves results as files in the browser: NDJSON, CSV and Parquet from the stream of all rows. Can
// also have the server write a Parquet file (COPY).

import type { QueryRow } from '../../client/index.ts';
import { client } from '../session.ts';
import { isMatch } from '../statement-words.ts';
import { csvLine } from './csv-line.ts';
import type { Result } from './run-statement.ts';
import { sessionFor } from './transaction.ts';

export type FileFormat = 'ndjson' | 'csv' | 'parquet';

const TYPES: Readonly<Record<FileFormat, string>> = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
  parquet: 'application/vnd.apache.parquet',
};

interface DownloadOptions {
  readonly signal: AbortSignal;
  /** Called now and then with the number of rows so far. */
  readonly onRows: (count: number) => void;
}

/**
 * Resolves with the number of rows. A MATCH is run again to fetch all of its rows. Any other
 * statement is not run again; the rows already in the result are saved.
 */
export async function downloadResult(result: Result, format: FileFormat, options: DownloadOptions): Promise<number> {
  const { statement, parameters, columns } = result;
  const { signal } = options;
  const source = isMatch(statement)
    ? client().query.rows(statement, parameters, { timeoutMs: 0, ...sessionFor(statement), signal })
    : result.rows;
  const rows = counted(source, options.onRows);
  const { blob, count } =
    format === 'parquet' ? await parquetOf(rows, columns, signal) : await linesOf(rows, columns, format);
  save(blob, `hedgerow.${format}`);
  return count;
}

interface Made {
  readonly blob: Blob;
  readonly count: number;
}

type Rows = AsyncIterable<QueryRow>;

async function* counted(rows: Rows | readonly QueryRow[], onRows: (count: number) => void): Rows {
  let count = 0;
  for await (const row of rows) {
    yield row;
    count += 1;
    if (count % 5000 === 0) onRows(count);
  }
}

/**
 * After this many lines, the lines kept as text are moved to a blob, which browsers keep on disk.
 */
const MOST_LINES = 20_000;

async function linesOf(rows: Rows, columns: readonly string[], format: 'ndjson' | 'csv'): Promise<Made> {
  let blob = new Blob([], { type: TYPES[format] });
  let lines = format === 'csv' ? [csvLine(columns)] : [];
  let count = 0;
  const put = () => {
    blob = new Blob([blob, ...lines], { type: TYPES[format] });
    lines = [];
  };
  for await (const row of rows) {
    lines.push(format === 'csv' ? csvLine(columns.map((name) => row[name])) : `${JSON.stringify(row)}\n`);
    count += 1;
    if (lines.length >= MOST_LINES) put();
  }
  put();
  return { blob, count };
}

async function parquetOf(rows: Rows, columns: readonly string[], signal: AbortSignal): Promise<Made> {
  const { ParquetFile } = await import('./parquet-file.ts');
  const file = new ParquetFile(columns);
  for await (const row of rows) file.add(row);
  const parts: Blob[] = [];
  for await (const part of file.parts(signal)) parts.push(new Blob([part]));
  return { blob: new Blob(parts, { type: TYPES.parquet }), count: file.rowCount };
}

/**
 * Has the server write the rows to a file, and returns the server's answer. Needs an admin key and
 * HEDGEROW_COPY_ROOT.
 */
export async function copyToParquet(
  { statement, parameters }: Result,
  file: string,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const text = statement.trim().replace(/;$/, '');
  const copy = `COPY (${text}\n) TO '${file.replaceAll("'", "''")}'`;
  const { rows } = await client().query.run(copy, parameters, { timeoutMs: 0, signal });
  return rows[0] ?? {};
}

function save(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
