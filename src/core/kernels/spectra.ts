// Computes the second smallest eigenvalue of a Laplacian by Lanczos iteration on the inverse of the
// Laplacian. Conjugate gradients compute the products with this inverse.

import type { Steps } from '../../schedule/steps.ts';
import type { Core } from '../load.ts';
import { Scratch } from '../scratch.ts';
import { SINGULAR, type System, solve } from './conjugate-gradients.ts';
import type { Operator } from './operators.ts';
import { eigenPairs } from './tridiagonal.ts';

/** `normalized`: I - D^-1/2 S D^-1/2. `combinatorial`: D - S. */
export type Laplacian = 'normalized' | 'combinatorial';

const MOST_VECTORS = 80;
const MOST_ITERATIONS = 20_000;
/**
 * Relative residual of a Ritz vector (an approximate eigenvector) at which the iteration stops. The
 * error of the eigenvalue is then at most the square of the residual divided by the gap to the next
 * eigenvalue.
 */
const SMALL_RESIDUAL = 1e-9;
const MOST_INVERSE = 1e15;

/**
 * Returns the second smallest eigenvalue, for a connected graph S with at least two nodes. The
 * eigenvector of eigenvalue 0 is known and is projected out (Lanczos 1950, with full
 * reorthogonalisation; Parlett 1980). Deterministic.
 */
export function* secondSmallest(operator: Operator, laplacian: Laplacian): Steps<number> {
  const scratch = new Scratch(operator.core);
  try {
    const space = new Space(operator, laplacian, scratch);
    return yield* lanczos(space);
  } finally {
    scratch.free();
  }
}

/** The Laplacian L, its null vector, and work vectors. */
class Space {
  readonly core: Core;
  readonly size: number;
  /** Unit vector in the kernel of the Laplacian. */
  readonly nullVector: number;
  readonly #operator: Operator;
  readonly #laplacian: Laplacian;
  readonly #scratch: Scratch;
  /**
   * D^1/2, which the combinatorial Laplacian needs because the operator itself is N = D^-1/2 S
   * D^-1/2.
   */
  readonly #roots: Float64Array;
  readonly #scaled: number;
  readonly #system: System;

  constructor(operator: Operator, laplacian: Laplacian, scratch: Scratch) {
    this.core = operator.core;
    this.size = operator.size;
    this.#operator = operator;
    this.#laplacian = laplacian;
    this.#scratch = scratch;
    this.#roots = operator.degrees.map(Math.sqrt);
    this.#scaled = this.vector();
    this.nullVector = this.vector();
    const flat = laplacian === 'normalized' ? this.#roots : this.#roots.map(() => 1);
    this.core.memory.numbers.set(flat, this.nullVector / 8);
    this.normalize(this.nullVector);
    this.#system = {
      core: this.core,
      size: this.size,
      work: [this.vector(), this.vector(), this.vector()],
      apply: (x, out) => this.#multiplyWithin(x, out),
      isSmall: (residual) => this.dot(residual, residual) <= 1e-26,
    };
  }

  vector(): number {
    return this.#scratch.zeroed(this.size * 8);
  }

  dot(a: number, b: number): number {
    return this.core.exports.hg_vector_dot(a, b, this.size);
  }

  /** Computes y += factor * x. */
  add(y: number, x: number, factor: number): void {
    this.core.exports.hg_vector_mix(y, 1, x, factor, this.size);
  }

  /** Scales x to length 1 and returns the previous length; a zero vector stays zero. */
  normalize(x: number): number {
    const length = Math.sqrt(this.dot(x, x));
    if (length > 0) this.core.exports.hg_vector_mix(x, 1 / length, x, 0, this.size);
    return length;
  }

  /**
   * Removes the components of x along the vectors `units`. Does so twice, because one round leaves
   * rounding errors ("twice is enough").
   */
  orthogonalize(x: number, units: readonly number[]): void {
    for (let round = 0; round < 2; round++) for (const unit of units) this.add(x, unit, -this.dot(x, unit));
  }

  /** Computes out = L x. */
  *multiply(x: number, out: number): Steps<void> {
    if (this.#laplacian === 'normalized') {
      yield* this.#operator.apply(x, out);
      this.core.exports.hg_vector_mix(out, -1, x, 1, this.size);
      return;
    }
    const roots = this.#roots;
    const { numbers } = this.core.memory;
    for (let i = 0; i < roots.length; i++) numbers[this.#scaled / 8 + i] = roots[i]! * numbers[x / 8 + i]!;
    yield* this.#operator.apply(this.#scaled, out);
    const after = this.core.memory.numbers;
    for (let i = 0; i < roots.length; i++) {
      const root = roots[i]!;
      after[out / 8 + i] = root * (root * after[x / 8 + i]! - after[out / 8 + i]!);
    }
  }

  /**
   * Same as `multiply`, but removes the component along the null vector that rounding leaves. This
   * component would grow with every iteration of the solver.
   */
  *#multiplyWithin(x: number, out: number): Steps<void> {
    yield* this.multiply(x, out);
    this.add(out, this.nullVector, -this.dot(out, this.nullVector));
  }

  /**
   * Computes out = L^-1 b within the space orthogonal to the null vector; `b` is in this space.
   * Returns false if L is singular in this space too, except for rounding.
   */
  *invert(b: number, out: number): Steps<boolean> {
    const iterations = yield* solve(this.#system, b, out, MOST_ITERATIONS);
    this.orthogonalize(out, [this.nullVector]);
    return iterations !== SINGULAR;
  }
}

function* lanczos(space: Space): Steps<number> {
  const most = Math.min(MOST_VECTORS, space.size - 1);
  const basis = [startVector(space)];
  const diagonal: number[] = [];
  const off: number[] = [];
  for (let k = 0; ; k++) {
    const next = space.vector();
    if (!(yield* space.invert(basis[k]!, next))) return 0;
    const inverse = space.dot(basis[k]!, next);
    // The eigenvalue is at most 1 / `inverse`, so it is 0 except for rounding.
    if (!(inverse < MOST_INVERSE)) return 0;
    diagonal.push(inverse);
    space.orthogonalize(next, [space.nullVector, ...basis]);
    const beta = space.normalize(next);
    const { values, vectors } = eigenPairs(diagonal, off);
    const top = values.indexOf(Math.max(...values));
    const ritz = vectors.map((row) => row[top]!);
    const residual = Math.abs(beta * ritz[k]!);
    const isExhausted = k + 1 >= most || beta <= 1e-14 * values[top]!;
    if (isExhausted || residual <= SMALL_RESIDUAL * values[top]!) return yield* quotient(space, basis, ritz);
    basis.push(next);
    off.push(beta);
    yield (k + 1) / most;
  }
}

/** Returns a start vector of pseudo-random numbers, the same for every graph of a size. */
function startVector(space: Space): number {
  const start = space.vector();
  const { numbers } = space.core.memory;
  let state = 12345;
  for (let i = 0; i < space.size; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    numbers[start / 8 + i] = state / 2 ** 32 - 0.5;
  }
  space.orthogonalize(start, [space.nullVector]);
  space.normalize(start);
  return start;
}

/**
 * Returns the Rayleigh quotient of the Ritz vector. The error of the quotient is of second order in
 * the error of the vector.
 */
function* quotient(space: Space, basis: readonly number[], ritz: readonly number[]): Steps<number> {
  const x = space.vector();
  for (const [i, factor] of ritz.entries()) space.add(x, basis[i]!, factor);
  space.orthogonalize(x, [space.nullVector]);
  space.normalize(x);
  const product = space.vector();
  yield* space.multiply(x, product);
  return space.dot(x, product);
}
