// Counts the live rows added or removed by frames that are applied but not yet visible. A table
// subtracts this number, so that its row count includes only changes that readers can see.

import { assert } from '../../assert.ts';

/**
 * The lists are shortened when more than this many entries at the front, and more than half of all,
 * are obsolete.
 */
const MOST_OVER = 64;

export class UnseenRows {
  /**
   * The last LSN of each frame, ascending, and by how much the frame changes the number of live
   * rows.
   */
  #lsns: number[] = [];
  #changes: number[] = [];
  #first = 0;

  /**
   * Records that a frame whose last LSN is `lsn` adds `rows` live rows, or removes them if `rows`
   * is negative. May be called several times per frame.
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

  /** Returns by how much the frames above `visibleLsn` change the number of live rows. */
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
