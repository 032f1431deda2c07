// Computes aggregates over groups: counts, sums, averages, extremes and lists. Nulls are skipped.

import { FIGURE, FIGURES } from '../../../core/index.ts';
import { HedgerowError } from '../../../errors.ts';
import type { BoundAggregate, Value, ValueType } from '../../binder/bound.ts';
import { shown } from '../../shown.ts';
import type { QueryContext } from '../context.ts';
import { textBytes } from '../memory.ts';
import { compareValues } from '../values/compare.ts';
import { isNullAt, type NumberVector, type Vector, valueAt, vectorOf } from '../values/vector.ts';
import { GrowingNumbers } from './growing-numbers.ts';

/** The group of each value. Undefined: all values belong to group 0. */
export type GroupsOf = Uint32Array | undefined;

/** One aggregate over all groups. */
export interface Accumulator {
  /**
   * Makes room for the groups below `groups`. Must be called before values are added to these
   * groups.
   */
  reserve(groups: number): void;
  /**
   * Adds `count` values, or rows if `vector` is undefined. `times` contains the number of
   * occurrences of each value.
   */
  add(vector: Vector | undefined, groups: GroupsOf, count: number, times?: Uint32Array): void;
  /**
   * Adds rows that were already folded in the core. `figures` contains `FIGURES` numbers for each
   * group in `groups`.
   */
  addFigures(figures: Float64Array, groups: Uint32Array): void;
  /** Returns the values of the groups [from, to). */
  results(from: number, to: number): Vector;
}

/** Memory in bytes that a number in a list takes, including room for growth. */
export const BYTES_OF_ITEM = 24;

export class Count implements Accumulator {
  readonly #counts = new GrowingNumbers();

  reserve(groups: number): void {
    this.#counts.reserve(groups);
  }

  add(vector: Vector | undefined, groups: GroupsOf, count: number, times?: Uint32Array): void {
    const { values } = this.#counts;
    const nulls = vector === undefined ? undefined : nullsOf(vector, count);
    if (groups === undefined && times === undefined && nulls === undefined) {
      values[0]! += count;
      return;
    }
    for (let i = 0; i < count; i++) {
      if (nulls !== undefined && nulls[i] === 1) continue;
      values[groups === undefined ? 0 : groups[i]!]! += times === undefined ? 1 : times[i]!;
    }
  }

  addFigures(figures: Float64Array, groups: Uint32Array): void {
    const { values } = this.#counts;
    for (let i = 0, end = groups.length; i < end; i++) values[groups[i]!]! += figures[i * FIGURES + FIGURE.count]!;
  }

  results(from: number, to: number): Vector {
    return { kind: 'number', values: this.#counts.values.slice(from, to), nulls: undefined };
  }
}

/** Returns an array with 1 for each null, or undefined if no value is null. */
function nullsOf(vector: Vector, count: number): Uint8Array | undefined {
  if (vector.kind === 'constant') return vector.value === null ? new Uint8Array(count).fill(1) : undefined;
  if (vector.kind !== 'value') return vector.nulls;
  return vector.values.includes(null) ? Uint8Array.from(vector.values, (value) => Number(value === null)) : undefined;
}

const SPLIT = new Float64Array(1);
const SPLIT_WORDS = new Uint32Array(SPLIT.buffer);

/**
 * Returns a number reduced to its upper 26 significant bits. The result and the rest of the number
 * can each be multiplied exactly by a count below 2^26.
 */
function upperBits(value: number): number {
  SPLIT[0] = value;
  SPLIT_WORDS[0]! &= 0xf8000000;
  return SPLIT[0]!;
}

/**
 * Computes sums together with their rounding errors (Neumaier 1974, Knuth's TwoSum), so that the
 * order of rows hardly matters. Sums of integers are exact.
 */
export class Sum implements Accumulator {
  readonly #aggregate: BoundAggregate;
  readonly #sums = new GrowingNumbers();
  readonly #errors = new GrowingNumbers();
  readonly #counts = new GrowingNumbers();

  constructor(aggregate: BoundAggregate) {
    this.#aggregate = aggregate;
  }

  reserve(groups: number): void {
    this.#sums.reserve(groups);
    this.#errors.reserve(groups);
    this.#counts.reserve(groups);
  }

  add(vector: Vector | undefined, groups: GroupsOf, count: number, times?: Uint32Array): void {
    if (vector!.kind === 'number' && times === undefined) {
      if (groups === undefined) this.#addAll(vector!.values, vector!.nulls, count);
      else this.#addNumbers(vector!.values, vector!.nulls, groups, count);
      return;
    }
    for (let i = 0; i < count; i++) {
      if (isNullAt(vector!, i)) continue;
      const value = valueAt(vector!, i) as number;
      const group = groups === undefined ? 0 : groups[i]!;
      if (times === undefined || times[i] === 1) this.#addTo(group, value);
      else {
        const upper = upperBits(value);
        this.#addTo(group, upper * times[i]!);
        this.#addTo(group, (value - upper) * times[i]!);
        this.#counts.values[group]! += times[i]! - 2;
      }
    }
  }

  #addTo(group: number, value: number): void {
    const sums = this.#sums.values;
    const sum = sums[group]!;
    const next = sum + value;
    const back = next - sum;
    sums[group] = next;
    this.#errors.values[group]! += sum - (next - back) + (value - back);
    this.#counts.values[group]! += 1;
  }

  #addAll(values: Float64Array, nulls: Uint8Array | undefined, count: number): void {
    let sum = this.#sums.values[0]!;
    let error = 0;
    let added = 0;
    for (let i = 0; i < count; i++) {
      if (nulls !== undefined && nulls[i] === 1) continue;
      const value = values[i]!;
      const next = sum + value;
      const back = next - sum;
      error += sum - (next - back) + (value - back);
      sum = next;
      added++;
    }
    this.#sums.values[0] = sum;
    this.#errors.values[0]! += error;
    this.#counts.values[0]! += added;
  }

  #addNumbers(values: Float64Array, nulls: Uint8Array | undefined, groups: Uint32Array, count: number): void {
    const sums = this.#sums.values;
    const errors = this.#errors.values;
    const counts = this.#counts.values;
    for (let i = 0; i < count; i++) {
      if (nulls !== undefined && nulls[i] === 1) continue;
      const value = values[i]!;
      const group = groups[i]!;
      const sum = sums[group]!;
      const next = sum + value;
      const back = next - sum;
      sums[group] = next;
      errors[group]! += sum - (next - back) + (value - back);
      counts[group]! += 1;
    }
  }

  addFigures(figures: Float64Array, groups: Uint32Array): void {
    for (let i = 0, end = groups.length; i < end; i++) {
      const added = figures[i * FIGURES + FIGURE.count]!;
      if (added === 0) continue;
      const group = groups[i]!;
      this.#addTo(group, figures[i * FIGURES + FIGURE.sum]!);
      this.#addTo(group, figures[i * FIGURES + FIGURE.lack]!);
      this.#counts.values[group]! += added - 2;
    }
  }

  countOf(group: number): number {
    return this.#counts.values[group]!;
  }

  results(from: number, to: number): Vector {
    const values = new Float64Array(to - from);
    let nulls: Uint8Array | undefined;
    for (let group = from; group < to; group++) {
      if (this.#counts.values[group]! > 0) values[group - from] = this.#total(group);
      else {
        nulls ??= new Uint8Array(to - from);
        nulls[group - from] = 1;
      }
    }
    return { kind: 'number', values, nulls };
  }

  #total(group: number): number {
    const total = this.#sums.values[group]! + this.#errors.values[group]!;
    const isInteger = this.#aggregate.type === 'integer';
    if (isInteger ? Math.abs(total) <= Number.MAX_SAFE_INTEGER : Number.isFinite(total)) return total;
    throw new HedgerowError(
      'invalid_statement',
      `${shown(this.#aggregate.text)} gives ${isInteger ? 'an integer beyond 2^53-1' : 'a number that is too large'}; sum fewer rows.`,
    );
  }
}

export class Average implements Accumulator {
  readonly #sum = new Sum({ function: 'SUM', distinct: false, operand: undefined, type: 'real', text: 'AVG' });

  reserve(groups: number): void {
    this.#sum.reserve(groups);
  }

  add(vector: Vector | undefined, groups: GroupsOf, count: number, times?: Uint32Array): void {
    this.#sum.add(vector, groups, count, times);
  }

  addFigures(figures: Float64Array, groups: Uint32Array): void {
    this.#sum.addFigures(figures, groups);
  }

  results(from: number, to: number): Vector {
    const sums = this.#sum.results(from, to) as NumberVector;
    for (let group = from; group < to; group++) sums.values[group - from]! /= Math.max(1, this.#sum.countOf(group));
    return sums;
  }
}

/** Computes MIN (`sign` is -1) or MAX (`sign` is 1). */
export class Extreme implements Accumulator {
  readonly #sign: 1 | -1;
  readonly #type: ValueType;
  readonly #context: QueryContext;
  readonly #values: Value[] = [];

  constructor(sign: 1 | -1, type: ValueType, context: QueryContext) {
    this.#sign = sign;
    this.#type = type;
    this.#context = context;
  }

  reserve(groups: number): void {
    while (this.#values.length < groups) this.#values.push(null);
  }

  add(vector: Vector | undefined, groups: GroupsOf, count: number): void {
    if (groups === undefined && vector!.kind === 'number') {
      const best = bestOf(vector!.values, vector!.nulls, count, this.#sign);
      if (best !== undefined) this.#take(0, best);
      return;
    }
    let last: Value = null;
    let lastGroup = -1;
    for (let i = 0; i < count; i++) {
      const value = valueAt(vector!, i);
      const group = groups === undefined ? 0 : groups[i]!;
      if (value === null || (value === last && group === lastGroup)) continue;
      this.#take(group, value);
      last = value;
      lastGroup = group;
    }
  }

  #take(group: number, value: Value): void {
    const best = this.#values[group]!;
    if (best !== null && compareValues(value, best) * this.#sign <= 0) return;
    if (typeof value === 'string')
      this.#context.charge(textBytes(value) - (best === null ? 0 : textBytes(best as string)));
    this.#values[group] = value;
  }

  addFigures(figures: Float64Array, groups: Uint32Array): void {
    const figure = this.#sign === 1 ? FIGURE.greatest : FIGURE.least;
    for (let i = 0, end = groups.length; i < end; i++)
      if (figures[i * FIGURES + FIGURE.count]! > 0) this.#take(groups[i]!, figures[i * FIGURES + figure]!);
  }

  results(from: number, to: number): Vector {
    return vectorOf(this.#values.slice(from, to), this.#type);
  }
}

function bestOf(values: Float64Array, nulls: Uint8Array | undefined, count: number, sign: 1 | -1): number | undefined {
  let best = -Infinity;
  for (let i = 0; i < count; i++) {
    if (nulls !== undefined && nulls[i] === 1) continue;
    const value = values[i]! * sign;
    if (value > best) best = value;
  }
  return best === -Infinity ? undefined : best * sign;
}

export class Collect implements Accumulator {
  readonly #context: QueryContext;
  readonly #lists: Value[][] = [];

  constructor(context: QueryContext) {
    this.#context = context;
  }

  reserve(): void {}

  add(vector: Vector | undefined, groups: GroupsOf, count: number, times?: Uint32Array): void {
    let added = 0;
    this.#context.charge(this.#context.held.ofVector(vector!, count));
    for (let i = 0; i < count; i++) {
      if (isNullAt(vector!, i)) continue;
      const group = groups === undefined ? 0 : groups[i]!;
      this.#lists[group] ??= [];
      const value = valueAt(vector!, i);
      const often = times === undefined ? 1 : times[i]!;
      for (let time = 0; time < often; time++) this.#lists[group]!.push(value);
      added += often;
    }
    this.#context.charge(added * BYTES_OF_ITEM);
  }

  addFigures(): void {
    throw new Error('a list is not made of figures');
  }

  results(from: number, to: number): Vector {
    return { kind: 'value', values: Array.from({ length: to - from }, (_, place) => this.#lists[from + place] ?? []) };
  }
}
