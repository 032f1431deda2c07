// Groups of rows by the values of their keys: numbers 0, 1, 2, ... in the order they come. Null keys are equal (contract section 4).

import type { BoundExpression } from '../binder/bound.ts';
import type { QueryContext } from './context.ts';
import { NumberTable } from './number-table.ts';
import type { Batch } from './row-set.ts';
import { ValueIds } from './value-ids.ts';
import type { Vector } from './vector.ts';

const BYTES_OF_GROUP = 48;
/** Ids stay far below it: each has been paid for with tens of bytes. */
const MOST_IDS = 2 ** 26;

export class Groups {
  readonly #context: QueryContext;
  readonly #keys: readonly BoundExpression[];
  readonly #ids: readonly ValueIds[];
  /** Of every key but the first: pairs of what the keys before come to and an id. What the last one comes to is the group. */
  readonly #pairs: readonly NumberTable[];
  readonly #bytesOfGroup: number;
  #count = 0;

  /** `bytesOfGroup`: what else is kept of each group. */
  constructor(keys: readonly BoundExpression[], context: QueryContext, bytesOfGroup: number) {
    this.#context = context;
    this.#keys = keys;
    this.#ids = keys.map((key) => new ValueIds(key.type));
    this.#pairs = keys.slice(1).map(() => new NumberTable());
    this.#bytesOfGroup = bytesOfGroup + BYTES_OF_GROUP * keys.length;
    // Without keys there is one group, also of no rows.
    if (keys.length === 0) this.#count = 1;
    context.charge(this.#count * this.#bytesOfGroup);
  }

  get count(): number {
    return this.#count;
  }

  /** The group of each row of a batch; undefined: all are of the one group there is. */
  of(batch: Batch): Uint32Array | undefined {
    if (this.#keys.length === 0) return undefined;
    let groups: Uint32Array | undefined;
    for (const [index, key] of this.#keys.entries()) {
      const values = this.#ids[index]!;
      const bytes = values.bytes;
      const ids = values.idsOf(this.#context.transient(key, batch), batch.count);
      this.#context.charge(values.bytes - bytes);
      groups = groups === undefined ? ids : placesOfPairs(groups, ids, this.#pairs[index - 1]!);
    }
    const before = this.#count;
    this.#count = this.#pairs[this.#pairs.length - 1]?.size ?? this.#ids[0]!.size;
    this.#context.charge((this.#count - before) * this.#bytesOfGroup);
    return groups;
  }

  /** A key of groups [from, to). */
  key(index: number, from: number, to: number): Vector {
    const ids = new Uint32Array(to - from);
    for (let i = 0, end = ids.length; i < end; i++) ids[i] = this.#idOf(from + i, index);
    return this.#ids[index]!.valuesOf(ids);
  }

  /** A group's id of one key: pairs are taken apart from the last key on. */
  #idOf(group: number, index: number): number {
    let place = group;
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
