// A list of the rows of a segment that died (were deleted or replaced) after the segment was
// written: ascending, each with the LSN of its death.

import { assert } from '../../assert.ts';
import { type DeadRows, lowerBound } from '../../core/index.ts';

export class DeadList implements DeadRows {
  rows = new Uint32Array(0);
  lsns = new Float64Array(0);
  count = 0;
  version = 0;

  /** Returns the index of `row` or, if it is not in the list, of the first greater row. */
  #place(row: number): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.rows[middle]! < row) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  has(row: number): boolean {
    const place = this.#place(row);
    return place < this.count && this.rows[place] === row;
  }

  /** Returns whether the row is dead for a reader at `lsn`. */
  isDead(row: number, lsn: number): boolean {
    const place = this.#place(row);
    return place < this.count && this.rows[place] === row && this.lsns[place]! <= lsn;
  }

  /** Adds a death; returns false if the row was already dead. */
  add(row: number, lsn: number): boolean {
    const place = this.#place(row);
    if (place < this.count && this.rows[place] === row) return false;
    if (this.count === this.rows.length) this.#grow(1);
    this.rows.copyWithin(place + 1, place, this.count);
    this.lsns.copyWithin(place + 1, place, this.count);
    this.rows[place] = row;
    this.lsns[place] = lsn;
    this.count++;
    assert(place === 0 || this.rows[place - 1]! < row, 'dead rows are ascending, each once');
    this.version++;
    return true;
  }

  /** Makes a row dead for every reader, even if it died after a reader's snapshot. */
  hide(row: number): void {
    if (this.add(row, 0)) return;
    this.lsns[this.#place(row)] = 0;
    this.version++;
  }

  /** Reserves room for `more` deaths, so that this many calls of `add` cannot fail. */
  reserve(more: number): void {
    if (this.count + more > this.rows.length) this.#grow(more);
  }

  #grow(more: number): void {
    const capacity = Math.max(16, this.rows.length * 2, this.count + more);
    const rows = new Uint32Array(capacity);
    const lsns = new Float64Array(capacity);
    assert(capacity >= this.count + more, 'room is made for every death that was asked for');
    rows.set(this.rows);
    lsns.set(this.lsns);
    this.rows = rows;
    this.lsns = lsns;
  }

  /** Returns a copy, which later deaths do not affect. */
  clone(): DeadList {
    const copy = new DeadList();
    copy.rows = this.rows.slice(0, this.count);
    copy.lsns = this.lsns.slice(0, this.count);
    copy.count = this.count;
    return copy;
  }
}

export const NO_DEAD_ROWS: DeadRows = new DeadList();

/**
 * Returns the first row at or after `row` that is not dead for a reader at `lsn`. Skips at most
 * `most` dead rows; if more follow, the row returned is dead.
 */
export function behindDead({ rows, lsns, count }: DeadRows, row: number, lsn: number, most: number): number {
  let place = lowerBound(rows.subarray(0, count), row);
  const end = Math.min(count, place + most);
  let at = row;
  for (; place < end && rows[place] === at && lsns[place]! <= lsn; place++) at++;
  return at;
}
