// Reads the rows of a CSV file (RFC 4180, a header first). The only file that knows csv-parse.
//
// An empty cell is null, an empty cell in quotes the empty text. Lines end with LF or CRLF; inside of quotes both are kept as they are.

import { type CsvError, Parser } from 'csv-parse';
import type { Table } from '../../engine/index.ts';
import type { EdgeInput } from '../../engine/types.ts';
import { HedgerowError } from '../../errors.ts';
import { valueOfCell } from './cell-values.ts';
import { EdgeBuilder } from './edge-builder.ts';
import { errorAtRow, type RowBatch } from './rows.ts';
import { type Target, targetsOf } from './targets.ts';
import { type LineBlock, MAX_LINE_BYTES } from './whole-lines.ts';

/** Null: the cell is empty and not in quotes. */
type Cells = readonly (string | null)[];

/** Throws `invalid_input` or `unknown_column`, with the line, for what is no CSV or has the wrong header. */
export async function* csvRows(
  blocks: AsyncIterable<LineBlock>,
  table: Table,
): AsyncGenerator<RowBatch, void, undefined> {
  const cutter = new RecordCutter();
  let targets: readonly Target[] | undefined;
  /** The line on which the next record begins. */
  let line = 1;
  for await (const { records, failure } of recordsOf(blocks, cutter)) {
    const lines: number[] = [];
    for (const record of records) {
      lines.push(line);
      line += linesOf(record);
    }
    let from = 0;
    if (targets === undefined && records.length > 0) {
      targets = headerOf(records[0]!, table);
      from = 1;
    }
    if (targets !== undefined && records.length > from) yield batchOf(records.slice(from), lines.slice(from), targets);
    if (failure !== undefined) throw errorAtRow(noCsv(failure), 'line', line);
  }
  if (targets === undefined)
    throw new HedgerowError('invalid_input', 'The file is empty; CSV begins with the names of its columns.');
}

interface Cut {
  readonly records: readonly Cells[];
  /** What stands behind the records is no CSV. */
  readonly failure: Error | undefined;
}

async function* recordsOf(
  blocks: AsyncIterable<LineBlock>,
  cutter: RecordCutter,
): AsyncGenerator<Cut, void, undefined> {
  for await (const { bytes } of blocks) {
    const cut = await cutter.add(bytes);
    yield cut;
    if (cut.failure !== undefined) return;
  }
  yield await cutter.end();
}

interface RawRecord {
  readonly record: readonly string[];
  /** As it stands in the file. */
  readonly raw: string;
}

class RecordCutter {
  readonly #parser: Parser;
  #records: Cells[] = [];

  constructor() {
    this.#parser = new Parser({
      // The library's own word on whether a cell stood in quotes costs ten times as much.
      raw: true,
      record_delimiter: ['\r\n', '\n'],
      relax_column_count: true,
      max_record_size: MAX_LINE_BYTES,
      // Records are taken as they are found, not through the stream: none is lost when what follows is no CSV.
      on_record: (found: unknown) => {
        const { record, raw } = found as RawRecord;
        this.#records.push(cellsOf(record, raw));
        return null;
      },
    });
    // Failures come with the calls below.
    this.#parser.on('error', () => {});
    this.#parser.resume();
  }

  add(bytes: Buffer): Promise<Cut> {
    return this.#cut((done) => void this.#parser.write(bytes, done));
  }

  end(): Promise<Cut> {
    return this.#cut((done) => {
      this.#parser.once('error', done);
      this.#parser.end((error?: Error | null) => done(error));
    });
  }

  #cut(work: (done: (error: Error | null | undefined) => void) => void): Promise<Cut> {
    return new Promise((resolve) => {
      work((error) => {
        const records = this.#records;
        this.#records = [];
        resolve({ records, failure: error ?? undefined });
      });
    });
  }
}

/** Tells empty cells from empty texts by the record as it stands in the file. */
function cellsOf(record: readonly string[], raw: string): Cells {
  if (!record.includes('')) return record;
  let at = 0;
  return record.map((cell) => {
    const isQuoted = raw[at] === '"';
    at += 1 + (isQuoted ? 2 + cell.length + quotesIn(cell) : cell.length);
    return cell === '' && !isQuoted ? null : cell;
  });
}

function quotesIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) count++;
  return count;
}

/** Lines of a record: its own end, and the line breaks inside of its cells. */
function linesOf(record: Cells): number {
  let lines = 1;
  for (const cell of record) {
    if (cell === null) continue;
    for (let at = cell.indexOf('\n'); at >= 0; at = cell.indexOf('\n', at + 1)) lines++;
  }
  return lines;
}

function headerOf(record: Cells, table: Table): Target[] {
  try {
    return targetsOf(
      record.map((name) => name?.trim() ?? ''),
      table,
    );
  } catch (error) {
    throw error instanceof HedgerowError ? errorAtRow(error, 'line', 1) : error;
  }
}

function batchOf(records: readonly Cells[], lines: readonly number[], targets: readonly Target[]): RowBatch {
  return {
    count: records.length,
    at: (index) => lines[index]!,
    edge: (index) => edgeOf(records[index]!, targets),
  };
}

function edgeOf(cells: Cells, targets: readonly Target[]): EdgeInput | undefined {
  if (cells.length === 1 && cells[0] === null) return undefined;
  if (cells.length !== targets.length)
    throw new HedgerowError(
      'invalid_input',
      `The row has ${cells.length} cells, but the header names ${targets.length} columns.`,
    );
  const builder = new EdgeBuilder();
  for (const [index, target] of targets.entries()) builder.set(target, valueOfCell(cells[index]!, target));
  return builder.edge();
}

const FAILURES: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a cell in quotes does not end.',
  CSV_INVALID_CLOSING_QUOTE: 'a quote inside of a cell in quotes is not doubled.',
  INVALID_OPENING_QUOTE: 'a quote stands in a cell that is not in quotes.',
  CSV_MAX_RECORD_SIZE: `the row is longer than ${MAX_LINE_BYTES} bytes.`,
};

function noCsv(failure: Error): HedgerowError {
  const what = FAILURES[(failure as CsvError).code] ?? `not valid CSV (${failure.message}).`;
  return new HedgerowError('invalid_input', what, { cause: failure });
}
