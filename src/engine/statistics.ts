// What directories and indexes say about rows without reading them: counts, the ends of a window, and estimates for plans.

import { type CoreMemtable, lowerBound, type RangeSet } from '../core/index.ts';
import { chooseSegments, deadOf, type ScanSource, type ScanView, strategyOf } from './scan-view.ts';
import type { SegmentFile } from './segment-file.ts';
import type { QueryPlan, ScanBounds } from './types.ts';

/** A window of time; bounds are inclusive, and do not bound when they are left out. */
export interface Window {
  startTs?: number | undefined;
  endTs?: number | undefined;
}

/** Live rows of a window. Cost: log2 rows of the segments at its ends, a step for every dead row in it and for every row of memtables. */
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
  return count;
}

/** Least and greatest time of the live rows of a window; undefined: there is none. */
export function timeBounds(
  source: ScanSource,
  view: ScanView,
  window: Window,
): { least: number; greatest: number } | undefined {
  let least = Infinity;
  let greatest = -Infinity;
  eachSegment(source, view, window, (segment, from, to) => {
    const first = liveRow(view, segment, from, to, 1);
    if (first < 0) return;
    least = Math.min(least, timeOf(source, segment, first));
    greatest = Math.max(greatest, timeOf(source, segment, liveRow(view, segment, from, to, -1)));
  });
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

export interface ScanEstimate {
  rows: number;
  strategy: QueryPlan['strategy'];
  bucketsScanned: number;
  totalBuckets: number;
}

/** One row of so many lies in a range, when no order tells. */
const RANGE_SHARE = 3;
/** One row of so many holds a node, while an index is not up to date. */
const NODE_SHARE = 100;
/** An edge has no more members. */
const MOST_NODES = 255;
/** Rows that an estimate brings into an index: about a millisecond. */
const INDEX_ROWS = 8192;

/** What a scan of the request would find and touch, about; reads no rows. */
export function estimateScan(
  source: ScanSource,
  view: ScanView,
  request: ScanBounds,
  ranges: RangeSet | undefined,
): ScanEstimate {
  const nodes = [...new Set(request.nodes ?? [])];
  const totalBuckets = view.version.totalBuckets;
  const isEmpty = nodes.length > MOST_NODES || (request.startTs ?? -Infinity) > (request.endTs ?? Infinity);
  if (isEmpty) return { rows: 0, strategy: strategyOf(request, nodes.length, false), bucketsScanned: 0, totalBuckets };
  const isWhole = request.startTs === undefined && request.endTs === undefined;
  let rows = 0;
  let buckets = 0;
  let ordered = false;
  const bounds = {
    lowTs: request.startTs ?? -Infinity,
    lowId: -Infinity,
    endTs: request.endTs ?? Infinity,
    stopTs: Infinity,
    stopId: 0,
  };
  for (const segment of chooseSegments(source, view.version, nodes, ranges, bounds)) {
    const inside = segment.facts.timeMin >= bounds.lowTs && segment.facts.timeMax <= bounds.endTs;
    // A whole segment without conditions is known by its facts: it need not be in memory.
    if (inside && nodes.length === 0 && ranges === undefined) {
      rows += segment.facts.rows - deadOf(view, segment).count;
      buckets += segment.facts.buckets;
      continue;
    }
    const resident = source.resident(segment);
    const from = resident.seek(bounds.lowTs, -Infinity);
    const to = resident.seek(bounds.endTs, Infinity);
    let found = to - from;
    let touched = resident.bucketsOf(from, to);
    for (const node of nodes) found = Math.min(found, resident.countNode(node, from, to));
    for (const range of ranges?.ranges ?? []) {
      const counted = resident.countInOrder(range);
      if (counted >= 0 && counted < found && nodes.length === 0) ordered = true;
      found = counted >= 0 ? Math.min(found, counted) : Math.ceil(found / RANGE_SHARE);
    }
    if (nodes.length > 0 || ordered) touched = Math.min(touched, found);
    rows += found;
    buckets += touched;
  }
  eachMemtable(view, request, (memtable, from, to, lsn, hidden) => {
    const live = Math.max(0, memtable.rows - memtable.deadRows - (hidden?.size ?? 0));
    const within = Math.ceil(((to - from) * live) / memtable.rows);
    let found = within;
    if (nodes.length > 0) {
      // An index that is far behind is brought on by the scan, in slices.
      if (memtable.index(INDEX_ROWS))
        found = memtable.lookup(nodes, bounds.lowTs, bounds.lowId, bounds.endTs, lsn).length;
      else found = Math.ceil(found / NODE_SHARE);
    }
    for (const _ of ranges?.ranges ?? []) found = Math.ceil(found / RANGE_SHARE);
    rows += found;
    buckets += Math.min(memtable.buckets, within, nodes.length > 0 ? found : within);
  });
  const strategy = strategyOf(request, nodes.length, ordered);
  return {
    rows,
    strategy,
    bucketsScanned: isWhole && strategy === 'FULL_SCAN' ? totalBuckets : Math.min(buckets, totalBuckets),
    totalBuckets,
  };
}

/** Segments that reach into the window, with their rows in it. */
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

/** Time of a row of a segment. Those of the first and the last one are known without the segment. */
function timeOf(source: ScanSource, segment: SegmentFile, row: number): number {
  const { facts } = segment;
  if (row === 0) return facts.timeMin;
  return row === facts.rows - 1 ? facts.timeMax : source.resident(segment).keyOf(row).eventTs;
}

/** The first (step 1) or last (step -1) live row of [from, to), -1: none. */
function liveRow(view: ScanView, segment: SegmentFile, from: number, to: number, step: 1 | -1): number {
  const dead = deadOf(view, segment);
  const rows = dead.rows.subarray(0, dead.count);
  for (let row = step === 1 ? from : to - 1; row >= from && row < to; row += step) {
    const at = lowerBound(rows, row);
    const isDead = at < dead.count && rows[at] === row && dead.lsns[at]! <= view.lsn;
    if (!isDead) return row;
  }
  return -1;
}
