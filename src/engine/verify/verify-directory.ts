// Checks a whole data directory without changing anything: the manifest, the segments, the log, the
// documents, the stored answers, and whether there are other files.

import { corruption } from '../../errors.ts';
import {
  heldFileName,
  manifestPath,
  readManifest,
  readRecords,
  readWhole,
  replayFileName,
  replayFileNumber,
} from '../../storage/index.ts';
import { type Checkpoint, checkCheckpoint } from '../checkpoint/checkpoint.ts';
import { refuseSegments, unknownSegments } from '../checkpoint/orphans.ts';
import { decodeReplay } from '../idempotency/kept-answer.ts';
import { segmentName } from '../table/segment-file.ts';
import { OperationCheck } from './operation-check.ts';
import { type FileTools, type Problem, problemOf } from './problem.ts';
import { type LogSums, verifyLog } from './verify-log.ts';
import { manifestFaults } from './verify-manifest.ts';
import { NodeCheck } from './verify-nodes.ts';
import { type SegmentSums, verifySegments } from './verify-segments.ts';

export interface VerifiedTable extends SegmentSums {
  name: string;
  number: number;
  /** Number of inserts that are only in the log. */
  log_inserts: number;
  log_tombstones: number;
}

export interface VerifyReport {
  kind: 'verification';
  path: string;
  /**
   * Contents of the lock file; null if there is none. If present, a server may be running and may
   * write during the check.
   */
  lock: string | null;
  /** LSN of the manifest; null if there is none. */
  manifest_lsn: number | null;
  log: LogSums;
  tables: VerifiedTable[];
  documents: number;
  stored_answers: number;
  /** Findings that are worth knowing but are not faults. */
  notes: string[];
  problems: Problem[];
}

/**
 * Maximum number of checks. Changes made by a running server during a check look like damage; so if
 * a server may be running, problems lead to another check.
 */
const ATTEMPTS = 5;

/**
 * Verifies a data directory. `pause` is called between the larger pieces of work. It may yield to
 * other work, and may throw to abort.
 */
export async function verifyDirectory(
  tools: FileTools,
  dir: string,
  pause: () => Promise<void>,
): Promise<VerifyReport> {
  let before = '';
  for (let attempt = 1; ; attempt++) {
    const isLast = attempt === ATTEMPTS;
    try {
      const report = await verifyOnce(tools, dir, pause);
      const found = JSON.stringify(report.problems);
      // If the same problems are found twice, a running server is not the cause.
      if (report.problems.length === 0 || report.lock === null || found === before || isLast) return report;
      before = found;
    } catch (error) {
      // A compaction of a running server may have removed a log file.
      if ((error as { code?: unknown }).code !== 'ENOENT' || isLast) throw error;
    }
  }
}

async function verifyOnce(tools: FileTools, dir: string, pause: () => Promise<void>): Promise<VerifyReport> {
  const problems: Problem[] = [];
  const notes: string[] = [];
  const checkpoint = verifyManifest(tools, dir, problems);
  const sums = new Map<number, SegmentSums>();
  const nodes = new NodeCheck();
  for (const item of checkpoint?.tables ?? []) {
    nodes.created(item.definition);
    sums.set(item.definition.id, await verifySegments({ tools, dir, problems, nodes, pause }, item));
  }
  const stored = verifyAnswers(tools, dir, checkpoint ?? null, problems);
  await pause();
  const check = new OperationCheck(tools, checkpoint ?? null, problems, nodes);
  const log = verifyLog(tools, `${dir}/log`, checkpoint, (...frame) => check.take(...frame), { problems, notes });
  problems.push(...nodes.problems(check.pending.tombstones));
  if (checkpoint !== undefined) notes.push(...lostAnswers(tools, dir, checkpoint), ...orphans(tools, dir, checkpoint));
  if (checkpoint === null && (log.head_lsn ?? 0) === 0) verifyNoSegments(tools, dir, problems);
  return {
    kind: 'verification',
    path: dir,
    lock: lockText(tools, dir),
    manifest_lsn: checkpoint?.lsn ?? null,
    log,
    tables: [...check.tables]
      .map(([number, name]) => tableOf(number, name, sums.get(number), check))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    documents: check.documents.size,
    stored_answers: stored + check.pending.answers,
    notes,
    problems,
  };
}

function tableOf(
  number: number,
  name: string,
  sums: SegmentSums | undefined,
  { pending }: OperationCheck,
): VerifiedTable {
  const { segments, rows, bytes } = sums ?? { segments: 0, rows: 0, bytes: 0 };
  const logged = { log_inserts: pending.inserts.get(number) ?? 0, log_tombstones: pending.tombstones.get(number) ?? 0 };
  return { name, number, segments, rows, bytes, ...logged };
}

/** Returns the manifest's document, null if there is no manifest, or undefined if it is damaged. */
function verifyManifest({ fs, crc32c }: FileTools, dir: string, problems: Problem[]): Checkpoint | null | undefined {
  const path = manifestPath(dir);
  try {
    const document = readManifest(fs, dir, crc32c);
    if (document === null) return null;
    const checkpoint = checkCheckpoint(document, path);
    const faults = manifestFaults(checkpoint);
    problems.push(...faults.map((what) => ({ file: path, offset: 0, what })));
    return faults.length === 0 ? checkpoint : undefined;
  } catch (error) {
    problems.push(problemOf(error, path));
    return undefined;
  }
}

/**
 * Reports a problem if there are segments. Called if there is neither a manifest nor an operation
 * in the log, so there must be no segments.
 */
function verifyNoSegments({ fs }: FileTools, dir: string, problems: Problem[]): void {
  const path = manifestPath(dir);
  try {
    refuseSegments(
      unknownSegments(fs, `${dir}/tables`, () => true),
      path,
    );
  } catch (error) {
    problems.push(problemOf(error, path));
  }
}

/**
 * Checks the files of stored answers that the manifest lists; returns the number of answers in
 * them.
 */
function verifyAnswers(tools: FileTools, dir: string, checkpoint: Checkpoint | null, problems: Problem[]): number {
  let count = 0;
  for (const file of checkpoint?.replays?.files ?? []) {
    let lastLsn = 0;
    const path = `${dir}/replays/${replayFileName(file.number)}`;
    try {
      for (const { lsn, payload, offset } of readRecords(tools.fs, `${dir}/replays`, file, tools.crc32c)) {
        decodeReplay(payload, path, offset);
        if (lsn <= lastLsn || lsn > checkpoint!.replays!.lsn)
          throw corruption(path, offset, `a record has LSN ${lsn}, out of order`);
        lastLsn = lsn;
        count++;
      }
    } catch (error) {
      problems.push(problemOf(error, path));
    }
  }
  return count;
}

/**
 * Returns notes about answer files that the manifest lists as lost, and about files that were set
 * aside.
 */
function lostAnswers({ fs }: FileTools, dir: string, checkpoint: Checkpoint | null): string[] {
  const notes = (checkpoint?.replays?.lost ?? []).map(({ number, newestAt }) => {
    const path = `${dir}/replays/${replayFileName(number)}`;
    return `${path} was damaged or missing: requests with an unknown Idempotency-Key are refused until 24 hours after epoch second ${Math.floor(newestAt / 1000)}; put the file back from a backup to end that`;
  });
  const names = fs.kindOf(`${dir}/replays`) === 'directory' ? fs.list(`${dir}/replays`) : [];
  for (const name of names)
    if (isSetAside(name)) notes.push(`${dir}/replays/${name} is a damaged file of stored answers that was set aside`);
  return notes;
}

function isSetAside(name: string): boolean {
  return /^replays-[0-9a-f]{8}\.damaged(-[0-9]+)?$/.test(name);
}

/**
 * Returns notes about files that the manifest does not list. They were left by a crash, and the
 * next open removes them or sets them aside; or a running server is writing them.
 */
function orphans({ fs }: FileTools, dir: string, checkpoint: Checkpoint | null): string[] {
  const paths: string[] = [];
  const listed = new Map(
    checkpoint?.tables.map(({ definition, segments, held }) => [
      String(definition.id),
      new Set([
        ...segments.map(({ number }) => segmentName(number)),
        ...(held ?? []).map(({ number }) => heldFileName(number)),
      ]),
    ]),
  );
  const under = (name: string) => (fs.kindOf(`${dir}/${name}`) === 'directory' ? fs.list(`${dir}/${name}`) : []);
  for (const table of under('tables'))
    for (const name of under(`tables/${table}`))
      if (!listed.get(table)?.has(name)) paths.push(`${dir}/tables/${table}/${name}`);
  const { files = [], lost = [] } = checkpoint?.replays ?? {};
  const answers = new Set([...files, ...lost].map(({ number }) => number));
  for (const name of under('replays'))
    if (!answers.has(replayFileNumber(name) ?? -1) && !isSetAside(name)) paths.push(`${dir}/replays/${name}`);
  if (fs.exists(`${manifestPath(dir)}.tmp`)) paths.push(`${manifestPath(dir)}.tmp`);
  return paths.map((path) => `no manifest lists ${path}; it was left behind, or is being written`);
}

function lockText({ fs }: FileTools, dir: string): string | null {
  try {
    return new TextDecoder().decode(readWhole(fs, `${dir}/lock`));
  } catch {
    return null;
  }
}
