// Splits the text of a CSV file into rows of cells, and reports lines with a fault in their quotes.
// This is the only file that uses papaparse.

import Papa, { type ParseError } from 'papaparse';
import { isBlank } from '../../tabular/header.ts';

export interface CsvRow {
  /** For a line with a fault: one cell with the whole line. */
  readonly cells: readonly string[];
  /** The row as it is in the file. */
  readonly raw: string;
  /**
   * What is wrong with the quotes, as the predicate of a sentence about the row; undefined for a
   * good row.
   */
  readonly fault: string | undefined;
}

/** A file with more faults than this is not treated as CSV. */
const MOST_FAULTS = 20;

/**
 * Returns the rows from position `from` of the text on, without blank lines. Continues after a line
 * with a fault. Throws an Error when there are too many faults.
 */
export function csvRows(text: string, separator: string, from = 0): CsvRow[] {
  const rows: CsvRow[] = [];
  const lineEnd = lineEndOf(text);
  let start = from;
  for (let faults = 0; start < text.length; faults += 1) {
    const error = addRows(rows, text.slice(start), separator, lineEnd);
    if (error === undefined) break;
    const at = start + (error.index ?? 0);
    const fault = faultText(error, text.slice(0, at).split(lineEnd).length);
    if (faults === MOST_FAULTS)
      throw new Error(`More than ${MOST_FAULTS} rows have a fault in their quotes. The last one ${fault}.`);
    const first = text.lastIndexOf(lineEnd, at - 1) + 1;
    const next = text.indexOf(lineEnd, at);
    start = next < 0 ? text.length : next + 1;
    const raw = text.slice(first, start);
    rows.push({ cells: [raw.trimEnd()], raw, fault });
  }
  return rows;
}

/** Returns the line end to split at. A file may mix LF and CRLF, so `\n` takes precedence. */
function lineEndOf(text: string): '\n' | '\r' {
  return text.includes('\n') ? '\n' : '\r';
}

/** Adds the rows up to the first fault, and returns the fault. */
function addRows(rows: CsvRow[], text: string, delimiter: string, newline: '\n' | '\r'): ParseError | undefined {
  let found: ParseError | undefined;
  let start = 0;
  Papa.parse<string[]>(text, {
    delimiter,
    newline,
    step: ({ data: cells, errors, meta }, parser) => {
      [found] = errors;
      if (found !== undefined) return parser.abort();
      const raw = text.slice(start, meta.cursor);
      start = meta.cursor;
      const last = cells.length - 1;
      if (cells[last]!.endsWith('\r')) cells[last] = cells[last]!.slice(0, -1);
      if (!isBlank(cells)) rows.push({ cells, raw, fault: undefined });
    },
  });
  return found;
}

function faultText({ code }: ParseError, line: number): string {
  return code === 'MissingQuotes'
    ? `opens a quote in line ${line} of the file that is never closed`
    : `has a quote inside a quoted cell in line ${line} of the file; write each quote there twice`;
}
