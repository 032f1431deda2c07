// Types for what a scan reads: its table, a version at an LSN, and the overlay of a transaction.
// Also chooses the segments that a scan reads, and compares keys.

import {
  type CoreMemtable,
  type DeadRows,
  type KeyForm,
  mayHold,
  type RangeSet,
  type ResidentSegment,
  type RowPlan,
  type StepBounds,
  type TextSink,
} from '../../core/index.ts';
import type { ColumnSet } from '../../model/columns.ts';
import type { TableDefinition } from '../catalog/catalog.ts';
import type { EngineContext } from '../context.ts';
import type { SegmentFile } from '../table/segment-file.ts';
import type { Version } from '../table/version.ts';
import type { QueryPlan, RowKey, ScanBounds, SearchCandidates } from '../types.ts';

/** Microseconds for which a step loads a segment; one step of the load takes up to one more. */
export const LOAD_US = 3000;

/** What a scan needs from its table. */
export interface ScanSource {
  readonly bucketSeconds: number;
  /** Whether the rows are nodes: the time and the id of a row are then the number of its node. */
  readonly isOfNodes: boolean;
  readonly rowPlan: RowPlan;
  readonly columns: ColumnSet;
  /** Names the table's text index, if it has one. */
  readonly definition: Pick<TableDefinition, 'text'>;
  /** Has the text blocks over rows of memtables. */
  readonly context: Pick<EngineContext, 'texts'>;
  /** Returns an empty sink that all scans share: of text with keys in a form, or of any bytes. */
  scanSink(keys: KeyForm | undefined): TextSink;
  /** Monotonic microseconds. */
  readonly nowUs: () => number;
  /** Returns the segment in memory, which is valid until the next call. Throws `table_corrupt`. */
  resident(segment: SegmentFile): ResidentSegment;
  /**
   * Like `resident`, but loads a segment that is not in memory only until `untilUs` has passed, and
   * for a millisecond at least. Returns undefined if it is not in memory then; the next call
   * continues the load.
   */
  residentBy(segment: SegmentFile, untilUs: number): ResidentSegment | undefined;
  /** Returns whether the segment is already in memory; loading it takes about 10 ms. */
  isResident(segment: SegmentFile): boolean;
  /**
   * Returns the indexes of the version's segments that may contain all nodes, or undefined if any
   * segment may.
   */
  candidates(version: Version, nodes: readonly number[]): Uint32Array | undefined;
  unpin(version: Version): void;
}

/**
 * One version of a table at one LSN, plus the overlay of a transaction. The scan releases the
 * version when it is closed.
 */
export interface ScanView {
  readonly version: Version;
  readonly lsn: number;
  readonly overlay: ScanOverlay | undefined;
}

/**
 * The staged writes of a transaction, seen on top of a version: its new rows, and the rows of the
 * version that it replaces or deletes.
 */
export interface ScanOverlay {
  readonly memtable: CoreMemtable | undefined;
  hidden(memtable: CoreMemtable): ReadonlySet<number> | undefined;
  /** Returns the rows of a segment that are dead for the transaction. */
  deadOf(segment: SegmentFile): DeadRows;
}

/** Restricts a scan to some of the view's sources. */
export interface ScanParts {
  /** If undefined, the scan reads all segments that may have rows. */
  readonly segments: readonly SegmentFile[] | undefined;
  readonly memtables: boolean;
}

/** Returns the number of rows in memtables, live or dead. */
export function rowsInMemory({ version, overlay }: ScanView): number {
  let rows = overlay?.memtable?.rows ?? 0;
  for (const { memtable } of version.memtables) rows += memtable.rows;
  return rows;
}

/**
 * Returns the bounds of a request as those of its first step. An edge that holds at a time has
 * begun by then.
 */
export function boundsOf({ startTs = -Infinity, endTs = Infinity, at = Infinity }: ScanBounds): StepBounds {
  return { lowTs: startTs, lowId: -Infinity, endTs: Math.min(endTs, at), stopTs: Infinity, stopId: 0 };
}

/** Returns whether key `a` precedes key `b`. */
export function before(a: RowKey, b: RowKey): boolean {
  return a.eventTs !== b.eventTs ? a.eventTs < b.eventTs : a.id < b.id;
}

/** Returns the key of the first row of a segment. */
export function firstKey({ facts }: SegmentFile): RowKey {
  return { eventTs: facts.timeMin, id: facts.firstId };
}

/** Returns the rows of a segment that are dead in the view. */
export function deadOf({ overlay }: ScanView, segment: SegmentFile): DeadRows {
  return overlay === undefined ? segment.dead : overlay.deadOf(segment);
}

/**
 * Returns, in key order, the segments that may contain rows that have all nodes and lie in all
 * ranges and within the bounds. `found`: if given, only segments of these candidates.
 */
export function chooseSegments(
  source: ScanSource,
  version: Version,
  nodes: readonly number[],
  ranges: RangeSet | undefined,
  bounds: StepBounds,
  found?: SearchCandidates,
): readonly SegmentFile[] {
  const within = segmentsWithin(source, version, nodes, bounds);
  const chosen = found === undefined ? within : within.filter((segment) => found.segments.has(segment));
  return ranges === undefined ? chosen : chosen.filter(({ facts }) => mayHold(facts, ranges));
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

/**
 * Returns the access path that a scan used. `ordered` is true if the sort order of a column was
 * used in some segment.
 */
export function strategyOf(request: ScanBounds, nodes: number, ordered: boolean): QueryPlan['strategy'] {
  if (request.search !== undefined) return 'TEXT_SEARCH';
  if (nodes > 0) return nodes > 1 ? 'FMI_INTERSECT' : 'FMI_LOOKUP';
  if (request.at !== undefined) return 'INTERVAL_STAB';
  if (ordered) return 'PSI_RANGE';
  const isBounded = request.startTs !== undefined || request.endTs !== undefined;
  return isBounded ? 'TPI_BUCKET_PUSHDOWN' : 'FULL_SCAN';
}

/** Returns the index of the first segment that ends at or after `time`. */
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

/** Returns the index of the first segment that begins after `time`. */
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
