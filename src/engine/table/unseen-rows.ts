// Counts the live rows of frames that are applied but not yet durable, so that a table's row count
// includes only what has been acknowledged.

import { assert } from '../../assert.ts';

/** Obsolete entries that may remain at the front before the lists are shortened. */
const MOST_OVER = 64;

export class UnseenRows {
  /** Last LSN of each frame, ascending, and its change in live rows. */
  #lsns: number[] = [];
  #changes: number[] = [];
  #first = 0;

  /**
   * Records that a frame whose last LSN is `lsn` adds `rows` live rows (negative: removes them).
   * May be called several times per frame.
   */
  add(lsn: number, rows: number, visibleLsn: number): void {
    const last = this.#lsns.length - 1;
    if (last >= this.#first && this.#lsns[last] === lsn) {
      this.#changes[last]! += rows;
      return;
    }
    assert(last < this.#first || this.#lsns[last]! < lsn, 'rows are counted in the order of their LSNs');
    this.#cut(visibleLsn);
    this.#lsns.push(lsn);
    this.#changes.push(rows);
  }

  /** Total change in live rows of the frames above `visibleLsn`. */
  above(visibleLsn: number): number {
    this.#cut(visibleLsn);
    let rows = 0;
    for (let index = this.#first; index < this.#changes.length; index++) rows += this.#changes[index]!;
    return rows;
  }

  #cut(visibleLsn: number): void {
    while (this.#first < this.#lsns.length && this.#lsns[this.#first]! <= visibleLsn) this.#first++;
    if (this.#first === this.#lsns.length) {
      if (this.#first === 0) return;
      this.#lsns = [];
      this.#changes = [];
      this.#first = 0;
    } else if (this.#first > MOST_OVER && this.#first * 2 > this.#lsns.length) {
      this.#lsns = this.#lsns.slice(this.#first);
      this.#changes = this.#changes.slice(this.#first);
      this.#first = 0;
    }
  }
}
