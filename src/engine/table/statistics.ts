// Computes counts, time bounds and estimates for query plans from directories and indexes, without
// decoding rows.

import { assert } from '../../assert.ts';
import {
  type CoreMemtable,
  ID_RANGE,
  idShare,
  lowerBound,
  type RangeSet,
  type ResidentSegment,
  type StepBounds,
} from '../../core/index.ts';
import { distinctNumbers } from '../../model/edge.ts';
import {
  boundsOf,
  chooseSegments,
  deadOf,
  LOAD_US,
  type ScanSource,
  type ScanView,
  strategyOf,
} from '../scan/scan-view.ts';
import { shareInMemory, wordsBound } from '../texts/estimate-words.ts';
import { tagOf } from '../texts/text-tag.ts';
import type { QueryPlan, ScanBounds, SearchCondition } from '../types.ts';
import type { SegmentFile } from './segment-file.ts';

/** A time window with inclusive bounds; an omitted bound is no limit. */
export interface Window {
  startTs?: number | undefined;
  endTs?: number | undefined;
}

/** The least and greatest time of some rows, in seconds since 1970. */
export interface TimeBounds {
  readonly least: number;
  readonly greatest: number;
}

/**
 * Loads the segments at the ends of a window for a few milliseconds at most, and returns whether
 * they are in memory then, so that `countRows` and `timeBounds` need not load them.
 */
export function loadEnds(source: ScanSource, { version }: ScanView, window: Window): boolean {
  const { startTs = -Infinity, endTs = Infinity } = window;
  const untilUs = source.nowUs() + LOAD_US;
  return version.segments.every((segment) => {
    const { timeMin, timeMax } = segment.facts;
    const isCut = timeMin <= endTs && timeMax >= startTs && (timeMin < startTs || timeMax > endTs);
    return !isCut || source.residentBy(segment, untilUs) !== undefined;
  });
}

/**
 * Returns the number of live rows in a window. Cost: a binary search in the segments at the ends of
 * the window, plus one step per segment of the table, and per dead row and memtable row in the
 * window.
 */
export function countRows(source: ScanSource, view: ScanView, window: Window): number {
  let count = 0;
  eachSegment(source, view, window, (segment, from, to) => {
    count += to - from - deadBetween(view, segment, from, to);
  });
  eachMemtable(view, window, (memtable, from, to, lsn, hidden) => {
    if (hidden === undefined) {
      count += memtable.count(from, to, lsn).rows;
      return;
    }
    for (let at = from; at < to; ) {
      const { rows, next } = memtable.visibleRows(at, to, lsn);
      for (const row of rows) if (!hidden.has(row)) count++;
      at = next;
    }
  });
  assert(count >= 0, 'no more rows are dead than there are');
  return count;
}

/**
 * Returns the least and greatest time of the live rows in a window, or undefined if there are none.
 */
export function timeBounds(source: ScanSource, view: ScanView, window: Window): TimeBounds | undefined {
  const stretches: [segment: SegmentFile, from: number, to: number][] = [];
  eachSegment(source, view, window, (...stretch) => void stretches.push(stretch));
  // Segments are in key order, so the first live row of all segments is that of the first segment
  // with a live row.
  let least = endTime(source, view, stretches, 1) ?? Infinity;
  let greatest = endTime(source, view, stretches.reverse(), -1) ?? -Infinity;
  eachMemtable(view, window, (memtable, from, to, lsn, hidden) => {
    for (let at = from; at < to; ) {
      const { rows, next } = memtable.visibleRows(at, to, lsn);
      const seen = hidden === undefined ? rows : rows.filter((row) => !hidden.has(row));
      if (seen.length > 0) {
        least = Math.min(least, memtable.keyOf(seen[0]!).eventTs);
        greatest = Math.max(greatest, memtable.keyOf(seen[seen.length - 1]!).eventTs);
      }
      at = next;
    }
  });
  return least === Infinity ? undefined : { least, greatest };
}

function endTime(
  source: ScanSource,
  view: ScanView,
  stretches: readonly [segment: SegmentFile, from: number, to: number][],
  step: 1 | -1,
): number | undefined {
  for (const [segment, from, to] of stretches) {
    const row = liveRow(view, segment, from, to, step);
    if (row >= 0) return timeOf(source, segment, row);
  }
  return undefined;
}

export interface ScanEstimate {
  rows: number;
  strategy: QueryPlan['strategy'];
  bucketsScanned: number;
  totalBuckets: number;
}

/** If no sort order gives a count for a range, one row in this many is assumed to match. */
const RANGE_SHARE = 3;
/**
 * If the node index of a memtable is not up to date, one row in this many is assumed to contain the
 * nodes.
 */
const NODE_SHARE = 100;
/** No edge has more members. */
const MOST_NODES = 255;
/** Maximum number of rows that an estimate adds to a node index; takes about a millisecond. */
const INDEX_ROWS = 8192;

/**
 * Minimum number of segments that an estimate examines. If fewer are in memory, it loads some, but
 * only for ESTIMATE_LOAD_US microseconds. The other segments are assumed to be like those examined.
 */
const FEWEST_SEEN = 2;
const ESTIMATE_LOAD_US = 1000;

/**
 * Estimates how many rows a scan of the request would find and how many buckets it would read;
 * reads no rows.
 */
export function estimateScan(
  source: ScanSource,
  view: ScanView,
  request: ScanBounds,
  ranges: RangeSet | undefined,
): ScanEstimate {
  const nodes = distinctNumbers(request.nodes ?? [], MOST_NODES + 1);
  const totalBuckets = view.version.totalBuckets;
  const bounds = boundsOf(request);
  const isEmpty = nodes.length > MOST_NODES || bounds.lowTs > bounds.endTs;
  if (isEmpty) return { rows: 0, strategy: strategyOf(request, nodes.length, false), bucketsScanned: 0, totalBuckets };
  const isNarrow = ranges?.ranges.some(({ column }) => column === ID_RANGE) === true;
  const isWhole = request.startTs === undefined && request.endTs === undefined && !isNarrow;
  const { search } = request;
  let { rows, buckets, ordered, share } = segmentsEstimate(source, view, bounds, nodes, ranges, search);
  const window = { startTs: bounds.lowTs, endTs: bounds.endTs };
  eachMemtable(view, window, (memtable, from, to, lsn, hidden) => {
    const live = Math.max(0, memtable.rows - memtable.deadRows - (hidden?.size ?? 0));
    const within = Math.ceil(((to - from) * live) / memtable.rows);
    let found = within;
    if (nodes.length > 0) {
      // If the index lacks many rows, the estimate does not use it; the scan will bring it up to
      // date in slices.
      if (memtable.index(INDEX_ROWS))
        found = memtable.lookup(nodes, bounds.lowTs, bounds.lowId, bounds.endTs, lsn).length;
      else found = Math.ceil(found / NODE_SHARE);
    }
    for (const _ of ranges?.ranges ?? []) found = Math.ceil(found / RANGE_SHARE);
    // Without blocks over its rows, a memtable is assumed to be like the segments.
    if (search !== undefined)
      found = Math.min(found, Math.ceil(within * (shareInMemory(source, memtable, search) ?? share)));
    rows += found;
    buckets += Math.min(memtable.buckets, within, nodes.length > 0 || search !== undefined ? found : within);
  });
  const strategy = strategyOf(request, nodes.length, ordered);
  return {
    rows,
    strategy,
    bucketsScanned: isWhole && strategy === 'FULL_SCAN' ? totalBuckets : Math.min(buckets, totalBuckets),
    totalBuckets,
  };
}

interface SegmentsEstimate {
  rows: number;
  buckets: number;
  /** Whether the sort order of a column is used to find the rows. */
  ordered: boolean;
}

/**
 * Maximum number of segments whose text blocks are asked. The others are assumed to be like them.
 */
const MOST_ASKED = 16;

function segmentsEstimate(
  source: ScanSource,
  view: ScanView,
  bounds: StepBounds,
  nodes: readonly number[],
  ranges: RangeSet | undefined,
  search: SearchCondition | undefined,
): SegmentsEstimate & { share: number } {
  const sum = { rows: 0, buckets: 0, ordered: false };
  const tag = search && tagOf(search);
  let asked = 0;
  let words = { rows: 0, matching: 0 };
  const seen = { within: 0, rows: 0, buckets: 0 };
  const guessed = { within: 0, rows: 0, buckets: 0 };
  const chosen = chooseSegments(source, view.version, nodes, ranges, bounds);
  let toLoad = FEWEST_SEEN;
  for (const segment of chosen) if (toLoad > 0 && source.isResident(segment)) toLoad--;
  let untilUs = 0;
  for (const segment of chosen) {
    const { facts } = segment;
    const inside = facts.timeMin >= bounds.lowTs && facts.timeMax <= bounds.endTs;
    // For a whole segment without conditions the header suffices, so the segment need not be in
    // memory.
    if (inside && nodes.length === 0 && ranges === undefined) {
      sum.rows += facts.rows - deadOf(view, segment).count;
      sum.buckets += facts.buckets;
      continue;
    }
    let resident: ResidentSegment | undefined;
    if (search !== undefined && asked === MOST_ASKED) toLoad = 0;
    else if (source.isResident(segment)) resident = source.resident(segment);
    else if (toLoad-- > 0) {
      untilUs ||= source.nowUs() + ESTIMATE_LOAD_US;
      resident = source.residentBy(segment, untilUs);
      if (resident === undefined) toLoad = 0;
    }
    const found =
      resident === undefined
        ? headerEstimate(segment, bounds, nodes, ranges)
        : segmentEstimate(facts, resident, bounds, nodes, ranges);
    if (resident !== undefined && search !== undefined && facts.textTag === tag) {
      asked++;
      const matching = wordsBound(resident.text!, search.parts);
      words = { rows: words.rows + facts.rows, matching: words.matching + matching };
      found.rows = Math.min(found.rows, Math.ceil((found.within * matching) / facts.rows));
      found.buckets = Math.min(found.buckets, found.rows);
    }
    const into = resident === undefined ? guessed : seen;
    into.within += found.within;
    into.rows += found.rows;
    into.buckets += found.buckets;
    sum.ordered ||= resident !== undefined && found.ordered;
  }
  const times = seen.within === 0 ? 0 : guessed.within / seen.within;
  sum.rows += seen.rows + Math.ceil(seen.within === 0 ? guessed.rows : seen.rows * times);
  sum.buckets += seen.buckets + Math.ceil(seen.within === 0 ? guessed.buckets : seen.buckets * times);
  return { ...sum, share: words.rows === 0 ? 1 : words.matching / words.rows };
}

/**
 * Estimates a segment from its header: a node is in as many rows as the average node, and the rows
 * are spread evenly over time.
 */
function headerEstimate(
  segment: SegmentFile,
  bounds: StepBounds,
  nodes: readonly number[],
  ranges: RangeSet | undefined,
): SegmentsEstimate & { within: number } {
  const { facts } = segment;
  const share = shareWithin(segment, bounds);
  const within = facts.rows * share;
  let rows = nodes.length === 0 ? within : Math.min(within, (facts.incidences / facts.nodes) * share);
  for (const range of ranges?.ranges ?? [])
    rows = range.column === ID_RANGE ? rows * idShare(facts, range) : rows / RANGE_SHARE;
  const buckets = facts.buckets * share;
  return { within, rows, buckets: nodes.length === 0 ? buckets : Math.min(buckets, rows), ordered: false };
}

function segmentEstimate(
  facts: SegmentFile['facts'],
  resident: ResidentSegment,
  bounds: StepBounds,
  nodes: readonly number[],
  ranges: RangeSet | undefined,
): SegmentsEstimate & { within: number } {
  const from = resident.seek(bounds.lowTs, -Infinity);
  const to = resident.seek(bounds.endTs, Infinity);
  let rows = to - from;
  let buckets = resident.bucketsOf(from, to);
  let ordered = false;
  for (const node of nodes) rows = Math.min(rows, resident.countNode(node, from, to));
  for (const range of ranges?.ranges ?? []) {
    if (range.column === ID_RANGE) {
      rows = Math.ceil(rows * idShare(facts, range));
      continue;
    }
    const counted = resident.countInOrder(range);
    if (counted >= 0 && counted < rows && nodes.length === 0) ordered = true;
    rows = counted >= 0 ? Math.min(rows, counted) : Math.ceil(rows / RANGE_SHARE);
  }
  if (nodes.length > 0 || ordered) buckets = Math.min(buckets, rows);
  return { within: to - from, rows, buckets, ordered };
}

/** Returns the fraction of a segment's time range that is in the window. */
function shareWithin({ facts }: SegmentFile, { lowTs, endTs }: StepBounds): number {
  const span = facts.timeMax - facts.timeMin + 1;
  return (Math.min(endTs, facts.timeMax) - Math.max(lowTs, facts.timeMin) + 1) / span;
}

/** Calls `take` for each segment that overlaps the window, with its row range [from, to). */
function eachSegment(
  source: ScanSource,
  { version }: ScanView,
  window: Window,
  take: (segment: SegmentFile, from: number, to: number) => void,
): void {
  const { startTs = -Infinity, endTs = Infinity } = window;
  for (const segment of version.segments) {
    const { facts } = segment;
    if (facts.timeMax < startTs || facts.timeMin > endTs) continue;
    const from = facts.timeMin >= startTs ? 0 : source.resident(segment).seek(startTs, -Infinity);
    const to = facts.timeMax <= endTs ? facts.rows : source.resident(segment).seek(endTs, Infinity);
    if (from < to) take(segment, from, to);
  }
}

function eachMemtable(
  { version, lsn, overlay }: ScanView,
  window: Window,
  take: (
    memtable: CoreMemtable,
    from: number,
    to: number,
    lsn: number,
    hidden: ReadonlySet<number> | undefined,
  ) => void,
): void {
  const { startTs = -Infinity, endTs = Infinity } = window;
  const one = (memtable: CoreMemtable, seenLsn: number, hidden: ReadonlySet<number> | undefined) => {
    if (memtable.rows === 0) return;
    const from = memtable.seek(startTs, -Infinity);
    const to = memtable.seek(endTs, Infinity);
    if (from < to) take(memtable, from, to, seenLsn, hidden);
  };
  for (const { memtable } of version.memtables) one(memtable, lsn, overlay?.hidden(memtable));
  if (overlay?.memtable) one(overlay.memtable, Infinity, undefined);
}

function deadBetween(view: ScanView, segment: SegmentFile, from: number, to: number): number {
  const dead = deadOf(view, segment);
  const rows = dead.rows.subarray(0, dead.count);
  let count = 0;
  for (let at = lowerBound(rows, from); at < dead.count && rows[at]! < to; at++)
    if (dead.lsns[at]! <= view.lsn) count++;
  return count;
}

/**
 * Returns the time of a row in a segment. For the first and the last row, the segment need not be
 * loaded.
 */
function timeOf(source: ScanSource, segment: SegmentFile, row: number): number {
  const { facts } = segment;
  if (row === 0) return facts.timeMin;
  return row === facts.rows - 1 ? facts.timeMax : source.resident(segment).keyOf(row).eventTs;
}

/** Returns the first (step 1) or last (step -1) live row of [from, to), or -1 if there is none. */
function liveRow(view: ScanView, segment: SegmentFile, from: number, to: number, step: 1 | -1): number {
  const dead = deadOf(view, segment);
  const rows = dead.rows.subarray(0, dead.count);
  let at = step === 1 ? lowerBound(rows, from) : lowerBound(rows, to) - 1;
  for (let row = step === 1 ? from : to - 1; row >= from && row < to; row += step) {
    if (rows[at] !== row || dead.lsns[at]! > view.lsn) return row;
    at += step;
  }
  return -1;
}
