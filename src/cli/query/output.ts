// Writes the rows of a statement in one of the formats, no faster than the output accepts them.

import { csvLines } from '../../query/copy/index.ts';
import type { PlanFigures, Row, StatementRunner } from '../run/runner.ts';
import { printable } from '../table-text.ts';
import type { Output } from '../world.ts';
import { type Format, type Times, timesIn } from './formats.ts';
import { ResultTable } from './result-table.ts';

/** Number of rows that determine the widths of a table's columns. */
const SAMPLE_ROWS = 1000;

export interface Shown {
  readonly rows: number;
  /** Undefined when the format does not report the plan. */
  readonly plan: PlanFigures | null | undefined;
}

export interface Request {
  readonly statement: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /** Undefined: the default of the format. */
  readonly times?: Times | undefined;
}

/**
 * Runs a statement and writes its result. Rejects with the error that stops it; the rows written so
 * far stay.
 */
export async function show(runner: StatementRunner, request: Request, format: Format, output: Output): Promise<Shown> {
  const { statement, parameters, signal } = request;
  const times = timesIn(format, request.times);
  const sink = new Sink(output);
  if (format === 'ndjson') {
    let rows = 0;
    for await (const batch of runner.rows(statement, parameters, signal, times)) {
      rows += batch.length;
      await sink.write(batch.map((row) => `${JSON.stringify(row)}\n`).join(''));
    }
    return { rows, plan: undefined };
  }
  const { columns, batches, plan } = await runner.run(statement, parameters, signal, times);
  const writer = WRITERS[format](columns, sink);
  let rows = 0;
  for await (const batch of batches) {
    rows += batch.length;
    await writer.add(batch);
  }
  await writer.end(rows);
  return { rows, plan: plan() };
}

interface RowWriter {
  add(rows: readonly Row[]): Promise<void>;
  end(count: number): Promise<void>;
}

const WRITERS: Readonly<Record<Exclude<Format, 'ndjson'>, (columns: readonly string[], sink: Sink) => RowWriter>> = {
  json: jsonWriter,
  csv: csvWriter,
  table: tableWriter,
};

/** Writes an array with one row per line. */
function jsonWriter(_columns: readonly string[], sink: Sink): RowWriter {
  let before = '[\n';
  return {
    async add(rows) {
      const lines = rows.map((row) => JSON.stringify(row)).join(',\n');
      await sink.write(before + lines);
      before = ',\n';
    },
    end: (count) => sink.write(count === 0 ? '[]\n' : '\n]\n'),
  };
}

function csvWriter(columns: readonly string[], sink: Sink): RowWriter {
  let head = csvLines([columns]);
  return {
    async add(rows) {
      await sink.write(head + csvLines(rows.map((row) => columns.map((name) => row[name] as string))));
      head = '';
    },
    end: () => sink.write(head),
  };
}

function tableWriter(columns: readonly string[], sink: Sink): RowWriter {
  let sample: Row[] = [];
  let table: ResultTable | undefined;
  const begin = async (): Promise<void> => {
    table = new ResultTable(columns, sample);
    await sink.write(table.head() + table.rows(sample));
    sample = [];
  };
  return {
    async add(rows) {
      if (table !== undefined) return sink.write(table.rows(rows));
      for (const row of rows) sample.push(row);
      if (sample.length >= SAMPLE_ROWS) await begin();
    },
    async end(count) {
      if (table === undefined) await begin();
      await sink.write(`(${count} ${count === 1 ? 'row' : 'rows'})\n`);
    },
  };
}

/** Writes text no faster than the output accepts it. */
export class Sink {
  readonly #output: Output;

  constructor(output: Output) {
    this.#output = output;
  }

  /**
   * Resolves when the output accepts more. Escapes control characters when the output is a
   * terminal.
   */
  async write(text: string): Promise<void> {
    if (text === '') return;
    const { isTTY } = this.#output;
    const safe = isTTY === true ? text.split('\n').map(printable).join('\n') : text;
    if (this.#output.write(safe) === false && this.#output.once !== undefined)
      await new Promise<void>((resolve) => this.#output.once?.('drain', resolve));
  }
}
