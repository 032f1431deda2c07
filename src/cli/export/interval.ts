// The time during which an edge holds, for formats that show a graph at a time.

import type { Row } from '../run/runner.ts';

/** Seconds since 1970, both inclusive. */
export interface Interval {
  readonly start: number;
  readonly end: number;
}

/** Returns the interval of an edge, which begins and ends at its time. */
export function intervalOf({ event_ts: time }: Row): Interval {
  return { start: time as number, end: time as number };
}
