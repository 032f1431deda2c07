// Formats the report on a log file as text.

import type { FrameReport, LogReport, RunReport, TableDefinition } from '../../engine/verify/index.ts';
import { problemText, tableText } from './text.ts';

export function logText(report: LogReport, tables: ReadonlyMap<number, TableDefinition>): string[] {
  const { path, bytes, sequence, epoch, first_lsn, last_lsn, frames, operations, used_bytes, unfinished_at } = report;
  const lines = [`log file ${path}`, ...report.problems.map(problemText)];
  if (sequence === null) return lines;
  const made = report.file_bytes === null ? '' : `, made with ${report.file_bytes} bytes`;
  lines.push(
    `format version ${report.version}${made}`,
    `sequence ${sequence}, epoch ${epoch}, LSNs from ${first_lsn}${last_lsn === null ? '' : ` to ${last_lsn}`}`,
    `${frames} frames, ${operations} operations, ${used_bytes} of ${bytes} bytes used`,
  );
  if (unfinished_at !== null) {
    lines.push(`a write at offset ${unfinished_at} was not finished (or is being made): replay ends there`);
  }
  if (report.shown.length > 0) lines.push('', ...frameTable(report.shown, tables));
  const left = frames - report.shown.filter((frame) => frame.state === 'ok' || frame.state === 'seal').length;
  if (left > 0) lines.push(`... ${left} more frames (--limit 0 shows all)`);
  return lines;
}

function frameTable(frames: readonly FrameReport[], tables: ReadonlyMap<number, TableDefinition>): string[] {
  return tableText(
    ['offset', 'bytes', 'LSNs', 'epoch', 'durable', 'operations', 'state', 'runs'],
    frames.map((frame) => [
      frame.offset,
      frame.bytes,
      frame.operations > 1 ? `${frame.first_lsn}-${frame.last_lsn}` : String(frame.first_lsn),
      frame.epoch,
      frame.durable_lsn,
      frame.operations,
      frame.state,
      frame.runs.map((run) => runText(run, tables)).join('; '),
    ]),
  );
}

function runText(run: RunReport, tables: ReadonlyMap<number, TableDefinition>): string {
  if (run.change !== undefined) return `catalog ${JSON.stringify(run.change)}`;
  const table = tables.get(run.table)?.name ?? `table ${run.table}`;
  return `${run.kind} ${run.operations} ${table} (${run.bytes} bytes)`;
}
