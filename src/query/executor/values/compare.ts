// Compares vectors: numbers, texts by code point, booleans (false < true), and lists for equality.
// The result of a comparison with null is unknown.

import { WideMap } from '../../../engine/index.ts';
import { HedgerowError } from '../../../errors.ts';
import { compareTexts } from '../../../model/text-order.ts';
import type { BoundComparison, Value } from '../../binder/bound.ts';
import { NumberTable } from '../rows/number-table.ts';
import {
  type BooleanVector,
  type ConstantVector,
  constant,
  eitherNull,
  NULL_VECTOR,
  type NumberVector,
  numbersOf,
  type TextVector,
  type Vector,
  valueAt,
} from './vector.ts';

type Operator = BoundComparison['operator'];

export function compareVectors(operator: Operator, left: Vector, right: Vector, count: number): Vector {
  if (isNullConstant(left) || isNullConstant(right)) return NULL_VECTOR;
  if (left.kind === 'constant' && right.kind === 'constant')
    return constant(holds(operator, compareValues(left.value, right.value)));
  if (left.kind === 'number' && right.kind === 'constant')
    return numberAndConstant(operator, left, right.value as number);
  if (left.kind === 'constant' && right.kind === 'number')
    return numberAndConstant(flipped(operator), right, left.value as number);
  if (left.kind === 'number' && right.kind === 'number') return numbers(operator, left, right, count);
  if (left.kind === 'text' && right.kind === 'constant') return textAndConstant(operator, left, right, count);
  if (left.kind === 'constant' && right.kind === 'text') return textAndConstant(flipped(operator), right, left, count);
  if (right.kind === 'constant' && Array.isArray(right.value))
    return listAndConstant(operator, left, right.value, count);
  if (left.kind === 'constant' && Array.isArray(left.value)) return listAndConstant(operator, right, left.value, count);
  return anyValues(operator, left, right, count);
}

function isNullConstant(vector: Vector): boolean {
  return vector.kind === 'constant' && vector.value === null;
}

/** Returns the operator that gives the same result when the two sides are exchanged. */
export function flipped(operator: Operator): Operator {
  switch (operator) {
    case '<':
      return '>';
    case '<=':
      return '>=';
    case '>':
      return '<';
    case '>=':
      return '<=';
    default:
      return operator;
  }
}

function holds(operator: Operator, order: number): boolean {
  switch (operator) {
    case '=':
      return order === 0;
    case '<>':
      return order !== 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
  }
}

/**
 * Returns the order of two values of the same type, which are not null: negative, 0 or positive.
 */
export function compareValues(a: Value, b: Value): number {
  if (typeof a === 'number' && typeof b === 'number') return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === 'string' && typeof b === 'string') return compareTexts(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (Array.isArray(a) && Array.isArray(b)) return sameList(a, b) ? 0 : 1;
  throw new Error(`values of types ${typeof a} and ${typeof b} were compared`);
}

/** Compares lists as sets, like members: order and duplicates do not matter. */
function sameList(a: readonly Value[], b: readonly Value[]): boolean {
  return isSameSet(a, setOf(b));
}

/**
 * Maximum length of lists that are compared. Comparing longer ones would take too long for one
 * step.
 */
const MOST_COMPARED = 100_000;

interface DistinctItems {
  readonly size: number;
  has(item: Value): boolean;
}

/**
 * A list with more numbers than this is not put into a Map: the hash function of a Map is public,
 * so a client could choose many numbers that collide, which would take seconds.
 */
const FEW_ITEMS = 256;

function setOf(list: readonly Value[]): DistinctItems {
  checkLength(list);
  if (list.length <= FEW_ITEMS || !list.every((item) => typeof item === 'number')) {
    const known = new WideMap<Value, true>();
    for (const item of list) known.set(item, true);
    return known;
  }
  const table = new NumberTable();
  for (const item of list) table.placeOf(item);
  return { size: table.size, has: (item) => typeof item === 'number' && table.find(item) >= 0 };
}

function isSameSet(list: readonly Value[], set: DistinctItems): boolean {
  checkLength(list);
  if (list.length < set.size) return false;
  for (const item of list) if (!set.has(item)) return false;
  return list.length === set.size || setOf(list).size === set.size;
}

function checkLength({ length }: readonly Value[]): void {
  if (length <= MOST_COMPARED) return;
  throw new HedgerowError(
    'query_too_large',
    `A list of ${length} items is compared, and ${MOST_COMPARED} is the most; compare its size, or single values.`,
  );
}

function numberAndConstant(operator: Operator, vector: NumberVector, bound: number): BooleanVector {
  const { values, nulls } = vector;
  const count = values.length;
  const result = new Uint8Array(count);
  switch (operator) {
    case '=':
      for (let i = 0; i < count; i++) result[i] = values[i] === bound ? 1 : 0;
      break;
    case '<>':
      for (let i = 0; i < count; i++) result[i] = values[i] !== bound ? 1 : 0;
      break;
    case '<':
      for (let i = 0; i < count; i++) result[i] = values[i]! < bound ? 1 : 0;
      break;
    case '<=':
      for (let i = 0; i < count; i++) result[i] = values[i]! <= bound ? 1 : 0;
      break;
    case '>':
      for (let i = 0; i < count; i++) result[i] = values[i]! > bound ? 1 : 0;
      break;
    case '>=':
      for (let i = 0; i < count; i++) result[i] = values[i]! >= bound ? 1 : 0;
      break;
  }
  return { kind: 'boolean', values: result, nulls };
}

function numbers(operator: Operator, left: NumberVector, right: NumberVector, count: number): BooleanVector {
  const a = left.values;
  const b = numbersOf(right, count);
  const result = new Uint8Array(count);
  switch (operator) {
    case '=':
      for (let i = 0; i < count; i++) result[i] = a[i] === b[i] ? 1 : 0;
      break;
    case '<>':
      for (let i = 0; i < count; i++) result[i] = a[i] !== b[i] ? 1 : 0;
      break;
    case '<':
      for (let i = 0; i < count; i++) result[i] = a[i]! < b[i]! ? 1 : 0;
      break;
    case '<=':
      for (let i = 0; i < count; i++) result[i] = a[i]! <= b[i]! ? 1 : 0;
      break;
    case '>':
      for (let i = 0; i < count; i++) result[i] = a[i]! > b[i]! ? 1 : 0;
      break;
    case '>=':
      for (let i = 0; i < count; i++) result[i] = a[i]! >= b[i]! ? 1 : 0;
      break;
  }
  return { kind: 'boolean', values: result, nulls: eitherNull(left, right, count) };
}

/** Compares texts with a constant. */
function textAndConstant(operator: Operator, vector: TextVector, other: ConstantVector, count: number): BooleanVector {
  const bound = other.value as string;
  return mapTexts(vector, count, (text) => holds(operator, compareTexts(text, bound)));
}

/**
 * Evaluates a condition for the text of each row. Tests each entry of `texts` once or, if there are
 * more texts than rows, only the texts of the rows.
 */
export function mapTexts(vector: TextVector, count: number, test: (text: string) => boolean): BooleanVector {
  const { codes, texts, nulls } = vector;
  const values = new Uint8Array(count);
  if (texts.length > count) {
    let last = -1;
    let truth = 0;
    for (let i = 0; i < count; i++) {
      if (nulls !== undefined && nulls[i] === 1) continue;
      if (codes[i] !== last) {
        last = codes[i]!;
        truth = test(texts[last]!) ? 1 : 0;
      }
      values[i] = truth;
    }
    return { kind: 'boolean', values, nulls };
  }
  const truth = new Uint8Array(texts.length);
  for (let i = 0; i < texts.length; i++) truth[i] = test(texts[i]!) ? 1 : 0;
  for (let i = 0; i < count; i++) values[i] = truth[codes[i]!] ?? 0;
  return { kind: 'boolean', values, nulls };
}

const SETS = new WeakMap<readonly Value[], DistinctItems>();

/** Evaluates `=` and `<>` of lists. The constant list is put into a set once. */
function listAndConstant(operator: Operator, vector: Vector, list: readonly Value[], count: number): BooleanVector {
  let set = SETS.get(list);
  if (set === undefined) {
    set = setOf(list);
    SETS.set(list, set);
  }
  const values = new Uint8Array(count);
  let nulls: Uint8Array | undefined;
  for (let i = 0; i < count; i++) {
    const value = valueAt(vector, i);
    if (value === null) {
      nulls ??= new Uint8Array(count);
      nulls[i] = 1;
    } else values[i] = isSameSet(value as readonly Value[], set) === (operator === '=') ? 1 : 0;
  }
  return { kind: 'boolean', values, nulls };
}

function anyValues(operator: Operator, left: Vector, right: Vector, count: number): BooleanVector {
  const values = new Uint8Array(count);
  let nulls: Uint8Array | undefined;
  for (let i = 0; i < count; i++) {
    const a = valueAt(left, i);
    const b = valueAt(right, i);
    if (a === null || b === null) {
      nulls ??= new Uint8Array(count);
      nulls[i] = 1;
    } else values[i] = holds(operator, compareValues(a, b)) ? 1 : 0;
  }
  return { kind: 'boolean', values, nulls };
}
