// The list of operations staged by a transaction, in order. It is stored as columns, because
// keeping a million objects alive would cost even more than creating them.

import { assert } from '../../assert.ts';
import type { RowPlace, RowSource } from '../table/live-rows.ts';
import type { Table } from '../table/table.ts';
import type { EdgeRow, RowKey } from '../types.ts';
import { isOwn, type StagedTarget } from './staged.ts';

/**
 * `removal` deletes all edges with a given time and member set that are live at the commit.
 * `update` and `deletion` act on one target row. `birth` inserts a node because an edge takes its
 * key; it is left out if another commit has created the node by then.
 */
export const STAGED = { insert: 0, removal: 1, update: 2, deletion: 3, birth: 4 } as const;
export type StagedKind = (typeof STAGED)[keyof typeof STAGED];

/** A range of bytes in a shared buffer. */
export interface KeptBytes {
  readonly chunk: Uint8Array;
  readonly from: number;
  readonly to: number;
}

const BLOCK_BITS = 16;
const BLOCK_ROWS = 2 ** BLOCK_BITS;
const FIRST_ROWS = 64;
/**
 * This value in `sources` means that the transaction itself made the target row. In this case
 * `rows` contains the index of the operation that made the row.
 */
const OWN = -1;

class Block {
  readonly kinds: Uint8Array;
  readonly tables: Uint32Array;
  /** Time of the new row or, for a removal or deletion, of the edges to be deleted. */
  readonly times: Float64Array;
  readonly ids: Float64Array;
  readonly targetTimes: Float64Array;
  readonly sources: Int32Array;
  readonly rows: Uint32Array;
  readonly chunks: Uint32Array;
  readonly froms: Uint32Array;
  readonly tos: Uint32Array;

  constructor(rows: number) {
    this.kinds = new Uint8Array(rows);
    this.tables = new Uint32Array(rows);
    this.times = new Float64Array(rows);
    this.ids = new Float64Array(rows);
    this.targetTimes = new Float64Array(rows);
    this.sources = new Int32Array(rows);
    this.rows = new Uint32Array(rows);
    this.chunks = new Uint32Array(rows);
    this.froms = new Uint32Array(rows);
    this.tos = new Uint32Array(rows);
  }

  grown(): Block {
    const larger = new Block(this.kinds.length * 4);
    larger.kinds.set(this.kinds);
    larger.tables.set(this.tables);
    larger.times.set(this.times);
    larger.ids.set(this.ids);
    larger.targetTimes.set(this.targetTimes);
    larger.sources.set(this.sources);
    larger.rows.set(this.rows);
    larger.chunks.set(this.chunks);
    larger.froms.set(this.froms);
    larger.tos.set(this.tos);
    return larger;
  }
}

/** Assigns each distinct object a number. */
class Numbered<T> {
  readonly all: T[] = [];
  readonly #numbers = new Map<T, number>();

  numberOf(thing: T): number {
    let number = this.#numbers.get(thing);
    if (number === undefined) {
      number = this.all.push(thing) - 1;
      this.#numbers.set(thing, number);
    }
    return number;
  }
}

export class StagedList {
  readonly #blocks: Block[] = [];
  readonly #tables = new Numbered<Table>();
  readonly #sources = new Numbered<RowSource>();
  readonly #chunks = new Numbered<Uint8Array>();
  /** New rows by operation index, if the caller wants them as results. */
  readonly #rows = new Map<number, EdgeRow>();
  /** Members by operation index, for removals. */
  readonly #members = new Map<number, readonly number[]>();
  length = 0;
  /** Whether anything other than an insert was staged. */
  killsRows = false;

  /** Number of tables that were changed, also by operations that were taken back. */
  get tableCount(): number {
    return this.#tables.all.length;
  }

  #push(kind: StagedKind, table: Table, eventTs: number, id: number): void {
    const place = this.length;
    const index = place % BLOCK_ROWS;
    if (index === 0) this.#blocks.push(new Block(place === 0 ? FIRST_ROWS : BLOCK_ROWS));
    let block = this.#blocks[place >>> BLOCK_BITS]!;
    if (index === block.kinds.length) {
      block = block.grown();
      this.#blocks[place >>> BLOCK_BITS] = block;
    }
    block.kinds[index] = kind;
    block.tables[index] = this.#tables.numberOf(table);
    block.times[index] = eventTs;
    block.ids[index] = id;
    this.length = place + 1;
    this.killsRows ||= kind !== STAGED.insert && kind !== STAGED.birth;
  }

  /** Sets the record of the operation pushed last. */
  #setRecord({ chunk, from, to }: KeptBytes): void {
    assert(from < to && to <= chunk.length, 'a staged operation has a record');
    const place = this.length - 1;
    const block = this.#blocks[place >>> BLOCK_BITS]!;
    const index = place % BLOCK_ROWS;
    block.chunks[index] = this.#chunks.numberOf(chunk);
    block.froms[index] = from;
    block.tos[index] = to;
  }

  #setTarget(target: StagedTarget): void {
    const place = this.length - 1;
    const block = this.#blocks[place >>> BLOCK_BITS]!;
    const index = place % BLOCK_ROWS;
    assert(!isOwn(target) || target.staged < place, 'a row is made before it is changed');
    block.targetTimes[index] = target.eventTs;
    block.sources[index] = isOwn(target) ? OWN : this.#sources.numberOf(target.source);
    block.rows[index] = isOwn(target) ? target.staged : target.row;
  }

  /**
   * `number` is that of a node, whose row may have columns called `id` and `event_ts`; undefined
   * for an edge.
   */
  insert(table: Table, record: KeptBytes, row: EdgeRow, number?: number): void {
    this.#push(STAGED.insert, table, number ?? row.event_ts, number ?? row.id);
    this.#setRecord(record);
    this.#rows.set(this.length - 1, row);
  }

  /** `number` is the node's: its id and its time. */
  birth(table: Table, record: KeptBytes, number: number): void {
    this.#push(STAGED.birth, table, number, number);
    this.#setRecord(record);
  }

  /** `row` is undefined if the new row is not needed as a result. */
  update(table: Table, target: StagedTarget, eventTs: number, record: KeptBytes, row: EdgeRow | undefined): void {
    this.#push(STAGED.update, table, eventTs, target.id);
    this.#setRecord(record);
    this.#setTarget(target);
    if (row !== undefined) this.#rows.set(this.length - 1, row);
  }

  deletion(table: Table, target: StagedTarget): void {
    this.#push(STAGED.deletion, table, target.eventTs, target.id);
    this.#setTarget(target);
  }

  removal(table: Table, eventTs: number, members: readonly number[], record: Uint8Array): void {
    this.#push(STAGED.removal, table, eventTs, 0);
    this.#setRecord({ chunk: record, from: 0, to: record.length });
    this.#members.set(this.length - 1, members);
  }

  /** Drops the operations from index `length` on. */
  cut(length: number): void {
    if (length >= this.length) return;
    for (const kept of [this.#rows, this.#members]) {
      if (length === 0) kept.clear();
      else if (kept.size > 0) for (let place = length; place < this.length; place++) kept.delete(place);
    }
    assert(length >= 0, 'operations are cut off at a place');
    this.length = length;
    this.#blocks.length = Math.ceil(length / BLOCK_ROWS);
  }

  // Access by operation index

  kindAt(place: number): StagedKind {
    return this.#blocks[place >>> BLOCK_BITS]!.kinds[place % BLOCK_ROWS] as StagedKind;
  }

  tableAt(place: number): Table {
    return this.#tables.all[this.#blocks[place >>> BLOCK_BITS]!.tables[place % BLOCK_ROWS]!]!;
  }

  /**
   * Returns the time of the new row; for a removal, the given time; for a deletion, the time of the
   * deleted row.
   */
  timeAt(place: number): number {
    return this.#blocks[place >>> BLOCK_BITS]!.times[place % BLOCK_ROWS]!;
  }

  idAt(place: number): number {
    return this.#blocks[place >>> BLOCK_BITS]!.ids[place % BLOCK_ROWS]!;
  }

  recordAt(place: number): KeptBytes {
    const block = this.#blocks[place >>> BLOCK_BITS]!;
    const index = place % BLOCK_ROWS;
    return { chunk: this.#chunks.all[block.chunks[index]!]!, from: block.froms[index]!, to: block.tos[index]! };
  }

  /**
   * Returns the index of the operation that made the row being replaced or deleted, or -1 if that
   * row belongs to the snapshot.
   */
  ownTargetAt(place: number): number {
    const block = this.#blocks[place >>> BLOCK_BITS]!;
    const index = place % BLOCK_ROWS;
    return block.sources[index] === OWN ? block.rows[index]! : -1;
  }

  /** Returns the key of the row being replaced or deleted. */
  targetKeyAt(place: number): RowKey {
    const block = this.#blocks[place >>> BLOCK_BITS]!;
    const index = place % BLOCK_ROWS;
    return { eventTs: block.targetTimes[index]!, id: block.ids[index]! };
  }

  /** Returns the row of the snapshot that is replaced or deleted. */
  targetAt(place: number): RowPlace {
    const block = this.#blocks[place >>> BLOCK_BITS]!;
    const index = place % BLOCK_ROWS;
    assert(block.sources[index] !== OWN, 'the row that goes is one of the snapshot');
    const source = this.#sources.all[block.sources[index]!]!;
    return { source, row: block.rows[index]!, eventTs: block.targetTimes[index]!, id: block.ids[index]! };
  }

  rowAt(place: number): EdgeRow | undefined {
    return this.#rows.get(place);
  }

  membersAt(place: number): readonly number[] {
    return this.#members.get(place)!;
  }
}
