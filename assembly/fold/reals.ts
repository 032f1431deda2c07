// Computes sums and extremes of reals, two lanes at a time. Sums are compensated: the rounding
// error of each addition is computed exactly (Knuth's TwoSum), and these errors are summed
// separately, to be added at the end.

import { bytesOf, cell, get } from '../memory/cells';
import { chosenRows, WORD_ROWS, wordsOf } from './numbers';

/** Words of a selection with fewer rows than this are summed row by row. */
const FEW_ROWS: u64 = 12;
/**
 * For each value of two bits of a selection: the mask of the lanes to keep. 4 masks of 16 bytes.
 */
const LANES: usize = memory.data<u64>([0, 0, u64.MAX_VALUE, 0, 0, u64.MAX_VALUE, u64.MAX_VALUE, u64.MAX_VALUE], 16);

/** Adds `value` to {f64 sum, f64 compensation} at `out`. */
function addReal(out: usize, value: f64): void {
  const sum = load<f64>(out);
  const next = sum + value;
  const back = next - sum;
  store<f64>(out, next);
  store<f64>(out, load<f64>(out, 8) + (sum - (next - back) + (value - back)), 8);
}

/**
 * Writes {f64 sum, f64 compensation} of the chosen reals. If summing row by row gives a finite sum,
 * so does this function.
 */
export function sumOfReals<T>(data: usize, nulls: usize, selection: usize, rows: u32, out: usize): void {
  if (ASC_FEATURE_SIMD) {
    sumInLanes<T>(data, nulls, selection, rows, out);
    // The sum of a lane may overflow although the sum of the rows in their order does not.
    if (isFinite(load<f64>(out) + load<f64>(out, 8))) return;
  }
  store<f64>(out, 0);
  store<f64>(out, 0, 8);
  const words = wordsOf(rows);
  for (let word: u32 = 0; word < words; word++) addRows<T>(data, word, chosenRows(selection, nulls, word), out);
}

/** Adds the chosen rows one by one. The sums stay in local variables. */
function addRows<T>(data: usize, word: u32, chosen: u64, out: usize): void {
  const from = cell<T>(data, (<usize>word) << 6);
  let sum = load<f64>(out);
  let lack = load<f64>(out, 8);
  for (; chosen; chosen &= chosen - 1) {
    const value = <f64>get<T>(from, <usize>ctz(chosen));
    const next = sum + value;
    const back = next - sum;
    lack += sum - (next - back) + (value - back);
    sum = next;
  }
  store<f64>(out, sum);
  store<f64>(out, lack, 8);
}

function pairAt<T>(at: usize): v128 {
  if (sizeof<T>() == 8) return v128.load(at);
  else return f64x2.promote_low_f32x4(v128.load64_zero(at));
}

function lackOf(sum: v128, value: v128, next: v128): v128 {
  const back = f64x2.sub(next, sum);
  return f64x2.add(f64x2.sub(sum, f64x2.sub(next, back)), f64x2.sub(value, back));
}

function sumInLanes<T>(data: usize, nulls: usize, selection: usize, rows: u32, out: usize): void {
  const step = bytesOf<T>(2);
  let sumA = f64x2.splat(0);
  let sumB = f64x2.splat(0);
  let lackA = f64x2.splat(0);
  let lackB = f64x2.splat(0);
  const words = wordsOf(rows);
  for (let word: u32 = 0; word < words; word++) {
    const chosen = chosenRows(selection, nulls, word);
    if (!chosen) continue;
    if (popcnt(chosen) < FEW_ROWS || (word + 1) << 6 > rows) {
      addRows<T>(data, word, chosen, out);
      continue;
    }
    let at = cell<T>(data, (<usize>word) << 6);
    for (let bit: u64 = 0; bit < WORD_ROWS; bit += 4, at += 2 * step) {
      const masks = <usize>((chosen >> bit) & 15);
      const a = v128.and(pairAt<T>(at), v128.load(LANES + ((masks & 3) << 4)));
      const b = v128.and(pairAt<T>(at + step), v128.load(LANES + ((masks >> 2) << 4)));
      const nextA = f64x2.add(sumA, a);
      const nextB = f64x2.add(sumB, b);
      lackA = f64x2.add(lackA, lackOf(sumA, a, nextA));
      lackB = f64x2.add(lackB, lackOf(sumB, b, nextB));
      sumA = nextA;
      sumB = nextB;
    }
  }
  addLanes(out, sumA, lackA);
  addLanes(out, sumB, lackB);
}

function addLanes(out: usize, sums: v128, lacks: v128): void {
  addReal(out, f64x2.extract_lane(sums, 0));
  addReal(out, f64x2.extract_lane(sums, 1));
  store<f64>(out, load<f64>(out, 8) + f64x2.extract_lane(lacks, 0) + f64x2.extract_lane(lacks, 1), 8);
}

/** Updates {f64 least, f64 greatest} at `out` with the chosen reals. */
export function endsOfReals<T>(data: usize, nulls: usize, selection: usize, rows: u32, out: usize): void {
  let least = load<f64>(out);
  let greatest = load<f64>(out, 8);
  const words = wordsOf(rows);
  if (ASC_FEATURE_SIMD) {
    const step = bytesOf<T>(2);
    const infinity = f64x2.splat(Infinity);
    let leasts = infinity;
    let negated = infinity;
    for (let word: u32 = 0; word < words; word++) {
      const chosen = chosenRows(selection, nulls, word);
      if (!chosen || (word + 1) << 6 > rows) continue;
      let at = cell<T>(data, (<usize>word) << 6);
      for (let bit: u64 = 0; bit < WORD_ROWS; bit += 2, at += step) {
        const mask = v128.load(LANES + ((<usize>((chosen >> bit) & 3)) << 4));
        const pair = pairAt<T>(at);
        leasts = f64x2.pmin(leasts, v128.bitselect(pair, infinity, mask));
        negated = f64x2.pmin(negated, v128.bitselect(f64x2.neg(pair), infinity, mask));
      }
    }
    least = min(least, min(f64x2.extract_lane(leasts, 0), f64x2.extract_lane(leasts, 1)));
    greatest = max(greatest, -min(f64x2.extract_lane(negated, 0), f64x2.extract_lane(negated, 1)));
  }
  // Without SIMD this loop handles all words; with SIMD, only the last word if it is incomplete.
  const first: u32 = ASC_FEATURE_SIMD ? rows >> 6 : 0;
  for (let word = first; word < words; word++) {
    const from = cell<T>(data, (<usize>word) << 6);
    for (let chosen = chosenRows(selection, nulls, word); chosen; chosen &= chosen - 1) {
      const value = <f64>get<T>(from, <usize>ctz(chosen));
      least = min(least, value);
      greatest = max(greatest, value);
    }
  }
  store<f64>(out, least);
  store<f64>(out, greatest, 8);
}
