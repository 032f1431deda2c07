// Computes dot products, linear combinations, products and weighted norms of f64 vectors. Dot
// products use four partial sums, in builds with and without SIMD, so that both give the same
// result.

import { cell } from '../memory/cells';

/** Returns the dot product of a and b. */
export function dot(a: usize, b: usize, n: u32): f64 {
  let s0: f64 = 0;
  let s1: f64 = 0;
  let s2: f64 = 0;
  let s3: f64 = 0;
  const end = cell<u64>(a, n & ~3);
  for (; a < end; a += 32, b += 32) {
    s0 += load<f64>(a) * load<f64>(b);
    s1 += load<f64>(a, 8) * load<f64>(b, 8);
    s2 += load<f64>(a, 16) * load<f64>(b, 16);
    s3 += load<f64>(a, 24) * load<f64>(b, 24);
  }
  for (let i: u32 = n & 3; i > 0; i--, a += 8, b += 8) s0 += load<f64>(a) * load<f64>(b);
  return s0 + s1 + (s2 + s3);
}

/** Computes y = x * factor + y * keep, in place. */
export function mix(y: usize, keep: f64, x: usize, factor: f64, n: u32): void {
  const end = cell<u64>(y, n);
  if (ASC_FEATURE_SIMD) {
    const keeps = v128.splat<f64>(keep);
    const factors = v128.splat<f64>(factor);
    for (; y + 16 <= end; y += 16, x += 16)
      v128.store(y, f64x2.add(f64x2.mul(v128.load(x), factors), f64x2.mul(v128.load(y), keeps)));
  }
  for (; y < end; y += 8, x += 8) store<f64>(y, load<f64>(x) * factor + load<f64>(y) * keep);
}

/** Computes out[i] = a[i] * b[i]. */
export function multiply(a: usize, b: usize, out: usize, n: u32): void {
  const end = cell<u64>(a, n);
  if (ASC_FEATURE_SIMD) {
    for (; a + 16 <= end; a += 16, b += 16, out += 16) v128.store(out, f64x2.mul(v128.load(a), v128.load(b)));
  }
  for (; a < end; a += 8, b += 8, out += 8) store<f64>(out, load<f64>(a) * load<f64>(b));
}

/** Returns the sum of |a[i]| * weights[i]. */
export function weightedNorm(a: usize, weights: usize, n: u32): f64 {
  let sum: f64 = 0;
  for (let i: u32 = 0; i < n; i++, a += 8, weights += 8) sum += Math.abs(load<f64>(a)) * load<f64>(weights);
  return sum;
}
