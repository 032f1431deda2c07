// CSV as an input of an import: a header, then one edge a row.

import { HedgerowError } from '../../errors.ts';
import { MEGABYTE } from '../../limits.ts';
import { type Cells, type CutRules, csvRecords } from '../../query/copy/csv-records.ts';
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
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const DELIMITERS = [',', ';', '\t', '|'];

/** More is a quote that was never closed. */
const MAX_RECORD_BYTES = 16 * MEGABYTE;

interface CsvRow {
  readonly cells: Cells;
  readonly raw: string;
  /** Why it is no row. */
  readonly fault: string | undefined;
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
  const rules: CutRules = { delimiter: separator, maxRecordBytes: MAX_RECORD_BYTES, passesFaults: true };
  const head = await headOf(peeked, rules, source.label);
  const rowFlags = { ...flags, usualSeparator: separator === ';' ? ',' : ';' };
  return {
    plan: (known) => {
      const planned = plannedRows(head.sample, rowFlags, known);
      const batches = (limits: BatchLimits, from: Position, names: NodeNames | undefined) => {
        const start = from.offset === 0 ? head.start : from;
        const edgeOf = rowEdges(planned.rows, names);
        const form: RowForm<CsvRow, string> = {
          edgeOf: ({ cells, fault }) => {
            if (fault !== undefined) throw new HedgerowError('invalid_input', sentence(fault));
            return edgeOf(cells);
          },
          kept: ({ raw }) => raw,
          bytesOf: ({ raw }) => raw.length,
          shown: (raw) => raw.replace(/\r?\n?$/, ''),
        };
        const rows = new RowBatches(limits, start, form, names);
        return csvBatches(without(peeked.chunks, start.offset), rules, rows, start);
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

async function headOf({ head, isWhole }: Peeked, rules: CutRules, label: string): Promise<Head> {
  const base = head.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0;
  checkLineBreaks(head, label);
  const bytes = head.subarray(base, isWhole ? head.length : head.lastIndexOf(10) + 1);
  const records: Cells[] = [];
  const raws: string[] = [];
  let start: Position | undefined;
  for await (const cut of csvRecords(only(bytes), rules)) {
    if (cut.records.length === 0) continue;
    if (start === undefined) {
      start = { offset: base + cut.ends[0]!, line: 1 + cut.lines[0]! };
      const fault = cut.faults.get(0);
      if (fault !== undefined) throw noHeader(label, `its first line is none: ${fault}`);
    }
    for (const [at, cells] of cut.records.entries()) {
      if (cut.faults.has(at)) continue;
      records.push(cells);
      raws.push(cut.raws[at]!);
    }
  }
  if (start === undefined) throw noHeader(label, 'the file is empty.');
  const names = records[0]!.map((name) => name?.trim() ?? '');
  checkNames(names, label);
  const rows = records.slice(1).map((cells, index) => ({ cells, raw: raws[index + 1]! }));
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

function checkLineBreaks(head: Buffer, label: string): void {
  if (head.includes(10) || !head.includes(13)) return;
  throw new HedgerowError(
    'invalid_input',
    `The lines of ${label} end with a carriage return alone; tr '\\r' '\\n' makes lines of them.`,
  );
}

function checkNames(names: readonly string[], label: string): void {
  if (names.every((name) => name === '')) throw noHeader(label, 'its first line is blank.');
  if (names.every((name) => /^[+-]?[\d.:TZ/ -]*$/.test(name)))
    throw noHeader(label, `its first line (${names.slice(0, 10).join(', ')}) looks like a row.`);
  const twice = names.find((name, index) => name !== '' && names.indexOf(name) !== index);
  if (twice !== undefined)
    throw new HedgerowError(
      'invalid_input',
      `Column ${JSON.stringify(twice)} of ${label} stands twice. Give one of them another name.`,
    );
}

function noHeader(label: string, what: string): HedgerowError {
  return new HedgerowError(
    'invalid_input',
    `${label} has no header: ${what} CSV begins with the names of its columns.`,
  );
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
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
  rules: CutRules,
  rows: RowBatches<CsvRow, string>,
  start: Position,
): AsyncGenerator<LineBatch> {
  let { line } = start;
  for await (const { records, ends, raws, lines, faults } of csvRecords(cutLines(chunks, start.line), rules)) {
    for (let i = 0; i < records.length; i++) {
      const cells = records[i]!;
      const first = line;
      line += lines[i]!;
      if (cells.length === 1 && cells[0] === null) continue;
      const row = { cells, raw: raws[i]!, fault: faults.size === 0 ? undefined : faults.get(i) };
      const batch = rows.add(row, first, start.offset + ends[i]!, line);
      if (batch !== undefined) yield batch;
    }
  }
  const rest = rows.take();
  if (rest !== undefined) yield rest;
}

async function* cutLines(chunks: AsyncIterable<Buffer>, firstLine: number) {
  try {
    yield* wholeLines(chunks, MAX_RECORD_BYTES, false);
  } catch (error) {
    const line = error instanceof HedgerowError ? error.fields?.line : undefined;
    if (typeof line !== 'number') throw error;
    const what = (error as HedgerowError).message.replace(/^Line \d+: /, '').replace(/ Nothing was inserted\.$/, '');
    const message = `Line ${firstLine + line - 1}: ${what} Rows shortly before it may be missing.`;
    throw new HedgerowError('invalid_input', message, { cause: error });
  }
}

async function* only(bytes: Buffer) {
  if (bytes.length > 0) yield { bytes };
}
