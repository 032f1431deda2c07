// Finds the rows of a segment that match a scan's ranges: through a column's sort order (PSI) or by
// checking each row.

import type { NumericRange, RangeSet, ResidentSegment, StepBounds } from '../../core/index.ts';
import { deadOf, type ScanView } from '../scan/scan-view.ts';
import type { SegmentFile } from './segment-file.ts';

/** Live rows of one segment within a scan's bounds, ascending, and the index of the next one. */
export interface SegmentMatches {
  readonly segment: SegmentFile;
  readonly rows: Uint32Array;
  next: number;
  /** Buckets examined if every row of the window was checked: their number, the first, the last. */
  readonly looked: { buckets: number; first: number; last: number } | undefined;
  /** Whether a column's order was used. */
  readonly ordered: boolean;
}

/**
 * Finds the rows. Checks each row of the segment at most once, and fewer where an order finds fewer
 * rows than the window has.
 */
export function findMatches(
  segment: SegmentFile,
  resident: ResidentSegment,
  view: ScanView,
  bounds: StepBounds,
  nodes: readonly number[],
  ranges: RangeSet,
  bucketSeconds: number,
): SegmentMatches {
  const from = resident.seek(bounds.lowTs, bounds.lowId);
  const to = resident.seek(bounds.endTs, Infinity);
  if (nodes.length > 0) resident.setNodes(nodes);
  const driver = nodes.length > 0 ? undefined : cheapestOrder(resident, ranges, to - from);
  const rows = resident.listRows(from, to, nodes.length, ranges, driver, deadOf(view, segment), view.lsn);
  const ordered = driver !== undefined;
  if (ordered || nodes.length > 0 || from === to) return { segment, rows, next: 0, looked: undefined, ordered };
  const bucketOf = (row: number): number => Math.floor(resident.keyOf(row).eventTs / bucketSeconds);
  const looked = { buckets: resident.bucketsOf(from, to), first: bucketOf(from), last: bucketOf(to - 1) };
  return { segment, rows, next: 0, looked, ordered };
}

/** The range whose column's order finds the fewest rows, if fewer than the window has. */
export function cheapestOrder(
  resident: ResidentSegment,
  { ranges }: RangeSet,
  windowRows: number,
): NumericRange | undefined {
  let least = windowRows;
  let driver: NumericRange | undefined;
  for (const range of ranges) {
    const count = resident.countInOrder(range);
    if (count < 0 || count >= least) continue;
    least = count;
    driver = range;
  }
  return driver;
}
