// Results as files: NDJSON and CSV from the stream of all rows; Parquet is written by the server (COPY).

import type { QueryRow } from '../../client/index.ts';
import { client } from '../session.ts';
import { isMatch } from '../statement-words.ts';

export type FileFormat = 'ndjson' | 'csv';

/** All rows of a statement into a file of the browser's; the rows of one that cannot be run again are given. */
export async function downloadResult(
  statement: string,
  rows: readonly QueryRow[],
  format: FileFormat,
): Promise<number> {
  const source = isMatch(statement) ? client().query.rows(statement) : rows;
  const parts: string[] = [];
  let columns: readonly string[] | undefined;
  let count = 0;
  for await (const row of source) {
    if (format === 'csv' && columns === undefined) {
      columns = Object.keys(row);
      parts.push(csvLine(columns));
    }
    parts.push(format === 'csv' ? csvLine(columns!.map((name) => row[name])) : `${JSON.stringify(row)}\n`);
    count += 1;
  }
  save(new Blob(parts, { type: format === 'csv' ? 'text/csv' : 'application/x-ndjson' }), `hedgerow.${format}`);
  return count;
}

/** Where the server has put the rows; needs an admin key and HEDGEROW_COPY_ROOT. */
export async function copyToParquet(statement: string, file: string): Promise<Record<string, unknown>> {
  const text = statement.trim().replace(/;\s*$/, '');
  const { rows } = await client().query.run(`COPY (${text}\n) TO '${file.replaceAll("'", "''")}'`);
  return rows[0] ?? {};
}

/** A line of CSV (RFC 4180). Lists are joined by spaces; what a spreadsheet would take for a formula is kept text by an apostrophe. */
export function csvLine(values: readonly unknown[]): string {
  return `${values.map(csvField).join(',')}\r\n`;
}

function csvField(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = Array.isArray(value)
    ? value.map(cellOf).join(' ')
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function save(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

function cellOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
