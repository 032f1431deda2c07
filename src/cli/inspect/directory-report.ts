// Builds a report on a data directory: an overview of its tables with their segments, and of its
// log.

import { assertChecksum, loadSegment, readSegmentFacts, type SegmentFacts } from '../../core/index.ts';
import {
  type Checkpoint,
  type CheckpointTable,
  type FileTools,
  type FrameReport,
  inspectLog,
  type LogReport,
  type Problem,
  problemOf,
  type SegmentEntry,
  segmentName,
} from '../../engine/verify/index.ts';
import { corruption } from '../../errors.ts';
import { type Fs, listLogFiles, markPath, readFully, readMark, readWhole } from '../../storage/index.ts';
import { readCheckpoint } from './checkpoint-facts.ts';

export interface SegmentLine {
  file: string;
  bytes: number;
  rows: number;
  time_min: number;
  time_max: number;
  nodes: number;
  bytes_per_edge: number;
}

export interface TableLine {
  name: string;
  number: number;
  bucket_seconds: number;
  /** Operations that are in the log but not in a segment. */
  pending: number;
  rows: number;
  bytes: number;
  segments: SegmentLine[];
}

export interface MarkLine {
  epoch: number;
  /** Number of the newest log file; 0 when there is none yet. */
  sequence: number;
  /** Everything up to this LSN is durable in the log. */
  reached_lsn: number;
  /** Newest LSN that was acknowledged as durable; 0 when none is recorded. */
  watermark_lsn: number;
  closed: boolean;
}

export interface DirectoryReport {
  kind: 'directory';
  path: string;
  /** LSN of the manifest; null when there is none that can be read. */
  manifest_lsn: number | null;
  /** Content of the lock file, if there is one; a server may then be running. */
  lock: string | null;
  tables: TableLine[];
  /** What the mark records about the log; null when there is no mark. */
  mark: MarkLine | null;
  /** The log files, without their frames. */
  logs: Omit<LogReport, 'shown'>[];
  problems: Problem[];
}

/**
 * When a compaction finishes while the directory is read, files disappear and reading starts over.
 * This is the maximum number of attempts.
 */
const ATTEMPTS = 5;
const HEAD_BYTES = 65536;

/** With `deep`, reads and checks every segment completely, not only its header. */
export function inspectDirectory(tools: FileTools, path: string, deep: boolean): DirectoryReport {
  for (let attempt = 1; ; attempt++) {
    try {
      return readOnce(tools, path, deep);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || attempt === ATTEMPTS) throw error;
    }
  }
}

function readOnce(tools: FileTools, path: string, deep: boolean): DirectoryReport {
  const problems: Problem[] = [];
  const checkpoint = checkpointOf(tools, path, problems);
  const tables = new Map<number, TableLine>();
  const applied = new Map<number, number>();
  for (const item of checkpoint?.tables ?? []) {
    const line = tableLine(tools, path, item, deep, problems);
    tables.set(line.number, line);
    applied.set(line.number, item.appliedLsn);
  }
  const logs: DirectoryReport['logs'] = [];
  const logDir = `${path}/log`;
  const mark = markLine(tools, logDir, problems);
  for (const file of tools.fs.exists(logDir) ? listLogFiles(tools.fs, logDir) : []) {
    const { shown, ...report } = inspectLog(tools, file, 0, (frame) =>
      countPending(frame, tables, applied, checkpoint?.lsn ?? 0),
    );
    problems.push(...report.problems);
    logs.push(report);
  }
  const lines = [...tables.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const lock = lockText(tools.fs, `${path}/lock`);
  return { kind: 'directory', path, manifest_lsn: checkpoint?.lsn ?? null, lock, tables: lines, mark, logs, problems };
}

function markLine({ fs, crc32c }: FileTools, logDir: string, problems: Problem[]): MarkLine | null {
  try {
    const found = readMark(fs, logDir, crc32c);
    if (found === null) return null;
    const { epoch, sequence, reachedLsn, closed } = found.slot;
    return { epoch, sequence, reached_lsn: reachedLsn, watermark_lsn: found.watermarkLsn, closed };
  } catch (error) {
    problems.push(problemOf(error, markPath(logDir)));
    return null;
  }
}

function checkpointOf(tools: FileTools, path: string, problems: Problem[]): Checkpoint | null {
  try {
    return readCheckpoint(tools, path);
  } catch (error) {
    problems.push(problemOf(error, `${path}/manifest`));
    return null;
  }
}

function tableLine(
  tools: FileTools,
  dir: string,
  item: CheckpointTable,
  deep: boolean,
  problems: Problem[],
): TableLine {
  const { id, name, bucketSeconds } = item.definition;
  const segments: SegmentLine[] = [];
  for (const entry of item.segments) {
    const { number, bytes } = entry;
    const file = `${dir}/tables/${id}/${segmentName(number)}`;
    try {
      const { rows, timeMin, timeMax, nodes } = segmentFacts(tools, file, entry, deep);
      segments.push({ file, bytes, rows, time_min: timeMin, time_max: timeMax, nodes, bytes_per_edge: bytes / rows });
    } catch (error) {
      // Either the file is lost or a compaction has just removed it. It is lost if the current
      // manifest still lists it.
      if (isMissing(error) && stillListed(tools, dir, id, number))
        problems.push({ file, offset: 0, what: 'the file is missing' });
      else problems.push(problemOf(error, file));
    }
  }
  const sum = (of: (segment: SegmentLine) => number) => segments.reduce((total, segment) => total + of(segment), 0);
  const totals = { rows: sum(({ rows }) => rows), bytes: sum(({ bytes }) => bytes) };
  return { name, number: id, bucket_seconds: bucketSeconds, pending: 0, ...totals, segments };
}

function segmentFacts(tools: FileTools, file: string, { bytes, checksum }: SegmentEntry, deep: boolean): SegmentFacts {
  const core = tools.core.instantiate();
  const handle = tools.fs.open(file, 'read');
  try {
    const size = handle.size();
    if (size !== bytes)
      throw corruption(file, Math.min(size, bytes), `it has ${size} bytes, the manifest says ${bytes}`);
    if (deep) {
      const read = (target: Uint8Array) => void target.set(readWhole(tools.fs, file));
      return loadSegment(core, bytes, read, { deep: true, file, checksum }).facts;
    }
    const head = new Uint8Array(Math.min(bytes, HEAD_BYTES));
    const facts = readSegmentFacts(core, head.subarray(0, readFully(handle, head, 0)), bytes, file);
    assertChecksum(facts, checksum, file);
    return facts;
  } finally {
    handle.close();
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

function stillListed(tools: FileTools, dir: string, table: number, segment: number): boolean {
  const now = readCheckpoint(tools, dir)?.tables.find(({ definition }) => definition.id === table);
  return now?.segments.some(({ number }) => number === segment) ?? false;
}

/**
 * Counts the operations of a frame that are not yet in a segment, by table. Adds tables that were
 * created after the manifest, and removes those that were dropped after it.
 */
function countPending(
  frame: FrameReport,
  tables: Map<number, TableLine>,
  applied: ReadonlyMap<number, number>,
  catalogLsn: number,
): void {
  let lsn = frame.first_lsn;
  for (const run of frame.runs) {
    if (run.change !== undefined) {
      if (lsn > catalogLsn) applyChange(run.change as CatalogFacts, tables);
    } else if (lsn > (applied.get(run.table) ?? 0)) {
      const table = tables.get(run.table);
      if (table !== undefined) table.pending += run.operations;
    }
    lsn += run.operations;
  }
}

type CatalogFacts = { op: string; id?: number; table?: { id: number; name: string; bucketSeconds: number } };

function applyChange(change: CatalogFacts, tables: Map<number, TableLine>): void {
  if (change.op === 'drop_table') tables.delete(change.id!);
  if (change.op !== 'create_table' || change.table === undefined) return;
  const { id, name, bucketSeconds } = change.table;
  tables.set(id, { name, number: id, bucket_seconds: bucketSeconds, pending: 0, rows: 0, bytes: 0, segments: [] });
}

function lockText(fs: Fs, path: string): string | null {
  try {
    return new TextDecoder().decode(readWhole(fs, path));
  } catch {
    return null;
  }
}
