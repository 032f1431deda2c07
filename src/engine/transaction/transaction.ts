// A transaction: stages writes, reads one snapshot per table together with its own writes, and
// commits everything as one log frame.

import { assert } from '../../assert.ts';
import { HedgerowError } from '../../errors.ts';
import { type CheckedEdge, checkEdge, type MemberInput, withNumbers } from '../../model/edge.ts';
import type { Attach } from '../../model/kept-answer.ts';
import type { NodeKey } from '../../model/node-refs.ts';
import { finish, type Steps } from '../../schedule/steps.ts';
import type { EngineContext } from '../context.ts';
import { assertKeyKept, createdMeanwhile, keyIn, nodeExists } from '../nodes/node-rows.ts';
import { TransactionNodes } from '../nodes/transaction-nodes.ts';
import type { Scan } from '../scan/scan.ts';
import type { ScanOverlay } from '../scan/scan-view.ts';
import { RowRoom } from '../table/row-room.ts';
import { Snapshot } from '../table/snapshot.ts';
import type { Table } from '../table/table.ts';
import { Version } from '../table/version.ts';
import type { EdgeInput, EdgeRow, PropertyValue, RowKey, ScanRequest } from '../types.ts';
import { ByteArena } from '../write/byte-arena.ts';
import { rowOf } from '../write/edge.ts';
import { propertyBytes } from '../write/edge-writes.ts';
import { commitInSlices, isLarge } from '../write/large-commit.ts';
import { outcomeAt, outcomesOf, resultsOf } from './outcomes.ts';
import type { CommitOutcome, CommitResult, StagedTarget } from './staged.ts';
import { type KeptBytes, StagedList } from './staged-list.ts';
import { applyPlan, assertUnchanged, type CommitPlan, planCommit, takeRoom } from './transaction-commit.ts';
import { TransactionTable } from './transaction-table.ts';

/** A position in the list of staged operations. */
export type Mark = number;

/**
 * Estimated memory in bytes of an operation (without its record), and of a row kept as a result: a
 * fixed part plus 2 per byte of the record, because a character of a string takes two bytes.
 */
const BYTES_OF_OPERATION = 64;
const BYTES_OF_ROW = 300;
const ROW_BYTES_OF_RECORD = 2;

export class Transaction {
  readonly #context: EngineContext;
  readonly #staged = new StagedList();
  readonly #records = new ByteArena();
  readonly #tables = new Map<Table, TransactionTable>();
  readonly #isPinned: boolean;
  readonly nodes: TransactionNodes;
  /**
   * Total size of the records in bytes (they are kept until the transaction ends, even after a
   * rewind), and estimated memory in bytes of the operations that are staged.
   */
  #recordBytes = 0;
  #stagedBytes = 0;
  /** Value of `#stagedBytes` at each mark, in order. */
  readonly #marks: { mark: Mark; stagedBytes: number }[] = [];
  /**
   * Index of the operation staged by the first `changeRow`, whose new row is not kept; Infinity if
   * there is none.
   */
  #forgetsFrom = Infinity;
  /**
   * All reads see at least the state at this LSN. In a pinned transaction, all snapshots have this
   * LSN.
   */
  readonly lsn: number;
  #ended = false;

  /**
   * `pinned` contains the tables whose snapshots are taken now; tables created later appear empty.
   * If it is omitted, each snapshot is taken on first use.
   */
  constructor(context: EngineContext, pinned?: Iterable<Table>) {
    this.#context = context;
    this.lsn = context.committer.visibleLsn;
    this.#isPinned = pinned !== undefined;
    this.nodes = new TransactionNodes(context, pinned && this.lsn);
    try {
      for (const table of pinned ?? []) if (table.corrupt === null) this.#look(table, table.snapshot());
    } catch (error) {
      this.#release();
      throw error;
    }
  }

  #assertOpen(): void {
    if (this.#ended) throw new HedgerowError('invalid_input', 'The transaction has ended; begin a new one.');
  }

  /**
   * Throws if the transaction cannot write to the table. In a pinned transaction, also makes sure
   * that there is a snapshot of the table.
   */
  #assertWrites(table: Table): void {
    this.#assertOpen();
    table.assertUsable();
    if (this.#isPinned) this.#seen(table);
  }

  /** Number of operations staged so far. */
  get operations(): number {
    return this.#staged.length;
  }

  /** Approximate memory in bytes that the transaction holds until it ends. */
  get heldBytes(): number {
    return this.#recordBytes + this.#stagedBytes;
  }

  // Writes

  /**
   * Stages an insert; the edge gets its id now. Throws the errors of `Table.insert`, without
   * changing the transaction.
   */
  insert(table: Table, given: EdgeInput | CheckedEdge): EdgeRow {
    this.#assertWrites(table);
    assert(!table.isOfNodes, 'nodes are written by writeNode');
    const id = table.nextId;
    const edge = this.#numbered(table, checkEdge(given, table));
    const record = this.#keep(table, id, edge);
    this.#bear(table, edge);
    table.takeIds(1);
    const row = rowOf(table, id, edge);
    this.#staged.insert(table, record, row);
    this.#countRow(record);
    return row;
  }

  /** Finds the numbers of an edge's members in a named table; those of new nodes are held. */
  #numbered(table: Table, edge: CheckedEdge): CheckedEdge {
    if (table.kinds === undefined) return edge;
    this.nodes.begin();
    const { refs, members } = edge;
    const numbers = refs === undefined ? members : this.nodes.resolve(table, refs);
    this.nodes.assertKept(table, numbers);
    return refs === undefined ? edge : withNumbers(edge, numbers);
  }

  /** Stages the creation of the new nodes that an edge takes. Its record has been encoded. */
  #bear({ kinds }: Table, { members }: CheckedEdge): void {
    const { nodes } = this.#context;
    for (const number of kinds === undefined ? [] : members) {
      if (nodes.keys.isLive(number) || this.nodes.isBorn(number)) continue;
      const { table, slot, keyColumn } = nodes.kindOfNumber(number)!;
      this.#assertWrites(table);
      this.nodes.bear(number, this.#staged.length);
      this.#staged.birth(table, this.#kept(nodes.keys.records(Uint32Array.of(number), slot, keyColumn)), number);
      this.#stagedBytes += BYTES_OF_OPERATION;
    }
  }

  #keep(table: Table, id: number, edge: CheckedEdge): KeptBytes {
    const { batch } = this.#context;
    batch.add(edge.event_ts, edge.members, propertyBytes(edge), edge.masks);
    return this.#kept(batch.encode(id, table.maxMembers));
  }

  #kept(record: Uint8Array): KeptBytes {
    this.#recordBytes += record.length;
    return this.#records.keep(record);
  }

  #countRow({ from, to }: KeptBytes): void {
    this.#stagedBytes += BYTES_OF_OPERATION + BYTES_OF_ROW + ROW_BYTES_OF_RECORD * (to - from);
  }

  /**
   * Stages the removal of all edges with this time and member set that are live at the commit. Not
   * allowed after `changeRow`.
   */
  delete(table: Table, eventTs: number, members: readonly MemberInput[]): void {
    this.#assertWrites(table);
    assert(this.#forgetsFrom === Infinity, 'no removal by time and members follows a changeRow');
    const key = table.keyOf(eventTs, members, this.nodes);
    const record = table.encodeTombstone(key.event_ts, key.members);
    this.#staged.removal(table, key.event_ts, key.members, record);
    this.#recordBytes += record.length;
    this.#stagedBytes += BYTES_OF_OPERATION + BYTES_OF_ROW;
  }

  /**
   * Stages the removal of one row that the transaction sees. Throws `invalid_input` if it sees no
   * such row, and `node_in_use` for a node that is a member of live edges.
   */
  deleteRow(table: Table, key: RowKey): void {
    const target = this.#target(table, key);
    if (table.isOfNodes) {
      this.nodes.assertFree(table, key.id, this);
      this.nodes.bury(key.id, this.#staged.length);
    }
    this.#staged.deletion(table, target);
    this.#stagedBytes += BYTES_OF_OPERATION;
  }

  /**
   * Stages new content for one row that the transaction sees. The id stays; everything else may
   * change. Throws the errors of `deleteRow` and `insert`.
   */
  updateRow(table: Table, key: RowKey, edge: EdgeInput): EdgeRow {
    return this.#update(table, key, edge, (id, checked) => rowOf(table, id, checked));
  }

  /**
   * Like `updateRow`, for statements that change very many rows: the new rows are not kept, so the
   * commit's `results` are not available.
   */
  changeRow(table: Table, key: RowKey, edge: EdgeInput): void {
    this.#update(table, key, edge, () => undefined);
    this.#forgetsFrom = Math.min(this.#forgetsFrom, this.#staged.length - 1);
  }

  #update<R extends EdgeRow | undefined>(
    table: Table,
    key: RowKey,
    given: EdgeInput,
    answer: (id: number, edge: CheckedEdge) => R,
  ): R {
    const target = this.#target(table, key);
    const { id } = target;
    if (table.isOfNodes) assertKeyKept(table, id, given);
    const edge = this.#numbered(table, checkEdge(given, table));
    const record = this.#keep(table, id, edge);
    this.#bear(table, edge);
    const row = answer(id, edge);
    this.#staged.update(table, target, edge.event_ts, record, row);
    if (row === undefined) this.#stagedBytes += BYTES_OF_OPERATION;
    else this.#countRow(record);
    return row;
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

  /**
   * Throws `conflict` if the table was dropped, or its columns or name were changed, since the
   * transaction first read it. Such a transaction can no longer commit.
   */
  assertUnaltered(table: Table): void {
    assertUnchanged(table, this.#tables.get(table)?.snapshot);
  }

  /** Returns the current position, for `rewind`. */
  mark(): Mark {
    this.#assertOpen();
    const mark = this.#staged.length;
    assert((this.#marks.at(-1)?.mark ?? 0) <= mark, 'marks are ascending');
    if (this.#marks.at(-1)?.mark !== mark) this.#marks.push({ mark, stagedBytes: this.#stagedBytes });
    return mark;
  }

  /**
   * Applies staged operations to the overlays used by reads, at most `limit` per table. Returns
   * true once all overlays are up to date. A read applies all remaining operations itself, however
   * long that takes.
   */
  prepareReads(limit: number): boolean {
    this.#assertOpen();
    let ready = true;
    for (const seen of this.#tables.values()) if (!seen.lay(limit)) ready = false;
    return ready;
  }

  /** Discards the operations staged since the mark. Ids already assigned are not reused. */
  rewind(mark: Mark): void {
    this.#assertOpen();
    assert(mark <= this.#staged.length, 'a transaction is taken back to where it has been');
    this.#staged.cut(mark);
    if (this.#forgetsFrom >= mark) this.#forgetsFrom = Infinity;
    while (this.#marks.length > 0 && this.#marks.at(-1)!.mark > mark) this.#marks.pop();
    this.#stagedBytes = this.#marks.at(-1)?.stagedBytes ?? 0;
    this.nodes.rewind(mark);
    for (const seen of this.#tables.values()) seen.rewind(mark);
  }

  /**
   * Stages a new node; `properties` holds its key and its attributes by column name. Throws
   * `node_exists` if the transaction sees a node with this key, and the errors of `insert`.
   */
  insertNode(table: Table, properties: Readonly<Record<string, PropertyValue | undefined>>): EdgeRow {
    this.#assertWrites(table);
    const { nodes } = this.#context;
    const kind = nodes.kindOf(table);
    const key = keyIn(table, properties);
    this.nodes.assertThere(kind, key);
    const known = nodes.keys.find(kind.slot, key);
    if (known !== 0 && this.nodes.isDead(known)) throw this.nodes.deletedHere(table, known);
    if (known !== 0 && (nodes.keys.isLive(known) || this.nodes.isBorn(known))) throw nodeExists(table, key);
    const number = nodes.hold(kind, key);
    this.nodes.held.push(number);
    const edge = checkEdge({ event_ts: number, members: [number], properties }, table);
    const record = this.#keep(table, number, edge);
    const row = rowOf(table, number, edge);
    this.nodes.bear(number, this.#staged.length);
    this.#staged.insert(table, record, row, number);
    this.#countRow(record);
    return row;
  }

  /**
   * Returns the number of the node with this key, 0 if there is none. Throws `conflict` if another
   * commit has created or deleted the node since the transaction began.
   */
  findNode(table: Table, key: NodeKey): number {
    this.#assertWrites(table);
    const number = this.nodes.findThere(this.#context.nodes.kindOf(table), key);
    if (number === 0 || this.nodes.isDead(number)) return 0;
    if (this.#seen(table).find({ eventTs: number, id: number }) === undefined) throw createdMeanwhile(table, key);
    return number;
  }

  /** Whether the transaction has deleted or changed an edge that is live in the newest state. */
  isChanged(table: Table, key: RowKey): boolean {
    return this.#seen(table).isChanged(key);
  }

  /** Whether the transaction sees an edge of which a node is a member. */
  seesEdge(table: Table, number: number): boolean {
    const seen = this.#seen(table);
    const scan = table.scan({ format: 'json', nodes: [number], limit: 1 }, seen.snapshot, seen.overlay());
    try {
      while (scan.borrowNext() !== null);
      return scan.rows > 0;
    } finally {
      scan.close();
    }
  }

  // Reads

  /**
   * Scans the rows as the transaction sees them: the snapshot plus the transaction's own writes.
   */
  scan(table: Table, request: ScanRequest): Scan {
    return table.scan(request, this.snapshotOf(table), this.overlayOf(table));
  }

  /** Returns the table's snapshot, the same one on every call. The transaction releases it. */
  snapshotOf(table: Table): Snapshot {
    this.#assertOpen();
    return this.#seen(table).snapshot;
  }

  /**
   * Returns the transaction's own writes as an overlay on the snapshot, or undefined if there are
   * none. The overlay is valid until another operation is staged.
   */
  overlayOf(table: Table): ScanOverlay | undefined {
    this.#assertOpen();
    return this.#seen(table).overlay();
  }

  #seen(table: Table): TransactionTable {
    const known = this.#tables.get(table);
    if (known !== undefined) return known;
    if (!this.#isPinned) return this.#look(table, table.snapshot());
    table.assertUsable();
    // The table was created after the transaction began.
    const seen = new TransactionTable(table, emptySnapshot(table, this.lsn), this.#staged);
    this.#tables.set(table, seen);
    return seen;
  }

  #look(table: Table, snapshot: Snapshot): TransactionTable {
    const seen = new TransactionTable(table, snapshot, this.#staged);
    this.#tables.set(table, seen);
    table.updates.watch(snapshot);
    return seen;
  }

  // Commit and rollback

  /**
   * Commits all staged operations as one frame; resolves when the frame is durable. Rejects with
   * `conflict` if, since the snapshot, another commit changed a row that this transaction changes
   * by id, or altered a table of this transaction. After any error the transaction has ended and
   * readers see none of its changes. If the log failed, a restart may find the frame in the log and
   * apply it.
   */
  async commit(attach?: Attach<CommitOutcome>): Promise<CommitResult> {
    this.#assertOpen();
    this.#ended = true;
    if (isLarge(this.#staged, this.#recordBytes, this.#context.slicedOperations)) return this.#commitInSlices(attach);
    const { durable, result } = await this.#whenFree(() => this.#commitAtOnce(attach));
    await durable;
    return result();
  }

  /**
   * Like `Committer.write`, but also releases the snapshots as soon as `stage` has run. If
   * possible, the frame is sent to the log in the turn of this call.
   */
  #whenFree<T>(stage: () => T): T | Promise<T> {
    let staged: T | Promise<T>;
    try {
      staged = this.#context.committer.write(stage);
    } catch (error) {
      this.#release();
      throw error;
    }
    if (staged instanceof Promise) return staged.finally(() => this.#release());
    this.#release();
    return staged;
  }

  #commitAtOnce(attach: Attach<CommitOutcome> | undefined): { durable: Promise<void>; result: () => CommitResult } {
    const { committer, afterCommit } = this.#context;
    const plan = finish(this.#plan());
    const { operations, parts, tables } = plan;
    const entry = attach?.(outcomeOf(plan));
    if (operations === 0 && entry === undefined) {
      const { visibleLsn: lsn } = committer;
      return { durable: Promise.resolve(), result: () => ({ ...outcomeOf(plan), lsn, results: [] }) };
    }
    const room = new RowRoom();
    const apply = (firstLsn: number) => finish(applyPlan(plan, room, firstLsn));
    try {
      finish(takeRoom(plan, room));
      const { firstLsn, durable } = committer.commit(operations, parts, { entry, apply });
      for (const table of tables) afterCommit(table.id);
      const lsn = operations === 0 ? firstLsn : firstLsn + operations - 1;
      return { durable, result: () => this.#committed(plan, firstLsn, lsn) };
    } catch (error) {
      room.giveBack();
      throw error;
    }
  }

  async #commitInSlices(attach: Attach<CommitOutcome> | undefined): Promise<CommitResult> {
    try {
      const { plan, firstLsn, lastLsn } = await commitInSlices<CommitPlan>(this.#context, {
        killsRows: this.#staged.killsRows,
        plan: (room) => this.#planWithRoom(room),
        entryOf: (made) => attach?.(outcomeOf(made)),
        apply: applyPlan,
      });
      return this.#committed(plan, firstLsn, lastLsn);
    } finally {
      this.#release();
    }
  }

  *#plan(): Steps<CommitPlan> {
    yield* this.nodes.check(this.#staged, this);
    return yield* planCommit(this.#staged, (table) => this.#tables.get(table)?.snapshot);
  }

  *#planWithRoom(room: RowRoom): Steps<CommitPlan> {
    const plan = yield* this.#plan();
    yield* takeRoom(plan, room);
    return plan;
  }

  #committed(plan: CommitPlan, firstLsn: number, lsn: number): CommitResult {
    for (const table of plan.tables) table.updates.forget(this.#context.committer.visibleLsn);
    return {
      lsn,
      // Computed on access, because large statements never need the results.
      get results() {
        return resultsOf(plan, firstLsn);
      },
      outcomeAt: (operation) => outcomeAt(plan, operation),
    };
  }

  rollback(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#release();
  }

  #release(): void {
    this.nodes.release();
    for (const seen of this.#tables.values()) seen.release();
    this.#tables.clear();
  }
}

/** Returns the outcome of a commit; its results are computed on access. */
function outcomeOf(plan: CommitPlan): CommitOutcome {
  return {
    get results() {
      return outcomesOf(plan);
    },
    outcomeAt: (operation) => outcomeAt(plan, operation),
  };
}

function emptySnapshot(table: Table, lsn: number): Snapshot {
  return new Snapshot(table, new Version([], [], table.bucketSeconds), lsn);
}
