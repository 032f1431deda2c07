// Conjugate gradients in an instance's memory (Hestenes and Stiefel 1952).

import type { Steps } from '../../schedule/steps.ts';
import type { Core } from '../load.ts';

export interface System {
  readonly core: Core;
  readonly size: number;
  /** out = A x, A symmetric and positive definite on the vectors that come up; addresses of f64[size]. */
  apply(x: number, out: number): Steps<void>;
  /** Whether the residual at that address is small enough. */
  isSmall(residual: number): boolean;
  /** f64[size] each: residual, direction, product. */
  readonly work: readonly [residual: number, direction: number, product: number];
}

/** What `solve` gives when it finds a direction in which A is 0 as far as rounding tells, and b has a part in it. */
export const SINGULAR = -2;
/** Of the residual's square beside that of b: above it the residual is more than rounding. */
const ROUNDING_ENERGY = 1e-12;

/** Solves A x = b from x = 0; `b` and `x` are addresses of f64[size]. Gives the iterations done, -1 when `most` did not do, or SINGULAR. */
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
    // Nothing is left but rounding, of the residual or of A.
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
