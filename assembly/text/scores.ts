// Scores documents by BM25 (Robertson, Zaragoza 2009): the sum over the parts of
// w (tf (k1 + 1)) / (tf + k1 (1 - b + b dl / avgdl)).
//
// The operations and their order are always these, whatever path computes a score, so that equal
// documents have equal scores to the last bit.

import { get, put } from '../memory/cells';
import {
  C_BLOCKS,
  C_BOUND,
  C_COUNT,
  C_ROW,
  C_ROWS,
  C_SHALLOW,
  C_SKIPS,
  frequency,
  frequencyAt,
  isOpen,
  rewind,
  seek,
  seekShallow,
  skipOf,
} from './cursor';
import { LENGTH_CLASSES, leastOfClass, lengthAt, MOST_STORED, X_FREQUENCY, X_LENGTH } from './layout';
import {
  cursorOf,
  P_COLUMN,
  P_GREATEST,
  P_ROLE,
  P_WEIGHT,
  partOf,
  Q_AVERAGE,
  Q_LENGTHS,
  Q_NORMS,
  Q_PARTS,
  Q_WIDTH,
  ROLE_NOT,
} from './query';

const K1: f64 = 1.2;
const B: f64 = 0.75;

/** Returns the denominator of the formula without the frequency. */
function norm(length: u32, average: f64): f64 {
  return K1 * (1 - B + (B * <f64>length) / average);
}

/** Returns the norm of a class of lengths as if the average length were `factor` times as great. */
export function normFor(q: usize, lengthClass: u32, factor: f64): f64 {
  return K1 * (1 - B) + (get<f64>(q + Q_NORMS, lengthClass) - K1 * (1 - B)) / factor;
}

/**
 * Sets the weight (f64, >= 0) of each part, and the average length (> 0). `prepare` must be done;
 * may be called again.
 */
export function weigh(q: usize, weights: usize, average: f64): void {
  if (!ASC_NO_ASSERT) assert(average > 0, 'an average length is positive');
  store<f64>(q + Q_AVERAGE, average);
  const width = load<u32>(q + Q_WIDTH);
  for (let i: u32 = 0; i < LENGTH_CLASSES; i++) put<f64>(q + Q_NORMS, i, norm(leastOfClass(i, width), average));
  const parts = load<u32>(q + Q_PARTS);
  for (let i: u32 = 0; i < parts; i++) store<f64>(partOf(q, i) + P_WEIGHT, get<f64>(weights, i));
}

/** Returns the denominator of the formula without the frequency, for a length in words. */
export function normOf(q: usize, length: u32): f64 {
  const isClass = length < LENGTH_CLASSES && leastOfClass(length, load<u32>(q + Q_WIDTH)) == length;
  return isClass ? get<f64>(q + Q_NORMS, length) : norm(length, load<f64>(q + Q_AVERAGE));
}

/** Returns what all values of a part are below: BM25 comes closer to it with the frequency. */
export function limitOf(weight: f64): f64 {
  return weight * (K1 + 1);
}

/** Returns what a part adds to the score of a document. */
function contribution(weight: f64, frequency: u32, norm: f64): f64 {
  return (weight * (<f64>frequency * (K1 + 1))) / (<f64>frequency + norm);
}

/**
 * Returns the greatest value of a part with a frequency up to `most`; MOST_STORED: with any.
 */
export function greatestValue(weight: f64, most: u32, norm: f64): f64 {
  return most == MOST_STORED ? limitOf(weight) : contribution(weight, most, norm);
}

/** Returns what a part adds to the score of its cursor's document. */
export function valueOf(q: usize, part: usize): f64 {
  const c = cursorOf(part);
  return valueWith(q, part, load<u32>(c + C_ROW), frequency(c));
}

/** Returns what a part adds to the score of a document that has it so often. */
export function valueWith(q: usize, part: usize, row: u32, frequency: u32): f64 {
  const length = lengthAt(load<u32>(q + Q_LENGTHS), load<u32>(q + Q_WIDTH), row);
  return contribution(load<f64>(part + P_WEIGHT), frequency, normOf(q, length));
}

/**
 * Returns a bound of what the part adds to the scores of the documents from `row` to `end`, and
 * moves the shallow position of its cursor to `row`, if the part has no column. -1: it has no
 * document from `row` on. The bound may be too low by rounding, by less than one part in 10^14.
 */
export function boundIn(q: usize, part: usize, row: u32, end: u32): f64 {
  // A frequent word is in almost every window, so that a closer bound would hardly help.
  if (load<u32>(part + P_COLUMN)) return load<f64>(part + P_GREATEST);
  const c = cursorOf(part);
  if (!seekShallow(c, row)) return -1;
  let block = load<u32>(c + C_SHALLOW);
  if (!load<u32>(c + C_SKIPS)) return boundOfBlock(q, part, block);
  let most: u32 = 0;
  let least: u32 = MOST_STORED;
  for (; isOpen(c, block, end); block++) {
    most = max(most, <u32>load<u16>(skipOf(c, block) + X_FREQUENCY));
    least = min(least, <u32>load<u16>(skipOf(c, block) + X_LENGTH));
  }
  return greatestValue(load<f64>(part + P_WEIGHT), most, normOf(q, least));
}

/** Returns a bound of what the part adds to the scores of the documents in a block of its list. */
export function boundOfBlock(q: usize, part: usize, block: u32): f64 {
  const c = cursorOf(part);
  const weight = load<f64>(part + P_WEIGHT);
  if (load<u32>(c + C_SKIPS)) {
    const skip = skipOf(c, block);
    return greatestValue(weight, load<u16>(skip + X_FREQUENCY), normOf(q, load<u16>(skip + X_LENGTH)));
  }
  const known = load<f64>(c + C_BOUND);
  if (known == known) return known;
  const bound = greatestOfBlock(q, c, weight);
  store<f64>(c + C_BOUND, bound);
  return bound;
}

/** Returns the greatest value in a list that has one block, which is loaded. */
function greatestOfBlock(q: usize, c: usize, weight: f64): f64 {
  if (!ASC_NO_ASSERT) assert(load<u32>(c + C_BLOCKS) == 1, 'a list without entries has one block');
  const lengths = <usize>load<u32>(q + Q_LENGTHS);
  const width = load<u32>(q + Q_WIDTH);
  let most: f64 = 0;
  for (let i: u32 = 0; i < load<u32>(c + C_COUNT); i++) {
    const length = lengthAt(lengths, width, get<u16>(load<u32>(c + C_ROWS), i));
    most = max(most, contribution(weight, frequencyAt(c, i), normOf(q, length)));
  }
  return most;
}

/**
 * Writes the score (f64) of each of `n` ascending documents (u32) at `out`, whether or not they
 * match; documents without a scored part have 0. Cost: per part, the blocks of its list that are
 * between them, and 10 to 40 ns per document.
 */
export function scoreRows(q: usize, rows: usize, n: u32, out: usize): void {
  for (let i: u32 = 0; i < n; i++) put<f64>(out, i, 0);
  const parts = load<u32>(q + Q_PARTS);
  for (let p: u32 = 0; p < parts; p++) {
    const part = partOf(q, p);
    if (load<u32>(part + P_ROLE) == ROLE_NOT) continue;
    const c = cursorOf(part);
    rewind(c);
    for (let i: u32 = 0; i < n; i++) {
      const row = get<u32>(rows, i);
      seek(c, row);
      if (load<u32>(c + C_ROW) == row) put<f64>(out, i, get<f64>(out, i) + valueOf(q, part));
    }
  }
}
