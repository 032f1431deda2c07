// Builds a report on a segment file: header, sections with checksums, first and last rows.

import {
  buildRowPlan,
  type DeadRows,
  loadSegment,
  type ResidentSegment,
  type RowPlan,
  SEPARATOR,
  type StepResult,
  TextSink,
} from '../../core/index.ts';
import { type FileTools, type Problem, problemOf, type TableDefinition } from '../../engine/verify/index.ts';
import { type Column, ColumnSet } from '../../model/columns.ts';
import { readWhole } from '../../storage/index.ts';
import { readSections, readSegmentHeader, type SegmentHeader, type SegmentSection } from './segment-layout.ts';

export interface SegmentReport {
  kind: 'segment';
  path: string;
  bytes: number;
  bytes_per_edge: number | null;
  header: SegmentHeader | null;
  sections: SegmentSection[];
  /**
   * The first rows in the file, including rows that have been deleted since. `last_rows` are the
   * last rows that are not among them.
   */
  first_rows: unknown[];
  last_rows: unknown[];
  problems: Problem[];
}

const NO_DEAD: DeadRows = { count: 0, rows: new Uint32Array(), lsns: new Float64Array(), version: 0 };

/**
 * Builds the report. `rows`: how many rows to show from the beginning and how many from the end.
 * `table`: returns the definition of a table, if it is known.
 */
export function inspectSegment(
  tools: FileTools,
  path: string,
  rows: number,
  table: (number: number) => TableDefinition | undefined,
): SegmentReport {
  const bytes = readWhole(tools.fs, path);
  const header = readSegmentHeader(bytes, tools.crc32c);
  const report: SegmentReport = {
    kind: 'segment',
    path,
    bytes: bytes.length,
    bytes_per_edge: header !== null && header.rows > 0 ? bytes.length / header.rows : null,
    header,
    sections: header === null ? [] : readSections(bytes, tools.crc32c),
    first_rows: [],
    last_rows: [],
    problems: [],
  };
  try {
    const core = tools.core.instantiate();
    const segment = loadSegment(core, bytes.length, (target) => target.set(bytes), { deep: true, file: path });
    const plan = planFor(report.sections, table(segment.facts.table));
    const count = segment.facts.rows;
    const first = Math.min(rows, count);
    report.first_rows = rowsFrom(segment, 0, first, plan);
    report.last_rows = rowsFrom(segment, Math.max(first, count - rows), count, plan);
  } catch (error) {
    report.problems.push(problemOf(error, path));
  }
  return report;
}

/** Maps columns to their names. Columns that are in no manifest are named after their numbers. */
function planFor(sections: readonly SegmentSection[], table: TableDefinition | undefined): RowPlan {
  const known = new ColumnSet(table?.columns ?? [], table?.intervals);
  const columns: Pick<Column, 'id' | 'name' | 'default'>[] = [...known.columns];
  for (const { kind, column } of sections) {
    if (kind !== 'column' || column === null || columns.some(({ id }) => id === column)) continue;
    columns.push({ id: column, name: `column_${column}`, default: null });
  }
  return buildRowPlan(
    columns.map(({ id, name, default: missing }) => ({ id, name, missing: JSON.stringify(missing) })),
  );
}

function rowsFrom(segment: ResidentSegment, from: number, to: number, plan: RowPlan): unknown[] {
  const sink = new TextSink();
  const result: StepResult = { rows: 0, firstTs: 0, lastTs: 0, lastId: 0, buckets: 0, state: 0 };
  for (let row = from; row < to; row += result.rows) {
    const { eventTs: lowTs, id: lowId } = segment.keyOf(row);
    const bounds = { lowTs, lowId, endTs: Infinity, stopTs: Infinity, stopId: Infinity };
    segment.step(bounds, 0, NO_DEAD, Infinity, to - row, plan, SEPARATOR.newline, sink, result);
    if (result.rows === 0) break;
  }
  const lines = Buffer.from(sink.take()).toString('utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as unknown);
}
