// Implements single writes, each in a frame of its own: the insertion of an edge, and the deletion
// of edges by time and members.

import { assert } from '../../assert.ts';
import { encodeProperties } from '../../core/index.ts';
import { type CheckedEdge, checkEdge, type EdgeInput, type MemberInput, withNumbers } from '../../model/edge.ts';
import type { Attach } from '../../model/kept-answer.ts';
import { encodeBefore, recordsOf } from '../changes/before-rows.ts';
import { OPERATION, RUN_HEADER_BYTES, runHeader, writeRunHeader } from '../commit/operations.ts';
import { Births } from '../nodes/births.ts';
import { findMatches, killRow } from '../table/live-rows.ts';
import { RowRoom } from '../table/row-room.ts';
import type { Table } from '../table/table.ts';
import type { DeleteOutcome, DeleteResult, InsertOutcome, InsertResult } from '../types.ts';
import { rowOf } from './edge.ts';

/** An outcome that is in the log but not yet durable. */
type Staged<T> = T & { durable: Promise<void> };

/** Implements `Table.insert`. */
export async function insertEdge(
  table: Table,
  given: EdgeInput | CheckedEdge,
  attach: Attach<InsertOutcome> | undefined,
): Promise<InsertResult> {
  const edge = checkEdge(given, table);
  const { committer } = table.context;
  // The id is assigned now; edges that others insert while this one waits get higher ids.
  const id = table.takeIds(1);
  try {
    const staged = committer.write(() => stageInsert(table, id, edge, attach));
    // Avoids an `await` where possible: this runs for every edge.
    const { row, lsn, durable } = staged instanceof Promise ? await staged : staged;
    await durable;
    return { row, lsn };
  } catch (error) {
    table.giveBackIds(id, 1);
    throw error;
  }
}

/**
 * Inserts one edge into the log and the memtable. When `durable` resolves, the edge is visible and
 * may be acknowledged.
 */
function stageInsert(
  table: Table,
  id: number,
  checked: CheckedEdge,
  attach: Attach<InsertOutcome> | undefined,
): Staged<InsertResult> {
  table.assertUsable();
  // Columns may have changed while the insert was queued.
  const edge = checkEdge(checked, table);
  if (edge.refs === undefined) return stageNumbers(table, id, edge, attach, undefined);
  const { nodes } = table.context;
  const held: number[] = [];
  try {
    const numbered = withNumbers(edge, nodes.resolve(table, edge.refs, held));
    return stageNumbers(table, id, numbered, attach, Births.of(nodes, held));
  } finally {
    nodes.release(held);
  }
}

/** Does the work of `stageInsert` for an edge whose members are numbers. */
function stageNumbers(
  table: Table,
  id: number,
  edge: CheckedEdge,
  attach: Attach<InsertOutcome> | undefined,
  births: Births | undefined,
): Staged<InsertResult> {
  const { batch, committer, afterCommit } = table.context;
  batch.add(edge.event_ts, edge.members, propertyBytes(edge), edge.masks);
  const run = batch.encode(id, table.maxMembers, RUN_HEADER_BYTES);
  const recordBytes = run.length - RUN_HEADER_BYTES;
  assert(recordBytes > 0, 'an edge has a record');
  writeRunHeader(run, OPERATION.insert, table.id, 1, recordBytes);
  const row = rowOf(table, id, edge);
  const entry = attach?.({ row });
  const born = births?.operations ?? 0;
  const memtable = table.writableMemtable();
  const reserved = memtable.reserve(recordBytes, 1);
  const room = births && new RowRoom();
  let isApplied = false;
  const apply = (firstLsn: number) => {
    isApplied = true;
    const lsn = firstLsn + born;
    births?.apply(room!, firstLsn, lsn);
    memtable.append(reserved, run.subarray(RUN_HEADER_BYTES), 1, lsn);
    table.changeRows(lsn, 1);
    table.countOperations(1, 0);
    table.changed(lsn);
  };
  try {
    births?.takeRoom(room!);
    const parts = births === undefined ? [run] : [...births.parts, run];
    const { firstLsn, durable } = committer.commit(1 + born, parts, { entry, apply });
    afterCommit(table.id);
    return { row, lsn: firstLsn + born, durable };
  } catch (error) {
    if (!isApplied) memtable.unreserve(reserved, recordBytes, 1);
    if (!isApplied) room?.giveBack();
    throw error;
  }
}

/**
 * Returns the encoded properties of an edge, or null if it has none. The bytes are valid until the
 * next call.
 */
export function propertyBytes({ properties }: CheckedEdge): Uint8Array | null {
  return properties.length === 0 ? null : encodeProperties(properties);
}

/** Implements `Table.delete`. */
export async function deleteEdges(
  table: Table,
  eventTs: number,
  members: readonly MemberInput[],
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
  members: readonly MemberInput[],
  attach: Attach<DeleteOutcome> | undefined,
): Staged<DeleteResult> {
  table.assertUsable();
  const key = table.keyOf(eventTs, members);
  const record = table.encodeTombstone(key.event_ts, key.members);
  const found = findMatches(table, record, key.event_ts);
  const answer = { matched: found.length, ...key };
  const entry = attach?.(answer);
  const parts = [runHeader(OPERATION.tombstone, table.id, 1, record.length), record];
  const keepsChanges = table.context.history.isKept;
  // Every deleted row has an LSN of its own in the history of changes.
  const more = keepsChanges ? Math.max(0, found.length - 1) : 0;
  if (keepsChanges && found.length > 0) {
    const before = encodeBefore([recordsOf(table, found)]);
    parts.unshift(runHeader(OPERATION.before, table.id, 0, before.length), before);
    if (more > 0) parts.push(runHeader(OPERATION.more, table.id, more, 0));
  }
  const room = new RowRoom();
  for (const place of found) room.addDeath(place);
  const apply = (lsn: number) => {
    for (const place of found) if (killRow(table, place, lsn)) table.changeRows(lsn, -1);
    table.countOperations(1, 1);
    table.changed(lsn);
  };
  const { committer, afterCommit } = table.context;
  const { firstLsn, durable } = committer.commit(1 + more, parts, { entry, apply, urgent: true });
  afterCommit(table.id);
  return { ...answer, lsn: firstLsn + more, durable };
}
