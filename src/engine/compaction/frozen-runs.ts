// Reads the new records of a compaction from its frozen memtables: in key order, in parts of
// bounded size.
//
// Parts are in ascending key order and cover every row, so one position per memtable is enough
// state: the rows before it were taken. Prefix sums of the record sizes in key order (4 bytes per
// row) give the number of bytes below a key at the cost of one seek per memtable.
//
// `cut` finds the key at which the next part ends, by bisection over all memtables at once. It
// keeps two positions per memtable, `within` and `over`: a part that ends at all the `within`
// positions fits, a part that ends at all the `over` positions is too large. Each step picks the
// memtable with the most bytes between the two, and seeks the key of the middle row of that range
// in all memtables. If the records below that key fit, the positions found become `within`, else
// `over`. The search ends when the part is at least half full, so few steps are enough.
//
// Example: memtables with the keys 1 3 5 7 and 2 4 6 8, records of 10 bytes, a limit of 50 bytes.
// The key in the middle of the first memtable is 5. The four records below 5 take 40 bytes, which
// fits and is more than half of 50, so the part ends at key 5.
//
// No step blocks the event loop for long: summing, seeking and copying pause after a bounded number
// of rows, seeks or bytes.

import { assert } from '../../assert.ts';
import type { CoreMemtable } from '../../core/index.ts';
import type { RowKey } from '../types.ts';

/**
 * Limits for the work between two pauses: rows whose sizes are summed (also the maximum per copying
 * call), seeks, and bytes copied. Work up to each limit takes a millisecond or two.
 */
const ROWS_A_SLICE = 16_384;
const SEEKS_A_SLICE = 2048;
const BYTES_A_SLICE = 2 ** 20;

interface Run {
  memtable: CoreMemtable;
  /** Total size in bytes of the records before each position. */
  sums: Uint32Array;
  /** Rows before this position were taken. */
  taken: number;
}

export class FrozenRuns {
  readonly #runs: Run[] = [];
  readonly #lsn: number;
  readonly #pause: () => Promise<void>;
  #seeks = 0;
  #copied = 0;

  private constructor(lsn: number, pause: () => Promise<void>) {
    this.#lsn = lsn;
    this.#pause = pause;
  }

  /**
   * Returns the runs of memtables that accept no more rows, with their record sizes summed. Only
   * rows visible at `lsn` will be copied.
   */
  static async of(memtables: readonly CoreMemtable[], lsn: number, pause: () => Promise<void>): Promise<FrozenRuns> {
    const runs = new FrozenRuns(lsn, pause);
    for (const memtable of memtables) {
      const rows = memtable.seek(Infinity, Infinity);
      const sums = new Uint32Array(rows + 1);
      for (let from = 0; from < rows; from += ROWS_A_SLICE) {
        if (from > 0) await pause();
        memtable.sumBytes(from, Math.min(rows, from + ROWS_A_SLICE), sums);
      }
      await runs.#breathe(1 + Math.ceil(rows / 8));
      runs.#runs.push({ memtable, sums, taken: 0 });
    }
    return runs;
  }

  /** Whether every row has been taken. */
  get isTaken(): boolean {
    return this.#runs.every(({ sums, taken }) => taken === sums.length - 1);
  }

  /** Resolves with whether rows with a key below `upper` (any key if undefined) are left. */
  async hasBelow(upper: RowKey | undefined): Promise<boolean> {
    const ends = await this.#ends(upper);
    return this.#runs.some(({ taken }, index) => taken < ends[index]!);
  }

  /**
   * Returns the key at which the next part ends; the part consists of the remaining rows below that
   * key. The records of a part have at most `bytes` bytes, unless all of them have the same key.
   * Returns `upper` if all remaining rows below `upper` fit. (An undefined `upper` is no bound.) If
   * they do not fit, the part has at least half of `bytes`, unless the next row is too large to be
   * added.
   */
  async cut(upper: RowKey | undefined, bytes: number): Promise<RowKey | undefined> {
    let over = await this.#ends(upper);
    if (this.#bytesTo(over) <= bytes) return upper;
    // A part that ends at the positions `within` fits; one that ends at `over` is too large. Each
    // step halves the range of the run with the most bytes between the two.
    let within = this.#runs.map(({ taken }) => taken);
    let cut: RowKey | undefined;
    while (cut === undefined || this.#bytesTo(within) < bytes / 2) {
      const run = this.#largest(within, over);
      const { memtable } = this.#runs[run]!;
      const middle = (within[run]! + over[run]!) >>> 1;
      let key = memtable.keyAt(middle);
      let ends = await this.#ends(key);
      if (ends.every((end, index) => end === within[index])) {
        key = { eventTs: key.eventTs, id: key.id + 1 };
        ends = await this.#ends(key);
        // If the next row does not fit into this part, it starts the following part. If this part
        // has no other row, the row is a part of its own.
        if (this.#bytesTo(ends) > bytes) return cut ?? key;
      }
      if (this.#bytesTo(ends) <= bytes) {
        within = ends;
        cut = key;
      } else over = ends;
    }
    return cut;
  }

  /**
   * Takes the rows below `upper` and returns those that are visible and have a time of at least
   * `cutoffTs`: at most one run of records per memtable, in buffers that the caller owns.
   */
  async take(upper: RowKey | undefined, cutoffTs: number): Promise<{ runs: Uint8Array<ArrayBuffer>[]; rows: number }> {
    const ends = await this.#ends(upper);
    const runs: Uint8Array<ArrayBuffer>[] = [];
    let rows = 0;
    for (const [index, run] of this.#runs.entries()) {
      const from = cutoffTs === -Infinity ? run.taken : Math.max(run.taken, run.memtable.seek(cutoffTs, -Infinity));
      const to = ends[index]!;
      assert(to >= run.taken, 'parts come in ascending key order');
      run.taken = Math.max(run.taken, to);
      if (from >= to) continue;
      const copied = await this.#copy(run, from, to);
      rows += copied.rows;
      if (copied.bytes.length > 0) runs.push(copied.bytes);
    }
    return { runs, rows };
  }

  async #copy(
    { memtable, sums }: Run,
    from: number,
    to: number,
  ): Promise<{ bytes: Uint8Array<ArrayBuffer>; rows: number }> {
    const bytes = new Uint8Array(sums[to]! - sums[from]!);
    let used = 0;
    let rows = 0;
    for (let at = from; at < to; ) {
      const end = sliceEnd(sums, at, Math.min(to, at + ROWS_A_SLICE));
      const copied = memtable.copyRecords(at, end, this.#lsn, bytes, used);
      assert(copied.end <= bytes.length, 'records take no more bytes than were summed');
      rows += copied.rows;
      this.#copied += copied.end - used;
      used = copied.end;
      at = end;
      if (this.#copied < BYTES_A_SLICE) continue;
      this.#copied = 0;
      await this.#pause();
    }
    return { bytes: bytes.subarray(0, used), rows };
  }

  async #ends(upper: RowKey | undefined): Promise<number[]> {
    const ends: number[] = [];
    for (const { memtable, sums, taken } of this.#runs) {
      await this.#breathe(1);
      ends.push(upper === undefined ? sums.length - 1 : Math.max(taken, memtable.seek(upper.eventTs, upper.id)));
    }
    return ends;
  }

  #bytesTo(ends: readonly number[]): number {
    return this.#runs.reduce((sum, { sums, taken }, index) => sum + sums[ends[index]!]! - sums[taken]!, 0);
  }

  /**
   * Returns the index of the run with the most bytes between its positions in `starts` and `ends`.
   */
  #largest(starts: readonly number[], ends: readonly number[]): number {
    let largest = 0;
    let most = -1;
    for (const [index, { sums }] of this.#runs.entries()) {
      const bytes = sums[ends[index]!]! - sums[starts[index]!]!;
      if (bytes <= most) continue;
      largest = index;
      most = bytes;
    }
    return largest;
  }

  /**
   * Counts seeks, or other work that takes as long, and pauses after each SEEKS_A_SLICE of them.
   */
  async #breathe(seeks: number): Promise<void> {
    this.#seeks += seeks;
    if (this.#seeks < SEEKS_A_SLICE) return;
    this.#seeks = 0;
    await this.#pause();
  }
}

/**
 * Returns the greatest position up to `most` such that the records from `from` to that position
 * have at most BYTES_A_SLICE bytes; but at least `from` + 1.
 */
function sliceEnd(sums: Uint32Array, from: number, most: number): number {
  let least = from + 1;
  while (least < most) {
    const middle = (least + most + 1) >>> 1;
    if (sums[middle]! - sums[from]! <= BYTES_A_SLICE) least = middle;
    else most = middle - 1;
  }
  return least;
}
