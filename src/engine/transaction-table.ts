// One table as a transaction sees it: a snapshot, the rows that it staged, and what they hide of the snapshot.

import { CoreMemtable, type DeadRows } from '../core/index.ts';
import type { KeptBytes } from './byte-arena.ts';
import type { DeadList } from './dead-rows.ts';
import { findSeen, type RowPlace, segmentsAt } from './live-rows.ts';
import type { ScanOverlay } from './scan-view.ts';
import type { SegmentFile } from './segment-file.ts';
import type { Snapshot } from './snapshot.ts';
import { isOwn, type Staged, type StagedDelete, type StagedTarget } from './staged.ts';
import type { Table } from './table.ts';
import type { RowKey } from './types.ts';
import { WideMap } from './wide-map.ts';

export class TransactionTable implements ScanOverlay {
  readonly table: Table;
  readonly snapshot: Snapshot;
  readonly #staged: readonly Staged[];
  /** Staged operations that the two below know. */
  #known = 0;
  /** Id -> place of the last operation that names it. */
  readonly #lastById = new WideMap<number, number>();
  /** Rows are removed by time and members. */
  #hasRemovals = false;
  /** Staged operations that are laid over. */
  #laid = 0;
  /** Own rows; their LSNs are places, counted from 1. */
  memtable: CoreMemtable | undefined;
  readonly #hiddenRows = new Map<CoreMemtable, Set<number>>();
  readonly #hiddenSegments = new Map<SegmentFile, DeadList>();

  /** `staged`: the transaction's operations, also those to come. */
  constructor(table: Table, snapshot: Snapshot, staged: readonly Staged[]) {
    this.table = table;
    this.snapshot = snapshot;
    this.#staged = staged;
  }

  // Rows by id

  /** The row with an id as the transaction sees it; its key is looked at only when the row is the snapshot's. Throws `table_corrupt`. */
  find(key: RowKey): StagedTarget | undefined {
    this.#know();
    const last = this.#lastById.get(key.id);
    if (last !== undefined) return this.#ownRow(last);
    const { version, lsn } = this.snapshot;
    const place = findSeen(this.table, version, lsn, key);
    return place === undefined || this.#isRemoved(place) ? undefined : place;
  }

  #know(): void {
    for (; this.#known < this.#staged.length; this.#known++) {
      const staged = this.#staged[this.#known]!;
      if (staged.table !== this.table) continue;
      if (staged.kind === 'delete') this.#hasRemovals = true;
      else this.#lastById.set(staged.kind === 'deleteRow' ? staged.target.id : staged.id, this.#known);
    }
  }

  #ownRow(place: number): StagedTarget | undefined {
    const staged = this.#staged[place] as Exclude<Staged, StagedDelete>;
    if (staged.kind === 'deleteRow') return undefined;
    const { eventTs, id } = staged;
    if (this.#hasRemovals) {
      this.lay();
      if (this.memtable!.find(eventTs, id) < 0) return undefined;
    }
    return { staged: place, eventTs, id };
  }

  /** Whether a staged removal by time and members takes the row of the snapshot. */
  #isRemoved({ source, row }: RowPlace): boolean {
    if (!this.#hasRemovals) return false;
    this.lay();
    return source instanceof CoreMemtable
      ? this.#hiddenRows.get(source)?.has(row) === true
      : this.#hiddenSegments.get(source)?.isDead(row, this.snapshot.lsn) === true;
  }

  // What reads lay over the snapshot

  /** Undefined while nothing is staged for the table. Valid until something more is staged. Throws `table_corrupt`. */
  overlay(): ScanOverlay | undefined {
    this.lay();
    const isEmpty = this.memtable === undefined && this.#hiddenRows.size === 0 && this.#hiddenSegments.size === 0;
    return isEmpty ? undefined : this;
  }

  hidden(memtable: CoreMemtable): ReadonlySet<number> | undefined {
    return this.#hiddenRows.get(memtable);
  }

  deadOf(segment: SegmentFile): DeadRows {
    return this.#hiddenSegments.get(segment) ?? segment.dead;
  }

  /** Lays at most so many operations over the snapshot; true when it was all. Throws `table_corrupt`. */
  lay(limit = Infinity): boolean {
    const end = Math.min(this.#staged.length, this.#laid + limit);
    for (; this.#laid < end; this.#laid++) {
      const staged = this.#staged[this.#laid]!;
      if (staged.table !== this.table) continue;
      const place = this.#laid + 1;
      if (staged.kind === 'delete') this.#hideMatches(staged, place);
      else if (staged.kind !== 'insert') this.#hide(staged.target, place);
      if (staged.kind === 'insert' || staged.kind === 'updateRow') this.#append(recordOf(staged), place);
    }
    // Bit by bit: the sort of a million rows at once would be felt.
    if (limit !== Infinity) this.memtable?.sort();
    return end === this.#staged.length;
  }

  #append(record: Uint8Array, place: number): void {
    const { context, bucketSeconds } = this.table;
    this.memtable ??= new CoreMemtable(context.module.instantiate(), bucketSeconds, 0);
    this.memtable.append(this.memtable.reserve(record.length), record, 1, place);
  }

  #hide(target: StagedTarget, place: number): void {
    if (isOwn(target)) {
      const { memtable } = this;
      memtable!.kill(memtable!.find(target.eventTs, target.id), place);
    } else if (target.source instanceof CoreMemtable) this.#hiddenOf(target.source).add(target.row);
    else this.#deadOf(target.source).hide(target.row);
  }

  #hideMatches(staged: StagedDelete, place: number): void {
    const { eventTs } = staged;
    const record = recordOf(staged);
    const { memtable, table } = this;
    for (const row of memtable?.match(record, Infinity) ?? []) memtable!.kill(row, place);
    const { version, lsn } = this.snapshot;
    for (const segment of segmentsAt(version.segments, eventTs)) {
      const rows = table.resident(segment).match(record);
      if (rows.length > 0) for (const row of rows) this.#deadOf(segment).hide(row);
    }
    for (const { memtable: older } of version.memtables)
      for (const row of older.match(record, lsn)) this.#hiddenOf(older).add(row);
  }

  #hiddenOf(memtable: CoreMemtable): Set<number> {
    let rows = this.#hiddenRows.get(memtable);
    if (rows === undefined) {
      rows = new Set();
      this.#hiddenRows.set(memtable, rows);
    }
    return rows;
  }

  #deadOf(segment: SegmentFile): DeadList {
    let list = this.#hiddenSegments.get(segment);
    if (list === undefined) {
      list = segment.dead.clone();
      this.#hiddenSegments.set(segment, list);
    }
    return list;
  }

  // The end

  /** The operations from `mark` on are no longer staged. What knows of them is made anew when it is needed. */
  rewind(mark: number): void {
    if (this.#known > mark) {
      this.#known = 0;
      this.#lastById.clear();
      this.#hasRemovals = false;
    }
    if (this.#laid > mark) {
      this.#laid = 0;
      this.memtable = undefined;
      this.#hiddenRows.clear();
      this.#hiddenSegments.clear();
    }
  }

  release(): void {
    this.table.updates.release(this.snapshot, this.table.context.committer.visibleLsn);
    this.snapshot.release();
  }
}

function recordOf({ chunk, from, to }: KeptBytes): Uint8Array {
  return chunk.subarray(from, to);
}
