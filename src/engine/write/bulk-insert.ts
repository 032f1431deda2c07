// Inserts many edges into one table as one atomic frame.

import { assert } from '../../assert.ts';
import type { EdgeBatch, LineKey, LineNames } from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';
import { kindOfType, ruleOf } from '../../model/column-types.ts';
import type { ColumnSet } from '../../model/columns.ts';
import { type CheckedEdge, checkEdge, withNumbers } from '../../model/edge.ts';
import type { Attach } from '../../model/kept-answer.ts';
import { finish, type Steps } from '../../schedule/steps.ts';
import { OPERATION, runHeader } from '../commit/operations.ts';
import { assertAlive } from '../nodes/alive.ts';
import { Births } from '../nodes/births.ts';
import { RowRoom } from '../table/row-room.ts';
import type { Table } from '../table/table.ts';
import type { BulkInsertResult, BulkOutcome, EdgeInput } from '../types.ts';
import { propertyBytes } from './edge-writes.ts';
import { commitInSlices, type FramePlan, SLICED_BYTES } from './large-commit.ts';

/** Encoded records of at most one batch; their ids are filled in at commit. */
export interface RecordPiece {
  bytes: Uint8Array;
  count: number;
}

const LINE_KEYS = new WeakMap<ColumnSet, readonly LineKey[]>();

/**
 * The keys of lines that the core may read: the columns under their exact names. An `id`, as
 * exports have it, is skipped. Other names, and columns with rules of their own, are left to the
 * model.
 */
function lineKeysOf(columns: ColumnSet): readonly LineKey[] {
  let keys = LINE_KEYS.get(columns);
  if (keys !== undefined) return keys;
  const own = columns.columns.filter(({ type }) => ruleOf(type).isWholeKind);
  keys = [
    { name: 'id', column: undefined },
    ...own.map((column) => ({
      name: column.name,
      column: { id: column.id, kind: column === columns.end ? ('end' as const) : kindOfType(column.type) },
    })),
  ];
  LINE_KEYS.set(columns, keys);
  return keys;
}

export class BulkInsert {
  readonly #table: Table;
  readonly #batch: EdgeBatch;
  readonly #pieces: RecordPiece[] = [];
  /** In a named table: the numbers of new nodes, once for each time that they were met. */
  readonly #held: number[] = [];
  /** In a named table: when the first member was found (NodeDirectory.deathMark). */
  readonly #deathMark: number;
  count = 0;
  /** Size of the encoded records in bytes; the last few edges may not be encoded yet. */
  bytes = 0;
  #ended = false;

  constructor(table: Table) {
    this.#table = table;
    this.#batch = table.batches.take();
    this.#deathMark = table.context.nodes.deathMark;
  }

  /**
   * Adds an edge. Throws `empty_members`, `too_many_members`, `unknown_column`, `invalid_input`,
   * `unknown_node` or `overloaded`. If it throws, neither the edge nor its new nodes are added;
   * others can still be added.
   */
  add(edge: EdgeInput | CheckedEdge): void {
    this.#assertOpen();
    if (this.#batch.full) this.#encode();
    const checked = checkEdge(edge, this.#table);
    const held = this.#held.length;
    try {
      const { event_ts, members, masks } = this.#numbered(checked);
      this.#batch.add(event_ts, members, propertyBytes(checked), masks);
    } catch (error) {
      this.#table.context.nodes.release(this.#held.splice(held));
      throw error;
    }
    this.count++;
  }

  /** Finds the numbers of an edge's members in a named table. */
  #numbered(edge: CheckedEdge): CheckedEdge {
    if (edge.refs === undefined) return edge;
    return withNumbers(edge, this.#table.context.nodes.resolve(this.#table, edge.refs, this.#held));
  }

  /**
   * Adds the edges of plain lines from the start of `text` (core/edge-lines.ts), at most up to the
   * first other line. `text` is valid UTF-8 that ends at the end of a line. Returns the number of
   * lines added and their size in bytes.
   */
  addLines(text: Uint8Array): { readonly rows: number; readonly bytes: number } {
    this.#assertOpen();
    this.#encode();
    const { columns, maxMembers } = this.#table;
    const names = this.#names();
    if (names === null) return { rows: 0, bytes: 0 };
    const { rows, bytes, records, held } = this.#batch.lines.read(text, lineKeysOf(columns), maxMembers, names);
    for (let at = 0; at < held.length; at++) this.#held.push(held[at]!);
    if (names !== undefined) this.#table.context.nodes.charge();
    if (rows > 0) this.#keep(records.slice(), rows);
    this.count += rows;
    return { rows, bytes };
  }

  /**
   * Returns how the core reads keys in lines; undefined if members are numbers, and null if it does
   * not read the lines of this table, because its members are of several kinds.
   */
  #names(): LineNames | undefined | null {
    const { kinds, definition, context } = this.#table;
    if (kinds === undefined) return undefined;
    const [kind] = kinds;
    if (kinds.length > 1) return null;
    kind!.table.assertUsable();
    return { slot: kind!.slot, create: definition.createNodes !== false && !context.nodes.isFull };
  }

  #keep(bytes: Uint8Array, count: number): void {
    this.#pieces.push({ bytes, count });
    this.bytes += bytes.length;
  }

  #assertOpen(): void {
    if (this.#ended) throw new HedgerowError('invalid_input', 'The bulk insert has ended; begin a new one.');
  }

  /** Encodes the edges of the batch. Throws `overloaded`, and keeps them. */
  #encode(): void {
    const count = this.#batch.count;
    if (count === 0) return;
    this.#keep(this.#batch.encodeOrKeep(0, this.#table.maxMembers).slice(), count);
  }

  /**
   * Commits all edges; resolves when they are durable. Rejects with `invalid_input` if there is no
   * edge. After any error the bulk insert has ended.
   */
  async commit(attach?: Attach<BulkOutcome>): Promise<BulkInsertResult> {
    this.#assertOpen();
    if (this.count === 0) {
      this.discard();
      throw new HedgerowError('invalid_input', 'There is no edge to insert: the body has no line.');
    }
    try {
      this.#encode();
    } catch (error) {
      this.discard();
      throw error;
    }
    this.#end();
    const [pieces, count, members] = [this.#pieces, this.count, { held: this.#held, deathMark: this.#deathMark }];
    try {
      return await insertPieces(this.#table, { pieces, count, members }, attach);
    } finally {
      this.#table.context.nodes.release(this.#held.splice(0));
    }
  }

  /** Ends the bulk insert and returns the batch to the table. Edges not committed are dropped. */
  discard(): void {
    if (this.#ended) return;
    this.#end();
    this.#table.context.nodes.release(this.#held.splice(0));
  }

  #end(): void {
    this.#ended = true;
    this.#batch.clear();
    this.#table.batches.give(this.#batch);
  }
}

/**
 * An insert is this many times cheaper than an update, so a bulk insert is sliced only if it has at
 * least this many times `slicedOperations` rows.
 */
const SLICED_TIMES = 8;

/** Commits encoded records as one frame; in slices if the frame is large. */
async function insertPieces(
  table: Table,
  { pieces, count, members }: Pick<PiecesInsert, 'pieces' | 'count' | 'members'>,
  attach: Attach<BulkOutcome> | undefined,
): Promise<BulkInsertResult> {
  const { committer, slicedOperations } = table.context;
  const bytes = pieces.reduce((sum, piece) => sum + piece.bytes.length, 0);
  const records = pieces.reduce((sum, piece) => sum + piece.count, 0);
  assert(records === count, 'every edge that was added has a record');
  const insert = { table, pieces, count, bytes, members, attach };
  const outcome = takeIds(insert);
  try {
    if (count >= SLICED_TIMES * slicedOperations || bytes >= SLICED_BYTES) return await insertInSlices(insert, outcome);
    const { result, durable } = await committer.write(() => insertAtOnce(insert, outcome));
    await durable;
    return result;
  } catch (error) {
    table.giveBackIds(outcome.firstId, count);
    throw error;
  }
}

interface PiecesInsert {
  readonly table: Table;
  readonly pieces: readonly RecordPiece[];
  readonly count: number;
  readonly bytes: number;
  readonly members: PiecesMembers;
  readonly attach: Attach<BulkOutcome> | undefined;
}

/** What the commit must know of the members of a named table. */
export interface PiecesMembers {
  readonly held: readonly number[];
  readonly deathMark: number;
}

/**
 * Assigns the ids before the frame is written; rows that others insert meanwhile get higher ids.
 */
function takeIds({ table, count }: PiecesInsert): BulkOutcome {
  table.assertUsable();
  const firstId = table.takeIds(count);
  return { inserted: count, firstId, lastId: firstId + count - 1 };
}

function partsOf({ table, pieces, count, bytes }: PiecesInsert, births: Births | undefined): Uint8Array[] {
  const first = births?.parts ?? [];
  return [...first, runHeader(OPERATION.insert, table.id, count, bytes), ...pieces.map((piece) => piece.bytes)];
}

function insertAtOnce(
  insert: PiecesInsert,
  outcome: BulkOutcome,
): { result: BulkInsertResult; durable: Promise<void> } {
  const { table, pieces, count, attach } = insert;
  table.assertUsable();
  const room = new RowRoom();
  try {
    finish(assertAlive(table, insert.members.deathMark, pieces));
    const births = Births.of(table.context.nodes, insert.members.held);
    finish(numberPieces(pieces, outcome.firstId));
    births?.takeRoom(room);
    finish(takeRoom(table, pieces, room));
    const operations = count + (births?.operations ?? 0);
    const apply = (firstLsn: number) => finish(applyPieces(insert, births, room, firstLsn));
    const { firstLsn, durable } = table.context.committer.commit(operations, partsOf(insert, births), {
      entry: attach?.(outcome),
      apply,
    });
    table.context.afterCommit(table.id);
    return { result: { ...outcome, lsn: firstLsn + operations - 1 }, durable };
  } catch (error) {
    room.giveBack();
    throw error;
  }
}

async function insertInSlices(insert: PiecesInsert, outcome: BulkOutcome): Promise<BulkInsertResult> {
  const { table, pieces, count, attach } = insert;
  const { lastLsn } = await commitInSlices<FramePlan & { births: Births | undefined }>(table.context, {
    killsRows: false,
    *plan(room) {
      table.assertUsable();
      yield* assertAlive(table, insert.members.deathMark, pieces);
      const births = Births.of(table.context.nodes, insert.members.held);
      yield* numberPieces(pieces, outcome.firstId);
      births?.takeRoom(room);
      yield* takeRoom(table, pieces, room);
      const operations = count + (births?.operations ?? 0);
      return { operations, births, parts: partsOf(insert, births), tables: [...(births?.tables ?? []), table] };
    },
    entryOf: () => attach?.(outcome),
    apply: ({ births }, room, firstLsn) => applyPieces(insert, births, room, firstLsn),
  });
  return { ...outcome, lsn: lastLsn };
}

function* takeRoom(table: Table, pieces: readonly RecordPiece[], room: RowRoom): Steps<void> {
  for (const { bytes, count } of pieces) {
    room.addRows(table, bytes, count);
    yield;
  }
}

/** Sets the ids of the records to firstId, firstId + 1, ... in place. */
function* numberPieces(pieces: readonly RecordPiece[], firstId: number): Steps<void> {
  let id = firstId;
  for (const { bytes, count } of pieces) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = 0;
    for (let i = 0; i < count; i++) {
      view.setUint32(at + 16, id >>> 0, true);
      view.setUint32(at + 20, Math.floor(id / 2 ** 32), true);
      at += view.getUint32(at, true);
      id++;
    }
    assert(at === bytes.length, 'the records of a piece are its bytes');
    yield;
  }
}

/** Copies the logged records into the memory reserved for them. */
function* applyPieces(
  { table, pieces, count: total }: PiecesInsert,
  births: Births | undefined,
  room: RowRoom,
  frameLsn: number,
): Steps<void> {
  const firstLsn = frameLsn + (births?.operations ?? 0);
  table.countOperations(total, 0);
  births?.apply(room, frameLsn, firstLsn + total - 1);
  let lsn = firstLsn;
  for (let index = 0; index < pieces.length; index++) {
    const { count } = room.append(lsn);
    lsn += count;
    table.changeRows(firstLsn + total - 1, count);
    yield;
  }
  assert(lsn === firstLsn + total, 'every row that was logged is applied');
  table.changed(lsn - 1);
}
