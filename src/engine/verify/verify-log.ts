// Checks the log of a data directory: that every frame in every needed file is intact, that the
// files are in order, and that no LSN is missing between the first one that some table still needs
// and the end.

import { badSlots, examineLog, listLogFiles, markPath, readWhole } from '../../storage/index.ts';
import { appliedEverywhere, type Checkpoint } from '../checkpoint/checkpoint.ts';
import { type FrameVisitor, inspectLog } from './log-report.ts';
import { type FileTools, type Problem, problemOf } from './problem.ts';

export interface LogSums {
  files: number;
  frames: number;
  operations: number;
  /** Newest LSN that an open would find; null if it cannot be determined. */
  head_lsn: number | null;
}

/** Receives each good frame and the path of its file. */
type Visitor = (path: string, ...frame: Parameters<FrameVisitor>) => void;

/**
 * Verifies the log. `checkpoint` is null if there is no manifest, and undefined if the manifest is
 * damaged. In the latter case it is not known which frames are needed, so only the files themselves
 * are checked. `visit` receives the frames of the needed files in order; it is not called if the
 * log or the manifest is damaged. Problems and notes are appended to the lists.
 */
export function verifyLog(
  tools: FileTools,
  logDir: string,
  checkpoint: Checkpoint | null | undefined,
  visit: Visitor,
  lists: { problems: Problem[]; notes: string[] },
): LogSums {
  const sums: LogSums = { files: 0, frames: 0, operations: 0, head_lsn: null };
  if (!tools.fs.exists(logDir)) {
    lists.problems.push({ file: logDir, offset: 0, what: 'there is no log directory' });
    return sums;
  }
  const found: Problem[] = [];
  const examined = checkpoint === undefined ? null : examine(tools, logDir, checkpoint, found, lists.notes);
  const paths = examined?.paths ?? listLogFiles(tools.fs, logDir);
  for (const path of paths) {
    const report = inspectLog(tools, path, 0);
    sums.files++;
    sums.frames += report.frames;
    sums.operations += report.operations;
    addNew(found, report.problems);
    if (report.unfinished_at !== null)
      lists.notes.push(`${path}: a write at offset ${report.unfinished_at} was not finished, or is in progress`);
  }
  if (examined !== null && found.length === 0) {
    sums.head_lsn = examined.headLsn;
    // No frame is missing, so the payloads of the frames can be checked in order.
    for (const path of paths) addNew(found, inspectLog(tools, path, 0, (...frame) => visit(path, ...frame)).problems);
  }
  lists.problems.push(...found);
  return sums;
}

/**
 * Determines, in the same way as recovery, which files are needed and where the log ends. Returns
 * null if the log is damaged.
 */
function examine(
  { fs, crc32c }: FileTools,
  logDir: string,
  checkpoint: Checkpoint | null,
  problems: Problem[],
  notes: string[],
): { paths: string[]; headLsn: number } | null {
  const minimumLsn = checkpoint === null ? 0 : appliedEverywhere(checkpoint);
  try {
    const { obsolete, needed, headLsn } = examineLog(fs, logDir, crc32c, {
      minimumLsn,
      reachedLsn: checkpoint?.lsn ?? 0,
      manifest: checkpoint === null ? 'missing' : 'present',
    });
    notes.push(...markNotes(fs, crc32c, logDir));
    for (const { path } of obsolete)
      notes.push(
        `${path} is not needed for recovery: it is kept for readers of changes, or a later compaction removes it`,
      );
    return { paths: needed.map(({ path }) => path), headLsn };
  } catch (error) {
    problems.push(problemOf(error, logDir));
    return null;
  }
}

function markNotes(fs: FileTools['fs'], crc32c: FileTools['crc32c'], logDir: string): string[] {
  const path = markPath(logDir);
  if (!fs.exists(path)) return [];
  const what = 'a slot is invalid: a crash interrupted its write, or it is damaged; the other slot is used';
  return badSlots(readWhole(fs, path), crc32c).map((offset) => `${path} at offset ${offset}: ${what}`);
}

/** Appends the problems of `more`, except those at a position that was already reported. */
function addNew(problems: Problem[], more: readonly Problem[]): void {
  for (const problem of more)
    if (!problems.some(({ file, offset }) => file === problem.file && offset === problem.offset))
      problems.push(problem);
}
