// How many live rows a table has that readers do not see yet: frames that are applied and not
// durable. With it the table counts what is acknowledged.

/** Entries at the front that may be over before the list is cut. */
const MOST_OVER = 64;

export class UnseenRows {
  /** Last LSN of each frame, ascending, and by how many live rows it changes the table. */
  #lsns: number[] = [];
  #changes: number[] = [];
  #first = 0;

  /**
   * A frame whose last LSN is `lsn` adds `rows` live rows (negative: takes them away). May be
   * called several times a frame.
   */
  add(lsn: number, rows: number, visibleLsn: number): void {
    const last = this.#lsns.length - 1;
    if (last >= this.#first && this.#lsns[last] === lsn) {
      this.#changes[last]! += rows;
      return;
    }
    if (last >= this.#first && this.#lsns[last]! > lsn)
      throw new Error(`LSN ${lsn} is counted after ${this.#lsns[last]}`);
    this.#cut(visibleLsn);
    this.#lsns.push(lsn);
    this.#changes.push(rows);
  }

  /** By how many live rows the frames above `visibleLsn` change the table. */
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
