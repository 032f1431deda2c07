// Vectors: the values of one expression for every combination of rows in a batch.
//
// Loops over typed arrays read the length before they begin: V8 would otherwise read the length in
// every iteration, and the loop would be several times slower.

import type { Value, ValueType } from '../../binder/bound.ts';

/** A mask of nulls: 1 where the value is null. Undefined: no value is null. */
export type Nulls = Uint8Array | undefined;

export interface NumberVector {
  readonly kind: 'number';
  readonly values: Float64Array;
  readonly nulls: Nulls;
}

/** 1 is true, 0 is false. */
export interface BooleanVector {
  readonly kind: 'boolean';
  readonly values: Uint8Array;
  readonly nulls: Nulls;
}

/** Codes that refer to a list of texts, which need not be distinct. */
export interface TextVector {
  readonly kind: 'text';
  readonly codes: Uint32Array;
  readonly texts: readonly string[];
  readonly nulls: Nulls;
}

/** Lists and rows as values. In results, the values may be of any type. */
export interface ValueVector {
  readonly kind: 'value';
  readonly values: readonly Value[];
}

/** The same value for every combination of rows. */
export interface ConstantVector {
  readonly kind: 'constant';
  readonly value: Value;
}

export type Vector = NumberVector | BooleanVector | TextVector | ValueVector | ConstantVector;

export const NULL_VECTOR: ConstantVector = { kind: 'constant', value: null };

export function constant(value: Value): ConstantVector {
  return value === null ? NULL_VECTOR : { kind: 'constant', value };
}

/** Returns values of one type as a vector that operators accept. */
export function vectorOf(values: readonly Value[], type: ValueType): Vector {
  if (type === 'list' || type === 'row') return { kind: 'value', values };
  if (type === 'null') return NULL_VECTOR;
  const nulls = values.includes(null) ? Uint8Array.from(values, (value) => (value === null ? 1 : 0)) : undefined;
  if (type === 'boolean') return { kind: 'boolean', values: Uint8Array.from(values, Number), nulls };
  if (type !== 'text') return { kind: 'number', values: Float64Array.from(values, Number), nulls };
  const texts = values.map((value) => (value === null ? '' : (value as string)));
  return { kind: 'text', codes: Uint32Array.from(texts.keys()), texts, nulls };
}

export function isNullAt(vector: Vector, index: number): boolean {
  switch (vector.kind) {
    case 'constant':
      return vector.value === null;
    case 'value':
      return vector.values[index] === null;
    default:
      return vector.nulls !== undefined && vector.nulls[index] === 1;
  }
}

export function valueAt(vector: Vector, index: number): Value {
  switch (vector.kind) {
    case 'constant':
      return vector.value;
    case 'value':
      return vector.values[index]!;
    default:
      if (vector.nulls !== undefined && vector.nulls[index] === 1) return null;
      if (vector.kind === 'number') return vector.values[index]!;
      if (vector.kind === 'boolean') return vector.values[index] === 1;
      return vector.texts[vector.codes[index]!]!;
  }
}

/** Returns a mask that is 1 where `a` or `b` is null. Neither may be the constant null. */
export function eitherNull(a: Vector, b: Vector, count: number): Nulls {
  const left = maskOf(a);
  const right = maskOf(b);
  if (left === undefined) return right;
  if (right === undefined) return left;
  const nulls = new Uint8Array(count);
  for (let i = 0; i < count; i++) nulls[i] = left[i]! | right[i]!;
  return nulls;
}

function maskOf(vector: Vector): Nulls {
  return vector.kind === 'constant' || vector.kind === 'value' ? undefined : vector.nulls;
}

/** Returns the numbers of a number vector or a numeric constant. */
export function numbersOf(vector: Vector, count: number): Float64Array {
  if (vector.kind === 'number') return vector.values;
  return new Float64Array(count).fill(vector.kind === 'constant' ? (vector.value as number) : Number.NaN);
}

/** Returns the positions at which a condition is true. */
export function truePlaces(vector: Vector, count: number): Uint32Array {
  if (vector.kind === 'constant') return vector.value === true ? allPlaces(count) : new Uint32Array(0);
  if (vector.kind !== 'boolean') throw new Error(`a condition gave a ${vector.kind} vector`);
  const { values, nulls } = vector;
  const places = new Uint32Array(count);
  let found = 0;
  if (nulls === undefined) {
    for (let i = 0; i < count; i++) {
      places[found] = i;
      found += values[i]!;
    }
  } else {
    for (let i = 0; i < count; i++) {
      places[found] = i;
      found += values[i]! & (nulls[i]! ^ 1);
    }
  }
  return places.subarray(0, found);
}

export function allPlaces(count: number): Uint32Array {
  const places = new Uint32Array(count);
  for (let i = 0; i < count; i++) places[i] = i;
  return places;
}

/**
 * Reusable memory for short-lived vectors of numbers. It stays in the CPU cache, while fresh memory
 * would have to be fetched.
 */
export class Scratch {
  readonly #arrays: Float64Array[] = [];
  #used = 0;

  /** Returns an array of `count` numbers with unspecified contents. */
  numbers(count: number): Float64Array {
    const place = this.#used++;
    let array = this.#arrays[place];
    if (array === undefined || array.length < count) {
      array = new Float64Array(count);
      this.#arrays[place] = array;
    }
    return array.length === count ? array : array.subarray(0, count);
  }

  /** Makes all arrays available again. */
  reset(): void {
    this.#used = 0;
  }
}
