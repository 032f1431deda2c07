// Implements DISTINCT: finds the rows of a result that have not occurred before.

import type { BoundItem } from '../../binder/bound.ts';
import type { QueryContext } from '../context.ts';
import type { Vector } from '../values/vector.ts';
import { TupleIds } from './tuple-ids.ts';

const BYTES_OF_ROW = 80;

export class DistinctRows {
  readonly #context: QueryContext;
  readonly #ids: TupleIds;

  constructor(items: readonly BoundItem[], context: QueryContext) {
    this.#context = context;
    this.#ids = new TupleIds(items.map(({ expression }) => expression.type));
  }

  /**
   * Returns the positions of the rows that have not occurred before. From now on, these rows count
   * as having occurred. Making `items` was a step of its own, so this begins with a pause.
   */
  *firstOf(items: readonly Vector[], count: number): Generator<null, number[], void> {
    yield null;
    const before = this.#ids.size;
    const ids = yield* this.#ids.idsOf(items, count, (bytes) => this.#context.charge(bytes));
    const isSeen = new Uint8Array(this.#ids.size - before);
    const places: number[] = [];
    for (let i = 0; i < count; i++) {
      const place = ids[i]! - before;
      if (place < 0 || isSeen[place] === 1) continue;
      isSeen[place] = 1;
      places.push(i);
    }
    this.#context.charge(places.length * BYTES_OF_ROW);
    return places;
  }
}
