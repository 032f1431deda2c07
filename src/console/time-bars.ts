// Arranges counts of edges as bars of equal width, side by side.

/** Shortest span of time that is shown, in seconds, even when all edges are close together. */
const LEAST_SPAN = 60;

export interface Bars {
  /** Start of each stretch; all stretches are equally long. */
  readonly starts: readonly number[];
  readonly counts: readonly number[];
}

/**
 * Returns the bars. Includes stretches without edges, because the width of bars follows from their
 * distance.
 */
export function barsOf(
  found: readonly { readonly ts: number; readonly count: number }[],
  first: number,
  last: number,
  bucketSeconds: number,
): Bars {
  const around = Math.max(0, Math.floor((LEAST_SPAN - (last - first + 1)) / 2));
  const from = Math.floor((first - around) / bucketSeconds);
  const to = Math.floor((last + around) / bucketSeconds);
  const starts = Array.from({ length: to - from + 1 }, (_, index) => (from + index) * bucketSeconds);
  const counts = starts.map(() => 0);
  for (const { ts, count } of found) {
    const at = Math.round(ts / bucketSeconds) - from;
    // An edge written between the requests for the span and for the counts may be outside the bars.
    if (counts[at] !== undefined) counts[at] += count;
  }
  return { starts, counts };
}
