// Counts the distinct values of many ascending lists in steps: a merge over a heap that holds one chunk of each list.
//
// The heap orders lists by their next value. A step takes the least value, counts it when it differs from the one before, and moves that list on; a list
// whose chunk is used up reads its next chunk. [1, 5, 9] and [2, 5]: 1, 2, 5, 5, 9 are taken, 4 are counted. Memory: one chunk a list.

/** An ascending list of distinct numbers, a chunk at a time. */
export interface AscendingList {
  /** The next values, at least one; undefined at the end. */
  next(): Float64Array | undefined;
}

export class DistinctMerge {
  /** Distinct values taken so far. */
  count = 0;
  readonly #lists: readonly AscendingList[];
  readonly #chunks: Float64Array[] = [];
  readonly #at: Int32Array;
  /** Numbers of lists, as a binary heap by their next value. */
  readonly #heap: Int32Array;
  /** The next value of the list at each place of the heap. */
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
   * Takes at most about `limit` values; false when all are taken. Opening a list costs as much as
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
        if (value < this.#last) throw new Error(`a list of nodes is not ascending: ${value} after ${this.#last}`);
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

  /** Moves the list at the top on, and it down to its place. */
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
