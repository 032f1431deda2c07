// Counts how many edges of a table are in each stretch of its time.

import { client } from './session.ts';
import { quoted } from './statement-words.ts';
import { type Bars, barsOf } from './time-bars.ts';

/** Approximate number of bars for the whole table. */
const BARS = 240;

export interface Activity extends Bars {
  readonly table: string;
  readonly edges: number;
  /** Times of the first and the last edge, in seconds. */
  readonly first: number;
  readonly last: number;
  readonly bucketSeconds: number;
}

/** Returns undefined when the table has no edges. */
export async function activityOf(table: string): Promise<Activity | undefined> {
  const statement = `MATCH (e:${quoted(table)}) RETURN MIN(e.event_ts) AS first, MAX(e.event_ts) AS last, COUNT(*) AS edges`;
  const { rows } = await client().query.run(statement);
  const { first, last, edges } = rows[0] as { first: number | null; last: number | null; edges: number };
  if (first === null || last === null) return undefined;
  const bucketSeconds = Math.max(1, Math.ceil((last - first + 1) / BARS));
  const { result } = await client().analytics.run(table, 'temporal_activity', { bucket_seconds: bucketSeconds });
  const found = result as readonly { readonly ts: number; readonly count: number }[];
  return { table, edges, first, last, bucketSeconds, ...barsOf(found, first, last, bucketSeconds) };
}
