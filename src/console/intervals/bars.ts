// Arranges edges with a beginning and an end as bars in lanes, or counts how many hold over time.

/** An edge of a table with intervals; `end` is null while it holds. Times are epoch seconds. */
export interface Interval {
  readonly id: number;
  readonly start: number;
  readonly end: number | null;
}

/** A bar in thousandths of the width and in lanes from the top. */
export interface Bar {
  readonly interval: Interval;
  readonly x: number;
  readonly width: number;
  readonly lane: number;
  /** Whether the edge holds beyond the right edge of the plot. */
  readonly isOpen: boolean;
}

export interface BarRows {
  readonly bars: readonly Bar[];
  readonly lanes: number;
}

export const WIDTH = 1000;
/** Shorter bars could not be seen. */
const LEAST_WIDTH = 3;
const GAP = 2;
/** More bars, or bars in more lanes, are too thin to be seen. */
export const MOST_BARS = 300;
export const MOST_LANES = 24;

/**
 * Arranges intervals between the seconds `from` and `to`, each in the first lane that is free.
 * Those without an end reach the right edge, as do those that end later. Returns undefined if there
 * are more than `MOST_BARS` of them, or they need more than `MOST_LANES` lanes.
 */
export function barRows(intervals: readonly Interval[], from: number, to: number): BarRows | undefined {
  if (intervals.length > MOST_BARS) return undefined;
  const placeOf = (ts: number) => Math.max(0, Math.min(WIDTH, (WIDTH * (ts - from)) / (to - from)));
  /** By lane, the end of its last bar. */
  const ends: number[] = [];
  const sorted = [...intervals].sort((a, b) => a.start - b.start || a.id - b.id);
  const bars = sorted.map((interval): Bar => {
    const isOpen = interval.end === null || interval.end > to;
    const x = Math.min(placeOf(interval.start), WIDTH - LEAST_WIDTH);
    const width = Math.max(LEAST_WIDTH, (isOpen ? WIDTH : placeOf(interval.end!)) - x);
    const free = ends.findIndex((end) => end + GAP <= x);
    const lane = free < 0 ? ends.length : free;
    ends[lane] = x + width;
    return { interval, x, width, lane, isOpen };
  });
  return ends.length > MOST_LANES ? undefined : { bars, lanes: ends.length };
}

/** The number of edges that begin or end in a stretch, by its index. */
export type Counts = readonly { readonly at: number; readonly count: number }[];

/**
 * Returns for each of `length` stretches how many edges hold in it, at least for a moment: those
 * that began in it or before, without those that ended before it.
 */
export function heldCounts(begun: Counts, ended: Counts, length: number): number[] {
  const changes = new Array<number>(length + 1).fill(0);
  const placeOf = (at: number) => Math.max(0, Math.min(length, at));
  for (const { at, count } of begun) changes[placeOf(at)]! += count;
  for (const { at, count } of ended) changes[placeOf(at + 1)]! -= count;
  let held = 0;
  return changes.slice(0, length).map((change) => {
    held += change;
    return Math.max(0, held);
  });
}

/** Differences of larger integers are errors in a statement. */
const MOST_EXACT = 2 ** 52;

/**
 * Returns parameters with which `(ts / $by - $from) / $width` in a statement is the index of the
 * stretch of `width` seconds that holds `ts`, the first one beginning at `from`. Over millions of
 * years it may be off by a few seconds.
 */
export function stretchesOf(
  from: number,
  to: number,
  width: number,
): { readonly by: number; readonly from: number; readonly width: number } {
  const by = Math.max(Math.abs(from), Math.abs(to), to - from) > MOST_EXACT ? 8 : 1;
  return { by, from: Math.floor(from / by), width: Math.ceil(width / by) };
}
