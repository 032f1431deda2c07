// Finds the times of the first and the last live edge in a window without reading all edges between
// them.
//
// If few rows are in memory, the engine finds both times. Otherwise, the first edge is read
// directly, because scans are in time order. The last edge is found in two steps. A binary search
// over row estimates finds a time after which there is no edge. Estimates count deleted rows too,
// so the second step scans windows of growing width (1, 4, 16, ... seconds) backwards from that
// time until a window contains a live edge.

import type { QuestionWindow } from '../question/question.ts';
import type { EdgeReader } from './edge-rows.ts';

export interface TimeEnds {
  readonly least: number;
  readonly greatest: number;
}

/**
 * Up to this number of rows in memory, the engine finds the ends of a window in a fraction of a
 * millisecond.
 */
const FEW_ROWS = 16_384;
const LAST_SECOND = Number.MAX_SAFE_INTEGER;

/** Returns the ends, or undefined if there is no edge. Both bounds are inclusive. */
export function* timeEnds(
  reader: EdgeReader,
  startTs: number | undefined,
  endTs: number | undefined,
): Generator<undefined, TimeEnds | undefined, void> {
  if ((startTs ?? -LAST_SECOND) > (endTs ?? LAST_SECOND)) return undefined;
  let inMemory = 0;
  for (const { memtable } of reader.snapshot.version.memtables) inMemory += memtable.rows;
  if (inMemory <= FEW_ROWS) return reader.table.timeBounds({ startTs, endTs }, reader.snapshot);
  const least = yield* lastTimeOf(reader, startTs, endTs, 1);
  if (least === undefined) return undefined;
  // No live edge is later than `high`, but there may be none at `high`: estimates count dead rows.
  let high = yield* latestEstimated(reader, least, endTs ?? LAST_SECOND);
  for (let width = 1; high > least; width *= 4) {
    const found = yield* lastTimeOf(reader, Math.max(least, high - width + 1), high, width === 1 ? 1 : undefined);
    if (found !== undefined) return { least, greatest: found };
    high -= width;
  }
  return { least, greatest: least };
}

/**
 * Returns bounds of the times of the edges that a window of a question means, or undefined if it
 * means none. In a table with intervals these are also the edges that began before the window and
 * still hold in it.
 */
export function* windowEnds(
  reader: EdgeReader,
  { start_ts, end_ts }: QuestionWindow,
): Generator<undefined, TimeEnds | undefined, void> {
  const [startTs, endTs] = [start_ts ?? undefined, end_ts ?? undefined];
  const within = yield* timeEnds(reader, startTs, endTs);
  if (reader.snapshot.columns.end === undefined || startTs === undefined || startTs > (endTs ?? LAST_SECOND))
    return within;
  const least = yield* firstTimeAt(reader, startTs);
  if (least === undefined) return within;
  return { least, greatest: within?.greatest ?? startTs };
}

/** Returns the time of the first edge that holds at a time. */
function* firstTimeAt(reader: EdgeReader, at: number): Generator<undefined, number | undefined, void> {
  for (const rows of reader.readKeys({ at, limit: 1 })) {
    if (rows === null) yield;
    else if (rows.rows > 0) return rows.times[0]!;
  }
  return undefined;
}

/** Returns the last time among a window's edges, or among its first `limit` edges. */
function* lastTimeOf(
  reader: EdgeReader,
  startTs: number | undefined,
  endTs: number | undefined,
  limit: number | undefined,
): Generator<undefined, number | undefined, void> {
  let last: number | undefined;
  for (const rows of reader.readKeys({ startTs, endTs, limit })) {
    if (rows === null) yield;
    else if (rows.rows > 0) last = rows.times[rows.rows - 1]!;
  }
  return last;
}

/** Number of iterations of the binary search between two pauses. */
const STEP_LOOKS = 16;

/**
 * Returns the earliest time after which the estimates count no edge up to `high`. There must be an
 * edge at `low`.
 */
function* latestEstimated(reader: EdgeReader, low: number, high: number): Generator<undefined, number, void> {
  let [from, to] = [low, high];
  for (let looks = 1; from < to; looks++) {
    const middle = from + Math.ceil((to - from) / 2);
    const { rows } = reader.table.estimate({ startTs: middle, endTs: high }, reader.snapshot);
    if (rows > 0) from = middle;
    else to = middle - 1;
    if (looks % STEP_LOOKS === 0) yield;
  }
  return from;
}
