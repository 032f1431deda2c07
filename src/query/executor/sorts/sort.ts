// Sorts result rows in steps. Nulls are last in ascending order and first in descending order.
//
// With a limit n of at most 4096, only rows that may be among the first n are kept. When 2n + 4096
// rows are held, they are sorted and cut to n, and the last row that was kept becomes the bound. A
// row that does not sort before the bound is not even made. Equal rows keep the order in which they
// arrived: the sort is stable, and a later row that is equal to the bound is refused.

import type { Value } from '../../binder/bound.ts';
import { compareValues } from '../values/compare.ts';
import { type Vector, valueAt } from '../values/vector.ts';
import { MOST_OF_RUN, runOf } from './sorted-numbers.ts';

/** A result row with its sort keys. */
export interface SortRow {
  readonly values: readonly Value[];
  readonly order: readonly Value[];
}

type Compare = (a: SortRow, b: SortRow) => number;

export function comparator(descending: readonly boolean[]): Compare {
  return (a, b) => {
    for (let i = 0; i < descending.length; i++) {
      const order = compareNullable(a.order[i]!, b.order[i]!);
      if (order !== 0) return descending[i] ? -order : order;
    }
    return 0;
  };
}

/**
 * Compares two values that may be null. Null is the greatest value: last in ascending order, first
 * in descending order.
 */
function compareNullable(a: Value, b: Value): number {
  if (a === null) return b === null ? 0 : 1;
  if (b === null) return -1;
  return compareValues(a, b);
}

/** Keeps all rows or, with a small limit, those that may be among the first `limit`; sorts them. */
export class Sorter {
  readonly #descending: readonly boolean[];
  readonly #compare: Compare;
  readonly #limit: number;
  /**
   * When this many rows are held, the caller cuts them to the limit. Infinity if the limit is
   * large.
   */
  readonly #cutAt: number;
  #rows: SortRow[] = [];
  /** Length of the longest text among the sort keys. */
  #longest = 0;
  /** The last row that the most recent cut kept. Only rows that sort before it are needed. */
  #bound: SortRow | undefined;

  constructor(descending: readonly boolean[], limit: number | undefined) {
    this.#descending = descending;
    this.#compare = comparator(descending);
    this.#limit = limit ?? Number.MAX_SAFE_INTEGER;
    this.#cutAt = this.#limit <= MOST_OF_RUN ? 2 * this.#limit + MOST_OF_RUN : Infinity;
  }

  /**
   * Number of rows held. With a small limit it is at most 2 * limit + 4096 if the caller cuts
   * whenever `isFull` is true.
   */
  get size(): number {
    return this.#rows.length;
  }

  add(row: SortRow): void {
    this.#rows.push(row);
    for (const value of row.order)
      if (typeof value === 'string' && value.length > this.#longest) this.#longest = value.length;
  }

  /** Whether enough rows are held for a cut. */
  get isFull(): boolean {
    return this.#rows.length >= this.#cutAt;
  }

  /** Sorts the rows and removes those after the limit, which it returns. Pauses like `sorted`. */
  *cut(): Generator<null, SortRow[], void> {
    const rows = yield* this.#ordered();
    this.#rows = rows.slice(0, this.#limit);
    this.#bound = this.#rows[this.#limit - 1];
    return rows.slice(this.#limit);
  }

  /**
   * Returns whether the row with these sort keys may be among the first. With a limit, most rows
   * are not, and need not be made.
   */
  admits(orders: readonly Vector[], place: number): boolean {
    const bound = this.#bound;
    if (bound === undefined) return true;
    for (let i = 0; i < orders.length; i++) {
      const order = compareNullable(valueAt(orders[i]!, place), bound.order[i]!);
      if (order !== 0) return this.#descending[i] ? order > 0 : order < 0;
    }
    return false;
  }

  /**
   * Returns the rows in order, at most `limit` of them. Yields null between steps of a few ms. The
   * sort is stable.
   */
  *sorted(): Generator<null, SortRow[], void> {
    const rows = yield* this.#ordered();
    return rows.length > this.#limit ? rows.slice(0, this.#limit) : rows;
  }

  *#ordered(): Generator<null, SortRow[], void> {
    const run = runOf(this.#descending.length, this.#longest);
    let runs: SortRow[][] = [];
    for (let at = 0; at < this.#rows.length; at += run) {
      runs.push(this.#rows.slice(at, at + run).sort(this.#compare));
      yield null;
    }
    this.#rows = [];
    while (runs.length > 1) {
      const next: SortRow[][] = [];
      for (let i = 0; i < runs.length; i += 2)
        next.push(i + 1 < runs.length ? yield* merged(runs[i]!, runs[i + 1]!, this.#compare, run) : runs[i]!);
      runs = next;
    }
    return runs[0] ?? [];
  }
}

function* merged(
  a: readonly SortRow[],
  b: readonly SortRow[],
  compare: Compare,
  run: number,
): Generator<null, SortRow[], void> {
  const rows: SortRow[] = new Array(a.length + b.length);
  let i = 0;
  let j = 0;
  for (let at = 0; at < rows.length; at++) {
    const takeLeft = j >= b.length || (i < a.length && compare(a[i]!, b[j]!) <= 0);
    rows[at] = takeLeft ? a[i++]! : b[j++]!;
    if (at % run === run - 1) yield null;
  }
  return rows;
}
