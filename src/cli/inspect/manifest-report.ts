// Builds a report on a manifest and formats it as text: the tables with their segments and log
// positions.

import {
  type Checkpoint,
  checkCheckpoint,
  type FileTools,
  type Problem,
  problemOf,
  segmentName,
} from '../../engine/verify/index.ts';
import type { Column } from '../../model/columns.ts';
import { OPTION_NAMES, TABLE_OPTIONS } from '../../model/options.ts';
import { readManifestFile, replayFileName } from '../../storage/index.ts';
import { problemText, tableText, timeText } from './text.ts';

export interface ManifestReport {
  kind: 'manifest';
  path: string;
  document: Checkpoint | null;
  problems: Problem[];
}

export function inspectManifest(tools: FileTools, path: string): ManifestReport {
  try {
    const document = checkCheckpoint(readManifestFile(tools.fs, path, tools.crc32c), path);
    return { kind: 'manifest', path, document, problems: [] };
  } catch (error) {
    return { kind: 'manifest', path, document: null, problems: [problemOf(error, path)] };
  }
}

export function manifestText({ path, document, problems }: ManifestReport): string[] {
  const lines = [`manifest ${path}`, ...problems.map(problemText)];
  if (document === null) return lines;
  lines.push(`checksum ok, LSN ${document.lsn}, next table number ${document.nextTableId}`);
  for (const { store, entries } of document.documents ?? []) lines.push(`documents of ${store}: ${entries.length}`);
  const { replays } = document;
  if (replays !== undefined && replays.files.length > 0) {
    const bytes = replays.files.reduce((sum, file) => sum + file.bytes, 0);
    lines.push(`stored answers up to LSN ${replays.lsn}: ${replays.files.length} files, ${bytes} bytes`);
  }
  for (const { number, newestAt } of replays?.lost ?? [])
    lines.push(
      `${replayFileName(number)} was damaged: answers up to ${timeText(Math.floor(newestAt / 1000))} may be lost`,
    );
  for (const { definition, appliedLsn, nextId, nextSegment, segments } of document.tables) {
    const { id, name, createdAt, columns, indexes, intervals, text } = definition;
    const options = OPTION_NAMES.map((option) => TABLE_OPTIONS[option].said(definition[option]));
    const isOfNodes = definition.key !== undefined;
    lines.push(
      '',
      `${isOfNodes ? 'node table' : 'table'} ${name} (number ${id}), ${options.join(', ')}`,
      `  created ${timeText(createdAt)}, next ${isOfNodes ? 'node of the table at least' : 'edge id'} ${nextId}, next segment ${nextSegment}, in segments up to LSN ${appliedLsn}`,
    );
    if (isOfNodes) lines.push(`  key ${columns.find((column) => column.id === definition.key)?.name}`);
    if (definition.nodes !== undefined)
      lines.push(
        `  members are nodes of ${definition.memberTables.join(', ')} (numbers ${definition.nodes.join(', ')})`,
      );
    if (intervals !== undefined) lines.push(`  intervals, their ends in column number ${intervals}`);
    if (columns.length > 0) lines.push(`  columns ${columns.map(columnText).join(', ')}`);
    if (indexes.length > 0) lines.push(`  indexes on columns ${indexes.map((index) => index.column).join(', ')}`);
    if (text !== undefined) lines.push(`  text index on columns ${text.columns.join(', ')}, language ${text.language}`);
    const rows = segments.map((segment) => [segmentName(segment.number), segment.bytes]);
    if (rows.length > 0) lines.push(...tableText(['segment', 'bytes'], rows).map((line) => `  ${line}`));
    else lines.push('  no segments');
  }
  return lines;
}

function columnText(column: Column): string {
  const fallback = column.default === null ? '' : ` default ${JSON.stringify(column.default)}`;
  return `${column.name} ${column.type} (number ${column.id})${fallback}`;
}
