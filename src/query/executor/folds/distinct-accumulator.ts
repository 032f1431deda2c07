// Computes any aggregate over the distinct values in each group.

import type { ValueType } from '../../binder/bound.ts';
import type { QueryContext } from '../context.ts';
import { NumberTable } from '../rows/number-table.ts';
import { ValueIds } from '../rows/value-ids.ts';
import { type Vector, valueAt } from '../values/vector.ts';
import { type Accumulator, BYTES_OF_ITEM, type GroupsOf } from './accumulators.ts';

/**
 * Ids stay below this: tens of bytes are charged for each id, and a statement may hold at most 512
 * MB.
 */
const MOST_IDS = 2 ** 26;

export class DistinctAccumulator implements Accumulator {
  readonly #context: QueryContext;
  readonly #inner: Accumulator;
  readonly #ids: ValueIds;
  /** Pairs (group, id) that occurred so far. They are not kept as long as there is only group 0. */
  readonly #pairs = new NumberTable();
  /** Whether only group 0 occurred so far. Its rows may be given with or without their group. */
  #isOneGroup = true;

  constructor(inner: Accumulator, type: ValueType, context: QueryContext) {
    this.#context = context;
    this.#inner = inner;
    this.#ids = new ValueIds(type);
  }

  get #bytes(): number {
    return this.#ids.bytes + this.#pairs.bytes;
  }

  reserve(groups: number): void {
    this.#inner.reserve(groups);
  }

  add(vector: Vector | undefined, groups: GroupsOf, count: number): void {
    let known = this.#ids.size;
    const before = this.#bytes;
    const ids = this.#ids.idsOf(vector!, count);
    const { nullId } = this.#ids;
    const fresh = new Uint32Array(count);
    let found = 0;
    if (this.#isOneGroup && groups?.some((group) => group !== 0) === true) this.#keepPairs(known);
    if (this.#isOneGroup) {
      // Ids are assigned in the order of the rows, so every id from `known` on is new.
      for (let i = 0; i < count; i++) {
        if (ids[i]! < known) continue;
        known = ids[i]! + 1;
        if (ids[i] !== nullId) fresh[found++] = i;
      }
    } else {
      for (let i = 0; i < count; i++) {
        if (ids[i] === nullId) continue;
        const seen = this.#pairs.size;
        const group = groups === undefined ? 0 : groups[i]!;
        if (this.#pairs.placeOf(group * MOST_IDS + ids[i]!) === seen) fresh[found++] = i;
      }
    }
    this.#context.charge(this.#bytes - before);
    if (found === 0) return;
    this.#context.charge(found * BYTES_OF_ITEM);
    const places = fresh.subarray(0, found);
    this.#inner.add(picked(vector!, places), groups && places.map((place) => groups[place]!), found);
  }

  /** Keeps pairs from now on. The first `known` ids, all of group 0, are added. */
  #keepPairs(known: number): void {
    for (let id = 0; id < known; id++) this.#pairs.placeOf(id);
    this.#isOneGroup = false;
  }

  addFigures(): void {
    throw new Error('figures do not tell values apart');
  }

  results(from: number, to: number): Vector {
    return this.#inner.results(from, to);
  }
}

/** Returns the values at some positions, none of which is null. */
function picked(vector: Vector, places: Uint32Array): Vector {
  if (vector.kind !== 'number') return { kind: 'value', values: Array.from(places, (place) => valueAt(vector, place)) };
  const values = new Float64Array(places.length);
  for (let i = 0, end = places.length; i < end; i++) values[i] = vector.values[places[i]!]!;
  return { kind: 'number', values, nulls: undefined };
}
