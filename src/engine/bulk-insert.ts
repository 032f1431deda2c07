// Many edges of one table as one atomic frame.

import type { EdgeBatch } from '../core/index.ts';
import { HedgerowError } from '../errors.ts';
import { checkTime, memberSet } from './edge.ts';
import type { Attach } from './replay-entry.ts';
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
    return this.#table.insertPieces(this.#pieces, this.count, attach);
  }

  /** Gives the batch back; the edges are forgotten. */
  discard(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#batch.clear();
    this.#table.giveBatch(this.#batch);
  }
}
