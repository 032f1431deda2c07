// Computes arithmetic on vectors: exact integers, and reals.

import { HedgerowError } from '../../../errors.ts';
import type { BoundArithmetic } from '../../binder/bound.ts';
import { shown } from '../../shown.ts';
import { constant, eitherNull, NULL_VECTOR, numbersOf, type Scratch, type Vector, valueAt } from './vector.ts';

/**
 * Throws `invalid_statement` if an integer result is beyond 2^53 - 1, or a real one is not finite.
 */
export function computeVectors(
  node: BoundArithmetic,
  left: Vector,
  right: Vector,
  count: number,
  scratch?: Scratch,
): Vector {
  if (left.kind === 'constant' && left.value === null) return NULL_VECTOR;
  if (right.kind === 'constant' && right.value === null) return NULL_VECTOR;
  if (left.kind === 'constant' && right.kind === 'constant')
    return constant(valueAt(compute(node, left, right, undefined, new Float64Array(1)), 0));
  return compute(node, left, right, eitherNull(left, right, count), scratch?.numbers(count) ?? new Float64Array(count));
}

function compute(
  node: BoundArithmetic,
  left: Vector,
  right: Vector,
  nulls: Uint8Array | undefined,
  values: Float64Array,
): Vector {
  const count = values.length;
  let mask = nulls;
  switch (node.operator) {
    case '+':
      add(left, right, values, count);
      break;
    case '-':
      if (right.kind === 'constant') add(left, constant(0 - (right.value as number)), values, count);
      else subtract(numbersOf(left, count), numbersOf(right, count), values, count);
      break;
    case '*':
      multiply(left, right, values, count);
      break;
    default:
      mask = divide(node, numbersOf(left, count), numbersOf(right, count), nulls, values, count);
  }
  checkRange(node, values, mask, count);
  return { kind: 'number', values, nulls: mask };
}

// `add` and `multiply` do not expand a constant into a vector, because filling and reading the
// vector would take time.

function add(left: Vector, right: Vector, values: Float64Array, count: number): void {
  if (left.kind === 'constant') addConstant(numbersOf(right, count), left.value as number, values, count);
  else if (right.kind === 'constant') addConstant(numbersOf(left, count), right.value as number, values, count);
  else addPairs(numbersOf(left, count), numbersOf(right, count), values, count);
}

function addConstant(a: Float64Array, b: number, values: Float64Array, count: number): void {
  for (let i = 0; i < count; i++) values[i] = a[i]! + b;
}

function addPairs(a: Float64Array, b: Float64Array, values: Float64Array, count: number): void {
  for (let i = 0; i < count; i++) values[i] = a[i]! + b[i]!;
}

function subtract(a: Float64Array, b: Float64Array, values: Float64Array, count: number): void {
  for (let i = 0; i < count; i++) values[i] = a[i]! - b[i]!;
}

function multiply(left: Vector, right: Vector, values: Float64Array, count: number): void {
  if (left.kind === 'constant') multiplyConstant(numbersOf(right, count), left.value as number, values, count);
  else if (right.kind === 'constant') multiplyConstant(numbersOf(left, count), right.value as number, values, count);
  else multiplyPairs(numbersOf(left, count), numbersOf(right, count), values, count);
}

function multiplyConstant(a: Float64Array, b: number, values: Float64Array, count: number): void {
  for (let i = 0; i < count; i++) values[i] = a[i]! * b;
}

function multiplyPairs(a: Float64Array, b: Float64Array, values: Float64Array, count: number): void {
  for (let i = 0; i < count; i++) values[i] = a[i]! * b[i]!;
}

/**
 * Divides or computes the remainder, and returns the mask of nulls. Division by zero gives null.
 */
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
    const dividend = a[i]!;
    const divisor = b[i]!;
    if (divisor === 0) {
      values[i] = 0;
      mask[i] = 1;
      continue;
    }
    // % is exact, so for integers, dividend minus remainder is a multiple of the divisor and the
    // quotient is exact too. Adding 0 turns -0 into 0.
    if (isModulo) values[i] = truncates ? (dividend % divisor) + 0 : dividend % divisor;
    else values[i] = truncates ? (dividend - (dividend % divisor)) / divisor + 0 : dividend / divisor;
  }
  return mask;
}

function checkRange(node: BoundArithmetic, values: Float64Array, nulls: Uint8Array | undefined, count: number): void {
  const isInteger = node.type === 'integer';
  const limit = isInteger ? Number.MAX_SAFE_INTEGER : Number.MAX_VALUE;
  if (allWithin(values, limit, count)) return;
  for (let i = 0; i < count; i++) {
    if (Math.abs(values[i]!) <= limit) continue;
    if (nulls !== undefined && nulls[i] === 1) continue;
    const what = isInteger ? 'an integer beyond 2^53-1' : 'a number that is too large';
    throw new HedgerowError(
      'invalid_statement',
      `${shown(node.text)} gives ${what} for a row; make the operands smaller.`,
    );
  }
}

function allWithin(values: Float64Array, limit: number, count: number): boolean {
  for (let i = 0; i < count; i++) if (Math.abs(values[i]!) > limit) return false;
  return true;
}

/** Computes `-x`. */
export function negateVector(operand: Vector): Vector {
  if (operand.kind === 'constant') return operand.value === null ? operand : constant(0 - (operand.value as number));
  if (operand.kind !== 'number') throw new Error(`a ${operand.kind} vector was negated`);
  const numbers = operand.values;
  const values = new Float64Array(numbers.length);
  for (let i = 0, end = numbers.length; i < end; i++) values[i] = 0 - numbers[i]!;
  return { kind: 'number', values, nulls: operand.nulls };
}
