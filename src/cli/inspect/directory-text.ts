// Formats the report on a data directory as text.

import { basename } from 'node:path';
import type { DirectoryReport, TableLine } from './directory-report.ts';
import { problemText, tableText, timeText } from './text.ts';

export function directoryText(report: DirectoryReport): string[] {
  const { path, manifest_lsn, lock, tables, mark, logs, problems } = report;
  const lines = [`data directory ${path}`, ...problems.map(problemText)];
  lines.push(manifest_lsn === null ? 'no manifest' : `manifest at LSN ${manifest_lsn}`);
  if (lock !== null) lines.push(`locked by ${lock}`);
  for (const table of tables) lines.push('', ...tableLines(table));
  if (logs.length === 0) return lines;
  lines.push('', 'log');
  if (mark !== null) {
    const { epoch, sequence, reached_lsn, watermark_lsn, closed } = mark;
    const lsn = Math.max(reached_lsn, watermark_lsn);
    lines.push(`  mark: epoch ${epoch}, newest file ${sequence}, durable to LSN ${lsn}, ${closed ? 'closed' : 'open'}`);
  }
  lines.push(
    ...tableText(
      ['file', 'epoch', 'LSNs', 'frames', 'operations', 'used', 'bytes', 'end'],
      logs.map((log) => [
        basename(log.path),
        log.epoch ?? '?',
        log.last_lsn === null ? `${log.first_lsn ?? '?'}-` : `${log.first_lsn}-${log.last_lsn}`,
        log.frames,
        log.operations,
        log.used_bytes,
        log.bytes,
        log.problems.length > 0 ? 'DAMAGED' : log.unfinished_at === null ? 'ok' : 'unfinished write',
      ]),
    ).map((line) => `  ${line}`),
  );
  return lines;
}

function tableLines({ name, number, bucket_seconds, pending, rows, bytes, segments }: TableLine): string[] {
  const each = rows > 0 ? `, ${(bytes / rows).toFixed(2)} bytes an edge` : '';
  const head = `table ${name} (number ${number}), buckets of ${bucket_seconds} s: ${rows} rows in ${segments.length} segments, ${bytes} bytes${each}; ${pending} operations in the log`;
  if (segments.length === 0) return [head];
  const cells = segments.map((segment) => [
    basename(segment.file),
    segment.rows,
    segment.bytes,
    segment.bytes_per_edge.toFixed(2),
    segment.nodes,
    segment.time_min,
    segment.time_max,
    `${timeText(segment.time_min)} to ${timeText(segment.time_max)}`,
  ]);
  const columns = ['segment', 'rows', 'bytes', 'an edge', 'nodes', 'first time', 'last time', ''];
  return [head, ...tableText(columns, cells).map((line) => `  ${line}`)];
}
