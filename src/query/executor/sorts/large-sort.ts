// Sorts very many result rows. The rows stay in the columns in which they arrived (small chunks are
// gathered into larger columns), and only row numbers are sorted. If there were an object for each
// of a million rows, the garbage collector would block other work for too long.

import { HedgerowError } from '../../../errors.ts';
import { compareTexts } from '../../../model/text-order.ts';
import type { BoundExpression, Value } from '../../binder/bound.ts';
import { type Batch, selectFrom } from '../rows/row-set.ts';
import { type Environment, evaluate } from '../values/evaluate.ts';
import { type Vector, valueAt } from '../values/vector.ts';
import { runOf, sortedNumbers } from './sorted-numbers.ts';

/** A chunk of rows as it was received. */
export interface SortedChunk {
  readonly count: number;
  /**
   * Undefined: the item is evaluated only when the row is output (lists and whole rows, which are
   * objects).
   */
  readonly items: readonly (Vector | undefined)[];
  readonly orders: readonly Vector[];
  readonly batch: Batch;
  readonly environment: Environment;
}

/** Small chunks are gathered until they have at least this many rows, and become one chunk. */
const GATHERED_ROWS = 4096;
/**
 * The number of a row consists of the index of its chunk and, in the lower 16 bits, its position in
 * the chunk.
 */
const PLACE_BITS = 16;
const PLACE_MASK = 2 ** PLACE_BITS - 1;
/** The rows of a chunk that has fewer rows than this are gathered as values. */
export const FEW_ROWS = 256;
const NO_BATCH: Batch = { count: 0, sides: [] };
const NO_ENVIRONMENT: Environment = { parameters: {}, patterns: [] };

/**
 * Sort keys by chunk. Null is the greatest value. Numbers are finite, so Infinity represents null
 * among them.
 */
type Keys =
  | { readonly kind: 'numbers'; readonly values: Float64Array[] }
  | { readonly kind: 'texts'; readonly values: (string | null)[][] };

export class LargeSorter {
  readonly #descending: readonly boolean[];
  readonly #keys: readonly Keys[];
  readonly #chunks: SortedChunk[] = [];
  #rows = 0;
  /** Length of the longest text among the sort keys. */
  #longest = 0;
  /** Rows of small chunks, by column. */
  #few: { count: number; readonly items: Value[][]; readonly orders: Value[][] } | undefined;

  /** `orders` contains the sort keys, and whether each is descending. */
  constructor(orders: readonly { readonly expression: BoundExpression; readonly descending: boolean }[]) {
    this.#descending = orders.map(({ descending }) => descending);
    this.#keys = orders.map(
      ({ expression }): Keys => ({
        kind: expression.type === 'text' ? 'texts' : 'numbers',
        values: [],
      }),
    );
  }

  /**
   * Adds a chunk of at most 65,535 rows. If it has fewer than `FEW_ROWS` rows, none of its items
   * may be undefined.
   */
  add(chunk: SortedChunk): void {
    if (chunk.count > PLACE_MASK) throw new Error(`${chunk.count} rows come at once`);
    if (chunk.count >= FEW_ROWS) {
      // Rows that came before get lower numbers, so that ties stay in the order of the input.
      this.#pushFew();
      this.#push(chunk);
    } else if (chunk.count > 0) this.#gather(chunk);
  }

  #gather({ count, items, orders }: SortedChunk): void {
    this.#few ??= { count: 0, items: items.map(() => []), orders: orders.map(() => []) };
    const few = this.#few;
    few.count += count;
    for (const [into, vectors] of [
      [few.items, items],
      [few.orders, orders],
    ] as const)
      for (const [place, values] of into.entries())
        for (let row = 0; row < count; row++) values.push(valueAt(vectors[place]!, row));
    if (few.count >= GATHERED_ROWS) this.#pushFew();
  }

  #pushFew(): void {
    if (this.#few === undefined) return;
    const { count, items, orders } = this.#few;
    this.#few = undefined;
    const vectors = (columns: readonly Value[][]) => columns.map((values): Vector => ({ kind: 'value', values }));
    this.#push({
      count,
      items: vectors(items),
      orders: vectors(orders),
      batch: NO_BATCH,
      environment: NO_ENVIRONMENT,
    });
  }

  #push(chunk: SortedChunk): void {
    if (this.#chunks.length > PLACE_MASK)
      throw new HedgerowError(
        'query_too_large',
        'ORDER BY would sort too many rows at once; add a LIMIT of at most 4096, or sort fewer rows.',
      );
    this.#chunks.push(chunk);
    this.#rows += chunk.count;
    for (const [place, keys] of this.#keys.entries()) {
      const vector = chunk.orders[place]!;
      if (keys.kind === 'numbers') keys.values.push(numbersIn(vector, chunk.count));
      else {
        const texts = Array.from({ length: chunk.count }, (_, row) => valueAt(vector, row) as string | null);
        for (const text of texts) if (text !== null && text.length > this.#longest) this.#longest = text.length;
        keys.values.push(texts);
      }
    }
  }

  /**
   * Returns the row numbers of the first `limit` rows in sort order. Yields null between steps of a
   * few ms. Rows with equal keys are in the order of their row numbers.
   */
  *sorted(limit: number): Generator<null, Uint32Array, void> {
    this.#pushFew();
    const numbers = new Uint32Array(this.#rows);
    let at = 0;
    for (const [index, { count }] of this.#chunks.entries()) {
      numberRows(numbers, at, index * 2 ** PLACE_BITS, count);
      at += count;
      yield null;
    }
    const run = runOf(this.#keys.length, this.#longest);
    return (yield* sortedNumbers(numbers, (a, b) => this.#compare(a, b), run)).subarray(0, limit);
  }

  /**
   * Compares two rows by their row numbers. Never returns 0, because the row numbers break ties.
   */
  #compare(a: number, b: number): number {
    const [chunkA, placeA] = [a >>> PLACE_BITS, a & PLACE_MASK];
    const [chunkB, placeB] = [b >>> PLACE_BITS, b & PLACE_MASK];
    for (let i = 0; i < this.#keys.length; i++) {
      const { kind, values } = this.#keys[i]!;
      let order: number;
      if (kind === 'numbers') {
        const x = values[chunkA]![placeA]!;
        const y = values[chunkB]![placeB]!;
        order = x < y ? -1 : x > y ? 1 : 0;
      } else order = compareNullable(values[chunkA]![placeA]!, values[chunkB]![placeB]!);
      if (order !== 0) return this.#descending[i] ? -order : order;
    }
    return a - b;
  }

  /** Returns the values of an item for some rows. */
  item(place: number, { expression }: { readonly expression: BoundExpression }, rows: Uint32Array): Vector {
    const values = Array.from(rows, (row) => {
      const chunk = this.#chunks[row >>> PLACE_BITS]!;
      const vector = chunk.items[place];
      if (vector !== undefined) return valueAt(vector, row & PLACE_MASK);
      const one = selectFrom(chunk.batch, Uint32Array.of(row & PLACE_MASK));
      return valueAt(evaluate(expression, one, chunk.environment), 0);
    });
    return { kind: 'value', values };
  }
}

/** A separate function, because V8 does not optimize a loop in a generator while it runs. */
function numberRows(numbers: Uint32Array, from: number, first: number, count: number): void {
  for (let place = 0; place < count; place++) numbers[from + place] = first + place;
}

/** Returns numbers unchanged, booleans as 0 and 1, and null as Infinity. */
function numbersIn(vector: Vector, count: number): Float64Array {
  if (vector.kind === 'number' && vector.nulls === undefined) return vector.values;
  const numbers = new Float64Array(count);
  for (let row = 0; row < count; row++) {
    const value = valueAt(vector, row);
    numbers[row] = value === null ? Infinity : Number(value);
  }
  return numbers;
}

function compareNullable(a: string | null, b: string | null): number {
  if (a === null) return b === null ? 0 : 1;
  return b === null ? -1 : compareTexts(a, b);
}
