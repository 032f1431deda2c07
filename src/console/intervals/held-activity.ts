// Reads the edges of a table with intervals for the strip of time: each of them if they are few,
// otherwise how many hold in each stretch of time.

import { client } from '../session.ts';
import { quoted } from '../statement-words.ts';
import type { Activity } from '../time-activity.ts';
import { barsOf } from '../time-bars.ts';
import { type BarRows, barRows, type Counts, heldCounts, type Interval, MOST_BARS, stretchesOf } from './bars.ts';

/** Approximate number of stretches. */
const STRETCHES = 240;
/** Share of the width that is added at the right, where bars without an end fade. */
const ROOM = 0.04;
/** Some data writes an end after the year 9000 where there is none. It would squeeze all others. */
const FAR = 221_845_392_000;

export interface HeldActivity extends Activity {
  /** The last beginning or end of an edge. */
  readonly until: number;
  /** Seconds at the left and the right edge of the plot. */
  readonly from: number;
  readonly to: number;
  /** Undefined if there are too many edges for bars; `counts` are then edges that hold. */
  readonly rows: BarRows | undefined;
}

/** Returns undefined when the table has no edges. */
export async function heldActivityOf(table: string): Promise<HeldActivity | undefined> {
  const match = `MATCH (e:${quoted(table)})`;
  const rowsOf = async (text: string, parameters = {}) =>
    (await client().query.run(`${match} ${text}`, parameters)).rows;
  const [[all], [ended]] = await Promise.all([
    rowsOf('RETURN MIN(e.event_ts) AS first, MAX(e.event_ts) AS last, COUNT(*) AS edges'),
    rowsOf('WHERE e.end_ts < $far RETURN MAX(e.end_ts) AS last', { far: FAR }),
  ]);
  const { first, last, edges } = all as { first: number | null; last: number | null; edges: number };
  if (first === null || last === null) return undefined;
  const until = Math.max(last, (ended?.last as number | null | undefined) ?? last);
  const edge = until + Math.ceil(ROOM * (until - first));
  const bucketSeconds = Math.max(1, Math.ceil((edge - first + 1) / STRETCHES));
  const empty = barsOf([], first, edge, bucketSeconds);
  const from = empty.starts[0]!;
  const to = empty.starts.at(-1)! + bucketSeconds;
  const known = { table, edges, first, last, bucketSeconds, until, from, to };
  if (edges <= MOST_BARS) {
    const text = `RETURN e.id AS id, e.event_ts AS start, e.end_ts AS end LIMIT ${MOST_BARS + 1}`;
    const rows = barRows((await rowsOf(text)) as unknown as Interval[], from, to);
    if (rows !== undefined) return { ...known, ...empty, rows };
  }
  const parameters = stretchesOf(from, to, bucketSeconds);
  const [begun, over] = await Promise.all([
    rowsOf('RETURN (e.event_ts / $by - $from) / $width AS at, COUNT(*) AS count', parameters),
    rowsOf('WHERE e.end_ts < $far RETURN (e.end_ts / $by - $from) / $width AS at, COUNT(*) AS count', {
      ...parameters,
      far: FAR,
    }),
  ]);
  const counts = heldCounts(begun as unknown as Counts, over as unknown as Counts, empty.starts.length);
  return { ...known, starts: empty.starts, counts, rows: undefined };
}
