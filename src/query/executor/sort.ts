// Puts result rows in order: nulls last ascending, first descending; in slices, and only the first rows when there is a limit.

import type { Value } from '../binder/bound.ts';
import { compareValues } from './compare.ts';
import { type Vector, valueAt } from './vector.ts';

/** A row of a result with what it is ordered by. */
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

/** Null is the greatest: last in ascending, first in descending order. */
function compareNullable(a: Value, b: Value): number {
  if (a === null) return b === null ? 0 : 1;
  if (b === null) return -1;
  return compareValues(a, b);
}

/** Runs of so many rows are sorted at once: a few ms. */
const RUN_ROWS = 4096;

/** Keeps all rows, or the first `limit` of the order, sorted at the end. */
export class Sorter {
  readonly #descending: readonly boolean[];
  readonly #compare: Compare;
  readonly #limit: number;
  /** So many rows are cut down to the limit; one sort of them takes a few ms. With a large limit all rows are kept. */
  readonly #cutAt: number;
  #rows: SortRow[] = [];
  /** The last row that was kept when rows were cut down: only rows before it are of use. */
  #bound: SortRow | undefined;

  constructor(descending: readonly boolean[], limit: number | undefined) {
    this.#descending = descending;
    this.#compare = comparator(descending);
    this.#limit = limit ?? Number.MAX_SAFE_INTEGER;
    this.#cutAt = this.#limit <= RUN_ROWS ? 2 * this.#limit + RUN_ROWS : Infinity;
  }

  /** Rows held; with a small limit at most about twice as many and a run. */
  get size(): number {
    return this.#rows.length;
  }

  add(row: SortRow): void {
    this.#rows.push(row);
    if (this.#rows.length < this.#cutAt) return;
    this.#rows.sort(this.#compare);
    this.#rows.length = this.#limit;
    this.#bound = this.#rows[this.#limit - 1];
  }

  /** Whether a row ordered by the values at a place of some vectors may be among the first. Most rows are not, when there is a limit: they need not be made. */
  admits(orders: readonly Vector[], place: number): boolean {
    const bound = this.#bound;
    if (bound === undefined) return true;
    for (let i = 0; i < orders.length; i++) {
      const order = compareNullable(valueAt(orders[i]!, place), bound.order[i]!);
      if (order !== 0) return this.#descending[i] ? order > 0 : order < 0;
    }
    return false;
  }

  /** All rows in order; pauses with null between steps of a few ms. Equal rows keep the order they came in. */
  *sorted(): Generator<null, SortRow[], void> {
    let runs: SortRow[][] = [];
    for (let at = 0; at < this.#rows.length; at += RUN_ROWS) {
      runs.push(this.#rows.slice(at, at + RUN_ROWS).sort(this.#compare));
      yield null;
    }
    this.#rows = [];
    while (runs.length > 1) {
      const next: SortRow[][] = [];
      for (let i = 0; i < runs.length; i += 2)
        next.push(i + 1 < runs.length ? yield* merged(runs[i]!, runs[i + 1]!, this.#compare) : runs[i]!);
      runs = next;
    }
    const rows = runs[0] ?? [];
    return rows.length > this.#limit ? rows.slice(0, this.#limit) : rows;
  }
}

function* merged(a: readonly SortRow[], b: readonly SortRow[], compare: Compare): Generator<null, SortRow[], void> {
  const rows: SortRow[] = new Array(a.length + b.length);
  let i = 0;
  let j = 0;
  for (let at = 0; at < rows.length; at++) {
    const takeLeft = j >= b.length || (i < a.length && compare(a[i]!, b[j]!) <= 0);
    rows[at] = takeLeft ? a[i++]! : b[j++]!;
    if (at % RUN_ROWS === RUN_ROWS - 1) yield null;
  }
  return rows;
}
