// Computes with vectors: exact integers, reals, joined texts (contract section 4).

import { HedgerowError } from '../../errors.ts';
import type { BoundArithmetic } from '../binder/bound.ts';
import { shown } from '../shown.ts';
import { constant, eitherNull, NULL_VECTOR, numbersOf, type Vector, valueAt } from './vector.ts';

/** Throws `invalid_statement` when an integer result is beyond 2^53 - 1, or a real one is not finite. */
export function computeVectors(node: BoundArithmetic, left: Vector, right: Vector, count: number): Vector {
  if (left.kind === 'constant' && left.value === null) return NULL_VECTOR;
  if (right.kind === 'constant' && right.value === null) return NULL_VECTOR;
  if (node.type === 'text') return joinTexts(left, right, count);
  if (left.kind === 'constant' && right.kind === 'constant') {
    const result = compute(
      node,
      new Float64Array([left.value as number]),
      new Float64Array([right.value as number]),
      undefined,
      1,
    );
    return constant(valueAt(result, 0));
  }
  return compute(node, numbersOf(left, count), numbersOf(right, count), eitherNull(left, right, count), count);
}

function compute(
  node: BoundArithmetic,
  a: Float64Array,
  b: Float64Array,
  nulls: Uint8Array | undefined,
  count: number,
): Vector {
  const values = new Float64Array(count);
  let mask = nulls;
  switch (node.operator) {
    case '+':
      for (let i = 0; i < count; i++) values[i] = a[i]! + b[i]!;
      break;
    case '-':
      for (let i = 0; i < count; i++) values[i] = a[i]! - b[i]!;
      break;
    case '*':
      for (let i = 0; i < count; i++) values[i] = a[i]! * b[i]!;
      break;
    default:
      mask = divide(node, a, b, nulls, values, count);
  }
  checkRange(node, values, mask);
  return { kind: 'number', values, nulls: mask };
}

/** Division by zero is null. */
function divide(
  node: BoundArithmetic,
  a: Float64Array,
  b: Float64Array,
  nulls: Uint8Array | undefined,
  values: Float64Array,
  count: number,
): Uint8Array {
  const mask = nulls === undefined ? new Uint8Array(count) : nulls.slice();
  const isModulo = node.operator === '%';
  const truncates = node.type === 'integer';
  for (let i = 0; i < count; i++) {
    const divisor = b[i]!;
    if (divisor === 0) {
      mask[i] = 1;
      continue;
    }
    // % is exact, so the difference is a multiple of the divisor and its quotient is exact too. Adding 0 turns -0 into 0.
    if (isModulo) values[i] = truncates ? (a[i]! % divisor) + 0 : a[i]! % divisor;
    else values[i] = truncates ? (a[i]! - (a[i]! % divisor)) / divisor + 0 : a[i]! / divisor;
  }
  return mask;
}

function checkRange(node: BoundArithmetic, values: Float64Array, nulls: Uint8Array | undefined): void {
  const isInteger = node.type === 'integer';
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (isInteger ? Math.abs(value) <= Number.MAX_SAFE_INTEGER : Number.isFinite(value)) continue;
    if (nulls !== undefined && nulls[i] === 1) continue;
    const what = isInteger ? 'an integer beyond 2^53-1' : 'a number that is too large';
    throw new HedgerowError(
      'invalid_statement',
      `${shown(node.text)} gives ${what} for a row; make the operands smaller.`,
    );
  }
}

/** `-x`. */
export function negateVector(operand: Vector): Vector {
  if (operand.kind === 'constant') return operand.value === null ? operand : constant(0 - (operand.value as number));
  if (operand.kind !== 'number') throw new Error(`a ${operand.kind} vector was negated`);
  const values = new Float64Array(operand.values.length);
  for (let i = 0; i < values.length; i++) values[i] = 0 - operand.values[i]!;
  return { kind: 'number', values, nulls: operand.nulls };
}

function joinTexts(left: Vector, right: Vector, count: number): Vector {
  if (left.kind === 'constant' && right.kind === 'constant') return constant(`${left.value}${right.value}`);
  const texts: string[] = new Array(count);
  const codes = new Uint32Array(count);
  const nulls = eitherNull(left, right, count);
  for (let i = 0; i < count; i++) {
    codes[i] = i;
    texts[i] = nulls?.[i] === 1 ? '' : `${valueAt(left, i)}${valueAt(right, i)}`;
  }
  return { kind: 'text', codes, texts, nulls };
}
