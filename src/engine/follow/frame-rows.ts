// Applies the operations on rows of one frame of a leader's log to the tables of a follower.
//
// The runs of a frame are applied in their order, exactly as recovery applies them after a restart
// (recovery/recovery.ts). In contrast to recovery, readers see the tables meanwhile, so everything
// that could fail is done first, before the frame is appended to the follower's own log: records
// are checked, and memory is reserved for new rows and for marks on dead rows.

import { assert } from '../../assert.ts';
import { corruption, HedgerowError } from '../../errors.ts';
import type { Steps } from '../../schedule/steps.ts';
import type { LogFrame } from '../../storage/index.ts';
import { decodeKills, OPERATION, type Run } from '../commit/operations.ts';
import type { IdempotencyStore } from '../idempotency/idempotency-store.ts';
import { decodeReplay } from '../idempotency/kept-answer.ts';
import { findLive, findMatches, killRow, type RowPlace } from '../table/live-rows.ts';
import type { RowRoom } from '../table/row-room.ts';
import type { Table } from '../table/table.ts';

/** Records that are inserted, or deletions that are looked up, between two pauses. */
const OPERATIONS_A_STEP = 512;
/** Bytes of records that are inserted between two pauses. */
const BYTES_A_STEP = 2 ** 18;
/** Offset of the id in a record (assembly/FORMAT.md, section 1). */
const ID_AT = 16;
const TIME_AT = 8;

/** What is needed to apply operations on rows. */
export interface RowTarget {
  readonly tables: { byId(id: number): Table | undefined };
  readonly replays: IdempotencyStore;
}

/** Some records of an INSERT run, in the place that was reserved for them. */
interface Piece {
  readonly bytes: Uint8Array;
  readonly count: number;
  readonly greatestId: number;
}

/** A run of a frame, with the table that it changes; undefined if it changes no rows. */
interface PlannedRun {
  readonly run: Run;
  readonly table: Table | undefined;
  readonly pieces: readonly Piece[];
}

/** A frame whose operations were checked, with memory reserved for all of them. */
export interface PlannedFrame {
  readonly operations: number;
  readonly parts: readonly Uint8Array[];
  readonly tables: ReadonlySet<Table>;
  readonly runs: readonly PlannedRun[];
}

/**
 * Checks the runs of a frame and reserves memory for them in `room`. Throws `corrupt` if the frame
 * holds something impossible, `overloaded`, or `table_corrupt`.
 */
export function* planFrame(
  { payload, operations, firstLsn }: LogFrame,
  runs: readonly Run[],
  target: RowTarget,
  room: RowRoom,
): Steps<PlannedFrame> {
  const planned: PlannedRun[] = [];
  const tables = new Set<Table>();
  for (const run of runs) {
    assertKnown(run);
    // Throws if the bytes are not a stored answer.
    if (run.kind === OPERATION.replay) decodeReplay(run.bytes, `the leader's frame at LSN ${firstLsn}`, 0);
    const table = changesRows(run) ? usable(target.tables.byId(run.tableId)) : undefined;
    if (table !== undefined) tables.add(table);
    let pieces: readonly Piece[] = [];
    if (table !== undefined && run.kind === OPERATION.insert) pieces = yield* planInserts(run, table, room);
    else if (table !== undefined) yield* planDeaths(run, table, room);
    planned.push({ run, table, pieces });
  }
  reserveKeys(planned);
  return { operations, parts: [payload], tables, runs: planned };
}

/** Reserves room for the keys of all nodes of a frame. Throws `overloaded`. */
function reserveKeys(runs: readonly PlannedRun[]): void {
  const ofNodes = runs.filter(({ table, pieces }) => table?.isOfNodes === true && pieces.length > 0);
  if (ofNodes.length === 0) return;
  const nodes = ofNodes.reduce((sum, { run }) => sum + run.operations, 0);
  const bytes = ofNodes.reduce((sum, { run }) => sum + run.bytes.length, 0);
  const last = Math.max(...ofNodes.flatMap(({ pieces }) => pieces.map(({ greatestId }) => greatestId)));
  ofNodes[0]!.table!.context.nodes.keys.reserve(nodes, bytes, last);
}

function changesRows({ kind }: Run): boolean {
  return kind === OPERATION.insert || kind === OPERATION.kill || kind === OPERATION.tombstone;
}

function assertKnown({ kind }: Run): void {
  if (Object.values<number>(OPERATION).includes(kind)) return;
  throw new HedgerowError(
    'corrupt',
    `The leader sent an operation of kind ${kind}, which this build does not know. Use the leader's version here.`,
  );
}

/**
 * Returns a table whose rows can be changed. Operations on a table that was dropped, or that
 * refuses all requests because one of its files is corrupt, are passed over, as recovery does.
 */
function usable(table: Table | undefined): Table | undefined {
  return table === undefined || table.dropped || table.corrupt !== null ? undefined : table;
}

function* planInserts(run: Run, table: Table, room: RowRoom): Steps<Piece[]> {
  const pieces: Piece[] = [];
  const { bytes } = run;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let left = run.operations;
  for (let from = 0; from < bytes.length; ) {
    let at = from;
    let count = 0;
    let greatestId = 0;
    while (at + ID_AT + 8 <= bytes.length && count < OPERATIONS_A_STEP && at - from < BYTES_A_STEP) {
      greatestId = Math.max(greatestId, Number(view.getBigInt64(at + ID_AT, true)));
      at += Math.max(1, view.getUint32(at, true));
      count++;
    }
    const piece = bytes.subarray(from, at);
    const bad = count === 0 || at > bytes.length ? 0 : room.addChecked(table, piece, count);
    if (bad >= 0) throw corruption("a frame of the leader's log", from + bad, 'a record is malformed');
    pieces.push({ bytes: piece, count, greatestId });
    left -= count;
    from = at;
    if (from < bytes.length) yield;
  }
  if (left !== 0) throw corruption("a frame of the leader's log", 0, `${left} records of a run are missing`);
  return pieces;
}

function* planDeaths(run: Run, table: Table, room: RowRoom): Steps<void> {
  let looked = 0;
  for (const places of victimsOf(run, table)) {
    for (const place of places) room.addDeath(place);
    if (++looked % OPERATIONS_A_STEP === 0) yield;
  }
}

/** Yields the rows that each operation of a KILL or TOMBSTONE run deletes. */
function* victimsOf(run: Run, table: Table): Generator<RowPlace[], void, void> {
  if (run.kind === OPERATION.kill) {
    for (const key of decodeKills(run, "a frame of the leader's log", 0)) {
      const place = findLive(table, key);
      yield place === undefined ? [] : [place];
    }
    return;
  }
  const view = new DataView(run.bytes.buffer, run.bytes.byteOffset, run.bytes.byteLength);
  for (let at = 0; at + TIME_AT + 8 <= run.bytes.length; at += Math.max(1, view.getUint32(at, true))) {
    const record = run.bytes.subarray(at, at + view.getUint32(at, true));
    yield findMatches(table, record, Number(view.getBigInt64(at + TIME_AT, true)));
  }
}

/** Applies a planned frame whose first operation has LSN `firstLsn`, with the reserved memory. */
export function* applyFrame(frame: PlannedFrame, room: RowRoom, firstLsn: number, target: RowTarget): Steps<void> {
  const lastLsn = firstLsn + frame.operations - 1;
  // All operations are counted together, so that a table never reports a part of them as pending.
  for (const { run, table } of frame.runs)
    table?.countOperations(run.operations, run.kind === OPERATION.insert ? 0 : run.operations);
  let lsn = firstLsn;
  for (const { run, table, pieces } of frame.runs) {
    if (run.kind === OPERATION.replay) target.replays.replay(run.bytes, lsn);
    if (table !== undefined && run.kind === OPERATION.insert) yield* insert(table, pieces, room, lsn, lastLsn);
    else if (table !== undefined) yield* bury(run, table, lsn, lastLsn);
    lsn += run.operations;
    table?.changed(lsn - 1);
  }
  assert(lsn === lastLsn + 1, 'the runs of a frame hold its operations');
}

function* insert(
  table: Table,
  pieces: readonly Piece[],
  room: RowRoom,
  firstLsn: number,
  lastLsn: number,
): Steps<void> {
  let lsn = firstLsn;
  for (const { bytes, count, greatestId } of pieces) {
    room.append(lsn);
    if (table.isOfNodes) table.context.nodes.written(table.context.nodes.kindOf(table), bytes, count);
    table.changeRows(lastLsn, count);
    table.change({ nextId: Math.max(table.nextId, greatestId + 1) });
    lsn += count;
    if (pieces.length > 1) yield;
  }
}

function* bury(run: Run, table: Table, firstLsn: number, lastLsn: number): Steps<void> {
  let lsn = firstLsn;
  for (const places of victimsOf(run, table)) {
    for (const place of places) {
      if (killRow(table, place, lsn)) table.changeRows(lastLsn, -1);
      // If the node was only changed, the next run of the frame inserts it again.
      if (table.isOfNodes) table.context.nodes.died(table, place.id, lsn);
    }
    lsn++;
    if ((lsn - firstLsn) % OPERATIONS_A_STEP === 0) yield;
  }
}
