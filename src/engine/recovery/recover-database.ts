// Recovery: opens a data directory and restores the state from before the last close or crash.
//
// 1. Load the manifest: tables with their segments, documents, stored answers.
// 2. Open the log. Without a manifest, set aside segment files that nothing lists.
// 3. Replay: first the held operations of tables that were corrupt, then the log from the first LSN
//    that some table still needs. An operation is skipped if it is already in what was loaded: its
//    LSN is at most the applied LSN of its table (rows), the manifest's LSN (catalog, documents) or
//    the LSN of the answer files (stored answers). If memory runs short, the table with the largest
//    memtables is compacted and the replay continues.
// 4. Clean up after a crash: rewrite damaged answer files, set aside or remove files that nothing
//    lists.
// 5. Make the manifest durable before anyone reads, and create the primary table if it is missing.

import { HedgerowError } from '../../errors.ts';
import { DEFAULT_HISTORY } from '../../limits.ts';
import { type Crc32c, type LogHistory, type LogStore, manifestPath, readManifest } from '../../storage/index.ts';
import { defineTable } from '../catalog/catalog.ts';
import type { Ddl } from '../catalog/ddl.ts';
import type { Documents } from '../catalog/documents.ts';
import type { TableSet } from '../catalog/table-set.ts';
import { appliedEverywhere, type Checkpoint, checkCheckpoint } from '../checkpoint/checkpoint.ts';
import type { Checkpointer } from '../checkpoint/checkpointer.ts';
import { replayHeld } from '../checkpoint/held-operations.ts';
import { findOrphans, refuseSegments, removeOrphans, setAside, unknownSegments } from '../checkpoint/orphans.ts';
import type { CompactionTrigger } from '../compaction/trigger.ts';
import type { EngineContext } from '../context.ts';
import type { EngineOptions } from '../engine-options.ts';
import type { IdempotencyStore } from '../idempotency/idempotency-store.ts';
import { loadKeys } from '../nodes/load-keys.ts';
import { openDatabaseLog } from './open-log.ts';
import { openTable, replayFrame } from './recovery.ts';

/** Number of replayed bytes between two checks of memory. */
const REPLAY_LOOK_BYTES = 2 ** 20;

/** The components of a database being opened; they start empty. */
export interface RecoveryParts {
  options: EngineOptions;
  context: EngineContext;
  tables: TableSet;
  documents: Documents;
  replays: IdempotencyStore;
  checkpointer: Checkpointer;
  trigger: CompactionTrigger;
  ddl: Ddl;
  crc32c: Crc32c;
}

/**
 * Fills the components with the state found in the directory. The caller must hold the lock of the
 * directory. Rejects with `corrupt`, `overloaded` or the error of the disk.
 */
export async function recoverDatabase(parts: RecoveryParts): Promise<void> {
  const { options, context, tables, documents, replays, checkpointer, crc32c } = parts;
  const { fs, dir, primaryTable } = options;
  const { committer, history } = context;
  const manifest = readManifest(fs, dir, crc32c);
  const checkpoint = manifest === null ? null : checkCheckpoint(manifest, manifestPath(dir));
  const scratch = context.residency.instance();
  for (const item of checkpoint?.tables ?? []) tables.add(openTable(context, item, scratch));
  tables.nextId = Math.max(tables.nextId, checkpoint?.nextTableId ?? 1);
  tables.nextNumber = checkpoint?.nextNumber ?? 1;
  checkpointer.foundLsn = checkpoint?.lsn ?? 0;
  documents.load(checkpoint?.documents ?? []);
  replays.load(checkpoint?.replays ?? { lsn: 0, next: 1, files: [] });
  const kept = historyOf(options, checkpoint);
  const isNewHistory = kept !== undefined && checkpoint?.changes === undefined;
  if (kept !== undefined && checkpoint?.changes !== undefined) history.load(checkpoint.changes);
  const log = await openDatabaseLog(options, committer, crc32c, checkpoint, kept);
  committer.attach(log, replays);
  // A follower that reads the whole log finds in it what its leader has kept.
  if (isNewHistory) history.begin(committer.isFollower && checkpoint === null ? log.oldestLsn : log.headLsn + 1);
  if (checkpoint === null) await setAsideUnlisted(parts, () => true, log);
  await replay(parts, log, checkpoint);
  await replays.settle(() => checkpointer.write([]));
  await setAsideUnlisted(parts, (tableId) => tableId >= tables.nextId, log);
  await removeOrphanFiles(parts, checkpoint);
  // After a process was killed, the manifest found may exist only in the page cache. Make a
  // manifest durable now, because everything that readers see from here on must survive a power
  // loss.
  if (!log.provesManifest || isNewHistory) await installFirst(parts);
  else await fs.syncDir(dir);
  for (const table of tables.all()) {
    table.changed(log.headLsn);
    table.version.sinceLsn = log.headLsn;
  }
  await loadKeys(context, tables);
  await recordDropped(parts);
  if (tables.find(primaryTable) !== undefined) return;
  if (committer.isFollower)
    throw new HedgerowError(
      'invalid_input',
      `The leader has no table ${primaryTable}, which is the primary table here. Give both the same primary table.`,
    );
  const table = defineTable({ name: primaryTable }, tables.nextId, Math.floor(options.now() / 1000));
  await parts.ddl.change([{ op: 'create_table', table }]);
}

/**
 * Logs that a TTL has dropped rows, if the process died before it could. Without a history, nobody
 * needs to know; a follower receives it from its leader.
 */
async function recordDropped({ context, tables, ddl, options: { notice } }: RecoveryParts): Promise<void> {
  const { history, committer } = context;
  for (const table of [...tables.all()]) {
    if (table.unlogged === undefined || table.corrupt !== null) continue;
    if (!history.isKept || committer.isFollower) {
      table.change({ unlogged: undefined });
      continue;
    }
    try {
      await ddl.expire(table, table.unlogged);
    } catch (error) {
      notice?.('that a TTL has dropped edges is recorded for readers of changes at the next start', {
        table: table.name,
        detail: (error as Error).message,
      });
    }
  }
}

/**
 * Returns how long changes are kept for readers; undefined if they are not. Without the option,
 * this stays as the directory has it.
 */
function historyOf({ history }: EngineOptions, checkpoint: Checkpoint | null): LogHistory | undefined {
  if (history !== undefined) return history ?? undefined;
  return checkpoint?.changes === undefined ? undefined : DEFAULT_HISTORY;
}

/**
 * Sets aside segment files that nothing lists. This loses no data: a manifest that had listed them
 * would have been found, except in directories with log format 1, whose log contains everything.
 * Throws `corrupt` if there are such files and the log is empty.
 */
async function setAsideUnlisted(
  { options, context }: RecoveryParts,
  isUnknown: (tableId: number) => boolean,
  log: LogStore,
): Promise<void> {
  const { fs, dir, notice } = options;
  const paths = unknownSegments(fs, context.tablesDir, isUnknown);
  if (log.headLsn === 0) refuseSegments(paths, manifestPath(dir));
  await setAside(fs, paths, notice);
}

/**
 * Installs a manifest before the first write, so that the loss of the manifest or the log can be
 * detected from here on.
 */
async function installFirst({ options: { dir }, checkpointer }: RecoveryParts): Promise<void> {
  try {
    await checkpointer.write([]);
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== 'ENOSPC') throw cause;
    const detail = `There is no room on the disk for the manifest (${dir}). Free some space, then start again.`;
    throw new HedgerowError('disk_full', detail, { fields: { file: manifestPath(dir) }, cause });
  }
}

async function replay(parts: RecoveryParts, log: LogStore, checkpoint: Checkpoint | null): Promise<void> {
  const { options, context, tables, documents, replays, trigger, crc32c } = parts;
  const { committer } = context;
  const target = { catalogLsn: checkpoint?.lsn ?? 0, tables, documents, replays };
  for (const table of tables.all()) if (table.held.length > 0) replayHeld(context, table, target, crc32c);
  let replayedBytes = 0;
  for await (const batch of log.read(checkpoint ? appliedEverywhere(checkpoint) + 1 : 1)) {
    for (const frame of batch) {
      for (const reachedLsn of replayFrame(frame, target)) {
        committer.replayedLsn = reachedLsn;
        if (!(await trigger.makeRoom())) throw tooSmall(options.dir);
      }
      replayedBytes += frame.payload.length;
      if (replayedBytes < REPLAY_LOOK_BYTES) continue;
      replayedBytes = 0;
      committer.replayedLsn = frame.firstLsn + frame.operations - 1;
      await trigger.shrink();
    }
  }
  committer.replayedLsn = null;
}

function tooSmall(dir: string): HedgerowError {
  return new HedgerowError(
    'overloaded',
    `The process has too little memory to open ${dir}: rows of its log fit neither into memory nor, by compaction, into segments. Give it more memory or address space (ulimit -v). Nothing was lost.`,
  );
}

/** Removes files that were left by compactions, drops and checkpoints that a crash interrupted. */
async function removeOrphanFiles(parts: RecoveryParts, checkpoint: Checkpoint | null): Promise<void> {
  const { options, context, tables, replays, checkpointer } = parts;
  const { fs, notice } = options;
  const { orphans } = replays;
  const segments = findOrphans(fs, context.tablesDir, tables.nextId, checkpoint, (id) => tables.byId(id));
  orphans.unlisted.push(...segments.unlisted);
  orphans.replaced.push(...segments.replaced);
  await removeOrphans(fs, orphans, () => checkpointer.write([]), notice);
}
