// Replaces a memory: in one commit, the old one ends and its successor begins, which holds the id
// of the old one in its column `supersedes`. From this column come `superseded_by` of histories and
// the rule facts supersedes(E2, E1). Deleting either of the two leaves the other as it is.
//
// A memory whose successor begins in the future can be superseded earlier: the new memory holds up
// to that successor and comes between the two in the chain. Example: 1 holds from 2024, and 2 from
// 2040 on. If 1 is superseded by 3 at 2030, 3 holds from 2030 to 2040, and 2 supersedes 3.
//
// Two requests that supersede the same memory both change its row, so the second one to commit gets
// a conflict, reads again, and then finds that it has ended.

import type { Attach, Database, Table, Transaction } from '../engine/index.ts';
import { type HedgerowError, refusal } from '../errors.ts';
import { invalidFields } from '../model/fields.ts';
import { SUPERSEDES } from '../model/memories.ts';
import type { Steps } from '../schedule/steps.ts';
import { assertNamesThings, checkTexts } from './given-memory.ts';
import { keysOf, type MemoryRow, rowsOf, withId } from './memory-rows.ts';
import { memoryTable } from './memory-table.ts';
import { assertEndsAfter, edgeOf } from './remember.ts';

export interface Successor {
  /** Default: `memories`. */
  readonly table?: string | undefined;
  /** Id of the memory that it replaces. */
  readonly id: number;
  readonly what: string;
  /** When the old memory ends and the new one begins, in epoch seconds. */
  readonly at: number;
  /** Default: those of the old memory. */
  readonly who?: readonly string[] | undefined;
  readonly about?: readonly string[] | undefined;
  readonly until?: number | undefined;
  readonly source?: string | undefined;
}

/** A successor and the present, both times in epoch seconds. */
export interface SuccessorNow extends Successor {
  /** A successor that begins later is only planned, and another one may come before it. */
  readonly now: number;
}

export interface Superseded {
  /** Id of the new memory. */
  readonly id: number;
  /** Id of the memory that has ended. */
  readonly ended: number;
}

/** Runs work in steps, between which other work runs. */
export type Drive = <T>(steps: Steps<T>) => Promise<T>;

/**
 * Replaces a memory; resolves when both changes are durable. Rejects with `table_not_found`,
 * `edge_not_found`, `memory_ended`, `invalid_input`, `empty_members`, `too_many_members`, and with
 * `conflict` if another commit has changed the memory meanwhile: the caller then tries again.
 */
export async function supersede(
  database: Database,
  successor: SuccessorNow,
  drive: Drive,
  attach?: Attach<Superseded>,
): Promise<Superseded & { readonly lsn: number; readonly table: string }> {
  checkTexts(successor);
  assertEndsAfter(successor.until, successor.at, 'at');
  const table = memoryTable(database, successor.table);
  const transaction = database.begin();
  try {
    const { old, next } = await drive(lookUp(transaction, table, successor.id));
    assertHolds(old, next, successor);
    const superseded = stage(database, transaction, table, { old, next }, successor);
    const { lsn } = await transaction.commit(attach && (() => attach(superseded)));
    return { ...superseded, lsn, table: table.name };
  } finally {
    transaction.rollback();
  }
}

/** The memory that is to be replaced, and one that replaces it already, perhaps in the future. */
interface Found {
  readonly old: MemoryRow;
  readonly next: MemoryRow | undefined;
}

function* lookUp(transaction: Transaction, table: Table, id: number): Steps<Found> {
  const old = yield* first(transaction, table, withId(id));
  if (old === undefined) throw memoryNotFound(table, id);
  const next = yield* first(transaction, table, { where: [{ column: SUPERSEDES, low: id, high: id }], limit: 1 });
  return { old, next };
}

function* first(
  transaction: Transaction,
  table: Table,
  bounds: ReturnType<typeof withId>,
): Steps<MemoryRow | undefined> {
  for (const rows of rowsOf(transaction.scan(table, { ...bounds, format: 'ndjson' }))) {
    if (rows.length > 0) return rows[0];
    yield;
  }
  return undefined;
}

export function memoryNotFound(table: Table, id: number): HedgerowError {
  return refusal('edge_not_found', `Table ${table.name} has no memory ${id}; it may have been deleted.`);
}

/**
 * Throws `memory_ended`, or `invalid_input` if the memory has not begun at `at`, or if the new one
 * would hold together with a planned successor.
 */
function assertHolds(
  { id, event_ts: begin, end_ts: end }: MemoryRow,
  next: MemoryRow | undefined,
  { at, until, now }: SuccessorNow,
): void {
  if (next !== undefined && (next.event_ts <= now || next.event_ts <= at))
    throw refusal(
      'memory_ended',
      `Memory ${id} was superseded by ${next.id} at ${next.event_ts}; supersede that one, at this time or later.`,
    );
  if (end !== null && end <= at)
    throw refusal('memory_ended', `Memory ${id} ended at ${end}. Remember what holds since as a new memory.`);
  if (at < begin)
    throw invalidFields([{ loc: ['body', 'at'], msg: `is ${at}, before the memory begins, which is at ${begin}` }]);
  if (next !== undefined && until !== undefined && until > next.event_ts)
    throw invalidFields([
      { loc: ['body', 'until'], msg: `is ${until}, after memory ${next.id} begins, which is at ${next.event_ts}` },
    ]);
}

/** Ends the old memory and inserts the new one, which comes before a planned successor. */
function stage(
  { nodes }: Database,
  transaction: Transaction,
  table: Table,
  { old, next }: Found,
  { what, at, until, source, who, about }: Successor,
): Superseded {
  change(transaction, table, old, { end_ts: at });
  const { id, roles } = old;
  const [whoNow, aboutNow] = [who ?? keysOf(roles.who, nodes), about ?? keysOf(roles.about, nodes)];
  assertNamesThings(whoNow, aboutNow);
  const ends = until ?? next?.event_ts;
  const edge = edgeOf({ what, who: whoNow, about: aboutNow, when: at, until: ends, source }, id);
  const made = transaction.insert(table, edge).id;
  if (next !== undefined) change(transaction, table, next, { [SUPERSEDES]: made });
  return { id: made, ended: id };
}

/** Sets columns of a memory; the others stay as they are. */
function change(
  transaction: Transaction,
  table: Table,
  { id, event_ts: eventTs, members, roles, ...columns }: MemoryRow,
  changed: Readonly<Record<string, number>>,
): void {
  const properties = { ...(columns as Record<string, string | number | null>), ...changed };
  transaction.updateRow(table, { eventTs, id }, { event_ts: eventTs, members, areNumbers: true, roles, properties });
}
