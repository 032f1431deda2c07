// Finds the rows of a relation by the values of some of its columns. An index on one column of a
// complete relation is sorted once. Other indexes consist of chains that grow with the relation.

import type { Steps } from '../schedule/steps.ts';
import { grown, type Relation } from './relation.ts';

/** Number of rows that one step of building handles. This takes some tenths of a millisecond. */
const BUILD_ROWS = 20_000;

/** An index on one column of a complete relation: rows with the same value are adjacent. */
export interface SortedIndex {
  readonly kind: 'sorted';
  readonly column: number;
  /**
   * The rows with value v are at the places from `offsets[v]` up to `offsets[v + 1]`, exclusive.
   */
  readonly offsets: Int32Array;
  readonly rows: Int32Array;
}

export function* buildSorted(relation: Relation, column: number, constants: number): Steps<SortedIndex> {
  const values = relation.columns[column]!;
  const { count } = relation;
  const offsets = new Int32Array(constants + 1);
  for (let row = 0; row < count; row++) {
    offsets[values[row]! + 1]!++;
    if (row % BUILD_ROWS === BUILD_ROWS - 1) yield;
  }
  for (let value = 0; value < constants; value++) offsets[value + 1]! += offsets[value]!;
  const next = offsets.slice();
  const rows = new Int32Array(count);
  for (let row = 0; row < count; row++) {
    rows[next[values[row]!]!++] = row;
    if (row % BUILD_ROWS === BUILD_ROWS - 1) yield;
  }
  return { kind: 'sorted', column, offsets, rows };
}

/**
 * Chains of rows, newest first. If there are several columns, a chain contains all rows with the
 * same hash, so the reader must compare the values.
 */
export class ChainedIndex {
  readonly kind = 'chained';
  readonly columns: readonly number[];
  /** By value or hash: the newest row + 1, or 0 if there is none. */
  heads: Int32Array;
  /** By row: the next row in its chain, or -1 if there is none. */
  next = new Int32Array(16);
  /** Number of rows in the index. */
  covered = 0;
  readonly #relation: Relation;

  constructor(relation: Relation, columns: readonly number[], constants: number) {
    this.#relation = relation;
    this.columns = columns;
    this.heads = new Int32Array(columns.length === 1 ? Math.max(1, constants) : 64);
  }

  /** Adds the rows that are new since the last call. */
  *update(): Steps<void> {
    const { count, confidences } = this.#relation;
    if (this.covered === count) return;
    if (this.next.length < count) {
      this.next = grown(this.next, confidences.length);
      if (count > BUILD_ROWS) yield;
    }
    const hashed = this.columns.length > 1;
    if (hashed && count * 2 > this.heads.length) {
      let length = this.heads.length;
      while (length < count * 4) length *= 2;
      this.heads = new Int32Array(length);
      this.covered = 0;
    }
    for (let row = this.covered; row < count; row++) {
      const slot = hashed ? this.#slotOfRow(row) : this.#relation.columns[this.columns[0]!]![row]!;
      this.next[row] = this.heads[slot]! - 1;
      this.heads[slot] = row + 1;
      if (row % BUILD_ROWS === BUILD_ROWS - 1) yield;
    }
    this.covered = count;
  }

  #slotOfRow(row: number): number {
    let hash = 0;
    for (const column of this.columns) hash = mix(hash, this.#relation.columns[column]![row]!);
    return hash & (this.heads.length - 1);
  }

  /**
   * Returns the first row of the chain for the values in `registers` at `keys`, which are in the
   * order of `columns`. Returns -1 if the chain is empty.
   */
  head(registers: Int32Array, keys: Int32Array): number {
    if (keys.length === 1) return this.heads[registers[keys[0]!]!]! - 1;
    let hash = 0;
    for (let at = 0; at < keys.length; at++) hash = mix(hash, registers[keys[at]!]!);
    return this.heads[hash & (this.heads.length - 1)]! - 1;
  }
}

function mix(hash: number, value: number): number {
  const mixed = Math.imul(hash ^ value, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

export type RowIndex = SortedIndex | ChainedIndex;

/** The indexes of a relation. Each is built when it is first requested. */
export class RowIndexes {
  readonly #relation: Relation;
  readonly #constants: number;
  readonly #byColumns = new Map<string, RowIndex>();

  constructor(relation: Relation, constants: number) {
    this.#relation = relation;
    this.#constants = constants;
  }

  /**
   * Returns the index on `columns`, which are in ascending order. `complete` means that the
   * relation will get no more rows.
   */
  *get(columns: readonly number[], complete: boolean): Steps<RowIndex> {
    const name = columns.join();
    let index = this.#byColumns.get(name);
    if (index === undefined) {
      index =
        complete && columns.length === 1
          ? yield* buildSorted(this.#relation, columns[0]!, this.#constants)
          : new ChainedIndex(this.#relation, columns, this.#constants);
      this.#byColumns.set(name, index);
    }
    if (index.kind === 'chained') yield* index.update();
    return index;
  }

  /** Adds new rows to every index that grows. */
  *update(): Steps<void> {
    for (const index of this.#byColumns.values()) if (index.kind === 'chained') yield* index.update();
  }
}
