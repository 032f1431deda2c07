// Single writes: an insert, and a removal by time and members, each one frame.

import { OPERATION, RUN_HEADER_BYTES, runHeader, writeRunHeader } from '../commit/operations.ts';
import type { Attach } from '../idempotency/kept-answer.ts';
import { findMatches, killRow } from '../table/live-rows.ts';
import { RowRoom } from '../table/row-room.ts';
import type { Table } from '../table/table.ts';
import type { DeleteOutcome, DeleteResult, EdgeInput, InsertOutcome, InsertResult } from '../types.ts';
import { checkTime, memberSet, rowOf, tombstoneMembers } from './edge.ts';

/** What is in the log and not yet durable. */
type Staged<T> = T & { durable: Promise<void> };

/** As `Table.insert`. */
export async function insertEdge(
  table: Table,
  edge: EdgeInput,
  attach: Attach<InsertOutcome> | undefined,
): Promise<InsertResult> {
  const { committer } = table.context;
  // Given out now: edges that others insert while this one waits for its turn have later ids.
  const id = table.nextId++;
  try {
    const staged = committer.write(() => stageInsert(table, id, edge, attach));
    // One wait less where none is needed: this runs for every edge.
    const { row, lsn, durable } = staged instanceof Promise ? await staged : staged;
    await durable;
    return { row, lsn };
  } catch (error) {
    // An id that nobody has seen is given out again. After a failure of the log it may be in there.
    if (table.nextId === id + 1 && committer.failed === null) table.nextId = id;
    throw error;
  }
}

/** Inserts one edge into log and memtable; it is visible and may be answered when it is durable. */
function stageInsert(
  table: Table,
  id: number,
  edge: EdgeInput,
  attach: Attach<InsertOutcome> | undefined,
): Staged<InsertResult> {
  table.assertUsable();
  checkTime(edge.event_ts);
  const members = memberSet(edge.members, table.maxMembers);
  const properties = edge.properties === undefined ? null : table.columns.encode(edge.properties);
  const { batch, committer, afterCommit } = table.context;
  batch.add(edge.event_ts, members, properties);
  const run = batch.encode(id, table.maxMembers, RUN_HEADER_BYTES);
  const recordBytes = run.length - RUN_HEADER_BYTES;
  writeRunHeader(run, OPERATION.insert, table.id, 1, recordBytes);
  const row = rowOf(table.columns, id, edge, members);
  const entry = attach?.({ row });
  const memtable = table.writableMemtable();
  const reserved = memtable.reserve(recordBytes, 1);
  let isApplied = false;
  const apply = (lsn: number) => {
    isApplied = true;
    memtable.append(reserved, run.subarray(RUN_HEADER_BYTES), 1, lsn);
    table.changeRows(lsn, 1);
    table.countOperations(1, 0);
    table.changed(lsn);
  };
  try {
    const { firstLsn, durable } = committer.commit(1, [run], { entry, apply });
    afterCommit(table.id);
    return { row, lsn: firstLsn, durable };
  } catch (error) {
    if (!isApplied) memtable.unreserve(reserved, recordBytes, 1);
    throw error;
  }
}

/** As `Table.delete`. */
export async function deleteEdges(
  table: Table,
  eventTs: number,
  members: readonly number[],
  attach: Attach<DeleteOutcome> | undefined,
): Promise<DeleteResult> {
  const { committer } = table.context;
  const { durable, ...result } = await committer.write(() => stageDelete(table, eventTs, members, attach));
  await durable;
  return result;
}

function stageDelete(
  table: Table,
  eventTs: number,
  members: readonly number[],
  attach: Attach<DeleteOutcome> | undefined,
): Staged<DeleteResult> {
  table.assertUsable();
  checkTime(eventTs);
  const set = tombstoneMembers(members);
  const record = table.encodeTombstone(eventTs, set);
  const found = findMatches(table, record, eventTs);
  const answer = { matched: found.length, event_ts: eventTs === 0 ? 0 : eventTs, members: set };
  const entry = attach?.(answer);
  const parts = [runHeader(OPERATION.tombstone, table.id, 1, record.length), record];
  const room = new RowRoom();
  for (const place of found) room.addDeath(place);
  const apply = (lsn: number) => {
    for (const place of found) if (killRow(table, place, lsn)) table.changeRows(lsn, -1);
    table.countOperations(1, 1);
    table.changed(lsn);
  };
  const { committer, afterCommit } = table.context;
  const { firstLsn, durable } = committer.commit(1, parts, { entry, apply, urgent: true });
  afterCommit(table.id);
  return { ...answer, lsn: firstLsn, durable };
}
