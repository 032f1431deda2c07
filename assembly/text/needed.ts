// Tables of the frequencies that a document needs to be among the best, by its length, more exactly
// by the class of its length: as if it were the shortest of its class.
//
// The parts are in a fixed order, ascending by a bound of what they add. Take the last part in this
// order that a document has. With frequency tf in this part, a length of L, and the greatest
// frequency M(p) of each part before, the document scores at most
//
//   value(tf, L) + sum of value(M(p), L) over the parts p before.
//
// All these values are of one length. A long document has low values in all parts, which the bounds
// of blocks, each with the least length of its own block, do not tell. For each part there is a
// table by length of the least frequency that is enough. The tables are made for the k-th best
// score so far, and are made anew once it is higher.
//
// Beside it is the same table by frequency (P_LIMITS), and one by the frequencies in the last two
// parts together (Q_PAIR): the greatest length with which they are enough.
// Where a longer document needs less by a rounding error, the greatest length counts.
//
// Example: two words of weight 1 with frequencies up to 3, 15 words on average, and 2.5 as the 10th
// best score. A document with the second word once has at most 16 words, with it twice 25.

import { bytesOf, get, put } from '../memory/cells';
import { isPair, K_LEAST, K_LONGEST, K_MOST } from './columns';
import { C_BLOCKS, C_COUNT, C_ROWS, C_SKIPS, frequencyAt, skipOf } from './cursor';
import { classOf, LENGTH_CLASSES, lengthAt, MOST_STORED, X_FREQUENCY, X_LENGTH } from './layout';
import {
  cursorOf,
  ordered,
  P_BOUND,
  P_GREATEST,
  P_LIMITS,
  P_MOST,
  P_NEED,
  P_PIN,
  P_UNDER,
  P_WEIGHT,
  Q_DOCUMENTS,
  Q_FLOOR,
  Q_LENGTHS,
  Q_LONGEST,
  Q_NORMS,
  Q_ORDER,
  Q_PAIR,
  Q_SCORED,
  Q_SET,
  Q_SHORTEST,
  Q_TABLES,
  Q_WIDTH,
} from './query';
import { greatestValue, limitOf, normOf } from './scores';
import { MOST_UNPACKED } from './unpack';

/** In a table of needed frequencies less 1: no frequency is enough. */
const NEVER: u32 = 255;
/** By what factor the k-th best score must have risen for new tables. */
const RENEWAL: f64 = 1.04;
/** Frequencies in a table of greatest lengths: 0 (which has none) to 14, and 15 or more. */
export const FREQUENCIES: u32 = 16;
/** Frequencies in a table of pairs: 0, 1, 2, and 3 or more. */
export const MANY: u32 = 3;
const PAIRS: u32 = (MANY + 1) * (MANY + 1);
/** Lengths for which the tables are made without a look at how long the documents are. */
const FEW: u32 = 64;
/** Factor below the rounding errors of a needed frequency and of sums of values. */
export const SLACK: f64 = 1 - 1e-9;
/** Factor above the rounding error of a number of 32 bits. */
const ABOVE: f64 = 1 + 1e-6;

/**
 * Puts the scored parts, which are at Q_ORDER, in the order of the greatest values that they can
 * have. All cursors are at their first documents. Cost: 1 step per block of postings.
 */
export function orderParts(q: usize): void {
  const order = <usize>load<u32>(q + Q_ORDER);
  const n = load<u32>(q + Q_SCORED);
  let shortest = LENGTH_CLASSES - 1;
  for (let i: u32 = 0; i < n; i++) {
    const part = ordered(q, i);
    const least = survey(q, part);
    shortest = min(shortest, classOf(least, load<u32>(q + Q_WIDTH)));
    const bound = greatestValue(load<f64>(part + P_WEIGHT), load<u32>(part + P_MOST), normOf(q, least));
    store<f64>(part + P_BOUND, bound);
    store<f64>(part + P_GREATEST, bound);
    let j = i;
    for (; j && load<f64>(ordered(q, j - 1) + P_BOUND) > bound; j--) put<u32>(order, j, get<u32>(order, j - 1));
    put<u32>(order, j, <u32>part);
  }
  store<u32>(q + Q_SHORTEST, shortest);
  store<f64>(q + Q_TABLES, NaN);
}

/** Sets the greatest frequency of a part. Returns the least length of its documents. */
function survey(q: usize, part: usize): u32 {
  const column = <usize>load<u32>(part + P_PIN);
  if (column) {
    store<u32>(part + P_MOST, load<u32>(column + K_MOST));
    return load<u32>(column + K_LEAST);
  }
  const c = cursorOf(part);
  const blocks = load<u32>(c + C_BLOCKS);
  let most: u32 = 0;
  let least: u32 = MOST_STORED;
  if (load<u32>(c + C_SKIPS)) {
    for (let b: u32 = 0; b < blocks; b++) {
      most = max(most, <u32>load<u16>(skipOf(c, b) + X_FREQUENCY));
      least = min(least, <u32>load<u16>(skipOf(c, b) + X_LENGTH));
    }
  } else if (blocks) {
    const lengths = <usize>load<u32>(q + Q_LENGTHS);
    for (let i: u32 = 0; i < load<u32>(c + C_COUNT); i++) {
      most = max(most, min(frequencyAt(c, i), MOST_STORED));
      least = min(least, lengthAt(lengths, load<u32>(q + Q_WIDTH), get<u16>(load<u32>(c + C_ROWS), i)));
    }
  }
  store<u32>(part + P_MOST, most);
  return least;
}

/**
 * Makes the tables of needed frequencies anew if the k-th best score has risen much: those for a
 * lower score exclude less, but are right. Cost: 2 divisions per part and length, and some for
 * pairs, until a length with which no document can be among the best.
 */
export function renewTables(q: usize): void {
  const floor = load<f64>(q + Q_FLOOR);
  const known = load<f64>(q + Q_TABLES);
  if (known == floor || known * RENEWAL > floor) return;
  store<f64>(q + Q_TABLES, floor);
  const n = load<u32>(q + Q_SCORED);
  const wanted = floor * SLACK;
  for (let i: u32 = 0; i < n; i++) memory.fill(ordered(q, i) + P_LIMITS, 0, bytesOf<u8>(FREQUENCIES));
  memory.fill(q + Q_PAIR, 0, bytesOf<u8>(PAIRS));
  const hasPair = isPair(q);
  let end = LENGTH_CLASSES;
  for (let length = load<u32>(q + Q_SHORTEST); length < end; length++) {
    if (length >= FEW) end = longestOf(q) + 1;
    const norm = get<f64>(q + Q_NORMS, length);
    let below: f64 = 0;
    for (let i: u32 = 0; i < n; i++) {
      const part = ordered(q, i);
      const weight = load<f64>(part + P_WEIGHT);
      const most = load<u32>(part + P_MOST);
      const needed = neededOf(wanted - below, limitOf(weight), norm, most);
      put<u8>(part + P_NEED, length, <u8>needed);
      if (needed != NEVER) put<u8>(part + P_LIMITS, min(needed + 1, FREQUENCIES - 1), <u8>length);
      put<f32>(part + P_UNDER, length, <f32>(below * ABOVE));
      below += greatestValue(weight, most, norm);
    }
    if (below >= wanted) {
      if (hasPair) limitPairs(q, length, wanted);
      continue;
    }
    for (let i: u32 = 0; i < n; i++) memory.fill(ordered(q, i) + P_NEED + length, <u8>NEVER, LENGTH_CLASSES - length);
    break;
  }
  for (let i: u32 = 0; i < n; i++) completeLimits(ordered(q, i) + P_LIMITS);
}

/** Sets the greatest length of the pairs of frequencies with which this length is enough. */
function limitPairs(q: usize, length: u32, wanted: f64): void {
  const n = load<u32>(q + Q_SCORED);
  const last = ordered(q, n - 1);
  const other = ordered(q, n - 2);
  const norm = get<f64>(q + Q_NORMS, length);
  const under = <f64>get<f32>(other + P_UNDER, length);
  const one = valueIn(last, 1, norm);
  const two = valueIn(last, 2, norm);
  const many = valueIn(last, MANY, norm);
  for (let b: u32 = 0; b <= MANY; b++) {
    const least = wanted - under - valueIn(other, b, norm);
    // More of the last part add more.
    if (many < least) continue;
    put<u8>(q + Q_PAIR, MANY * (MANY + 1) + b, <u8>length);
    if (two < least) continue;
    put<u8>(q + Q_PAIR, 2 * (MANY + 1) + b, <u8>length);
    if (one >= least) put<u8>(q + Q_PAIR, MANY + 1 + b, <u8>length);
  }
}

/** Returns what a part adds with a frequency, at most; MANY: with that or more. */
function valueIn(part: usize, frequency: u32, norm: f64): f64 {
  if (!frequency) return 0;
  return greatestValue(load<f64>(part + P_WEIGHT), frequency == MANY ? load<u32>(part + P_MOST) : frequency, norm);
}

/** Gives each frequency the greatest length of those up to it: a lower one is enough there. */
function completeLimits(limits: usize): void {
  for (let f: u32 = 2; f < FREQUENCIES; f++) put<u8>(limits, f, max(get<u8>(limits, f), get<u8>(limits, f - 1)));
}

/**
 * Returns the class of the length of the longest document. Looks once at all documents of a block
 * that has a set of columns, otherwise once in each query.
 */
function longestOf(q: usize): u32 {
  const set = <usize>load<u32>(q + Q_SET);
  const kept = set ? set + K_LONGEST : q + Q_LONGEST;
  const known = load<u32>(kept);
  if (known) return known;
  const lengths = <usize>load<u32>(q + Q_LENGTHS);
  const documents = load<u32>(q + Q_DOCUMENTS);
  const width = load<u32>(q + Q_WIDTH);
  let longest: u32 = FEW;
  for (let d: u32 = 0; d < documents; d++) longest = max(longest, lengthAt(lengths, width, d));
  longest = classOf(longest, width);
  store<u32>(kept, longest);
  return longest;
}

/**
 * Returns the least frequency less 1 with which a part has a value of at least `wanted`, NEVER if
 * it has not with `most` (MOST_STORED: that or more). `limit`: what all its values are below.
 */
function neededOf(wanted: f64, limit: f64, norm: f64, most: u32): u32 {
  if (!(wanted > 0)) return 0;
  if (wanted >= limit) return NEVER;
  // limit tf / (tf + norm) >= wanted
  const needed = Math.ceil(((wanted * norm) / (limit - wanted)) * SLACK);
  if (needed > <f64>most && most != MOST_STORED) return NEVER;
  return needed > <f64>MOST_UNPACKED ? MOST_UNPACKED : <u32>max(needed, 1) - 1;
}
