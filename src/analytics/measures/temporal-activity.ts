// Counts events per time bucket.

import { HedgerowError } from '../../errors.ts';
import { LIMIT, type Measure, WINDOW } from '../measure.ts';
import { limitOf } from '../shapes.ts';

const MOST_ROWS = 1_000_000;

export const temporalActivity: Measure = {
  name: 'temporal_activity',
  about: 'Events in each bucket of time.',
  source: 'A count by floor(event_ts / bucket_seconds).',
  parameters: [
    { name: 'bucket_seconds', type: 'integer', least: 1, about: "Width of a bucket in seconds; default: the table's." },
    {
      name: 'fill',
      type: 'boolean',
      default: false,
      about: 'Include empty buckets between the first and the last one.',
    },
    ...LIMIT,
    ...WINDOW,
  ],
  result: {
    type: 'array',
    items: {
      type: 'object',
      properties: {
        ts: { type: 'integer', description: 'Start of the bucket, in seconds.' },
        count: { type: 'integer' },
      },
    },
  },
  *run({ projections }, params) {
    const width = (params.bucket_seconds as number | undefined) ?? projections.bucketSeconds;
    const times = (yield* projections.incidence('events')).copyTimes();
    const filled = params.fill === true;
    const rows = activity(times, width, filled);
    const most = limitOf(params);
    if (most !== undefined) rows.sort((a, b) => b.count - a.count || a.ts - b.ts).splice(most);
    return { shape: { kind: 'value', value: rows }, definition: 'events', basis: 'events' };
  },
};

/** Returns the number of events per bucket; empty ones only if `filled`. `times` is ascending. */
function activity(times: Float64Array, width: number, filled: boolean): { ts: number; count: number }[] {
  if (times.length === 0) return [];
  const first = Math.floor(times[0]! / width);
  const last = Math.floor(times[times.length - 1]! / width);
  if (filled && last - first + 1 > MOST_ROWS)
    throw new HedgerowError(
      'invalid_input',
      `Parameter fill: ${last - first + 1} buckets are more than ${MOST_ROWS}; take wider buckets or a smaller window.`,
      { errors: [{ loc: ['body', 'params', 'fill'], msg: 'too many buckets' }] },
    );
  const rows: { ts: number; count: number }[] = [];
  let bucket = first;
  let count = 0;
  for (const time of times) {
    const here = Math.floor(time / width);
    if (here !== bucket) {
      rows.push({ ts: bucket * width, count });
      if (filled) for (let empty = bucket + 1; empty < here; empty++) rows.push({ ts: empty * width, count: 0 });
      bucket = here;
      count = 0;
    }
    count++;
  }
  rows.push({ ts: bucket * width, count });
  return rows;
}
