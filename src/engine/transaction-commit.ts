// A transaction's commit: what it staged, checked against the newest state, becomes the steps of one log frame, which are then applied.

import { HedgerowError } from '../errors.ts';
import { findLive, findMatches, isAlive, killRow, type RowPlace, type RowSource } from './live-rows.ts';
import { encodeKills, OPERATION, runHeader } from './operations.ts';
import type { Snapshot } from './snapshot.ts';
import type {
  CommitOutcome,
  CommitResult,
  Staged,
  StagedDelete,
  StagedRowDelete,
  StagedTarget,
  StagedUpdate,
} from './staged.ts';
import type { Table } from './table.ts';
import { keyOfRow } from './transaction-table.ts';
import type { RowKey } from './types.ts';

interface InsertStep {
  kind: 'insert';
  table: Table;
  record: Uint8Array;
  key: RowKey;
  /** A later step of the same frame kills the row. */
  dies: boolean;
  /** Of a row that dies: where it stands, once the step is applied. */
  place: RowPlace | undefined;
}

type Victim = RowPlace | InsertStep;

interface KillStep extends RowKey {
  kind: 'kill';
  table: Table;
  victim: Victim;
  /** The id goes on with another row. */
  isUpdate: boolean;
}

interface TombstoneStep {
  kind: 'tombstone';
  table: Table;
  record: Uint8Array;
  victims: readonly Victim[];
}

/** One operation of the frame. */
type Step = InsertStep | KillStep | TombstoneStep;

/** Neighbours of one kind and table. */
interface StepRun {
  readonly kind: Step['kind'];
  readonly table: Table;
  readonly steps: readonly Step[];
  /** Its header, then its operations; an INSERT's in pieces of PIECE_ROWS. */
  readonly bytes: readonly Uint8Array[];
}

export interface CommitPlan {
  readonly operations: number;
  readonly runs: readonly StepRun[];
  readonly tables: ReadonlySet<Table>;
  readonly staged: readonly Staged[];
  /** By the place of what was staged: the operation whose LSN it answers with. */
  readonly operationOf: readonly number[];
  /** By the place of a removal by time and members: how many it takes. */
  readonly removed: ReadonlyMap<number, number>;
}

/**
 * Checks and plans, and changes nothing. `snapshotOf`: of the tables that the transaction has read. Throws `conflict`, `table_not_found`, `table_corrupt`.
 * The plan must be applied before anything else is.
 */
export function planCommit(staged: readonly Staged[], snapshotOf: (table: Table) => Snapshot | undefined): CommitPlan {
  const tables = new Set(staged.map(({ table }) => table));
  for (const table of tables) assertUnchanged(table, snapshotOf(table));
  return new Planner(staged, tables, snapshotOf).plan();
}

function assertUnchanged(table: Table, snapshot: Snapshot | undefined): void {
  if (snapshot !== undefined && (table.dropped || table.shapeLsn > snapshot.lsn))
    throw new HedgerowError(
      'conflict',
      `Table ${table.name} was ${table.dropped ? 'dropped' : 'altered'} after the transaction began. Nothing was applied; begin anew.`,
    );
  table.assertUsable();
}

class Planner {
  readonly #staged: readonly Staged[];
  readonly #tables: ReadonlySet<Table>;
  readonly #snapshotOf: (table: Table) => Snapshot | undefined;
  readonly #steps: Step[] = [];
  readonly #removed = new Map<number, number>();
  readonly #operationOf: number[] = [];
  /** By the place of what was staged: the row it inserts. */
  readonly #inserts: InsertStep[] = [];
  /** New versions of rows, of updates that follow each other: they stand behind the kills of all of them, so that each kind is one run. */
  #waiting: { place: number; step: InsertStep }[] = [];
  /** Sources of the tables' newest versions. */
  readonly #sources = new Map<Table, ReadonlySet<RowSource>>();
  /** Only where something is removed by time and members: own rows by these, and rows of the tables that are dead by now. */
  readonly #hasRemovals: boolean;
  readonly #own = new Map<string, InsertStep[]>();
  readonly #killed = new Map<RowSource, Set<number>>();

  constructor(
    staged: readonly Staged[],
    tables: ReadonlySet<Table>,
    snapshotOf: (table: Table) => Snapshot | undefined,
  ) {
    this.#staged = staged;
    this.#tables = tables;
    this.#snapshotOf = snapshotOf;
    this.#hasRemovals = staged.some(({ kind }) => kind === 'delete');
  }

  plan(): CommitPlan {
    for (const [place, staged] of this.#staged.entries()) {
      if (staged.kind === 'updateRow') this.#update(staged, place);
      else {
        this.#flush();
        if (staged.kind === 'insert') this.#push(place, this.#insertStep(staged, place));
        else if (staged.kind === 'delete') this.#remove(staged, place);
        else this.#deleteRow(staged, place);
      }
    }
    this.#flush();
    const steps = this.#steps;
    return {
      operations: steps.length,
      runs: [...runsOf(steps)],
      tables: this.#tables,
      staged: this.#staged,
      operationOf: this.#operationOf,
      removed: this.#removed,
    };
  }

  #push(place: number, step: Step): void {
    this.#operationOf[place] = this.#steps.length;
    this.#steps.push(step);
  }

  #insertStep({ table, record, row }: StagedUpdate | Extract<Staged, { kind: 'insert' }>, place: number): InsertStep {
    const step: InsertStep = { kind: 'insert', table, record, key: keyOfRow(row), dies: false, place: undefined };
    this.#inserts[place] = step;
    if (!this.#hasRemovals) return step;
    const text = removalText(table, row.event_ts, row.members);
    const equal = this.#own.get(text);
    if (equal === undefined) this.#own.set(text, [step]);
    else equal.push(step);
    return step;
  }

  #update(staged: StagedUpdate, place: number): void {
    const { table, target } = staged;
    const [first] = this.#waiting;
    // Those that wait stand behind each other.
    const isWaiting = 'staged' in target && first !== undefined && target.staged >= first.place;
    if (isWaiting || (first !== undefined && first.step.table !== table)) this.#flush();
    this.#steps.push(this.#killStep(table, target, true));
    this.#waiting.push({ place, step: this.#insertStep(staged, place) });
  }

  #flush(): void {
    for (const { place, step } of this.#waiting) this.#push(place, step);
    this.#waiting = [];
  }

  #deleteRow({ table, target }: StagedRowDelete, place: number): void {
    this.#push(place, this.#killStep(table, target, false));
  }

  #killStep(table: Table, target: StagedTarget, isUpdate: boolean): KillStep {
    const victim = 'staged' in target ? this.#inserts[target.staged]! : this.#unchanged(table, target);
    this.#kill(victim);
    const { eventTs, id } = target.key;
    return { kind: 'kill', table, eventTs, id, victim, isUpdate };
  }

  #kill(victim: Victim): void {
    if ('kind' in victim) victim.dies = true;
    else if (this.#hasRemovals) {
      const rows = this.#killed.get(victim.source);
      if (rows === undefined) this.#killed.set(victim.source, new Set([victim.row]));
      else rows.add(victim.row);
    }
  }

  /** Every live edge with that time and member set goes: those of the table, and what was inserted before. */
  #remove({ table, record, eventTs, members }: StagedDelete, place: number): void {
    const text = removalText(table, eventTs, members);
    const own = this.#own.get(text) ?? [];
    this.#own.delete(text);
    const victims: Victim[] = findMatches(table, record, eventTs).filter(
      ({ source, row }) => this.#killed.get(source)?.has(row) !== true,
    );
    for (const step of own) if (!step.dies) victims.push(step);
    for (const victim of victims) this.#kill(victim);
    this.#push(place, { kind: 'tombstone', table, record, victims });
    this.#removed.set(place, victims.length);
  }

  /** Where a row of the snapshot stands now. Throws `conflict` when another commit changed or removed it: the first one wins. */
  #unchanged(table: Table, place: RowPlace): RowPlace {
    if (this.#sourcesOf(table).has(place.source)) {
      if (isAlive(place)) return place;
      throw conflictOf(table, place);
    }
    // A compaction has moved it. It may be a newer version with the same key that is found.
    const { lsn } = this.#snapshotOf(table)!;
    const found = table.updates.isUpdatedAfter(place.key.id, lsn) ? undefined : findLive(table, place.key);
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

function conflictOf(table: Table, { key }: RowPlace): HedgerowError {
  return new HedgerowError(
    'conflict',
    `Edge ${key.id} of table ${table.name} was changed or removed by another commit since. Nothing was applied; begin anew.`,
  );
}

function removalText({ id }: Table, eventTs: number, members: readonly number[]): string {
  return `${id} ${eventTs} ${members.join()}`;
}

// The frame

/** Records that one call gives to a memtable. */
const PIECE_ROWS = 4096;

function* runsOf(steps: readonly Step[]): Generator<StepRun> {
  let from = 0;
  for (let to = 1; to <= steps.length; to++) {
    const { kind, table } = steps[from]!;
    if (to < steps.length && steps[to]!.kind === kind && steps[to]!.table === table) continue;
    const run = steps.slice(from, to);
    const pieces = kind === 'kill' ? [encodeKills(run as KillStep[])] : piecesOf(run as InsertStep[]);
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    yield { kind, table, steps: run, bytes: [runHeader(OPERATION[kind], table.id, run.length, bytes), ...pieces] };
    from = to;
  }
}

function piecesOf(steps: readonly { record: Uint8Array }[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let from = 0; from < steps.length; from += PIECE_ROWS)
    pieces.push(Buffer.concat(steps.slice(from, from + PIECE_ROWS).map(({ record }) => record)));
  return pieces;
}

/** Applies the plan, which is in the log: its first operation has LSN `firstLsn`. */
export function applyPlan({ runs }: CommitPlan, firstLsn: number): void {
  let lsn = firstLsn;
  for (const { kind, table, steps, bytes } of runs) {
    if (kind === 'insert') insertAll(table, steps as InsertStep[], bytes.slice(1), lsn);
    else for (const [index, step] of steps.entries()) applyDeath(step as KillStep | TombstoneStep, lsn + index);
    table.countOperations(steps.length, kind === 'insert' ? 0 : steps.length);
    lsn += steps.length;
    table.changed(lsn - 1);
  }
}

/** What each staged operation answers. */
export function outcomesOf({ staged, removed }: CommitPlan): CommitOutcome['results'] {
  return staged.map((each, place) => {
    if (each.kind === 'delete') return { matched: removed.get(place)!, event_ts: each.eventTs, members: each.members };
    if (each.kind !== 'deleteRow') return { row: each.row };
    return { matched: 1, id: each.target.key.id, event_ts: each.target.key.eventTs };
  });
}

export function resultsOf(plan: CommitPlan, firstLsn: number): CommitResult['results'] {
  return outcomesOf(plan).map((outcome, place) => ({ ...outcome, lsn: firstLsn + plan.operationOf[place]! }));
}

function applyDeath(step: KillStep | TombstoneStep, lsn: number): void {
  const { table } = step;
  if (step.kind === 'tombstone') {
    for (const victim of step.victims) killRow(table, placeOf(victim), lsn);
    return;
  }
  killRow(table, placeOf(step.victim), lsn);
  // A row of the same frame is in no other snapshot.
  if (step.isUpdate && !('kind' in step.victim)) table.updates.add(step.id, lsn);
}

function placeOf(victim: Victim): RowPlace {
  return 'kind' in victim ? victim.place! : victim;
}

function insertAll(table: Table, steps: readonly InsertStep[], pieces: readonly Uint8Array[], firstLsn: number): void {
  for (const [index, bytes] of pieces.entries()) {
    const from = index * PIECE_ROWS;
    const count = Math.min(PIECE_ROWS, steps.length - from);
    const memtable = table.writableMemtable(firstLsn + from - 1);
    const firstRow = memtable.rows;
    memtable.append(memtable.reserve(bytes.length), bytes, count, firstLsn + from);
    for (let row = 0; row < count; row++) {
      const step = steps[from + row]!;
      if (step.dies) step.place = { source: memtable, row: firstRow + row, key: step.key };
    }
  }
}
