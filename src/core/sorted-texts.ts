// Sorts texts in steps, by the order of their code points, which is that of their bytes in UTF-8:
// runs of a few hundred are sorted at once, and then merged two by two.

import { compareTexts } from '../model/text-order.ts';
import type { Steps } from '../schedule/steps.ts';

/** Texts that a step sorts; takes about 0.3 ms. */
const SORTED_AT_ONCE = 512;
/** Texts that a step merges; takes about as long. */
const MERGED_AT_ONCE = 4096;

/** A text with one of these may be in another place by UTF-16 units than by code points. */
const SURROGATE = /[\ud800-\udfff]/;

type IsAfter = (a: string, b: string) => boolean;

/** Returns the texts in ascending order. */
export function* sortedTexts(texts: readonly string[]): Steps<string[]> {
  let runs: string[][] = [];
  let isPlain = true;
  for (let from = 0; from < texts.length; from += SORTED_AT_ONCE) {
    const run = texts.slice(from, from + SORTED_AT_ONCE);
    const isPlainRun = !run.some((text) => SURROGATE.test(text));
    isPlain &&= isPlainRun;
    // The order of UTF-16 units is found some times faster.
    runs.push(isPlainRun ? run.sort() : run.sort(compareTexts));
    yield undefined;
  }
  const isAfter: IsAfter = isPlain ? (a, b) => a > b : (a, b) => compareTexts(a, b) > 0;
  while (runs.length > 1) {
    const merged: string[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      const [a, b] = [runs[at]!, runs[at + 1]];
      merged.push(b === undefined ? a : yield* mergedRuns(a, b, isAfter));
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function* mergedRuns(a: readonly string[], b: readonly string[], isAfter: IsAfter): Steps<string[]> {
  const merged: string[] = [];
  let left = 0;
  let right = 0;
  while (left < a.length && right < b.length) {
    const [x, y] = [a[left]!, b[right]!];
    if (isAfter(x, y)) {
      merged.push(y);
      right++;
    } else {
      merged.push(x);
      left++;
    }
    if (merged.length % MERGED_AT_ONCE === 0) yield undefined;
  }
  return merged.concat(a.slice(left), b.slice(right));
}
