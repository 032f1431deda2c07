// Sorts many values step by step: sorts pieces of them, then merges pairs of pieces until one piece
// is left.

import type { Steps } from '../schedule/steps.ts';

/** How many numbers one step sorts. A step takes about a millisecond, here and below. */
const PIECE_NUMBERS = 16_384;
/** How many other values one step sorts. */
const PIECE = 2048;
/** How many values of any kind one step merges. */
const STEP_VALUES = 8192;

/** Returns the numbers in ascending order. */
export function* sortedNumbers(values: readonly number[]): Steps<number[]> {
  // A typed array sorts its numbers natively.
  const sortPiece = (piece: readonly number[]) => Array.from(Float64Array.from(piece).sort());
  return yield* merged(values, PIECE_NUMBERS, sortPiece, (a, b) => a - b);
}

/** Returns the values in order. Equal values keep their order. */
export function* sorted<Value>(values: readonly Value[], compare: (a: Value, b: Value) => number): Steps<Value[]> {
  return yield* merged(values, PIECE, (piece) => [...piece].sort(compare), compare);
}

function* merged<Value>(
  values: readonly Value[],
  length: number,
  sortPiece: (piece: readonly Value[]) => Value[],
  compare: (a: Value, b: Value) => number,
): Steps<Value[]> {
  let pieces: Value[][] = [];
  for (let at = 0; at < values.length; at += length) {
    pieces.push(sortPiece(values.slice(at, at + length)));
    yield;
  }
  while (pieces.length > 1) {
    const longer: Value[][] = [];
    for (let at = 0; at < pieces.length; at += 2) {
      const [left, right] = [pieces[at]!, pieces[at + 1]];
      longer.push(right === undefined ? left : yield* mergedPair(left, right, compare));
    }
    pieces = longer;
  }
  return pieces[0] ?? [];
}

function* mergedPair<Value>(
  left: readonly Value[],
  right: readonly Value[],
  compare: (a: Value, b: Value) => number,
): Steps<Value[]> {
  const values: Value[] = [];
  let [a, b] = [0, 0];
  while (a < left.length && b < right.length) {
    values.push(compare(left[a]!, right[b]!) <= 0 ? left[a++]! : right[b++]!);
    if (values.length % STEP_VALUES === 0) yield;
  }
  // One of the two pieces is used up.
  const [rest, from] = a < left.length ? [left, a] : [right, b];
  for (let at = from; at < rest.length; at++) {
    values.push(rest[at]!);
    if (values.length % STEP_VALUES === 0) yield;
  }
  return values;
}
