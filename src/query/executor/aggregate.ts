// Groups rows by keys and gathers aggregates; nulls are skipped, null keys are equal (contract section 4).

import { HedgerowError } from '../../errors.ts';
import type { BoundAggregate, BoundExpression, Value } from '../binder/bound.ts';
import { shown } from '../shown.ts';
import { compareValues } from './compare.ts';
import type { QueryContext } from './context.ts';
import { evaluate } from './evaluate.ts';
import type { Batch } from './row-set.ts';
import { isNullAt, type Vector, valueAt, vectorOf } from './vector.ts';

/** One aggregate over all groups; states grow with the groups. */
interface Accumulator {
  add(vector: Vector | undefined, groups: Uint32Array, count: number): void;
  result(group: number): Value;
}

const BYTES_OF_GROUP = 100;
const BYTES_OF_ITEM = 40;

export class Aggregator {
  readonly #context: QueryContext;
  readonly #keys: readonly BoundExpression[];
  readonly #aggregates: readonly BoundAggregate[];
  readonly #accumulators: readonly Accumulator[];
  readonly #places = new Map<unknown, number>();
  readonly #keyValues: Value[][];
  #groups = 0;

  constructor(keys: readonly BoundExpression[], aggregates: readonly BoundAggregate[], context: QueryContext) {
    this.#context = context;
    this.#keys = keys;
    this.#aggregates = aggregates;
    this.#accumulators = aggregates.map((aggregate) => accumulatorOf(aggregate, context));
    this.#keyValues = keys.map(() => []);
    // Without keys there is one group, also of no rows.
    if (keys.length === 0) this.#groups = 1;
  }

  get groups(): number {
    return this.#groups;
  }

  add(batch: Batch): void {
    const groups = this.#groupsOf(batch);
    for (const [index, aggregate] of this.#aggregates.entries()) {
      const vector = aggregate.operand && evaluate(aggregate.operand, batch, this.#context.environment);
      this.#accumulators[index]!.add(vector, groups, batch.count);
    }
  }

  /** A key of groups [from, to). */
  key(index: number, from: number, to: number): Vector {
    return vectorOf(this.#keyValues[index]!.slice(from, to), this.#keys[index]!.type);
  }

  /** An aggregate of groups [from, to). */
  aggregate(index: number, from: number, to: number): Vector {
    const accumulator = this.#accumulators[index]!;
    const values = Array.from({ length: to - from }, (_, place) => accumulator.result(from + place));
    return vectorOf(values, this.#aggregates[index]!.type);
  }

  #groupsOf(batch: Batch): Uint32Array {
    const groups = new Uint32Array(batch.count);
    if (this.#keys.length === 0) return groups;
    const keys = this.#keys.map((key) => evaluate(key, batch, this.#context.environment));
    const before = this.#groups;
    if (keys.length === 1) this.#groupByOne(keys[0]!, groups);
    else for (let i = 0; i < batch.count; i++) groups[i] = this.#place(compositeKey(keys, i), keys, i);
    this.#context.charge((this.#groups - before) * BYTES_OF_GROUP);
    return groups;
  }

  /** Neighbours often have the same key: rows come in time order. */
  #groupByOne(key: Vector, groups: Uint32Array): void {
    const keys = [key];
    if (key.kind === 'number' && key.nulls === undefined) {
      let last = Number.NaN;
      let place = 0;
      for (let i = 0; i < groups.length; i++) {
        const value = key.values[i]!;
        if (value !== last) {
          place = this.#place(value === 0 ? 0 : value, keys, i);
          last = value;
        }
        groups[i] = place;
      }
      return;
    }
    if (key.kind === 'text') {
      const known = new Int32Array(key.texts.length).fill(-1);
      for (let i = 0; i < groups.length; i++) {
        const code = key.codes[i]!;
        if (key.nulls?.[i] === 1) groups[i] = this.#place(null, keys, i);
        else {
          if (known[code]! < 0) known[code] = this.#place(key.texts[code], keys, i);
          groups[i] = known[code]!;
        }
      }
      return;
    }
    for (let i = 0; i < groups.length; i++) groups[i] = this.#place(singleKey(valueAt(key, i)), keys, i);
  }

  #place(key: unknown, keys: readonly Vector[], row: number): number {
    let place = this.#places.get(key);
    if (place === undefined) {
      place = this.#groups++;
      this.#places.set(key, place);
      for (const [index, vector] of keys.entries()) this.#keyValues[index]!.push(valueAt(vector, row));
    }
    return place;
  }
}

/** A key that is equal for equal values. */
function singleKey(value: Value): unknown {
  if (typeof value === 'object' && value !== null) return JSON.stringify(value);
  return value === 0 ? 0 : value;
}

export function compositeKey(keys: readonly Vector[], row: number): string {
  return JSON.stringify(keys.map((key) => valueAt(key, row)));
}

function accumulatorOf(aggregate: BoundAggregate, context: QueryContext): Accumulator {
  if (aggregate.distinct) return new DistinctAccumulator(aggregate, context);
  switch (aggregate.function) {
    case 'COUNT':
      return new Count();
    case 'SUM':
      return new Sum(aggregate);
    case 'AVG':
      return new Average();
    case 'COLLECT':
      return new Collect(context);
    default:
      return new Extreme(aggregate.function === 'MIN' ? -1 : 1);
  }
}

class Count implements Accumulator {
  readonly #counts: number[] = [];

  add(vector: Vector | undefined, groups: Uint32Array, count: number): void {
    const counts = this.#counts;
    const skips = vector !== undefined && !hasNoNull(vector);
    for (let i = 0; i < count; i++) {
      if (skips && isNullAt(vector, i)) continue;
      const group = groups[i]!;
      counts[group] = (counts[group] ?? 0) + 1;
    }
  }

  result(group: number): Value {
    return this.#counts[group] ?? 0;
  }
}

function hasNoNull(vector: Vector): boolean {
  if (vector.kind === 'constant') return vector.value !== null;
  return vector.kind !== 'value' && vector.nulls === undefined;
}

/** Sums of reals are kept with their rounding error (Neumaier 1974), so that the order of rows hardly matters. */
class Sum implements Accumulator {
  readonly #aggregate: BoundAggregate;
  readonly #sums: number[] = [];
  readonly #errors: number[] = [];

  constructor(aggregate: BoundAggregate) {
    this.#aggregate = aggregate;
  }

  add(vector: Vector | undefined, groups: Uint32Array, count: number): void {
    for (let i = 0; i < count; i++) {
      if (isNullAt(vector!, i)) continue;
      const value = vector!.kind === 'number' ? vector!.values[i]! : (valueAt(vector!, i) as number);
      const group = groups[i]!;
      const sum = this.#sums[group] ?? 0;
      const next = sum + value;
      const error = Math.abs(sum) >= Math.abs(value) ? sum - next + value : value - next + sum;
      this.#sums[group] = next;
      this.#errors[group] = (this.#errors[group] ?? 0) + error;
    }
  }

  result(group: number): Value {
    const sum = this.#sums[group];
    if (sum === undefined) return null;
    const total = sum + this.#errors[group]!;
    const isInteger = this.#aggregate.type === 'integer';
    if (isInteger ? Math.abs(total) <= Number.MAX_SAFE_INTEGER : Number.isFinite(total)) return total;
    throw new HedgerowError(
      'invalid_statement',
      `${shown(this.#aggregate.text)} gives ${isInteger ? 'an integer beyond 2^53-1' : 'a number that is too large'}; sum fewer rows.`,
    );
  }
}

class Average implements Accumulator {
  readonly #sum = new Sum({ function: 'SUM', distinct: false, operand: undefined, type: 'real', text: 'AVG' });
  readonly #count = new Count();

  add(vector: Vector | undefined, groups: Uint32Array, count: number): void {
    this.#sum.add(vector, groups, count);
    this.#count.add(vector, groups, count);
  }

  result(group: number): Value {
    const sum = this.#sum.result(group);
    return sum === null ? null : (sum as number) / (this.#count.result(group) as number);
  }
}

/** MIN (-1) or MAX (1). */
class Extreme implements Accumulator {
  readonly #sign: 1 | -1;
  readonly #values: Value[] = [];

  constructor(sign: 1 | -1) {
    this.#sign = sign;
  }

  add(vector: Vector | undefined, groups: Uint32Array, count: number): void {
    for (let i = 0; i < count; i++) {
      if (isNullAt(vector!, i)) continue;
      const value = valueAt(vector!, i);
      const group = groups[i]!;
      const best = this.#values[group];
      if (best === undefined || compareValues(value, best) * this.#sign > 0) this.#values[group] = value;
    }
  }

  result(group: number): Value {
    return this.#values[group] ?? null;
  }
}

class Collect implements Accumulator {
  readonly #context: QueryContext;
  readonly #lists: Value[][] = [];

  constructor(context: QueryContext) {
    this.#context = context;
  }

  add(vector: Vector | undefined, groups: Uint32Array, count: number): void {
    for (let i = 0; i < count; i++) {
      if (isNullAt(vector!, i)) continue;
      this.#lists[groups[i]!] ??= [];
      this.#lists[groups[i]!]!.push(valueAt(vector!, i));
    }
    this.#context.charge(count * BYTES_OF_ITEM);
  }

  result(group: number): Value {
    return this.#lists[group] ?? [];
  }
}

/** Any aggregate over each group's distinct values. */
class DistinctAccumulator implements Accumulator {
  readonly #context: QueryContext;
  readonly #inner: Accumulator;
  readonly #seen: Set<unknown>[] = [];

  constructor(aggregate: BoundAggregate, context: QueryContext) {
    this.#context = context;
    this.#inner = accumulatorOf({ ...aggregate, distinct: false }, context);
  }

  add(vector: Vector | undefined, groups: Uint32Array, count: number): void {
    const values: Value[] = [];
    const into: number[] = [];
    for (let i = 0; i < count; i++) {
      if (isNullAt(vector!, i)) continue;
      const group = groups[i]!;
      const value = valueAt(vector!, i);
      this.#seen[group] ??= new Set();
      const key = singleKey(value);
      if (this.#seen[group]!.has(key)) continue;
      this.#seen[group]!.add(key);
      values.push(value);
      into.push(group);
    }
    this.#context.charge(values.length * BYTES_OF_ITEM);
    this.#inner.add({ kind: 'value', values }, Uint32Array.from(into), values.length);
  }

  result(group: number): Value {
    return this.#inner.result(group);
  }
}
