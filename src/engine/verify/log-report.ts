// Describes the frames of a log file, intact and damaged, with the operations in them. A frame is
// called good if it is intact and in sequence (`InspectedFrame.ok`). Good frames after a bad
// position are counted and visited only once the bad position is known to be damage.

import { basename, dirname } from 'node:path';
import {
  type FileHandle,
  FRAME_HEADER_BYTES,
  frameBytes,
  type InspectedFrame,
  inspectLogFile,
  listLogFiles,
  type Region,
  readFrame,
  readFully,
  readLogFileHeader,
  readWhole,
  regionOf,
} from '../../storage/index.ts';
import { OPERATION, readRuns } from '../commit/operations.ts';
import { type FileTools, type Problem, problemOf } from './problem.ts';

export interface RunReport {
  kind: string;
  /** Table id; 0 if the operations belong to no table. */
  table: number;
  operations: number;
  bytes: number;
  /** The catalog change, if the run contains one. */
  change?: unknown;
}

export interface FrameReport {
  offset: number;
  /** Size in the file, including header and padding. */
  bytes: number;
  first_lsn: number;
  last_lsn: number;
  epoch: number;
  durable_lsn: number;
  operations: number;
  state: 'ok' | 'seal' | 'damaged' | 'out of sequence';
  runs: RunReport[];
}

export interface LogReport {
  kind: 'log';
  path: string;
  bytes: number;
  /** Format version. */
  version: number | null;
  /** Size with which the file was created; null in version 1. */
  file_bytes: number | null;
  sequence: number | null;
  epoch: number | null;
  first_lsn: number | null;
  /** Newest LSN in a good frame; null if there is none. */
  last_lsn: number | null;
  /** Number of good frames, and of operations in them. */
  frames: number;
  operations: number;
  /** Offset where the good frames end. */
  used_bytes: number;
  /**
   * Offset of a write at the end of the file that was not finished or is still in progress; null if
   * there is none. This is not an error: replay ends there.
   */
  unfinished_at: number | null;
  /** The first frames only, up to the requested limit. */
  shown: FrameReport[];
  problems: Problem[];
}

/** Receives each good frame whose runs are well-formed, and its payload. */
export type FrameVisitor = (frame: FrameReport, payload: Uint8Array) => void;

/**
 * Reads a log file and returns a report, which counts the good frames and describes the first
 * `limit` frames. `visit` receives each good frame.
 */
export function inspectLog(tools: FileTools, path: string, limit: number, visit?: FrameVisitor): LogReport {
  const report = emptyReport(path);
  const handle = tools.fs.open(path, 'read');
  try {
    report.bytes = handle.size();
    const header = readLogFileHeader(tools.fs, path, tools.crc32c);
    report.version = header.version;
    report.file_bytes = header.version === 1 ? null : header.fileBytes;
    report.sequence = header.sequence;
    report.epoch = header.epoch;
    report.first_lsn = header.firstLsn;
    const walk = new LogWalk(
      tools,
      handle,
      report,
      { firstLsn: header.firstLsn, stopLsn: stopLsnOf(tools, path) },
      limit,
      visit,
    );
    for (const frame of inspectLogFile(tools.fs, path, tools.crc32c)) walk.add(frame);
    walk.end();
  } catch (error) {
    report.problems.push(problemOf(error, path));
  } finally {
    handle.close();
  }
  return report;
}

function emptyReport(path: string): LogReport {
  const nothing = {
    version: null,
    file_bytes: null,
    sequence: null,
    epoch: null,
    first_lsn: null,
    last_lsn: null,
    unfinished_at: null,
  };
  return { kind: 'log', path, bytes: 0, ...nothing, frames: 0, operations: 0, used_bytes: 0, shown: [], problems: [] };
}

/** Visits the frames of one file in order and fills in its report. */
class LogWalk {
  readonly #tools: FileTools;
  readonly #handle: FileHandle;
  readonly #report: LogReport;
  readonly #limit: number;
  readonly #visit: FrameVisitor | undefined;
  readonly #stopLsn: number | null;
  #expectedLsn: number;
  /** Whether the last good frame is a seal. */
  #sealed = false;
  /**
   * A position without a good frame, which may or may not be damage, and the LSN expected there.
   */
  #bad: { offset: number; lsn: number } | undefined;
  /** The file's bytes; loaded once a bad position is found. */
  #region: Region | undefined;

  constructor(
    tools: FileTools,
    handle: FileHandle,
    report: LogReport,
    lsns: { firstLsn: number; stopLsn: number | null },
    limit: number,
    visit: FrameVisitor | undefined,
  ) {
    this.#tools = tools;
    this.#handle = handle;
    this.#report = report;
    this.#expectedLsn = lsns.firstLsn;
    this.#stopLsn = lsns.stopLsn;
    this.#limit = limit;
    this.#visit = visit;
  }

  add(frame: InspectedFrame): void {
    const report = this.#report;
    // When the frames have reached the first LSN of the next file, recovery does not read the rest
    // of this file: a crash may have left any bytes there.
    if (this.#expectedLsn === this.#stopLsn && !(frame.ok && frame.operations === 0)) return;
    const isWhole = frame.ok || this.#isWhole(frame.offset);
    if (!frame.ok) this.#bad ??= { offset: frame.offset, lsn: this.#expectedLsn };
    // A later frame records which LSN was durable when that frame was written. If this includes the
    // LSN expected at the bad position, the operations there had been acknowledged, so they are
    // damaged.
    if (isWhole && this.#bad !== undefined && frame.durableLsn >= this.#bad.lsn) this.#settleBad();
    const { shown, payload } = this.#describe(frame, isWhole);
    if (frame.ok && this.#bad === undefined) {
      report.frames++;
      report.operations += frame.operations;
      report.used_bytes = frame.offset + shown.bytes;
      this.#sealed = frame.operations === 0;
      if (!this.#sealed) report.last_lsn = shown.last_lsn;
      if (payload !== undefined) this.#visit?.(shown, payload);
    }
    if (isWhole) this.#expectedLsn = frame.firstLsn + frame.operations;
    if (report.shown.length < this.#limit) report.shown.push(shown);
  }

  /**
   * Decides what a bad position means when all frames were visited. At the end of the newest file,
   * it was left by a crash or a write in progress. Anywhere else, or after a seal, it is damage.
   */
  end(): void {
    const report = this.#report;
    if (this.#stopLsn !== null) {
      if (this.#bad !== undefined) this.#settleBad();
      else if (this.#expectedLsn !== this.#stopLsn) {
        const what = `the frames end with LSN ${this.#expectedLsn - 1}, but the next file begins with LSN ${this.#stopLsn}`;
        this.#tell(report.used_bytes, what);
      }
      return;
    }
    if (report.file_bytes !== null && report.bytes < report.file_bytes)
      this.#tell(report.bytes, `the file ends there, but it was made with ${report.file_bytes} bytes: it was cut`);
    if (this.#bad !== undefined && report.problems.length === 0) {
      if (this.#sealed)
        this.#tell(this.#bad.offset, 'the log was closed in order, but there are bytes other than zeros after its end');
      else report.unfinished_at = this.#bad.offset;
    }
  }

  #settleBad(): void {
    const { offset, lsn } = this.#bad!;
    this.#bad = undefined;
    const what = `there is no complete frame with LSN ${lsn}, but a later frame records that it was acknowledged`;
    this.#tell(offset, what);
  }

  #tell(offset: number, what: string): void {
    this.#report.problems.push({ file: this.#report.path, offset, what });
  }

  #isWhole(offset: number): boolean {
    this.#region ??= regionOf(readWhole(this.#tools.fs, this.#report.path));
    return readFrame(this.#region, offset, this.#tools.crc32c) !== null;
  }

  #describe(frame: InspectedFrame, isWhole: boolean): { shown: FrameReport; payload: Uint8Array | undefined } {
    const { offset, firstLsn, operations, epoch, payloadBytes } = frame;
    const good = operations === 0 ? 'seal' : 'ok';
    const wanted = frame.ok && (this.#visit !== undefined || this.#report.shown.length < this.#limit);
    const { runs, payload } = wanted ? this.#content(frame) : { runs: [], payload: undefined };
    const shown: FrameReport = {
      offset,
      bytes: isWhole ? frameBytes(payloadBytes) : 0,
      first_lsn: firstLsn,
      last_lsn: firstLsn + Math.max(0, operations - 1),
      epoch,
      durable_lsn: frame.durableLsn,
      operations,
      state: frame.ok ? good : isWhole ? 'out of sequence' : 'damaged',
      runs,
    };
    return { shown, payload };
  }

  /** Returns the runs of a good frame, and the payload of the frame if the runs are well-formed. */
  #content({ offset, payloadBytes, operations }: InspectedFrame): {
    runs: RunReport[];
    payload: Uint8Array | undefined;
  } {
    const payload = new Uint8Array(payloadBytes);
    readFully(this.#handle, payload, offset + FRAME_HEADER_BYTES);
    const runs: RunReport[] = [];
    try {
      for (const run of readRuns(payload, operations, this.#report.path)) {
        const { kind, tableId: table, bytes } = run;
        const change =
          kind === OPERATION.catalog ? { change: JSON.parse(Buffer.from(bytes).toString()) as unknown } : {};
        runs.push({ kind: kindName(kind), table, operations: run.operations, bytes: bytes.length, ...change });
      }
    } catch (error) {
      // Offsets of runs are relative to the start of the payload.
      const problem =
        error instanceof SyntaxError
          ? { file: '', offset: 0, what: 'a catalog change is not JSON' }
          : problemOf(error, '');
      const what = `the frame at ${offset} has a valid checksum, but: ${problem.what}`;
      this.#tell(offset + FRAME_HEADER_BYTES + problem.offset, what);
      return { runs, payload: undefined };
    }
    return { runs, payload };
  }
}

function kindName(kind: number): string {
  const known = Object.entries(OPERATION).find(([, value]) => value === kind);
  return known === undefined ? `unknown kind ${kind}` : known[0];
}

/**
 * Returns the first LSN of the next file. Returns null if there is no next file or its header
 * cannot be read; the end of this file is then not compared with the next file.
 */
function stopLsnOf(tools: FileTools, path: string): number | null {
  const next = listLogFiles(tools.fs, dirname(path)).find((other) => basename(other) > basename(path));
  if (next === undefined) return null;
  try {
    return readLogFileHeader(tools.fs, next, tools.crc32c).firstLsn;
  } catch {
    return null;
  }
}
