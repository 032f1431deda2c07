// Commits a transaction: checks its staged operations against the newest state, turns them into the
// operations of one log frame, and applies that frame. All of this is done in slices if the
// transaction is large (large-commit.ts).
//
// The first committer wins: every snapshot row that is updated or deleted by id must still be
// alive. If the segment or memtable of the row is still part of the table, this is checked
// directly. If a compaction has moved the row, it is looked up by its key, and `RowUpdates` shows
// whether the row found is a newer version.
//
// An update becomes a KILL of the old row and an INSERT of the new row with the same id. In the
// frame, neighbouring operations of one kind and table form a run. To make runs long, the inserts
// of consecutive updates are held back until the kills of all these updates are in the frame:
//
//   staged   update a | update b | insert c
//   frame    KILL a, KILL b | INSERT a', INSERT b', INSERT c
//
// The inserts are added earlier if the next update targets a row that one of them makes, or a row
// of another table. An operation of the frame is called a step. There may be a million steps, so a
// step is just a number: twice the index of the staged operation, plus 1 for the KILL of an update.

import { assert } from '../../assert.ts';
import { HedgerowError } from '../../errors.ts';
import type { Steps as SlicedSteps } from '../../schedule/steps.ts';
import { encodeKills } from '../commit/operations.ts';
import { applyNodes } from '../nodes/node-rows.ts';
import { findLive, findMatches, isAlive, killRow, type RowPlace, type RowSource } from '../table/live-rows.ts';
import type { RowRoom } from '../table/row-room.ts';
import type { Snapshot } from '../table/snapshot.ts';
import type { Table } from '../table/table.ts';
import { joined } from '../write/byte-arena.ts';
import type { FramePlan } from '../write/large-commit.ts';
import { type Deaths as FrameDeaths, framePartsOf, type Victim } from './frame-parts.ts';
import { STAGED, type StagedList } from './staged-list.ts';

/**
 * One operation of the frame: twice the index of the staged operation, plus 1 for the KILL of an
 * update.
 */
type Step = number;
const placeOf = (step: Step): number => step >>> 1;

/** Consecutive operations of one kind and table. */
interface StepRun {
  readonly kind: 'insert' | 'tombstone' | 'kill';
  readonly table: Table;
  readonly steps: Uint32Array;
  /** The encoded operations. */
  readonly pieces: readonly Piece[];
}

/**
 * Encoded operations of one run. The inserts of a piece are applied together, between two pauses.
 */
interface Piece {
  readonly bytes: Uint8Array;
  readonly rows: number;
}

export interface CommitPlan extends FramePlan {
  readonly runs: readonly StepRun[];
  readonly tables: ReadonlySet<Table>;
  readonly staged: StagedList;
  /**
   * For each staged operation: the index, within the frame, of the operation whose LSN is reported
   * as its LSN.
   */
  readonly operationOf: Uint32Array;
  /** By index of a removal by time and members: the rows it deletes. */
  readonly removed: ReadonlyMap<number, readonly Victim[]>;
  /**
   * By index of a staged operation: the current place of its target row, if a compaction has moved
   * it.
   */
  readonly moved: ReadonlyMap<number, RowPlace>;
  /** Indexes of staged operations whose new rows are deleted in the same frame. */
  readonly dying: ReadonlySet<number>;
}

/**
 * Checks the staged operations and plans the frame, without changing anything. `snapshotOf` returns
 * the snapshot of a table that the transaction has read. Throws `conflict`, `table_not_found` or
 * `table_corrupt`. No other write may be applied between the first step and the application of the
 * plan.
 */
export function* planCommit(
  staged: StagedList,
  snapshotOf: (table: Table) => Snapshot | undefined,
): SlicedSteps<CommitPlan> {
  const tables = new Set<Table>();
  let hasRemovals = false;
  for (let place = 0; place < staged.length; place++) {
    tables.add(staged.tableAt(place));
    hasRemovals ||= staged.kindAt(place) === STAGED.removal;
    if (place % PIECE_ROWS === PIECE_ROWS - 1) yield;
  }
  for (const table of tables) assertUnchanged(table, snapshotOf(table));
  return yield* new Planner(staged, tables, snapshotOf, hasRemovals).plan();
}

/** Number of operations that are planned or applied between two yields. */
const STEPS_A_REST = 256;

/**
 * Throws `conflict` if the table was dropped, or its columns or name were changed, after the
 * snapshot. Otherwise throws like `Table.assertUsable`.
 */
export function assertUnchanged(table: Table, snapshot: Snapshot | undefined): void {
  if (snapshot !== undefined && (table.dropped || table.shapeLsn > snapshot.lsn))
    throw new HedgerowError(
      'conflict',
      `Table ${table.name} was ${table.dropped ? 'dropped' : 'altered'} after the transaction began. Nothing was applied; begin again.`,
    );
  table.assertUsable();
}

class Planner {
  readonly #staged: StagedList;
  readonly #tables: ReadonlySet<Table>;
  readonly #snapshotOf: (table: Table) => Snapshot | undefined;
  /** The first `#stepCount` are planned. */
  readonly #steps: Uint32Array;
  #stepCount = 0;
  readonly #removed = new Map<number, readonly Victim[]>();
  readonly #moved = new Map<number, RowPlace>();
  readonly #dying = new Set<number>();
  readonly #operationOf: Uint32Array;
  /**
   * The consecutive updates [from, to) whose kills are in the frame and whose inserts are held
   * back, so that operations of each kind form one run.
   */
  #waitingFrom = 0;
  #waitingTo = 0;
  /** Segments and memtables of the tables' newest versions. */
  readonly #sources = new Map<Table, ReadonlySet<RowSource>>();
  /**
   * Whether there are removals by time and members. Only if so are the next two fields used: `#own`
   * (rows that this frame inserts, by time and members) and `#killed` (table rows that it deletes).
   */
  readonly #hasRemovals: boolean;
  readonly #own = new Map<string, number[]>();
  readonly #killed = new Map<RowSource, Set<number>>();

  constructor(
    staged: StagedList,
    tables: ReadonlySet<Table>,
    snapshotOf: (table: Table) => Snapshot | undefined,
    hasRemovals: boolean,
  ) {
    this.#staged = staged;
    this.#tables = tables;
    this.#snapshotOf = snapshotOf;
    this.#hasRemovals = hasRemovals;
    // An update has two steps.
    this.#steps = roomFor(2 * staged.length);
    this.#operationOf = roomFor(staged.length);
  }

  *plan(): SlicedSteps<CommitPlan> {
    const staged = this.#staged;
    for (let place = 0; place < staged.length; place++) {
      const kind = staged.kindAt(place);
      if (kind === STAGED.update) {
        if (this.#mustFlush(place)) yield* this.#flush();
        this.#update(place);
      } else {
        yield* this.#flush();
        if (kind === STAGED.removal) this.#remove(place);
        else if (kind === STAGED.insert) this.#insert(place);
        else if (kind === STAGED.deletion) this.#kill(place);
        if (kind !== STAGED.birth || this.#isUnborn(place)) this.#push(place);
      }
      if (place % STEPS_A_REST === STEPS_A_REST - 1) yield;
    }
    yield* this.#flush();
    const runs = yield* runsOf(this.#steps.subarray(0, this.#stepCount), this.#staged);
    const parts = yield* framePartsOf(runs, this.#deaths());
    const planned = runs.reduce((sum, { steps }) => sum + steps.length, 0);
    assert(planned === this.#stepCount, 'every step of a plan is in one run');
    return {
      operations: this.#stepCount + parts.more,
      runs,
      parts: parts.parts,
      tables: this.#tables,
      staged: this.#staged,
      operationOf: this.#operationOf,
      removed: this.#removed,
      moved: this.#moved,
      dying: this.#dying,
    };
  }

  /** Finds the rows that the frame deletes, if they are recorded for readers of changes. */
  #deaths(): FrameDeaths | undefined {
    const [table] = this.#tables;
    if (table?.context.history.isKept !== true) return undefined;
    const deaths = { staged: this.#staged, removed: this.#removed, moved: this.#moved };
    return {
      victimsOf: (kind, step) => victimsOf(deaths, kind, step),
      recordAt: (place) => this.#staged.recordAt(place),
    };
  }

  /** Appends the operation of the frame whose LSN is reported for the staged operation. */
  #push(place: number): void {
    this.#operationOf[place] = this.#stepCount;
    this.#steps[this.#stepCount++] = place * 2;
  }

  /** Returns whether no other commit has created the node of a staged birth. */
  #isUnborn(place: number): boolean {
    const { nodes } = this.#staged.tableAt(place).context;
    return !nodes.keys.isLive(this.#staged.idAt(place));
  }

  #insert(place: number): void {
    const table = this.#staged.tableAt(place);
    // Another commit has created the node.
    if (table.isOfNodes && this.#staged.kindAt(place) === STAGED.insert && !this.#isUnborn(place))
      throw conflictOf(table, { id: this.#staged.idAt(place) });
    // The row is missing after a `changeRow`, but then no removal may follow.
    const row = this.#hasRemovals ? this.#staged.rowAt(place) : undefined;
    if (row === undefined) return;
    const text = removalText(table, row.event_ts, row.members);
    const equal = this.#own.get(text);
    if (equal === undefined) this.#own.set(text, [place]);
    else equal.push(place);
  }

  /** Returns whether the inserts held back must be added to the frame before this update. */
  #mustFlush(place: number): boolean {
    const first = this.#waitingFrom;
    if (first === this.#waitingTo) return false;
    // The waiting operations are consecutive, so comparing with the first is enough.
    const own = this.#staged.ownTargetAt(place);
    return (own >= 0 && own >= first) || this.#staged.tableAt(first) !== this.#staged.tableAt(place);
  }

  #update(place: number): void {
    this.#kill(place);
    this.#steps[this.#stepCount++] = place * 2 + 1;
    this.#insert(place);
    if (this.#waitingFrom === this.#waitingTo) this.#waitingFrom = place;
    else assert(place === this.#waitingTo, 'updates that wait are consecutive');
    this.#waitingTo = place + 1;
  }

  *#flush(): SlicedSteps<void> {
    for (let place = this.#waitingFrom; place < this.#waitingTo; place++) {
      this.#push(place);
      if (place % STEPS_A_REST === STEPS_A_REST - 1) yield;
    }
    this.#waitingFrom = this.#waitingTo;
  }

  #kill(place: number): void {
    const own = this.#staged.ownTargetAt(place);
    if (own >= 0) {
      if (this.#staged.kindAt(own) === STAGED.birth && !this.#isUnborn(own))
        throw conflictOf(this.#staged.tableAt(own), { id: this.#staged.idAt(own) });
      this.#dying.add(own);
      return;
    }
    const target = this.#staged.targetAt(place);
    const now = this.#unchanged(this.#staged.tableAt(place), target);
    if (now !== target) this.#moved.set(place, now);
    if (this.#hasRemovals) this.#noteDeath(now);
  }

  #noteDeath({ source, row }: RowPlace): void {
    const rows = this.#killed.get(source);
    if (rows === undefined) this.#killed.set(source, new Set([row]));
    else rows.add(row);
  }

  /**
   * Plans a removal of all live edges with a time and member set: rows of the table and rows
   * inserted earlier in the frame.
   */
  #remove(place: number): void {
    const table = this.#staged.tableAt(place);
    const eventTs = this.#staged.timeAt(place);
    const text = removalText(table, eventTs, this.#staged.membersAt(place));
    const own = this.#own.get(text) ?? [];
    this.#own.delete(text);
    const { chunk: record } = this.#staged.recordAt(place);
    const victims: Victim[] = findMatches(table, record, eventTs).filter(
      ({ source, row }) => this.#killed.get(source)?.has(row) !== true,
    );
    for (const victim of victims) this.#noteDeath(victim as RowPlace);
    for (const inserted of own) {
      if (this.#dying.has(inserted)) continue;
      this.#dying.add(inserted);
      victims.push(inserted);
    }
    this.#removed.set(place, victims);
  }

  /**
   * Returns the current place of a snapshot row. Throws `conflict` if another commit has changed or
   * removed the row, because the first committer wins.
   */
  #unchanged(table: Table, place: RowPlace): RowPlace {
    if (this.#sourcesOf(table).has(place.source)) {
      if (isAlive(place)) return place;
      throw conflictOf(table, place);
    }
    // A compaction has moved the row. A lookup by key alone might find a newer version of the row.
    const { lsn } = this.#snapshotOf(table)!;
    const found = table.updates.isUpdatedAfter(place.id, lsn) ? undefined : findLive(table, place);
    if (found === undefined) throw conflictOf(table, place);
    return found;
  }

  #sourcesOf(table: Table): ReadonlySet<RowSource> {
    let sources = this.#sources.get(table);
    if (sources === undefined) {
      const { segments, memtables } = table.version;
      sources = new Set<RowSource>([...segments, ...memtables.map(({ memtable }) => memtable)]);
      this.#sources.set(table, sources);
    }
    return sources;
  }
}

/** Beyond this count, zeroing the room would take too long for one step. */
const MOST_ZEROED = 4096;

/** Returns room for numbers, all of which are written before they are read. */
function roomFor(count: number): Uint32Array {
  if (count <= MOST_ZEROED) return new Uint32Array(count);
  return new Uint32Array(Buffer.allocUnsafeSlow(count * Uint32Array.BYTES_PER_ELEMENT).buffer, 0, count);
}

function conflictOf(table: Table, { id }: Pick<RowPlace, 'id'>): HedgerowError {
  return new HedgerowError(
    'conflict',
    `${rowName(table, id)} of table ${table.name} was changed or removed by another commit since. Nothing was applied; begin again.`,
  );
}

function rowName({ isOfNodes, context }: Table, id: number): string {
  return isOfNodes ? `Node ${JSON.stringify(context.nodes.shown(id, false))}` : `Edge ${id}`;
}

function removalText({ id }: Table, eventTs: number, members: readonly number[]): string {
  return `${id} ${eventTs} ${members.join()}`;
}

// Building and applying the frame

/**
 * A piece has at most PIECE_ROWS operations, and gets no more once its records have PIECE_BYTES
 * bytes. A memtable takes one piece of inserts per call.
 */
const PIECE_ROWS = 4096;
const PIECE_BYTES = 2 ** 19;

function* runsOf(steps: Uint32Array, staged: StagedList): SlicedSteps<StepRun[]> {
  const runs: StepRun[] = [];
  for (let from = 0; from < steps.length; ) {
    const table = staged.tableAt(placeOf(steps[from]!));
    const kind = kindOf(steps[from]!, staged);
    let to = from + 1;
    for (; to < steps.length; to++) {
      if (staged.tableAt(placeOf(steps[to]!)) !== table || kindOf(steps[to]!, staged) !== kind) break;
      if (to % PIECE_ROWS === 0) yield;
    }
    const run = steps.subarray(from, to);
    runs.push({ kind, table, steps: run, pieces: yield* piecesOf(kind, run, staged) });
    from = to;
  }
  return runs;
}

function* piecesOf(kind: StepRun['kind'], steps: Uint32Array, staged: StagedList): SlicedSteps<Piece[]> {
  const pieces: Piece[] = [];
  for (let from = 0; from < steps.length; ) {
    let to = from;
    for (let bytes = 0; to < steps.length && to - from < PIECE_ROWS && bytes < PIECE_BYTES; to++) {
      if (kind === 'kill') continue;
      const record = staged.recordAt(placeOf(steps[to]!));
      bytes += record.to - record.from;
    }
    pieces.push({ bytes: pieceOf(kind, steps.subarray(from, to), staged), rows: to - from });
    from = to;
    yield;
  }
  return pieces;
}

function kindOf(step: Step, staged: StagedList): StepRun['kind'] {
  const kind = staged.kindAt(placeOf(step));
  if (kind === STAGED.deletion || (step & 1) === 1) return 'kill';
  return kind === STAGED.removal ? 'tombstone' : 'insert';
}

function pieceOf(kind: StepRun['kind'], steps: Uint32Array, staged: StagedList): Uint8Array {
  if (kind === 'kill') return encodeKills(Array.from(steps, (step) => staged.targetKeyAt(placeOf(step))));
  return joined(Array.from(steps, (step) => staged.recordAt(placeOf(step))));
}

type Deaths = Pick<CommitPlan, 'staged' | 'removed' | 'moved'>;

/** Reserves all the memory that applying the plan needs. Throws `overloaded`. */
export function* takeRoom(plan: CommitPlan, room: RowRoom): SlicedSteps<void> {
  for (const run of plan.runs) {
    if (run.kind === 'insert') {
      for (const { bytes, rows } of run.pieces) {
        room.addRows(run.table, bytes, rows);
        yield;
      }
      continue;
    }
    for (const [index, step] of run.steps.entries()) {
      for (const victim of victimsOf(plan, run.kind, step)) if (typeof victim !== 'number') room.addDeath(victim);
      if (index % STEPS_A_REST === STEPS_A_REST - 1) yield;
    }
  }
}

/** Applies the plan, which is already logged; its first operation has LSN `firstLsn`. */
export function* applyPlan(plan: CommitPlan, room: RowRoom, firstLsn: number): SlicedSteps<void> {
  const { runs } = plan;
  // All operations are counted together, so that a table never reports a part of them as pending.
  for (const { kind, table, steps } of runs) table.countOperations(steps.length, kind === 'insert' ? 0 : steps.length);
  /** Places of inserted rows that die in the same frame. */
  const own = new Map<number, RowPlace>();
  let lsn = firstLsn;
  const lastLsn = firstLsn + plan.operations - 1;
  for (const run of runs) {
    if (run.kind === 'insert') {
      yield* insertAll(plan, run, room, own, lsn);
      run.table.changeRows(lastLsn, run.steps.length);
    } else {
      for (const [index, step] of run.steps.entries()) {
        for (const victim of victimsOf(plan, run.kind, step)) {
          if (bury(plan, run, step, own, victim, lsn + index)) run.table.changeRows(lastLsn, -1);
        }
        if (run.table.isOfNodes && (step & 1) === 0)
          run.table.context.nodes.died(run.table, plan.staged.idAt(placeOf(step)), lsn + index);
        if (index % STEPS_A_REST === STEPS_A_REST - 1) yield;
      }
    }
    lsn += run.steps.length;
    run.table.changed(lsn - 1);
  }
}

function victimsOf({ staged, removed, moved }: Deaths, kind: StepRun['kind'], step: Step): readonly Victim[] {
  const place = placeOf(step);
  if (kind === 'tombstone') return removed.get(place)!;
  const own = staged.ownTargetAt(place);
  return [own >= 0 ? own : (moved.get(place) ?? staged.targetAt(place))];
}

/** Marks a row as dead; returns false if it already was. */
function bury(
  { staged }: CommitPlan,
  { kind, table }: StepRun,
  step: Step,
  own: ReadonlyMap<number, RowPlace>,
  victim: Victim,
  lsn: number,
): boolean {
  if (typeof victim === 'number') return killRow(table, own.get(victim)!, lsn);
  const isDead = killRow(table, victim, lsn);
  // A new row has the same id, so the update is recorded in `RowUpdates`. (Rows made in this frame
  // need no entry, because no other snapshot contains them.)
  if (kind === 'kill' && staged.kindAt(placeOf(step)) === STAGED.update) table.updates.add(victim.id, lsn);
  return isDead;
}

function* insertAll(
  { staged, dying }: CommitPlan,
  run: StepRun,
  room: RowRoom,
  own: Map<number, RowPlace>,
  firstLsn: number,
): SlicedSteps<void> {
  const { steps, pieces, table } = run;
  let from = 0;
  for (const { bytes, rows } of pieces) {
    const { memtable, firstRow, count } = room.append(firstLsn + from);
    if (table.isOfNodes) applyNodes(table, bytes, rows);
    assert(count === rows, 'a piece of a commit is applied where another is due');
    for (let row = 0; dying.size > 0 && row < count; row++) {
      const place = placeOf(steps[from + row]!);
      if (!dying.has(place)) continue;
      const key = { eventTs: staged.timeAt(place), id: staged.idAt(place) };
      own.set(place, { source: memtable, row: firstRow + row, ...key });
    }
    from += rows;
    yield;
  }
}
