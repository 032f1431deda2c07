// Reciprocal rank fusion (Cormack, Clarke, Buettcher, Reciprocal Rank Fusion, SIGIR 2009).
//
//   score = sum of weight / (K + rank) over the lists in which a candidate has a rank, divided by
//           the sum of weight / (K + 1) over all lists: from 0 to 1
//
// Candidates with equal values share a rank; the next rank is the number of candidates before it
// plus one. A candidate with the value 0 has no rank.

import type { Steps } from '../../schedule/steps.ts';

/** K, as in the paper. */
export const RANK_CONSTANT = 60;

export interface RankList<T> {
  readonly name: string;
  readonly weight: number;
  /** The value by which candidates are ranked, the greatest first; 0 or more. */
  readonly valueIn: (one: T) => number;
}

export interface Ranked<T> {
  readonly one: T;
  /** By list; 0 if it has no rank. */
  readonly ranks: Uint32Array;
  readonly score: number;
}

/** Ranks candidates in each list. Returns them in their order, one list per step. */
export function* reciprocalRanks<T>(candidates: readonly T[], lists: readonly RankList<T>[]): Steps<Ranked<T>[]> {
  const ranks = candidates.map(() => new Uint32Array(lists.length));
  const sums = new Float64Array(candidates.length);
  const values = new Float64Array(candidates.length);
  let most = 0;
  for (let list = 0; list < lists.length; list++) {
    const { valueIn, weight } = lists[list]!;
    for (let place = 0; place < values.length; place++) values[place] = valueIn(candidates[place]!);
    const sorted = sortedPlaces(values);
    let rank = 0;
    for (let index = 0; index < sorted.length; index++) {
      const place = sorted[index]!;
      if (index === 0 || values[place] !== values[sorted[index - 1]!]) rank = index + 1;
      ranks[place]![list] = rank;
      sums[place]! += weight / (RANK_CONSTANT + rank);
    }
    most += weight / (RANK_CONSTANT + 1);
    yield undefined;
  }
  return candidates.map((one, place) => ({ one, ranks: ranks[place]!, score: sums[place]! / most }));
}

/** Returns the places of the values that are above 0, the greatest first. */
function sortedPlaces(values: Float64Array): number[] {
  const places: number[] = [];
  for (let place = 0; place < values.length; place++) if (values[place]! > 0) places.push(place);
  return places.sort((a, b) => values[b]! - values[a]!);
}
