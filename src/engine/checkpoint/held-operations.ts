// Held operations: they allow the log to be truncated although a corrupt table still needs
// operations in it. The operations of the table that are in no segment are copied from the log to
// files of the table (held files), which the manifest lists.
//
// Held files are kept while the table is corrupt. When the table opens healthy again, they are
// replayed before the log, and removed once a compaction has moved their operations into segments.
// Invariant: every operation of the table is in its segments, in its held files or in the log. A
// manifest after which the log is truncated is installed only when the held file is durable.

import { assert } from '../../assert.ts';
import { HedgerowError } from '../../errors.ts';
import {
  type Crc32c,
  type HeldRecord,
  heldFileName,
  type LogFrame,
  type LogLease,
  readHeldFile,
  writeHeldFile,
} from '../../storage/index.ts';
import { OPERATION, type OperationKind, readRuns, runHeader } from '../commit/operations.ts';
import type { EngineContext } from '../context.ts';
import { type ReplayTarget, replayRun } from '../recovery/recovery.ts';
import { asCorruption } from '../table/segment-file.ts';
import type { Table } from '../table/table.ts';
import { type HeldEntry, neededAfter } from './checkpoint.ts';

export function heldPath(table: Pick<Table, 'dir'>, { number }: Pick<HeldEntry, 'number'>): string {
  return `${table.dir}/${heldFileName(number)}`;
}

/**
 * Copies the operations of a corrupt table that exist only in the log to a held file, which the
 * next manifest lists. Does nothing for a table that is healthy or dropped. If it rejects, nothing
 * has changed. The caller must hold the compaction mutex.
 */
export async function copyOutOfLog(table: Table, crc32c: Crc32c): Promise<void> {
  if (table.corrupt !== null && !table.dropped) table.change({ held: await copied(table, crc32c) });
}

async function copied(table: Table, crc32c: Crc32c): Promise<readonly HeldEntry[]> {
  const { context } = table;
  await context.committer.log.flush();
  const lease = context.committer.log.lease(neededAfter(table) + 1);
  try {
    const last = table.held[table.held.length - 1];
    const number = (last?.number ?? 0) + 1;
    context.fs.makeDir(table.dir);
    let count = 0;
    const records = async function* (): AsyncGenerator<HeldRecord> {
      for await (const record of recordsOf(table, lease)) {
        count++;
        yield record;
      }
    };
    const path = heldPath(table, { number });
    const bytes = await writeHeldFile(context.fs, path, table.id, records(), crc32c);
    const entry = { number, bytes, lsn: lease.lastLsn };
    assert(last === undefined || entry.lsn >= last.lsn, 'files of operations reach on from one another');
    if (count > 0 || last === undefined) return [...table.held, entry];
    // This part of the log has no operation of the table, so no file is needed: the newest held
    // file now covers this range of LSNs, too.
    await context.fs.remove(path);
    return [...table.held.slice(0, -1), { ...last, lsn: lease.lastLsn }];
  } finally {
    lease.release();
  }
}

async function* recordsOf(table: Table, lease: LogLease): AsyncGenerator<HeldRecord> {
  for await (const batch of lease.frames()) for (const frame of batch) yield* recordsIn(frame, table);
}

function* recordsIn({ firstLsn, operations, payload }: LogFrame, table: Table): Generator<HeldRecord> {
  let lsn = firstLsn;
  for (const run of readRuns(payload, operations, `log frame at LSN ${firstLsn}`)) {
    if (run.tableId === table.id && isOfTable(run.kind)) {
      const header = runHeader(run.kind as OperationKind, run.tableId, run.operations, run.bytes.length);
      yield { lsn, payload: Buffer.concat([header, run.bytes]) };
    }
    lsn += run.operations;
  }
  assert(lsn === firstLsn + operations, 'the runs of a frame are its operations');
}

function isOfTable(kind: number): boolean {
  return kind === OPERATION.insert || kind === OPERATION.tombstone || kind === OPERATION.kill;
}

/**
 * Replays the held files of a table that opened healthy. If one file is corrupt, the table refuses
 * reads and writes, and all its held files are kept.
 */
export function replayHeld(context: EngineContext, table: Table, target: ReplayTarget, crc32c: Crc32c): void {
  if (table.corrupt !== null) return;
  for (const entry of table.held) {
    const path = heldPath(table, entry);
    try {
      for (const { lsn, payload } of readHeldFile(context.fs, path, table.id, entry.bytes, crc32c)) {
        const [run] = readRuns(payload, operationsOf(payload), path);
        replayRun(run!, lsn, target);
      }
    } catch (error) {
      if (error instanceof HedgerowError && error.code === 'overloaded') throw error;
      table.refuse(asCorruption(error, path));
    }
    if (table.corrupt !== null) return;
  }
}

/** Returns the operation count from the header of the one run that a record contains. */
function operationsOf(payload: Uint8Array): number {
  return new DataView(payload.buffer, payload.byteOffset, payload.byteLength).getUint32(8, true);
}
