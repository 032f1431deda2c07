// Suggests the width of the buckets of a new table.

import type { PlannedEdge } from './edge-plan.ts';

/** The suggested bucket width gives a table at most this many buckets. */
const BUCKETS = 4000;

/** Bucket widths that are easy to read: from the default of ten seconds up to four weeks. */
const WIDTHS = [10, 60, 300, 900, 3600, 10_800, 21_600, 43_200, 86_400, 604_800, 2_419_200];

/** Returns the width of a bucket that suits the span of the edges' times. */
export function suggestedBucket(edges: readonly PlannedEdge[]): number {
  let [first, last] = [Infinity, -Infinity];
  for (const { event_ts: ts } of edges) {
    first = Math.min(first, ts);
    last = Math.max(last, ts);
  }
  const least = edges.length === 0 ? 0 : (last - first) / BUCKETS;
  return WIDTHS.find((width) => width >= least) ?? Math.ceil(least);
}
