// The time during which an edge holds, for formats that show a graph at a time.

import type { Row } from '../run/runner.ts';

/** Seconds since 1970, both inclusive. */
export interface Interval {
  readonly start: number;
  /** Undefined while the edge holds. */
  readonly end: number | undefined;
}

/**
 * Returns the interval of an edge. It ends at `end_ts`, or not at all if that is null; without this
 * column, or if it is no time after the beginning, it ends where it begins.
 */
export function intervalOf({ event_ts: time, end_ts: end }: Row): Interval {
  const start = time as number;
  if (end === null) return { start, end: undefined };
  return { start, end: Number.isSafeInteger(end) && (end as number) >= start ? (end as number) : start };
}
