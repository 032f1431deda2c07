// Reads CSV as an input of an import: a header, then one edge or node per row.

import { HedgerowError } from '../../../errors.ts';
import { MEGABYTE } from '../../../limits.ts';
import { type Cells, type CutRules, csvRecords, wholeLines } from '../../../query/copy/index.ts';
import { isBlank } from '../../../tabular/header.ts';
import type { BatchLimits, LineBatch, Position } from '../line-batches.ts';
import type { Members } from '../node-keys.ts';
import type { LookedInto } from '../planned-input.ts';
import { RowBatches, type RowForm } from '../rows/row-batches.ts';
import type { RowPlanner } from '../rows/row-input.ts';
import { type Peeked, peek, type Source, without } from '../source.ts';
import { type CsvFlags, csvHead } from './csv-head.ts';

const HEAD_BYTES = 512 * 1024;
const NEWLINE = 10;
const CARRIAGE_RETURN = 13;
/** The character that a decoder puts in place of invalid bytes. */
const REPLACEMENT = '\ufffd';

/** The limit for one record. A longer record is taken to have a quote that was never closed. */
const MAX_RECORD_BYTES = 16 * MEGABYTE;

interface CsvRow {
  readonly cells: Cells;
  readonly raw: string;
  /** Why this is not a valid row; undefined when it is. */
  readonly fault: string | undefined;
}

/** Throws `invalid_input` for a file that is not CSV, and UsageError for flags that do not fit. */
export async function lookIntoCsv(source: Source, csv: CsvFlags, planner: RowPlanner): Promise<LookedInto> {
  const peeked = withNewlines(await peek(source.chunks, HEAD_BYTES));
  const {
    start: first,
    sample,
    rules,
    warnings,
  } = await csvHead(peeked, csv, MAX_RECORD_BYTES, planner.given, source.label);
  const encoding = source.decodedFrom();
  return {
    plan: (known, roles = []) => {
      const { itemsOf, ...planned } = planner.plan(sample, known, roles);
      const batches = (limits: BatchLimits, from: Position, members: Members | undefined) => {
        const start = from.offset === 0 ? first : from;
        const itemOf = itemsOf(members);
        const form: RowForm<CsvRow, string> = {
          itemOf: ({ cells, raw, fault }) => {
            if (fault !== undefined) throw new HedgerowError('invalid_input', sentence(fault));
            if (encoding !== undefined && raw.includes(REPLACEMENT))
              throw new HedgerowError('invalid_input', `The line holds bytes that are not valid ${encoding}.`);
            return itemOf(cells);
          },
          kept: ({ raw }) => raw,
          bytesOf: ({ raw }) => raw.length,
          shown: (raw) => raw.replace(/\r?\n?$/, ''),
        };
        const rows = new RowBatches(limits, start, form, members);
        return csvBatches(without(peeked.chunks, start.offset), rules, rows, start);
      };
      return { ...planned, warnings: [...warnings, ...planned.warnings], batches };
    },
    close() {},
  };
}

/**
 * Replaces carriage returns by newlines if `head` has carriage returns but no newlines, as files of
 * old Macs do.
 */
function withNewlines(peeked: Peeked): Peeked {
  const { head, chunks } = peeked;
  if (head.includes(NEWLINE) || !head.includes(CARRIAGE_RETURN)) return peeked;
  async function* replaced() {
    for await (const chunk of chunks) yield newlinesIn(chunk);
  }
  return { ...peeked, head: newlinesIn(head), chunks: replaced() };
}

function newlinesIn(bytes: Buffer): Buffer {
  return bytes.map((byte) => (byte === CARRIAGE_RETURN ? NEWLINE : byte)) as Buffer;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
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
      const fault = faults.size === 0 ? undefined : faults.get(i);
      if (fault === undefined && isBlank(cells)) continue;
      const row = { cells, raw: raws[i]!, fault };
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
