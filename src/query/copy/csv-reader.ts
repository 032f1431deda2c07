// Reads the rows of a CSV file (RFC 4180) with a header.
//
// An empty cell is null; an empty quoted cell is the empty text. Lines end with LF or CRLF. Line
// breaks inside quotes are kept unchanged.

import type { EdgeInput, Table } from '../../engine/index.ts';
import { HedgerowError } from '../../errors.ts';
import { valueOfCell } from './cell-values.ts';
import { type Cells, csvRecords } from './csv-records.ts';
import { EdgeBuilder } from './edge-builder.ts';
import { errorAtRow, type RowBatch } from './rows.ts';
import { type Target, targetsOf } from './targets.ts';
import type { LineBlock } from './whole-lines.ts';

/**
 * Yields the rows as batches of edges. Throws `invalid_input` or `unknown_column` for invalid CSV
 * or a wrong header. The error contains the line, unless the file is empty.
 */
export async function* csvRows(
  blocks: AsyncIterable<LineBlock>,
  table: Table,
): AsyncGenerator<RowBatch, void, undefined> {
  let targets: readonly Target[] | undefined;
  /** The line on which the next record begins. */
  let line = 1;
  for await (const { records, lines: taken, failure } of csvRecords(blocks)) {
    const lines = taken.map((count) => {
      line += count;
      return line - count;
    });
    let from = 0;
    if (targets === undefined && records.length > 0) {
      targets = headerOf(records[0]!, table);
      from = 1;
    }
    if (targets !== undefined && records.length > from)
      yield batchOf(records.slice(from), lines.slice(from), targets, table.isOfNodes);
    if (failure !== undefined) throw errorAtRow(failure, 'line', line);
  }
  if (targets === undefined)
    throw new HedgerowError('invalid_input', 'The file is empty; CSV begins with the names of its columns.');
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

function batchOf(
  records: readonly Cells[],
  lines: readonly number[],
  targets: readonly Target[],
  areNodes: boolean,
): RowBatch {
  return {
    count: records.length,
    at: (index) => lines[index]!,
    edge: (index) => edgeOf(records[index]!, targets, areNodes),
  };
}

function edgeOf(cells: Cells, targets: readonly Target[], isNode: boolean): EdgeInput | undefined {
  if (cells.length === 1 && cells[0] === null) return undefined;
  if (cells.length !== targets.length)
    throw new HedgerowError(
      'invalid_input',
      `The row has ${cells.length} cells, but the header names ${targets.length} columns.`,
    );
  const builder = new EdgeBuilder(isNode);
  for (const [index, target] of targets.entries()) builder.set(target, valueOfCell(cells[index]!, target));
  return builder.edge();
}
