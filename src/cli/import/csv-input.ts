// CSV as an input of an import: a header, then one edge a row.

import { isUtf8 } from 'node:buffer';
import { HedgerowError } from '../../errors.ts';
import { type Cells, csvRecords } from '../../query/copy/csv-records.ts';
import { wholeLines } from '../../query/copy/whole-lines.ts';
import type { BatchLimits, LineBatch, Position } from './line-batches.ts';
import type { NodeNames } from './node-names.ts';
import type { LookedInto } from './planned-input.ts';
import { RowBatches, type RowForm } from './row-batches.ts';
import { rowEdges } from './row-edges.ts';
import { plannedRows } from './row-input.ts';
import type { RowFlags, Sample } from './row-plan.ts';
import { type Peeked, peek, type Source, without } from './source.ts';

const HEAD_BYTES = 512 * 1024;
const SAMPLE_ROWS = 1000;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const DELIMITERS = [',', ';', '\t', '|'];

interface CsvRow {
  readonly cells: Cells;
  readonly raw: string;
}

interface Head {
  readonly sample: Sample;
  /** Where the first row begins. */
  readonly start: Position;
}

/** `delimiter` undefined: the one that the header has most of. Throws `invalid_input` for what is no CSV. */
export async function lookIntoCsv(source: Source, delimiter: string | undefined, flags: RowFlags): Promise<LookedInto> {
  const peeked = await peek(source.chunks, HEAD_BYTES);
  const separator = delimiter ?? delimiterOf(peeked.head);
  const head = await headOf(peeked, separator, source.label);
  const rowFlags = { ...flags, separator: flags.separator ?? (separator === ';' ? ',' : ';') };
  return {
    plan: (known) => {
      const planned = plannedRows(head.sample, rowFlags, known);
      const batches = (limits: BatchLimits, from: Position, names: NodeNames | undefined) => {
        const start = from.offset === 0 ? head.start : from;
        const edgeOf = rowEdges(planned.rows, names);
        const form: RowForm<CsvRow, string> = {
          edgeOf: ({ cells }) => edgeOf(cells),
          kept: ({ raw }) => raw,
          bytesOf: ({ raw }) => raw.length,
          shown: (raw) => raw.replace(/\r?\n?$/, ''),
        };
        const rows = new RowBatches(limits, start, form, names);
        return csvBatches(without(peeked.chunks, start.offset), separator, rows, start);
      };
      return { ...planned, batches };
    },
    close() {},
  };
}

function delimiterOf(head: Buffer): string {
  const line = head.toString('utf8', 0, Math.max(0, head.indexOf(10)) || head.length);
  const counts = DELIMITERS.map((each) => line.split(each).length - 1);
  return DELIMITERS[counts.indexOf(Math.max(...counts))]!;
}

async function headOf({ head, isWhole }: Peeked, delimiter: string, label: string): Promise<Head> {
  const base = head.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0;
  const bytes = head.subarray(base, isWhole ? head.length : head.lastIndexOf(10) + 1);
  if (!isUtf8(bytes))
    throw new HedgerowError('invalid_input', `${label} is not valid UTF-8 near its beginning; write it as UTF-8.`);
  const records: Cells[] = [];
  const raws: string[] = [];
  let start: Position | undefined;
  for await (const cut of csvRecords(only(bytes), delimiter)) {
    if (start === undefined && cut.records.length > 0) start = { offset: base + cut.ends[0]!, line: 1 + cut.lines[0]! };
    records.push(...cut.records);
    raws.push(...cut.raws);
    // What is cut off by the end of the head is met again when all is read.
    if (cut.failure !== undefined && records.length < 2) throw cut.failure;
  }
  if (start === undefined)
    throw new HedgerowError('invalid_input', `${label} is empty; CSV begins with the names of its columns.`);
  const names = records[0]!.map((name) => name?.trim() ?? '');
  const twice = names.find((name, index) => name !== '' && names.indexOf(name) !== index);
  if (twice !== undefined)
    throw new HedgerowError('invalid_input', `Column ${JSON.stringify(twice)} of ${label} stands twice.`);
  const rows = records.slice(1, 1 + SAMPLE_ROWS).map((cells, index) => ({ cells, raw: raws[index + 1]! }));
  const whole = rows.filter(({ cells }) => cells.length === names.length);
  const quoted = whole.map(({ cells, raw }) => quotedCells(cells, raw));
  // Where all cells stand in quotes, quotes say nothing of types.
  const isTelling = whole.some(({ cells }, row) => cells.some((cell, at) => cell !== null && !quoted[row]![at]));
  return {
    start,
    sample: {
      names,
      rows: whole.map(({ cells }) => cells),
      isText: (row, column) => isTelling && quoted[row]![column] === true,
    },
  };
}

/** Which cells of a record stand in quotes. */
function quotedCells(cells: Cells, raw: string): boolean[] {
  let at = 0;
  return cells.map((cell) => {
    const isQuoted = raw[at] === '"';
    const length = cell?.length ?? 0;
    at += 1 + length + (isQuoted ? 2 + (cell!.split('"').length - 1) : 0);
    return isQuoted;
  });
}

async function* csvBatches(
  chunks: AsyncIterable<Buffer>,
  delimiter: string,
  rows: RowBatches<CsvRow, string>,
  start: Position,
): AsyncGenerator<LineBatch> {
  let { line } = start;
  for await (const { records, ends, raws, lines, failure } of csvRecords(utf8Lines(chunks, start.line), delimiter)) {
    for (let i = 0; i < records.length; i++) {
      const cells = records[i]!;
      const raw = raws[i]!;
      const first = line;
      line += lines[i]!;
      if (cells.length === 1 && cells[0] === null) continue;
      const batch = rows.add({ cells, raw }, first, start.offset + ends[i]!, line);
      if (batch !== undefined) yield batch;
    }
    if (failure === undefined) continue;
    const rest = rows.take();
    if (rest !== undefined) yield rest;
    throw new HedgerowError('invalid_input', `Line ${line}: ${failure.message} The rows before it are inserted.`, {
      cause: failure,
    });
  }
  const rest = rows.take();
  if (rest !== undefined) yield rest;
}

async function* utf8Lines(chunks: AsyncIterable<Buffer>, firstLine: number) {
  try {
    yield* wholeLines(chunks);
  } catch (error) {
    const line = error instanceof HedgerowError ? error.fields?.line : undefined;
    if (typeof line !== 'number') throw error;
    const what = (error as HedgerowError).message.replace(/^Line \d+: /, '').replace(/ Nothing was inserted\.$/, '');
    throw new HedgerowError(
      'invalid_input',
      `Line ${firstLine + line - 1}: ${what} Rows shortly before it may be missing.`,
      { cause: error },
    );
  }
}

async function* only(bytes: Buffer) {
  if (bytes.length > 0) yield { bytes };
}
