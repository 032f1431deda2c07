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

  /** The tuple of each row. `vectors`: one of each value, taken one after the other. `charge` is given the bytes that new values take. */
  idsOf(vectors: Iterable<Vector>, count: number, charge: (bytes: number) => void): Uint32Array {
    let tuples: Uint32Array | undefined;
    let index = 0;
    for (const vector of vectors) {
      const values = this.#ids[index]!;
      const bytes = values.bytes;
      const ids = values.idsOf(vector, count);
      charge(values.bytes - bytes);
      tuples = tuples === undefined ? ids : placesOfPairs(tuples, ids, this.#pairs[index - 1]!);
      index++;
    }
    return tuples!;
  }

  /** A value of tuples [from, to). */
  values(index: number, from: number, to: number): Vector {
    const ids = new Uint32Array(to - from);
    for (let i = 0, end = ids.length; i < end; i++) ids[i] = this.#idOf(from + i, index);
    return this.#ids[index]!.valuesOf(ids);
  }

  /** A tuple's id of one value: pairs are taken apart from the last one on. */
  #idOf(tuple: number, index: number): number {
    let place = tuple;
    for (let last = this.#pairs.length - 1; last >= index; last--)
      place = Math.floor(this.#pairs[last]!.at(place) / MOST_IDS);
    return index === 0 ? place : this.#pairs[index - 1]!.at(place) % MOST_IDS;
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
