// A transaction: staged writes, its own reads over one snapshot a table, one log frame on commit.

import { HedgerowError } from '../errors.ts';
import { ByteArena } from './byte-arena.ts';
import type { EngineContext } from './context.ts';
import { checkTime, memberSet, rowOf, tombstoneMembers } from './edge.ts';
import type { Attach } from './replay-entry.ts';
import type { Scan } from './scan.ts';
import type { ScanOverlay } from './scan-view.ts';
import { Snapshot } from './snapshot.ts';
import type { CommitOutcome, CommitResult, Staged, StagedTarget } from './staged.ts';
import type { Table } from './table.ts';
import { applyPlan, type CommitPlan, outcomesOf, planCommit, resultsOf } from './transaction-commit.ts';
import { TransactionTable } from './transaction-table.ts';
import type { EdgeInput, EdgeRow, RowKey, ScanRequest } from './types.ts';
import { Version } from './version.ts';

/** A place among the staged operations. */
export type Mark = number;

export class Transaction {
  readonly #context: EngineContext;
  readonly #staged: Staged[] = [];
  readonly #records = new ByteArena();
  readonly #tables = new Map<Table, TransactionTable>();
  readonly #isPinned: boolean;
  /** What its reads see at least; all its snapshots are of this LSN when it is pinned. */
  readonly lsn: number;
  #ended = false;

  /** `pinned`: tables whose snapshots are taken now; a table that is made later is empty for it. Otherwise each is taken when it is first needed. */
  constructor(context: EngineContext, pinned?: Iterable<Table>) {
    this.#context = context;
    this.lsn = context.committer.visibleLsn;
    this.#isPinned = pinned !== undefined;
    for (const table of pinned ?? []) if (table.corrupt === null) this.#keep(table, table.snapshot());
  }

  #assertOpen(): void {
    if (this.#ended) throw new HedgerowError('invalid_input', 'The transaction has ended; begin a new one.');
  }

  /** What comes before a write. A pinned transaction writes only to tables as it saw them. */
  #assertWrites(table: Table): void {
    this.#assertOpen();
    table.assertUsable();
    if (this.#isPinned) this.#seen(table);
  }

  /** Operations staged so far. */
  get operations(): number {
    return this.#staged.length;
  }

  // Writes

  /** Stages an insert; the edge has its id from now on. Throws as Table.insert, and leaves the transaction as it was. */
  insert(table: Table, edge: EdgeInput): EdgeRow {
    this.#assertWrites(table);
    const id = table.nextId;
    const made = this.#encode(table, id, edge);
    table.nextId = id + 1;
    this.#staged.push({ kind: 'insert', table, ...made });
    return made.row;
  }

  #encode(table: Table, id: number, edge: EdgeInput): { record: Uint8Array; row: EdgeRow } {
    checkTime(edge.event_ts);
    const members = memberSet(edge.members, table.maxMembers);
    const properties = edge.properties === undefined ? null : table.columns.encode(edge.properties);
    const { batch } = this.#context;
    batch.add(edge.event_ts, members, properties);
    const record = this.#records.keep(batch.encode(id, table.maxMembers));
    return { record, row: rowOf(table.columns, id, edge, members) };
  }

  /** Stages the removal of every edge with that time and member set that is live at commit. */
  delete(table: Table, eventTs: number, members: readonly number[]): void {
    this.#assertWrites(table);
    checkTime(eventTs);
    const set = tombstoneMembers(members);
    const record = table.encodeTombstone(eventTs, set);
    this.#staged.push({ kind: 'delete', table, record, eventTs: eventTs === 0 ? 0 : eventTs, members: set });
  }

  /** Stages the removal of one row that the transaction sees. Throws `invalid_input` when it sees no such row. */
  deleteRow(table: Table, key: RowKey): void {
    this.#staged.push({ kind: 'deleteRow', table, target: this.#target(table, key) });
  }

  /** Stages new content of one row that the transaction sees; the id stays, all else may change. Throws as `deleteRow`, or as an insert. */
  updateRow(table: Table, key: RowKey, edge: EdgeInput): EdgeRow {
    const target = this.#target(table, key);
    const made = this.#encode(table, target.key.id, edge);
    this.#staged.push({ kind: 'updateRow', table, target, ...made });
    return made.row;
  }

  #target(table: Table, key: RowKey): StagedTarget {
    this.#assertWrites(table);
    const target = this.#seen(table).find(key);
    if (target !== undefined) return target;
    throw new HedgerowError(
      'invalid_input',
      `The transaction sees no edge with id ${key.id} at event_ts ${key.eventTs} in table ${table.name}.`,
    );
  }

  /** To `rewind` to. */
  mark(): Mark {
    this.#assertOpen();
    return this.#staged.length;
  }

  /** Takes back what was staged since; ids that were given out stay so. */
  rewind(mark: Mark): void {
    this.#assertOpen();
    this.#staged.length = Math.min(mark, this.#staged.length);
    for (const seen of this.#tables.values()) seen.rewind(mark);
  }

  // Reads

  /** Rows as the transaction sees them: its snapshot and its own writes. */
  scan(table: Table, request: ScanRequest): Scan {
    return table.scan(request, this.snapshotOf(table), this.overlayOf(table));
  }

  /** The table's snapshot, the same one every time. The transaction releases it. */
  snapshotOf(table: Table): Snapshot {
    this.#assertOpen();
    return this.#seen(table).snapshot;
  }

  /** Its own writes, to be laid over the snapshot; undefined: there are none. Valid until more is staged. */
  overlayOf(table: Table): ScanOverlay | undefined {
    this.#assertOpen();
    return this.#seen(table).overlay();
  }

  #seen(table: Table): TransactionTable {
    const known = this.#tables.get(table);
    if (known !== undefined) return known;
    if (!this.#isPinned) return this.#keep(table, table.snapshot());
    table.assertUsable();
    // It was made after BEGIN.
    const seen = new TransactionTable(table, emptySnapshot(table, this.lsn), this.#staged);
    this.#tables.set(table, seen);
    return seen;
  }

  #keep(table: Table, snapshot: Snapshot): TransactionTable {
    const seen = new TransactionTable(table, snapshot, this.#staged);
    this.#tables.set(table, seen);
    table.updates.watch(snapshot);
    return seen;
  }

  // The end

  /**
   * Commits all as one frame; resolves when it is durable. Throws (rejects) `conflict` when a row that it changes by its id, or a table's columns or name, was
   * changed since its snapshot. Whatever it throws, nothing is applied and the transaction has ended.
   */
  async commit(attach?: Attach<CommitOutcome>): Promise<CommitResult> {
    this.#assertOpen();
    const { committer, afterCommit } = this.#context;
    let plan: CommitPlan;
    try {
      plan = planCommit(this.#staged, (table) => this.#tables.get(table)?.snapshot);
    } finally {
      this.#end();
    }
    const { operations, runs, tables } = plan;
    const entry = attach?.({ results: outcomesOf(plan) });
    if (operations === 0 && entry === undefined) return { lsn: committer.visibleLsn, results: [] };
    const first = committer.append(
      operations,
      runs.flatMap(({ bytes }) => bytes),
      entry,
    );
    applyPlan(plan, first);
    const lsn = operations === 0 ? first : first + operations - 1;
    for (const table of tables) afterCommit(table.id);
    await committer.durable(lsn);
    for (const table of tables) table.updates.forget(committer.visibleLsn);
    return {
      lsn,
      // Of a large statement nobody asks for them.
      get results() {
        return resultsOf(plan, first);
      },
    };
  }

  rollback(): void {
    if (!this.#ended) this.#end();
  }

  #end(): void {
    this.#ended = true;
    for (const seen of this.#tables.values()) seen.release();
    this.#tables.clear();
  }
}

function emptySnapshot(table: Table, lsn: number): Snapshot {
  return new Snapshot(table, new Version([], [], table.bucketSeconds), lsn);
}
