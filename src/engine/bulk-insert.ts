// Many edges of one table as one atomic frame.

import type { EdgeBatch } from '../core/index.ts';
import { HedgerowError } from '../errors.ts';
import { checkTime, memberSet } from './edge.ts';
import { commitInSlices } from './large-commit.ts';
import { OPERATION, runHeader } from './operations.ts';
import type { Attach } from './replay-entry.ts';
import { atOnce, type Steps } from './steps.ts';
import type { Table } from './table.ts';
import type { BulkInsertResult, BulkOutcome, EdgeInput } from './types.ts';

/** Records of up to one batch; renumbered in place at commit. */
export interface RecordPiece {
  bytes: Uint8Array;
  count: number;
}

export class BulkInsert {
  readonly #table: Table;
  readonly #batch: EdgeBatch;
  readonly #pieces: RecordPiece[] = [];
  count = 0;
  /** Bytes of the records that are encoded; those of the last few edges are not counted yet. */
  bytes = 0;
  #ended = false;

  constructor(table: Table) {
    this.#table = table;
    this.#batch = table.takeBatch();
  }

  /** Adds an edge. Throws `empty_members`, `too_many_members`, `unknown_column` or `invalid_input`; nothing of that edge is kept. */
  add(edge: EdgeInput): void {
    this.#assertOpen();
    checkTime(edge.event_ts);
    const members = memberSet(edge.members, this.#table.maxMembers);
    const properties = edge.properties === undefined ? null : this.#table.columns.encode(edge.properties);
    this.#batch.add(edge.event_ts, members, properties);
    this.count++;
    if (this.#batch.full) this.#encode();
  }

  #assertOpen(): void {
    if (this.#ended) throw new HedgerowError('invalid_input', 'The bulk insert has ended; begin a new one.');
  }

  #encode(): void {
    const count = this.#batch.count;
    if (count === 0) return;
    const bytes = this.#batch.encode(0, this.#table.maxMembers).slice();
    this.#pieces.push({ bytes, count });
    this.bytes += bytes.length;
  }

  /** Commits all edges; resolves when they are durable. Throws `invalid_input` when there are none. */
  async commit(attach?: Attach<BulkOutcome>): Promise<BulkInsertResult> {
    this.#assertOpen();
    if (this.count === 0) {
      this.discard();
      throw new HedgerowError('invalid_input', 'There is no edge to insert: the body has no line.');
    }
    this.#encode();
    this.discard();
    return insertPieces(this.#table, this.#pieces, this.count, attach);
  }

  /** Gives the batch back; the edges are forgotten. */
  discard(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#batch.clear();
    this.#table.giveBatch(this.#batch);
  }
}

/** A new row costs so much less than a change of one. */
const SLICED_TIMES = 8;
/** Bytes from which on an insert is made in slices, however few its rows. */
const SLICED_BYTES = 2 ** 22;

/** Commits encoded records as one frame; in slices when they are many. */
async function insertPieces(
  table: Table,
  pieces: readonly RecordPiece[],
  count: number,
  attach: Attach<BulkOutcome> | undefined,
): Promise<BulkInsertResult> {
  const { context } = table;
  const { committer } = context;
  const bytes = pieces.reduce((sum, piece) => sum + piece.bytes.length, 0);
  const isLarge = count >= SLICED_TIMES * context.slicedOperations || bytes >= SLICED_BYTES;
  while (!isLarge && committer.isTaken) await committer.free();
  table.assertUsable();
  // Given away now: rows that others insert meanwhile have later ids.
  const firstId = table.nextId;
  table.nextId = firstId + count;
  const outcome = { inserted: count, firstId, lastId: firstId + count - 1 };
  const parts = [runHeader(OPERATION.insert, table.id, count, bytes), ...pieces.map((piece) => piece.bytes)];
  if (isLarge) {
    const { lastLsn } = await commitInSlices(context, {
      killsRows: false,
      *plan() {
        table.assertUsable();
        yield* numberPieces(pieces, firstId);
        return { operations: count, parts, tables: [table] };
      },
      entryOf: () => attach?.(outcome),
      apply: (_, firstLsn) => applyPieces(table, pieces, count, firstLsn),
    });
    return { ...outcome, lsn: lastLsn };
  }
  atOnce(numberPieces(pieces, firstId));
  const lsn = appendPieces(table, parts, outcome, attach);
  atOnce(applyPieces(table, pieces, count, lsn));
  context.afterCommit(table.id);
  await committer.durable(lsn + count - 1);
  return { ...outcome, lsn: lsn + count - 1 };
}

/** Ids that nobody has seen are taken back when the log does not take the frame. */
function appendPieces(
  table: Table,
  parts: readonly Uint8Array[],
  outcome: BulkOutcome,
  attach: Attach<BulkOutcome> | undefined,
): number {
  try {
    return table.context.committer.append(outcome.inserted, parts, attach?.(outcome));
  } catch (error) {
    table.nextId = outcome.firstId;
    throw error;
  }
}

/** Gives records the ids first, first + 1, ... in place. */
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
    yield;
  }
}

/** Puts records that are in the log into memtables. */
function* applyPieces(table: Table, pieces: readonly RecordPiece[], total: number, firstLsn: number): Steps<void> {
  table.countOperations(total, 0);
  let lsn = firstLsn;
  for (const { bytes, count } of pieces) {
    const memtable = table.writableMemtable(lsn - 1);
    memtable.append(memtable.reserve(bytes.length), bytes, count, lsn);
    lsn += count;
    yield;
  }
  table.changed(firstLsn + total - 1);
}
