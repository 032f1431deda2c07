// A stable merge sort of numbers in steps of a few ms. Runs of up to 4096 numbers are sorted
// natively, one per step. The first runs are shorter, because code that has not been compiled yet
// compares about ten times slower. Then runs are merged pairwise until one is left, with a pause
// each time the output has grown by the length of a run.

/** Maximum length of a run, for comparisons that take about 10 ns. */
export const MOST_OF_RUN = 4096;
const LEAST_OF_RUN = 16;
/** Maximum length of the first run. Each run may be twice as long as the one before. */
const FIRST_RUN = 256;
/** Nanoseconds that the comparisons of one step may take. */
const STEP_NS = 5_000_000;
const NS_OF_KEY = 10;
const LETTERS_A_NS = 8;

/**
 * Returns the length of a run for a number of sort keys and the length of the longest text among
 * them.
 */
export function runOf(keys: number, longestText: number): number {
  const compareNs = keys * (NS_OF_KEY + longestText / LETTERS_A_NS);
  // Sorting a run of n takes n log n comparisons.
  const rows = Math.floor(STEP_NS / compareNs / Math.log2(MOST_OF_RUN));
  return Math.min(MOST_OF_RUN, Math.max(LEAST_OF_RUN, rows));
}

/**
 * Returns the numbers in a new array, sorted by `compare`. Numbers for which it returns 0 keep
 * their order. Yields null after at most `run` numbers.
 */
export function* sortedNumbers(
  numbers: Uint32Array,
  compare: (a: number, b: number) => number,
  run = MOST_OF_RUN,
): Generator<null, Uint32Array, void> {
  let runs: Uint32Array[] = [];
  let length = Math.min(run, FIRST_RUN);
  for (let from = 0; from < numbers.length; ) {
    runs.push(numbers.slice(from, from + length).sort(compare));
    from += length;
    length = Math.min(run, 2 * length);
    yield null;
  }
  while (runs.length > 1) {
    const next: Uint32Array[] = [];
    for (let i = 0; i < runs.length; i += 2)
      next.push(i + 1 < runs.length ? yield* merged(runs[i]!, runs[i + 1]!, compare, run) : runs[i]!);
    runs = next;
  }
  return runs[0] ?? new Uint32Array(0);
}

function* merged(
  a: Uint32Array,
  b: Uint32Array,
  compare: (a: number, b: number) => number,
  run: number,
): Generator<null, Uint32Array, void> {
  const result = new Uint32Array(a.length + b.length);
  let i = 0;
  let j = 0;
  for (let at = 0; at < result.length; at++) {
    const takesLeft = j >= b.length || (i < a.length && compare(a[i]!, b[j]!) <= 0);
    result[at] = takesLeft ? a[i++]! : b[j++]!;
    if (at % run === run - 1) yield null;
  }
  return result;
}
