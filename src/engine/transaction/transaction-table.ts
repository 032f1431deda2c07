// One table as a transaction sees it: a snapshot, the rows that the transaction has staged, and the
// snapshot rows that its operations hide.

import { assert } from '../../assert.ts';
import { CoreMemtable, type DeadRows } from '../../core/index.ts';
import { WideMap } from '../idempotency/wide-map.ts';
import type { ScanOverlay } from '../scan/scan-view.ts';
import type { DeadList } from '../table/dead-rows.ts';
import { findSeen, type RowPlace, segmentsAt } from '../table/live-rows.ts';
import type { SegmentFile } from '../table/segment-file.ts';
import type { Snapshot } from '../table/snapshot.ts';
import type { Table } from '../table/table.ts';
import type { RowKey } from '../types.ts';
import type { StagedTarget } from './staged.ts';
import { type KeptBytes, STAGED, type StagedList } from './staged-list.ts';

export class TransactionTable implements ScanOverlay {
  readonly table: Table;
  readonly snapshot: Snapshot;
  readonly #staged: StagedList;
  /** Number of staged operations included in the two fields below. */
  #known = 0;
  /** Maps the id of a row to the index of the last operation on that row. */
  readonly #lastById = new WideMap<number, number>();
  /** Whether an operation removes rows by time and members. */
  #hasRemovals = false;
  /** Number of staged operations applied to the overlay. */
  #laid = 0;
  /** The transaction's own rows; their LSNs are operation indexes plus 1. */
  memtable: CoreMemtable | undefined;
  readonly #hiddenRows = new Map<CoreMemtable, Set<number>>();
  readonly #hiddenSegments = new Map<SegmentFile, DeadList>();

  /** `staged` contains the operations of the transaction; the list grows later. */
  constructor(table: Table, snapshot: Snapshot, staged: StagedList) {
    this.table = table;
    this.snapshot = snapshot;
    this.#staged = staged;
  }

  // Rows by id

  /**
   * Returns the row with the key's id, as the transaction sees it. The key's time is used only to
   * find a row of the snapshot. Throws `table_corrupt`.
   */
  find(key: RowKey): StagedTarget | undefined {
    this.#know();
    const last = this.#lastById.get(key.id);
    if (last !== undefined) return this.#ownRow(last);
    const { version, lsn } = this.snapshot;
    const place = findSeen(this.table, version, lsn, key);
    return place === undefined || this.#isRemoved(place) ? undefined : place;
  }

  /**
   * Returns whether the transaction itself has deleted or changed a row that is alive in the newest
   * state.
   */
  isChanged(key: RowKey): boolean {
    this.#know();
    if (this.#lastById.has(key.id)) return true;
    const { version, lsn } = this.snapshot;
    const place = this.#hasRemovals ? findSeen(this.table, version, lsn, key) : undefined;
    return place !== undefined && this.#isRemoved(place);
  }

  #know(): void {
    const staged = this.#staged;
    for (; this.#known < staged.length; this.#known++) {
      const place = this.#known;
      if (staged.tableAt(place) !== this.table) continue;
      if (staged.kindAt(place) === STAGED.removal) this.#hasRemovals = true;
      else this.#lastById.set(staged.idAt(place), place);
    }
  }

  #ownRow(place: number): StagedTarget | undefined {
    const staged = this.#staged;
    if (staged.kindAt(place) === STAGED.deletion) return undefined;
    const key = { eventTs: staged.timeAt(place), id: staged.idAt(place) };
    if (this.#hasRemovals) {
      this.lay();
      if (this.memtable!.find(key.eventTs, key.id) < 0) return undefined;
    }
    return { staged: place, ...key };
  }

  /** Returns whether a staged removal by time and members deletes the snapshot row. */
  #isRemoved({ source, row }: RowPlace): boolean {
    if (!this.#hasRemovals) return false;
    this.lay();
    return source instanceof CoreMemtable
      ? this.#hiddenRows.get(source)?.has(row) === true
      : this.#hiddenSegments.get(source)?.isDead(row, this.snapshot.lsn) === true;
  }

  // The overlay for reads

  /**
   * Returns the overlay, or undefined if nothing is staged for the table. The overlay is valid
   * until another operation is staged. Throws `table_corrupt`.
   */
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

  /**
   * Applies at most `limit` more operations to the overlay; returns true once all are applied.
   * Throws `table_corrupt`.
   */
  lay(limit = Infinity): boolean {
    const staged = this.#staged;
    const end = Math.min(staged.length, this.#laid + limit);
    for (; this.#laid < end; this.#laid++) {
      const place = this.#laid;
      if (staged.tableAt(place) !== this.table) continue;
      const kind = staged.kindAt(place);
      if (kind === STAGED.removal) this.#hideMatches(place);
      else if (kind !== STAGED.insert && kind !== STAGED.birth) this.#hide(place);
      if (kind === STAGED.insert || kind === STAGED.birth || kind === STAGED.update)
        this.#append(bytesOf(staged.recordAt(place)), place + 1);
    }
    // Sorts after each call with a limit, because sorting a million rows at once would block the
    // event loop noticeably.
    if (limit !== Infinity) this.memtable?.sort();
    assert(this.#laid <= staged.length, 'no more is laid over a snapshot than is staged');
    return end === staged.length;
  }

  #append(record: Uint8Array, place: number): void {
    const { context, bucketSeconds } = this.table;
    this.memtable ??= CoreMemtable.alone(context.residency.instance(), bucketSeconds, 0);
    this.memtable.append(this.memtable.reserve(record.length, 1), record, 1, place);
  }

  /** Hides the row that an operation removes or replaces. */
  #hide(place: number): void {
    const { memtable } = this;
    if (this.#staged.ownTargetAt(place) >= 0) {
      const { eventTs, id } = this.#staged.targetKeyAt(place);
      const row = memtable!.find(eventTs, id);
      assert(row >= 0, 'an own row that is changed is alive');
      memtable!.kill(row, place + 1);
      return;
    }
    const { source, row } = this.#staged.targetAt(place);
    if (source instanceof CoreMemtable) this.#hiddenOf(source).add(row);
    else this.#deadOf(source).hide(row);
  }

  #hideMatches(place: number): void {
    const eventTs = this.#staged.timeAt(place);
    const record = bytesOf(this.#staged.recordAt(place));
    const { memtable, table } = this;
    for (const row of memtable?.match(record, Infinity) ?? []) memtable!.kill(row, place + 1);
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

  // Rewind and release

  /**
   * Discards derived state that includes operations from `mark` on, which are no longer staged. The
   * state is rebuilt when needed.
   */
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

function bytesOf({ chunk, from, to }: KeptBytes): Uint8Array {
  return chunk.subarray(from, to);
}
