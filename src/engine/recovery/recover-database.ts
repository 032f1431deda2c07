// Opening a directory: tables, documents and stored answers from the manifest, then the log, then
// what a crash left is put in order.

import { HedgerowError } from '../../errors.ts';
import { type Crc32c, type LogStore, manifestPath, readManifest } from '../../storage/index.ts';
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
import { openDatabaseLog } from './open-log.ts';
import { openTable, replayFrame } from './recovery.ts';

/** A replay looks at its memory once in this many bytes. */
const REPLAY_LOOK_BYTES = 2 ** 20;

/** The parts of a database that is being opened; they are empty. */
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
 * Fills the parts from the directory, whose lock the caller holds. Rejects with `corrupt`,
 * `overloaded` or what the disk said.
 */
export async function recoverDatabase(parts: RecoveryParts): Promise<void> {
  const { options, context, tables, documents, replays, checkpointer, crc32c } = parts;
  const { fs, dir, primaryTable } = options;
  const { committer } = context;
  const manifest = readManifest(fs, dir, crc32c);
  const checkpoint = manifest === null ? null : checkCheckpoint(manifest, manifestPath(dir));
  const scratch = context.residency.instance();
  for (const item of checkpoint?.tables ?? []) tables.add(openTable(context, item, scratch));
  tables.nextId = Math.max(tables.nextId, checkpoint?.nextTableId ?? 1);
  checkpointer.foundLsn = checkpoint?.lsn ?? 0;
  documents.load(checkpoint?.documents ?? []);
  replays.load(checkpoint?.replays ?? { lsn: 0, next: 1, files: [] });
  const log = await openDatabaseLog(options, committer, crc32c, checkpoint);
  committer.attach(log, replays);
  if (checkpoint === null) await setAsideUnlisted(parts, () => true, log);
  await replay(parts, log, checkpoint);
  await replays.settle(() => checkpointer.write([]));
  await setAsideUnlisted(parts, (tableId) => tableId >= tables.nextId, log);
  await removeOrphanFiles(parts, checkpoint);
  // A manifest that was found may be in the page cache only: what readers see from here on must not
  // be undone by a power loss.
  if (!log.provesManifest) await installFirst(parts);
  else await fs.syncDir(dir);
  for (const table of tables.all()) table.changed(log.headLsn);
  if (tables.find(primaryTable) !== undefined) return;
  const table = defineTable({ name: primaryTable }, tables.nextId, Math.floor(options.now() / 1000));
  await parts.ddl.change([{ op: 'create_table', table }]);
}

/**
 * Nothing lists them; a manifest that did would be there, but for directories of log format 1 that
 * hold everything in the log.
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

/** The first manifest: from here on a lost manifest or log is noticed. Before any write. */
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

/** Removes what compactions, drops and checkpoints left when a crash came. */
async function removeOrphanFiles(parts: RecoveryParts, checkpoint: Checkpoint | null): Promise<void> {
  const { options, context, tables, replays, checkpointer } = parts;
  const { fs, notice } = options;
  const { orphans } = replays;
  const segments = findOrphans(fs, context.tablesDir, tables.nextId, checkpoint, (id) => tables.byId(id));
  orphans.unlisted.push(...segments.unlisted);
  orphans.replaced.push(...segments.replaced);
  await removeOrphans(fs, orphans, () => checkpointer.write([]), notice);
}
