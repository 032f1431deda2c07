// Cuts the bytes of CSV (RFC 4180) into records. The only file that knows csv-parse.

import { type CsvError, Parser } from 'csv-parse';
import { HedgerowError } from '../../errors.ts';
import { type LineBlock, MAX_LINE_BYTES } from './whole-lines.ts';

/** Null: the cell is empty and not in quotes. */
export type Cells = readonly (string | null)[];

export interface CutRecords {
  readonly records: readonly Cells[];
  /** Where each ends, in bytes from the beginning of the first block. */
  readonly ends: readonly number[];
  /** Each as it stands in the file. */
  readonly raws: readonly string[];
  /** What stands behind the records is no CSV. */
  readonly failure: Error | undefined;
}

/** Ends behind what is no CSV. */
export async function* csvRecords(
  blocks: AsyncIterable<Pick<LineBlock, 'bytes'>>,
  delimiter: string = ',',
): AsyncGenerator<CutRecords, void, undefined> {
  const cutter = new RecordCutter(delimiter);
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
  #ends: number[] = [];
  #raws: string[] = [];

  constructor(delimiter: string) {
    this.#parser = new Parser({
      delimiter,
      // The library's own word on whether a cell stood in quotes costs ten times as much.
      raw: true,
      record_delimiter: ['\r\n', '\n'],
      relax_column_count: true,
      max_record_size: MAX_LINE_BYTES,
      // Records are taken as they are found, not through the stream: none is lost when what follows is no CSV.
      on_record: (found: unknown, { bytes }: { bytes: number }) => {
        const { record, raw } = found as RawRecord;
        this.#records.push(cellsOf(record, raw));
        this.#ends.push(bytes);
        this.#raws.push(raw);
        return null;
      },
    });
    // Failures come with the calls below.
    this.#parser.on('error', () => {});
    this.#parser.resume();
  }

  add(bytes: Buffer): Promise<CutRecords> {
    return this.#cut((done) => void this.#parser.write(bytes, done));
  }

  end(): Promise<CutRecords> {
    return this.#cut((done) => {
      this.#parser.once('error', done);
      this.#parser.end((error?: Error | null) => done(error));
    });
  }

  #cut(work: (done: (error: Error | null | undefined) => void) => void): Promise<CutRecords> {
    return new Promise((resolve) => {
      work((error) => {
        const cut = { records: this.#records, ends: this.#ends, raws: this.#raws, failure: error ?? undefined };
        this.#records = [];
        this.#ends = [];
        this.#raws = [];
        resolve(cut);
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
export function linesOf(record: Cells): number {
  let lines = 1;
  for (const cell of record) {
    if (cell === null) continue;
    for (let at = cell.indexOf('\n'); at >= 0; at = cell.indexOf('\n', at + 1)) lines++;
  }
  return lines;
}

const FAILURES: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a cell in quotes does not end.',
  CSV_INVALID_CLOSING_QUOTE: 'a quote inside of a cell in quotes is not doubled.',
  INVALID_OPENING_QUOTE: 'a quote stands in a cell that is not in quotes.',
  CSV_MAX_RECORD_SIZE: `the row is longer than ${MAX_LINE_BYTES} bytes.`,
};

export function noCsv(failure: Error): HedgerowError {
  const what = FAILURES[(failure as CsvError).code] ?? `not valid CSV (${failure.message}).`;
  return new HedgerowError('invalid_input', what, { cause: failure });
}
