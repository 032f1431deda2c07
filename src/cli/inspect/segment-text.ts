// Formats the report on a segment as text.

import type { TableDefinition } from '../../engine/verify/index.ts';
import { ColumnSet } from '../../model/columns.ts';
import type { SegmentHeader, SegmentSection } from './segment-layout.ts';
import type { SegmentReport } from './segment-report.ts';
import { problemText, tableText, timeText } from './text.ts';

export function segmentText(report: SegmentReport, tables: ReadonlyMap<number, TableDefinition>): string[] {
  const { path, bytes, bytes_per_edge, header, sections, first_rows, last_rows, problems } = report;
  const lines = [`segment ${path}`, ...problems.map(problemText)];
  if (header === null) return [...lines, `${bytes} bytes: too few for a header`];
  const table = tables.get(header.table);
  lines.push(...headerText(header, table?.name));
  lines.push(`${bytes} bytes${bytes_per_edge === null ? '' : `, ${bytes_per_edge.toFixed(2)} an edge`}`);
  lines.push('', ...sectionTable(sections, table));
  if (first_rows.length > 0) lines.push('', 'first rows', ...first_rows.map((row) => `  ${JSON.stringify(row)}`));
  if (last_rows.length > 0) lines.push('last rows', ...last_rows.map((row) => `  ${JSON.stringify(row)}`));
  return lines;
}

function headerText(header: SegmentHeader, name: string | undefined): string[] {
  return [
    `format version ${header.format_version}, header checksum ${header.crc_ok ? 'ok' : 'WRONG'}`,
    `table ${name === undefined ? '' : `${name} `}number ${header.table}, ${header.buckets} buckets of ${header.bucket_seconds} s`,
    `${header.rows} rows, ${header.incidences} incidences, ${header.nodes} nodes, at most ${header.largest_member_count} members`,
    `times ${header.time_min} to ${header.time_max} (${timeText(header.time_min)} to ${timeText(header.time_max)})`,
    `edge ids ${header.id_min} to ${header.id_max}, node ids ${header.node_min} to ${header.node_max}`,
  ];
}

function sectionTable(sections: readonly SegmentSection[], table: TableDefinition | undefined): string[] {
  const { columns } = new ColumnSet(table?.columns ?? [], table?.intervals);
  const names = new Map(columns.map((column) => [column.id, column.name]));
  return tableText(
    ['section', 'column', 'type', 'width', 'offset', 'bytes', 'count', 'checksum'],
    sections.map(({ kind, column, type, width, offset, bytes, count, crc_ok }) => [
      kind,
      column === null ? '' : (names.get(column) ?? `number ${column}`),
      type,
      width,
      offset,
      bytes,
      count,
      crc_ok ? 'ok' : 'WRONG',
    ]),
  );
}
