// Counts the distinct values of many ascending lists in steps: a k-way merge over a binary heap,
// with one chunk of each list in memory.
//
// The heap orders the lists by their next value. Again and again, the smallest value is taken from
// the list at the top, and counted if it differs from the value taken before. Then that list moves
// to its next value, and reads its next chunk if necessary. Example: from [1, 5, 9] and [2, 5], the
// values 1, 2, 5, 5, 9 are taken, of which 4 are counted. Memory: one chunk per list.

import { assert } from '../../assert.ts';

/** An ascending list of distinct numbers, read chunk by chunk. */
export interface AscendingList {
  /** Returns the next values, at least one, or undefined at the end. */
  next(): Float64Array | undefined;
}

export class DistinctMerge {
  /** Number of distinct values taken so far. */
  count = 0;
  readonly #lists: readonly AscendingList[];
  readonly #chunks: Float64Array[] = [];
  readonly #at: Int32Array;
  /** Indexes of lists, as a binary heap ordered by their next value. */
  readonly #heap: Int32Array;
  /** Next value of the list at each heap position. */
  readonly #values: Float64Array;
  #size = 0;
  #opened = 0;
  #last = Number.NaN;

  constructor(lists: readonly AscendingList[]) {
    this.#lists = lists;
    this.#at = new Int32Array(lists.length);
    this.#heap = new Int32Array(lists.length);
    this.#values = new Float64Array(lists.length);
  }

  /**
   * Takes about `limit` values; returns false once all are taken. Opening a list counts as much as
   * taking 64 values.
   */
  step(limit: number): boolean {
    let left = limit;
    while (this.#opened < this.#lists.length) {
      this.#open(this.#opened++);
      left -= 64;
      if (left <= 0) return true;
    }
    while (left-- > 0 && this.#size > 0) {
      const value = this.#values[0]!;
      if (value !== this.#last) {
        assert(!(value < this.#last), 'lists of nodes are ascending');
        this.count++;
        this.#last = value;
      }
      this.#advance();
    }
    return this.#size > 0;
  }

  #open(list: number): void {
    const chunk = this.#lists[list]!.next();
    if (chunk === undefined) return;
    assert(chunk.length > 0, 'a chunk of a list has a value');
    this.#chunks[list] = chunk;
    let place = this.#size++;
    const value = chunk[0]!;
    while (place > 0) {
      const parent = (place - 1) >>> 1;
      if (this.#values[parent]! <= value) break;
      this.#values[place] = this.#values[parent]!;
      this.#heap[place] = this.#heap[parent]!;
      place = parent;
    }
    this.#values[place] = value;
    this.#heap[place] = list;
  }

  /** Moves the list at the top of the heap to its next value, and sifts the list down. */
  #advance(): void {
    let list = this.#heap[0]!;
    let at = this.#at[list]! + 1;
    let chunk: Float64Array | undefined = this.#chunks[list]!;
    if (at === chunk.length) {
      chunk = this.#lists[list]!.next();
      at = 0;
      if (chunk !== undefined) this.#chunks[list] = chunk;
    }
    this.#at[list] = at;
    let value: number;
    if (chunk === undefined) {
      if (--this.#size === 0) return;
      list = this.#heap[this.#size]!;
      value = this.#values[this.#size]!;
    } else value = chunk[at]!;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= this.#size) break;
      if (child + 1 < this.#size && this.#values[child + 1]! < this.#values[child]!) child++;
      if (this.#values[child]! >= value) break;
      this.#values[place] = this.#values[child]!;
      this.#heap[place] = this.#heap[child]!;
      place = child;
    }
    this.#values[place] = value;
    this.#heap[place] = list;
  }
}
