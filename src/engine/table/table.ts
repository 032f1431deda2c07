// A table: holds its definition and its current version. All writes and reads of its rows go
// through this class.
//
// Invariants: every row in a memtable has an LSN above appliedLsn, and the memtables contain what a
// replay of the log's operations after appliedLsn would produce. An id is assigned once and an
// update keeps it: at every LSN at most one row with a given id is alive. A row dies only once.

import { assert } from '../../assert.ts';
import type { CoreMemtable, KeyForm, ResidentSegment, RowPlan, TextSink } from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';
import { FORMAT_MAX_MEMBERS } from '../../limits.ts';
import type { ColumnSet } from '../../model/columns.ts';
import { type CheckedEdge, checkKey, type MemberInput } from '../../model/edge.ts';
import type { Attach } from '../../model/kept-answer.ts';
import { RoleSet } from '../../model/roles.ts';
import { columnsOf, type TableDefinition } from '../catalog/catalog.ts';
import type { EngineContext } from '../context.ts';
import type { NodeFinder, NodeKind, TimeAndSet } from '../nodes/node-directory.ts';
import { Scan } from '../scan/scan.ts';
import { checkScanRequest } from '../scan/scan-request.ts';
import { SegmentScan } from '../scan/scan-segments.ts';
import { rowsInMemory, type ScanOverlay, type ScanSource, type ScanView } from '../scan/scan-view.ts';
import type {
  DeleteOutcome,
  DeleteResult,
  EdgeInput,
  InsertOutcome,
  InsertResult,
  ScanBounds,
  ScanRequest,
  TableItem,
} from '../types.ts';
import { BulkInsert } from '../write/bulk-insert.ts';
import { deleteEdges, insertEdge } from '../write/edge-writes.ts';
import { EdgeBatches } from './edge-batches.ts';
import { planOf } from './row-plan-of.ts';
import { RowUpdates } from './row-updates.ts';
import { asCorruption, type SegmentFile } from './segment-file.ts';
import { Snapshot } from './snapshot.ts';
import * as statistics from './statistics.ts';
import { tableItem } from './table-item.ts';
import { assertChange, type TableChange, type TableState } from './table-state.ts';
import { UnseenRows } from './unseen-rows.ts';
import { type MemtableEntry, Version } from './version.ts';

/**
 * A memtable receives rows only while their LSNs are less than this far above its base LSN. It
 * stores LSNs as 32-bit offsets, and one commit has fewer than 2^30 LSNs.
 */
const MOST_LSNS = 2 ** 31;
/** `scanApart` reads the rows in memtables separately if there are at least this many. */
const APART_ROWS = 64;

/** Gives write access to fields that change with every row. `change` makes all other changes. */
function writable(table: TableState): { -readonly [name in keyof TableState]: TableState[name] } {
  return table;
}

export class Table implements ScanSource, TableState {
  definition: TableDefinition;
  columns: ColumnSet;
  readonly roles: RoleSet;
  rowPlan: RowPlan;
  version: Version;
  readonly nextId: number = 1;
  readonly appliedLsn: number = 0;
  readonly nextSegment: number = 1;
  readonly expirations: number = 0;
  readonly unlogged: TableState['unlogged'] = undefined;
  readonly pending: number = 0;
  readonly pendingTombstones: number = 0;
  readonly retryPending: number = 0;
  readonly corrupt: HedgerowError | null = null;
  readonly unopened: TableState['unopened'] = undefined;
  readonly held: TableState['held'] = [];
  readonly dropped: boolean = false;
  readonly unmarked: TableState['unmarked'] = undefined;
  readonly shapeLsn: number = 0;
  readonly openSnapshots: number = 0;
  readonly filters: TableState['filters'] = undefined;
  readonly compacting: TableState['compacting'] = undefined;
  /**
   * Newest LSN that changed the rows or the definition, durable or not; after a restart, the LSN
   * reached by recovery.
   */
  #stagedLsn = 0;
  /** Recent updates of rows, at least those that some open transaction does not see. */
  readonly updates = new RowUpdates();
  readonly #unseen = new UnseenRows();
  /** Row count before the frame that is being applied in slices. */
  #heldRows: number | undefined;
  readonly context: EngineContext;
  readonly batches = new EdgeBatches(this);

  /**
   * `state` contains the fields, taken from the manifest or the log, that differ from the fields of
   * a new table.
   */
  constructor(context: EngineContext, definition: TableDefinition, state: TableChange = {}) {
    Object.assign(this, state);
    this.context = context;
    this.definition = definition;
    this.columns = columnsOf(definition);
    this.roles = RoleSet.of(definition.roles);
    this.rowPlan = planOf(this.columns, definition);
    this.version = new Version([], [], definition.bucketSeconds);
  }

  /**
   * Changes the state of the table. This is the only way to do so, except for numbers that change
   * with every row or read: ids, operations, snapshots.
   */
  change(change: TableChange): void {
    assertChange(this, change, change.appliedLsn === undefined ? 0 : this.context.committer.headLsn);
    Object.assign(this, change);
  }

  /**
   * Makes the table refuse all requests from now on, because one of its files is corrupt. If called
   * several times, the first reason is kept.
   */
  refuse(reason: HedgerowError): void {
    this.change({ corrupt: this.corrupt ?? reason });
  }

  /** Counts a snapshot that was taken (1) or released (-1). Called for every read. */
  countSnapshot(by: 1 | -1): void {
    writable(this).openSnapshots += by;
    assert(this.openSnapshots >= 0, 'a snapshot was released twice');
  }

  /** Assigns the ids of `count` rows; returns the first one. */
  takeIds(count: number): number {
    const first = this.nextId;
    assert(count > 0 && first + count <= Number.MAX_SAFE_INTEGER, 'ids are safe integers, one or more at a time');
    writable(this).nextId += count;
    return first;
  }

  /**
   * Makes ids available again that were not used, if they are the last ones assigned. After a
   * failure of the log they are not used again, because they may be in the log.
   */
  giveBackIds(first: number, count: number): void {
    if (this.nextId === first + count && this.context.committer.failed === null) writable(this).nextId = first;
  }

  get id(): number {
    return this.definition.id;
  }

  get name(): string {
    return this.definition.name;
  }

  get bucketSeconds(): number {
    return this.definition.bucketSeconds;
  }

  get isOfNodes(): boolean {
    return this.definition.key !== undefined;
  }

  get kinds(): readonly NodeKind[] | undefined {
    return this.context.nodes.kindsOf(this.definition);
  }

  get maxMembers(): number {
    return this.context.maxMembers;
  }

  get isPrimary(): boolean {
    return this.name.toLowerCase() === this.context.primaryTable.toLowerCase();
  }

  get dir(): string {
    return `${this.context.tablesDir}/${this.id}`;
  }

  /**
   * Number of live rows visible to readers. Changes that readers do not see yet are not included.
   */
  get rowCount(): number {
    if (this.#heldRows !== undefined) return this.#heldRows;
    let rows = this.version.segmentRows - this.#unseen.above(this.context.committer.visibleLsn);
    for (const { dead } of this.version.segments) rows -= dead.count;
    rows -= this.unmarked?.rows ?? 0;
    for (const { memtable } of this.version.memtables) rows += memtable.rows - memtable.deadRows;
    return rows;
  }

  /**
   * Records that a frame being applied adds `rows` live rows, or removes them if `rows` is
   * negative. `lsn` is the LSN of the frame's last operation.
   */
  changeRows(lsn: number, rows: number): void {
    if (rows !== 0) this.#unseen.add(lsn, rows, this.context.committer.visibleLsn);
  }

  /** Freezes the row count before a frame is applied in slices, until `letGo`. */
  hold(): void {
    assert(this.#heldRows === undefined, 'one frame at a time is applied in slices to a table');
    this.#heldRows = this.rowCount;
  }

  letGo(): void {
    this.#heldRows = undefined;
  }

  get memtableBytes(): number {
    let bytes = 0;
    for (const { memtable } of this.version.memtables) bytes += memtable.residentBytes;
    return bytes;
  }

  /** Sets a new definition. Scans that have begun keep their columns. */
  define(definition: TableDefinition): void {
    assert(definition.id === this.definition.id, 'a table keeps its id');
    const { columns } = this.definition;
    this.definition = definition;
    if (columns === definition.columns) return;
    this.columns = columnsOf(definition);
    this.rowPlan = planOf(this.columns, definition);
  }

  item(withDefaults = false): TableItem {
    return tableItem(this.definition, this.rowCount, this.isPrimary, withDefaults);
  }

  /** Records that operations up to `lsn` changed this table. */
  changed(lsn: number): void {
    // The LSN may be lower than the last one: a catalog change is applied only when it is visible,
    // and by then there may be rows with greater LSNs.
    this.#stagedLsn = Math.max(this.#stagedLsn, lsn);
  }

  /**
   * An LSN at which the table had the state that reads see now; at least the LSN of the last
   * visible change. If the value is equal at two moments, nothing has changed in between, except
   * that a compaction with a TTL may have dropped rows (`contentTag` includes that).
   */
  get changedLsn(): number {
    return Math.min(this.#stagedLsn, this.context.committer.visibleLsn);
  }

  /**
   * If this text is equal at two moments, even across restarts, reads of the newest state see the
   * same rows and the same definition at both.
   */
  get contentTag(): string {
    return `${this.id}-${this.changedLsn}-${this.expirations}`;
  }

  /**
   * Throws `table_not_found` if the table was dropped, or `table_corrupt` if one of its files is
   * corrupt. Throws `overloaded` while late deaths cannot be marked (`unmarked`). A reader with a
   * snapshot may still read a table that was dropped.
   */
  assertUsable(snapshot?: Snapshot): void {
    this.unmarked?.mark();
    if (this.dropped && snapshot === undefined)
      throw new HedgerowError('table_not_found', `Table ${this.name} was dropped.`);
    if (this.corrupt !== null) {
      throw new HedgerowError(
        'table_corrupt',
        `Table ${this.name} refuses requests: ${this.corrupt.message}`,
        this.corrupt.fields ? { fields: this.corrupt.fields } : {},
      );
    }
  }

  /**
   * Returns the segment in memory, after loading it if necessary. If its file is corrupt, throws
   * `table_corrupt`, and the table refuses all requests from now on.
   */
  resident(segment: SegmentFile): ResidentSegment {
    return this.residentBy(segment, Infinity)!;
  }

  /** Like `resident`, but loads only until `untilUs`, see `Residency.get`. */
  residentBy(segment: SegmentFile, untilUs: number): ResidentSegment | undefined {
    try {
      return this.context.residency.get(segment, untilUs);
    } catch (error) {
      this.refuse(asCorruption(error, segment.path));
      this.assertUsable();
      throw error;
    }
  }

  isResident(segment: SegmentFile): boolean {
    return this.context.residency.has(segment);
  }

  // Writes

  /**
   * Inserts one edge; resolves when it is durable. Rejects with `empty_members`,
   * `too_many_members`, `unknown_column`, `invalid_input`, `log_failed` or `disk_full`.
   */
  insert(edge: EdgeInput | CheckedEdge, attach?: Attach<InsertOutcome>): Promise<InsertResult> {
    return insertEdge(this, edge, attach);
  }

  bulk(): BulkInsert {
    this.context.committer.assertLeads();
    this.assertUsable();
    return new BulkInsert(this);
  }

  /**
   * Deletes every live edge with this time and member set; resolves when the deletion is durable.
   */
  delete(eventTs: number, members: readonly MemberInput[], attach?: Attach<DeleteOutcome>): Promise<DeleteResult> {
    return deleteEdges(this, eventTs, members, attach);
  }

  /**
   * Returns the checked time and member set of edges to remove; the number of a key that no node
   * has is negative.
   */
  keyOf(eventTs: number, given: readonly MemberInput[], finder: NodeFinder = this.context.nodes): TimeAndSet {
    const { event_ts, members, refs } = checkKey(eventTs, given, FORMAT_MAX_MEMBERS, this.kinds);
    return { event_ts, members: refs === undefined ? members : this.context.nodes.known(this, refs, finder) };
  }

  encodeTombstone(eventTs: number, members: readonly number[]): Uint8Array {
    const { batch } = this.context;
    batch.add(eventTs, members, null);
    return batch.encode(0, FORMAT_MAX_MEMBERS).slice();
  }

  /** Adds to the number of pending operations, and to that of pending deletions. */
  countOperations(operations: number, tombstones: number): void {
    assert(operations >= tombstones && tombstones >= 0, 'deletes are some of the operations');
    writable(this).pending += operations;
    writable(this).pendingTombstones += tombstones;
  }

  /**
   * Returns the memtable for the next `rows` rows: the last one or, if that is full or its base LSN
   * is too far below `baseLsn`, a new one. `baseLsn` is the newest LSN before the rows. Throws
   * `overloaded`.
   */
  writableMemtable(rows = 1, baseLsn: number = this.context.committer.headLsn): CoreMemtable {
    const last = this.version.memtables[this.version.memtables.length - 1];
    const isNear = last !== undefined && baseLsn - last.baseLsn < MOST_LSNS;
    if (isNear && this.context.memtables.takes(last.memtable, rows)) return last.memtable;
    return this.rotateMemtable(baseLsn, rows);
  }

  rotateMemtable(baseLsn: number, rows = 1): CoreMemtable {
    const { segments, memtables, sinceLsn } = this.version;
    const memtable = this.context.memtables.make(this.bucketSeconds, baseLsn, rows, memtables.at(-1)?.memtable);
    const entry: MemtableEntry = { memtable, baseLsn, references: 0 };
    this.install(new Version(segments, [...memtables, entry], this.bucketSeconds, sinceLsn));
    return memtable;
  }

  // Reads

  /** Makes `version` the current version. */
  install(version: Version): void {
    const old = this.version;
    assert(version !== old && version.references === 1, 'a new version becomes the current one');
    this.version = version;
    this.unpin(old);
    this.context.pinned.replaced(this, old);
  }

  pin(): Version {
    assert(this.version.references > 0, 'the current version is there');
    this.version.references++;
    return this.version;
  }

  /**
   * Releases a version. Removes the files of segments, and frees memtables, that no version
   * contains any more.
   */
  unpin(version: Version): void {
    assert(version.references > 0, 'a version is given back once for each time it was taken');
    if (--version.references > 0) {
      if (this.dropped && version === this.version) this.context.pinned.replaced(this, version);
      return;
    }
    this.context.pinned.released(version);
    for (const segment of version.segments) {
      assert(segment.references > 0, 'a version holds the segments that it counts');
      if (--segment.references > 0) continue;
      this.context.residency.drop(segment);
      void this.context.fs.remove(segment.path).catch(() => undefined);
    }
    for (const entry of version.memtables) {
      assert(entry.references > 0, 'a version holds the memtables that it counts');
      if (--entry.references === 0) this.context.memtables.release(entry.memtable);
    }
  }

  snapshot(): Snapshot {
    this.assertUsable();
    return new Snapshot(this, this.pin(), this.context.committer.visibleLsn);
  }

  /**
   * Returns a scan of live rows in (event_ts, id) order; without a snapshot, of the newest visible
   * state. Throws `table_corrupt`, `table_not_found` (dropped), `unknown_column` or
   * `invalid_input`.
   */
  scan(request: ScanRequest, snapshot?: Snapshot, overlay?: ScanOverlay): Scan {
    this.assertUsable(snapshot);
    const ranges = checkScanRequest(request, this, snapshot?.columns);
    const view = this.#view(snapshot, overlay);
    view.version.references++;
    return new Scan(this, view, request, ranges);
  }

  /**
   * Like `scan`, but returns two scans: one of the rows in segments, one of the rows in memtables.
   * Returns undefined if there are no segments or few rows in memtables, because then `scan` rarely
   * switches between the two.
   */
  scanApart(request: ScanRequest, snapshot?: Snapshot, overlay?: ScanOverlay): readonly [Scan, Scan] | undefined {
    this.assertUsable(snapshot);
    const ranges = checkScanRequest(request, this, snapshot?.columns);
    const view = this.#view(snapshot, overlay);
    if (view.version.segments.length === 0 || rowsInMemory(view) < APART_ROWS) return undefined;
    view.version.references += 2;
    return [
      new Scan(this, view, request, ranges, { segments: undefined, memtables: false }),
      new Scan(this, view, request, ranges, { segments: [], memtables: true }),
    ];
  }

  /**
   * Returns a scan that reads segment by segment, for a request without nodes, limit and cursor.
   * Throws like `scan`.
   */
  segmentScan(request: ScanBounds, snapshot?: Snapshot, overlay?: ScanOverlay): SegmentScan {
    this.assertUsable(snapshot);
    const ranges = checkScanRequest(request, this, snapshot?.columns);
    const view = this.#view(snapshot, overlay);
    view.version.references++;
    return new SegmentScan(this, view, request, ranges);
  }

  /**
   * Estimates how many rows a scan of the request would find and how many buckets it would read;
   * reads no rows. Throws like `scan`.
   */
  estimate(request: ScanBounds, snapshot?: Snapshot, overlay?: ScanOverlay): statistics.ScanEstimate {
    this.assertUsable(snapshot);
    const ranges = checkScanRequest(request, this, snapshot?.columns);
    return statistics.estimateScan(this, this.#view(snapshot, overlay), request, ranges);
  }

  /** Returns the number of live rows in a window, without reading rows. Throws `table_corrupt`. */
  count(window: statistics.Window, snapshot?: Snapshot, overlay?: ScanOverlay): number {
    this.assertUsable(snapshot);
    return statistics.countRows(this, this.#view(snapshot, overlay), window);
  }

  /** Returns the ends of the times of the live rows in a window. Throws `table_corrupt`. */
  timeBounds(window: statistics.Window, snapshot?: Snapshot, overlay?: ScanOverlay): statistics.TimeBounds | undefined {
    this.assertUsable(snapshot);
    return statistics.timeBounds(this, this.#view(snapshot, overlay), window);
  }

  /** Loads what `count` and `timeBounds` read for a few ms; returns true when it is in memory. */
  loadEnds(window: statistics.Window, snapshot?: Snapshot): boolean {
    this.assertUsable(snapshot);
    return statistics.loadEnds(this, this.#view(snapshot, undefined), window);
  }

  /**
   * Returns a view that is not pinned: it is valid as long as the snapshot or, without one, in this
   * event loop turn.
   */
  #view(snapshot: Snapshot | undefined, overlay: ScanOverlay | undefined): ScanView {
    const version = snapshot === undefined ? this.version : snapshot.version;
    return { version, lsn: snapshot === undefined ? this.context.committer.visibleLsn : snapshot.lsn, overlay };
  }

  candidates(version: Version, nodes: readonly number[]): Uint32Array | undefined {
    return version === this.version ? this.filters?.probe(nodes) : undefined;
  }

  scanSink(keys: KeyForm | undefined): TextSink {
    const sink = keys === undefined ? this.context.sink : this.context.nodes.sink(keys);
    sink.clear();
    return sink;
  }

  get nowUs(): () => number {
    return this.context.nowUs;
  }
}
