// Numbers 0, 1, 2, ... for the distinct tuples of values over many batches, as they come: keys of groups, rows that DISTINCT tells apart.

import type { ValueType } from '../../binder/bound.ts';
import type { Vector } from '../values/vector.ts';
import { NumberTable } from './number-table.ts';
import { ValueIds } from './value-ids.ts';

/** Ids stay far below it: each has been paid for with tens of bytes. */
const MOST_IDS = 2 ** 26;

export class TupleIds {
  readonly #ids: readonly ValueIds[];
  /** Of every value but the first: pairs of what the values before come to and an id. What the last one comes to is the tuple. */
  readonly #pairs: readonly NumberTable[];

  /** Types of the values of a tuple, one or more. */
  constructor(types: readonly ValueType[]) {
    this.#ids = types.map((type) => new ValueIds(type));
    this.#pairs = types.slice(1).map(() => new NumberTable());
  }

  /** Ids given so far are below it. */
  get size(): number {
    return this.#pairs[this.#pairs.length - 1]?.size ?? this.#ids[0]!.size;
  }

  /**
   * The tuple of each row. `vectors`: one of each value, taken one after the other, each a step: tables of many values grow
   * in the same batch. `charge` is given the bytes that new values and pairs take.
   */
  *idsOf(
    vectors: Iterable<Vector>,
    count: number,
    charge: (bytes: number) => void,
  ): Generator<null, Uint32Array, void> {
    let tuples: Uint32Array | undefined;
    let index = 0;
    for (const vector of vectors) {
      if (tuples !== undefined) yield null;
      const values = this.#ids[index]!;
      const bytes = values.bytes;
      const ids = values.idsOf(vector, count);
      charge(values.bytes - bytes);
      if (tuples === undefined) tuples = ids;
      else {
        const pairs = this.#pairs[index - 1]!;
        const before = pairs.bytes;
        tuples = placesOfPairs(tuples, ids, pairs);
        charge(pairs.bytes - before);
      }
      index++;
    }
    return tuples!;
  }

  /** The values of tuples [from, to), one vector of each. Pairs are taken apart from the last one on. */
  values(from: number, to: number): Vector[] {
    const vectors = new Array<Vector>(this.#ids.length);
    const places = Uint32Array.from({ length: to - from }, (_, i) => from + i);
    for (let index = this.#pairs.length; index > 0; index--) {
      const pairs = this.#pairs[index - 1]!;
      const ids = new Uint32Array(places.length);
      for (let i = 0, end = places.length; i < end; i++) {
        const pair = pairs.at(places[i]!);
        places[i] = Math.floor(pair / MOST_IDS);
        ids[i] = pair % MOST_IDS;
      }
      vectors[index] = this.#ids[index]!.valuesOf(ids);
    }
    vectors[0] = this.#ids[0]!.valuesOf(places);
    return vectors;
  }
}

/** Neighbours are often equal. */
function placesOfPairs(left: Uint32Array, right: Uint32Array, table: NumberTable): Uint32Array {
  const places = new Uint32Array(left.length);
  let last = -1;
  let place = 0;
  for (let i = 0, end = places.length; i < end; i++) {
    const pair = left[i]! * MOST_IDS + right[i]!;
    if (pair !== last) {
      place = table.placeOf(pair);
      last = pair;
    }
    places[i] = place;
  }
  return places;
}
