// Held operations: keeps a corrupt table from pinning the log, by copying its operations that are
// in no segment from the log to files of the table, which the manifest lists.
//
// When the table opens healthy again they are replayed before the log. They are kept while it is
// corrupt and removed once a compaction has brought them into segments. Invariant: every operation
// of the table is in its segments, in these files or in the log; a manifest that lets the log be
// truncated is installed only when the file is durable.

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
 * Copies the operations of a corrupt table that exist only in the log; the next manifest lists the
 * files. If it rejects, nothing has changed. The caller holds the compaction mutex. Healthy or
 * dropped tables are left alone.
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
    // This stretch of the log has no operation of the table: extend the range of its newest file.
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
 * Replays the held files of a table that opened healthy. If one of them is corrupt, the table
 * refuses reads and writes and keeps all of them.
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

/** A record holds one run, whose header has the operation count. */
function operationsOf(payload: Uint8Array): number {
  return new DataView(payload.buffer, payload.byteOffset, payload.byteLength).getUint32(8, true);
}
