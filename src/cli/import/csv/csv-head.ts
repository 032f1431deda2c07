// Reads the beginning of a CSV file: the names of its columns and its first rows.

import { HedgerowError } from '../../../errors.ts';
import { type Cells, type CutRules, csvRecords } from '../../../query/copy/index.ts';
import type { ForeignTable } from '../../../tabular/foreign-table.ts';
import {
  columnNames,
  DELIMITER_LINE,
  delimiterOf,
  isBlank,
  isOfNumbers,
  looksLikeRow,
} from '../../../tabular/header.ts';
import { quotedTexts } from '../../../tabular/quotes.ts';
import { UsageError } from '../../world.ts';
import type { Position } from '../line-batches.ts';

/** The flags that concern CSV. */
export interface CsvFlags {
  /**
   * Undefined: the delimiter is read from a line such as `sep=;`, or guessed from the first line.
   */
  readonly delimiter: string | undefined;
  /** True when the first line is a row, unless it has exactly the names in `columns`. */
  readonly isHeadless: boolean;
  /**
   * Names of the columns of a file without a header. Undefined: the names in the header are used,
   * or column_1, column_2, ... if there is no header.
   */
  readonly columns: readonly string[] | undefined;
}

export interface CsvHead {
  readonly sample: ForeignTable;
  /** Position of the first row. */
  readonly start: Position;
  readonly rules: CutRules;
  /** Changes made to the names of columns, one sentence per change. */
  readonly warnings: readonly string[];
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

interface Line {
  readonly cells: Cells;
  readonly raw: string;
  readonly fault: string | undefined;
  readonly start: Position;
  readonly end: Position;
}

/**
 * Reads the head. `head` holds the first bytes of the file, and `isWhole` is true when these are
 * all of it. `named` are columns that flags name. Throws `invalid_input` for a file that is not
 * CSV, and UsageError if `columns` has more or fewer names than the first line has cells.
 */
export async function csvHead(
  { head, isWhole }: { readonly head: Buffer; readonly isWhole: boolean },
  { delimiter: given, isHeadless, columns }: CsvFlags,
  maxRecordBytes: number,
  named: readonly string[],
  label: string,
): Promise<CsvHead> {
  const base = head.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0;
  const whole = head.subarray(base, isWhole ? head.length : head.lastIndexOf(10) + 1);
  const separatorLine = DELIMITER_LINE.exec(whole.toString('latin1', 0, 10));
  const from = separatorLine === null ? START_OF_FILE : { offset: separatorLine[0].length, line: 2 };
  const bytes = whole.subarray(from.offset);
  const delimiter = given ?? separatorLine?.[1] ?? delimiterOf(bytes.toString('utf8'), isHeadless);
  const place = { offset: base + from.offset, line: from.line };
  const loose: CutRules = { delimiter, maxRecordBytes, passesFaults: true };
  const first = (await linesOf(bytes, loose, place)).find(({ cells, fault }) => fault !== undefined || !isBlank(cells));
  if (first === undefined)
    throw noHeader(label, head.length === 0 ? 'the file is empty.' : 'all of its lines are blank.');
  if (first.fault !== undefined && !isHeadless) throw noHeader(label, `its first line cannot be read: ${first.fault}`);
  const header = first.cells.map((name) => name?.trim() ?? '');
  if (!isHeadless) checkNames(header, label, named);
  const { names, warnings } = namesOf(header, isHeadless, columns);
  const isHeader = !isHeadless || isSame(header, columns ?? []);
  const rules = { ...loose, width: names.length };
  const rows = (await linesOf(bytes, rules, place)).filter(
    ({ fault, start }) => fault === undefined && (!isHeader || start.offset > first.start.offset),
  );
  return { start: isHeader ? first.end : place, sample: sampleOf(names, rows, delimiter), rules, warnings };
}

const START_OF_FILE: Position = { offset: 0, line: 1 };

async function linesOf(bytes: Buffer, rules: CutRules, from: Position): Promise<Line[]> {
  const found: Line[] = [];
  let start = from;
  for await (const cut of csvRecords(only(bytes), rules)) {
    for (const [at, cells] of cut.records.entries()) {
      const end = { offset: from.offset + cut.ends[at]!, line: start.line + cut.lines[at]! };
      found.push({ cells, raw: cut.raws[at]!, fault: cut.faults.get(at), start, end });
      start = end;
    }
  }
  return found;
}

function sampleOf(names: readonly string[], rows: readonly Line[], delimiter: string): ForeignTable {
  const whole = rows.filter(({ cells }) => cells.length === names.length && !isBlank(cells));
  return { names, rows: whole.map(({ cells }) => cells), isText: quotedTexts(whole), delimiter };
}

function namesOf(header: readonly string[], isHeadless: boolean, columns: readonly string[] | undefined) {
  if (columns !== undefined && columns.length !== header.length)
    throw new UsageError(
      `--columns names ${columns.length} columns, but the first row has ${header.length} cells (${header.slice(0, 10).join(', ').slice(0, 100)}).`,
    );
  return columnNames(columns ?? (isHeadless ? header.map((_, index) => `column_${index + 1}`) : header));
}

function isSame(header: readonly string[], columns: readonly string[]): boolean {
  return columns.length > 0 && header.every((name, index) => name.toLowerCase() === columns[index]!.toLowerCase());
}

function checkNames(names: readonly string[], label: string, wanted: readonly string[]): void {
  if (names.every((name) => name === '')) throw noHeader(label, 'its first line has no names.');
  const isNamed = names.some((name) => wanted.some((one) => one.toLowerCase() === name.toLowerCase()));
  if (!(isNamed ? isOfNumbers(names) : looksLikeRow(names))) return;
  const shown = names.slice(0, 10).join(', ').slice(0, 100);
  throw noHeader(
    label,
    `its first line (${shown}) looks like a row. --no-header takes it for one, and --columns a,b,c names the columns.`,
  );
}

function noHeader(label: string, what: string): HedgerowError {
  return new HedgerowError(
    'invalid_input',
    `${label} has no header: ${what} CSV begins with the names of its columns.`,
  );
}

async function* only(bytes: Buffer) {
  if (bytes.length > 0) yield { bytes };
}
