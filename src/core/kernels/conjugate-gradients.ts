// Solves linear systems by conjugate gradients in an instance's memory (Hestenes and Stiefel 1952).

import type { Steps } from '../../schedule/steps.ts';
import type { Core } from '../load.ts';

export interface System {
  readonly core: Core;
  readonly size: number;
  /**
   * Computes out = A x for addresses of f64[size]. A is symmetric, and positive definite on the
   * vectors that occur.
   */
  apply(x: number, out: number): Steps<void>;
  /** Returns whether the residual at this address is small enough to stop. */
  isSmall(residual: number): boolean;
  /** Addresses of three work vectors, f64[size] each. */
  readonly work: readonly [residual: number, direction: number, product: number];
}

/**
 * Result of `solve` if A is singular: there is a direction in which A is 0 except for rounding, but
 * b is not.
 */
export const SINGULAR = -2;
/** If |residual|^2 / |b|^2 is above this, the residual is more than rounding errors. */
const ROUNDING_ENERGY = 1e-12;

/**
 * Solves A x = b, starting from x = 0; `b` and `x` are addresses of f64[size]. Returns the number
 * of iterations, -1 if `most` iterations did not suffice, or SINGULAR.
 */
export function* solve(system: System, b: number, x: number, most: number): Steps<number> {
  const { core, size } = system;
  const [residual, direction, product] = system.work;
  const { exports, memory } = core;
  memory.borrow(x, size * 8).fill(0);
  memory.bytes.copyWithin(residual, b, b + size * 8);
  memory.bytes.copyWithin(direction, b, b + size * 8);
  let energy = exports.hg_vector_dot(residual, residual, size);
  const first = energy;
  for (let iteration = 0; iteration < most; iteration++) {
    if (energy === 0 || system.isSmall(residual)) return iteration;
    yield* system.apply(direction, product);
    const curvature = exports.hg_vector_dot(direction, product, size);
    // The residual consists only of rounding errors, or A does in this direction.
    if (!(curvature > 0)) return energy > first * ROUNDING_ENERGY ? SINGULAR : iteration;
    const step = energy / curvature;
    exports.hg_vector_mix(x, 1, direction, step, size);
    exports.hg_vector_mix(residual, 1, product, -step, size);
    const next = exports.hg_vector_dot(residual, residual, size);
    exports.hg_vector_mix(direction, next / energy, residual, 1, size);
    energy = next;
    yield 0;
  }
  return system.isSmall(residual) ? most : -1;
}
