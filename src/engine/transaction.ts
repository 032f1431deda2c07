// A transaction: staged writes, its own reads over one snapshot a table, one log frame on commit.

import { CoreMemtable } from '../core/index.ts';
import { HedgerowError } from '../errors.ts';
import type { EngineContext } from './context.ts';
import type { DeadList } from './dead-rows.ts';
import { checkTime, memberSet, rowOf, tombstoneMembers } from './edge.ts';
import { OPERATION, runHeader } from './operations.ts';
import type { Attach } from './replay-entry.ts';
import type { Scan } from './scan.ts';
import type { SegmentFile } from './segment-file.ts';
import type { Snapshot } from './snapshot.ts';
import type { FoundRow, Table } from './table.ts';
import type {
  DeleteOutcome,
  DeleteResult,
  EdgeInput,
  EdgeRow,
  InsertOutcome,
  InsertResult,
  ScanRequest,
} from './types.ts';

interface StagedInsert {
  kind: 'insert';
  table: Table;
  record: Uint8Array;
  row: EdgeRow;
}

interface StagedDelete {
  kind: 'delete';
  table: Table;
  record: Uint8Array;
  eventTs: number;
  members: number[];
}

type Staged = StagedInsert | StagedDelete;

export interface CommitResult {
  lsn: number;
  /** In the order staged. */
  results: (InsertResult | DeleteResult)[];
}

/** What a commit answers, but for LSNs. */
export interface CommitOutcome {
  results: (InsertOutcome | DeleteOutcome)[];
}

/** The part of a transaction that lies over one table: its rows, and what it hides. */
class TableOverlay {
  readonly snapshot: Snapshot;
  readonly memtable: CoreMemtable;
  readonly hiddenRows = new Map<CoreMemtable, Set<number>>();
  readonly hiddenSegments = new Map<SegmentFile, DeadList>();
  /** Staged operations of the transaction that are laid over already. */
  applied = 0;

  constructor(context: EngineContext, table: Table) {
    this.snapshot = table.snapshot();
    this.memtable = new CoreMemtable(context.module.instantiate(), table.bucketSeconds, 0);
  }
}

export class Transaction {
  readonly #context: EngineContext;
  readonly #staged: Staged[] = [];
  readonly #overlays = new Map<Table, TableOverlay>();
  #ended = false;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  #assertOpen(): void {
    if (this.#ended) throw new HedgerowError('invalid_input', 'The transaction has ended; begin a new one.');
  }

  get operations(): number {
    return this.#staged.length;
  }

  /** Stages an insert; the edge has its id from now on. Throws as Table.insert, and leaves the transaction as it was. */
  insert(table: Table, edge: EdgeInput): EdgeRow {
    this.#assertOpen();
    table.assertUsable();
    checkTime(edge.event_ts);
    const members = memberSet(edge.members, table.maxMembers);
    const properties = edge.properties === undefined ? null : table.columns.encode(edge.properties);
    const { batch } = this.#context;
    const id = table.nextId;
    batch.add(edge.event_ts, members, properties);
    const record = batch.encode(id, table.maxMembers).slice();
    table.nextId = id + 1;
    const row = rowOf(table.columns, id, edge, members);
    this.#staged.push({ kind: 'insert', table, record, row });
    return row;
  }

  /** Stages the removal of every edge with that time and member set that is live at commit. */
  delete(table: Table, eventTs: number, members: readonly number[]): void {
    this.#assertOpen();
    table.assertUsable();
    checkTime(eventTs);
    const set = tombstoneMembers(members);
    const record = table.encodeTombstone(eventTs, set);
    this.#staged.push({ kind: 'delete', table, record, eventTs: eventTs === 0 ? 0 : eventTs, members: set });
  }

  /** Rows as the transaction sees them: its snapshot (taken at its first read of the table) and its own writes. */
  scan(table: Table, request: ScanRequest): Scan {
    this.#assertOpen();
    const overlay = this.#overlayOf(table);
    return table.scan(request, overlay.snapshot, {
      memtable: overlay.memtable.rows > 0 ? overlay.memtable : undefined,
      hidden: (memtable) => overlay.hiddenRows.get(memtable),
      deadOf: (segment) => overlay.hiddenSegments.get(segment) ?? segment.dead,
    });
  }

  #overlayOf(table: Table): TableOverlay {
    let overlay = this.#overlays.get(table);
    if (overlay === undefined) {
      overlay = new TableOverlay(this.#context, table);
      this.#overlays.set(table, overlay);
    }
    for (; overlay.applied < this.#staged.length; overlay.applied++) {
      const staged = this.#staged[overlay.applied]!;
      if (staged.table !== table) continue;
      if (staged.kind === 'delete') this.#hide(overlay, staged, overlay.applied + 1);
      else
        overlay.memtable.append(overlay.memtable.reserve(staged.record.length), staged.record, 1, overlay.applied + 1);
    }
    return overlay;
  }

  #hide(overlay: TableOverlay, staged: StagedDelete, place: number): void {
    for (const row of overlay.memtable.match(staged.record, Infinity)) overlay.memtable.kill(row, place);
    const { version, lsn } = overlay.snapshot;
    for (const segment of version.segments) {
      if (segment.facts.timeMin > staged.eventTs || segment.facts.timeMax < staged.eventTs) continue;
      let list = overlay.hiddenSegments.get(segment);
      if (list === undefined) {
        list = segment.dead.clone();
        overlay.hiddenSegments.set(segment, list);
      }
      for (const row of staged.table.resident(segment).match(staged.record)) list.hide(row);
    }
    for (const { memtable } of version.memtables) {
      let rows = overlay.hiddenRows.get(memtable);
      if (rows === undefined) {
        rows = new Set();
        overlay.hiddenRows.set(memtable, rows);
      }
      for (const row of memtable.match(staged.record, lsn)) rows.add(row);
    }
  }

  /** Commits all as one frame; resolves when it is durable. Nothing is applied when it throws. */
  async commit(attach?: Attach<CommitOutcome>): Promise<CommitResult> {
    this.#assertOpen();
    for (const { table } of this.#staged) table.assertUsable();
    this.#end();
    const { committer } = this.#context;
    if (this.#staged.length === 0) return this.#commitNothing(attach);
    const found = this.#staged.map((staged) =>
      staged.kind === 'delete' ? staged.table.findInSegments(staged.record, staged.eventTs) : [],
    );
    const entry = attach?.({ results: outcomesOf(this.#staged, found) });
    const first = committer.append(this.#staged.length, runsOf(this.#staged), entry);
    const results = this.#staged.map((staged, index) => apply(staged, found[index]!, first + index));
    const lsn = first + this.#staged.length - 1;
    for (const table of new Set(this.#staged.map((staged) => staged.table))) this.#context.afterCommit(table.id);
    await committer.durable(lsn);
    return { lsn, results };
  }

  async #commitNothing(attach: Attach<CommitOutcome> | undefined): Promise<CommitResult> {
    const { committer } = this.#context;
    if (attach === undefined) return { lsn: committer.visibleLsn, results: [] };
    const lsn = committer.append(0, [], attach({ results: [] }));
    await committer.durable(lsn);
    return { lsn, results: [] };
  }

  rollback(): void {
    if (!this.#ended) this.#end();
  }

  #end(): void {
    this.#ended = true;
    for (const overlay of this.#overlays.values()) overlay.snapshot.release();
    this.#overlays.clear();
  }
}

/** Neighbours of one kind and table share a run. */
function runsOf(staged: readonly Staged[]): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let from = 0;
  while (from < staged.length) {
    const { kind, table } = staged[from]!;
    let to = from;
    let bytes = 0;
    for (; to < staged.length && staged[to]!.kind === kind && staged[to]!.table === table; to++)
      bytes += staged[to]!.record.length;
    parts.push(runHeader(kind === 'insert' ? OPERATION.insert : OPERATION.tombstone, table.id, to - from, bytes));
    for (let i = from; i < to; i++) parts.push(staged[i]!.record);
    from = to;
  }
  return parts;
}

/**
 * What each staged write will answer when all are applied now, in order. A delete takes every live edge with its time and member set: those in the table
 * go to the first one, to a later one only what was inserted since.
 */
function outcomesOf(
  staged: readonly Staged[],
  found: readonly (readonly FoundRow[])[],
): (InsertOutcome | DeleteOutcome)[] {
  const deleted = new Set<string>();
  const inserted = new Map<string, number>();
  return staged.map((item, index) => {
    const { event_ts, members } = item.kind === 'insert' ? item.row : { event_ts: item.eventTs, members: item.members };
    const key = `${item.table.id} ${event_ts} ${members.join()}`;
    const since = inserted.get(key) ?? 0;
    if (item.kind === 'insert') {
      inserted.set(key, since + 1);
      return { row: item.row };
    }
    const matched = since + (deleted.has(key) ? 0 : item.table.countMatches(item.record, found[index]!));
    deleted.add(key);
    inserted.delete(key);
    return { matched, event_ts, members };
  });
}

function apply(staged: Staged, found: readonly FoundRow[], lsn: number): InsertResult | DeleteResult {
  const { table, record } = staged;
  if (staged.kind === 'insert') {
    const memtable = table.writableMemtable(lsn - 1);
    memtable.append(memtable.reserve(record.length), record, 1, lsn);
    table.countOperations(1, 0);
    table.changed(lsn);
    return { row: staged.row, lsn };
  }
  const matched = table.applyTombstone(record, found, lsn);
  table.countOperations(1, 1);
  table.changed(lsn);
  return { matched, event_ts: staged.eventTs, members: staged.members, lsn };
}
