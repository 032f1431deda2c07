// What a scan reads: its table's interface, the version and LSN it sees, and a transaction's
// overlay; also the order of keys.

import {
  type CoreMemtable,
  type DeadRows,
  mayHold,
  type RangeSet,
  type ResidentSegment,
  type RowPlan,
  type StepBounds,
  type TextSink,
} from '../../core/index.ts';
import type { SegmentFile } from '../table/segment-file.ts';
import type { Version } from '../table/version.ts';
import type { QueryPlan, RowKey, ScanBounds } from '../types.ts';

/** What a scan needs from its table. */
export interface ScanSource {
  readonly bucketSeconds: number;
  readonly rowPlan: RowPlan;
  readonly scanSink: TextSink;
  /** Monotonic microseconds. */
  readonly nowUs: () => number;
  /** The segment in memory, valid until the next call. Throws `table_corrupt`. */
  resident(segment: SegmentFile): ResidentSegment;
  /** Whether the segment is already in memory; loading it takes about 10 ms. */
  isResident(segment: SegmentFile): boolean;
  /** Indexes of the version's segments that may contain all nodes; undefined if any may. */
  candidates(version: Version, nodes: readonly number[]): Uint32Array | undefined;
  unpin(version: Version): void;
}

/**
 * One version of a table at one LSN, plus a transaction's overlay. The scan releases the version.
 */
export interface ScanView {
  readonly version: Version;
  readonly lsn: number;
  readonly overlay: ScanOverlay | undefined;
}

/** Staged writes of a transaction. */
export interface ScanOverlay {
  readonly memtable: CoreMemtable | undefined;
  hidden(memtable: CoreMemtable): ReadonlySet<number> | undefined;
  /** Rows of a segment that are dead as seen by the transaction. */
  deadOf(segment: SegmentFile): DeadRows;
}

/** Number of rows in memtables, live or not. */
export function rowsInMemory({ version, overlay }: ScanView): number {
  let rows = overlay?.memtable?.rows ?? 0;
  for (const { memtable } of version.memtables) rows += memtable.rows;
  return rows;
}

/** Whether key `a` precedes `b`. */
export function before(a: RowKey, b: RowKey): boolean {
  return a.eventTs !== b.eventTs ? a.eventTs < b.eventTs : a.id < b.id;
}

/** Rows of a segment that are dead as seen by the view. */
export function deadOf({ overlay }: ScanView, segment: SegmentFile): DeadRows {
  return overlay === undefined ? segment.dead : overlay.deadOf(segment);
}

/**
 * Segments that may have rows with all nodes, in all ranges and within the bounds, in key order.
 */
export function chooseSegments(
  source: ScanSource,
  version: Version,
  nodes: readonly number[],
  ranges: RangeSet | undefined,
  bounds: StepBounds,
): readonly SegmentFile[] {
  const chosen = segmentsWithin(source, version, nodes, bounds);
  return ranges === undefined ? chosen : chosen.filter(({ facts }) => mayHold(facts.columns, ranges));
}

function segmentsWithin(
  source: ScanSource,
  version: Version,
  nodes: readonly number[],
  { lowTs, endTs }: StepBounds,
): readonly SegmentFile[] {
  const { segments } = version;
  const places = nodes.length > 0 ? source.candidates(version, nodes) : undefined;
  if (places === undefined) {
    if (
      segments.length === 0 ||
      (segments[0]!.facts.timeMin >= lowTs && segments[segments.length - 1]!.facts.timeMax <= endTs)
    )
      return segments;
    return segments.slice(firstReaching(segments, lowTs), firstBeyond(segments, endTs));
  }
  const chosen: SegmentFile[] = [];
  for (const place of places) {
    const segment = segments[place]!;
    if (segment.facts.timeMax >= lowTs && segment.facts.timeMin <= endTs) chosen.push(segment);
  }
  return chosen;
}

/** The access path that drove a scan; `ordered`: a column's order was used in some segment. */
export function strategyOf(request: ScanBounds, nodes: number, ordered: boolean): QueryPlan['strategy'] {
  if (nodes > 0) return nodes > 1 ? 'FMI_INTERSECT' : 'FMI_LOOKUP';
  if (ordered) return 'PSI_RANGE';
  const isBounded = request.startTs !== undefined || request.endTs !== undefined;
  return isBounded ? 'TPI_BUCKET_PUSHDOWN' : 'FULL_SCAN';
}

/** Index of the first segment that ends at or after `time`. */
export function firstReaching(segments: readonly SegmentFile[], time: number): number {
  let low = 0;
  let high = segments.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (segments[middle]!.facts.timeMax < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index of the first segment that begins after `time`. */
function firstBeyond(segments: readonly SegmentFile[], time: number): number {
  let low = 0;
  let high = segments.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (segments[middle]!.facts.timeMin <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}
