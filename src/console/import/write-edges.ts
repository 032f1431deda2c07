// Writes planned edges in parts, each of them whole or not at all.

import type { NewHyperedge, NewTable } from '../../client/index.ts';
import { client } from '../session.ts';
import { dataChanged } from '../state.ts';

const PART_EDGES = 2000;

/** So many buckets a table should have, more or less. */
const BUCKETS = 4000;

/** `table`: made first. A failure leaves the parts before it written; the error is thrown as it came. */
export async function writeEdges(
  edges: readonly NewHyperedge[],
  target: string,
  table: NewTable | undefined,
  onProgress: (written: number) => void,
): Promise<void> {
  onProgress(0);
  try {
    if (table !== undefined) await client().tables.create(table);
    for (let start = 0; start < edges.length; start += PART_EDGES) {
      const part = edges.slice(start, start + PART_EDGES);
      await client().hyperedges.insertMany(part, target);
      onProgress(start + part.length);
    }
  } finally {
    await dataChanged();
  }
}

/** Ten seconds, as a table has by default, up to four weeks: widths that people can read. */
const WIDTHS = [10, 60, 300, 900, 3600, 10_800, 21_600, 43_200, 86_400, 604_800, 2_419_200];

/** Width of a bucket that suits the stretch of time. */
export function suggestedBucket(edges: readonly NewHyperedge[]): number {
  let [first, last] = [Infinity, -Infinity];
  for (const { event_ts: ts } of edges) {
    first = Math.min(first, ts);
    last = Math.max(last, ts);
  }
  const least = edges.length === 0 ? 0 : (last - first) / BUCKETS;
  return WIDTHS.find((width) => width >= least) ?? Math.ceil(least);
}
