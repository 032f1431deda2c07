// What a scan reads: its table's part, the version and LSN it sees, what a transaction lays over them; and the order of keys.

import type { CoreMemtable, DeadRows, ResidentSegment, RowPlan, TextSink } from '../core/index.ts';
import type { SegmentFile } from './segment-file.ts';
import type { RowKey } from './types.ts';
import type { Version } from './version.ts';

/** What a scan needs of its table. */
export interface ScanSource {
  readonly bucketSeconds: number;
  readonly rowPlan: RowPlan;
  readonly scanSink: TextSink;
  /** Microseconds, monotonic. */
  readonly nowUs: () => number;
  /** The segment in memory, valid until the next call. Throws `table_corrupt`. */
  resident(segment: SegmentFile): ResidentSegment;
  /** Places in the version's segments that may hold all nodes, or undefined when all may. */
  candidates(version: Version, nodes: readonly number[]): Uint32Array | undefined;
  unpin(version: Version): void;
}

/** One version of a table, seen at one LSN, and what a transaction lays over it. The scan gives the version back. */
export interface ScanView {
  readonly version: Version;
  readonly lsn: number;
  readonly overlay: ScanOverlay | undefined;
}

/** Staged writes of a transaction. */
export interface ScanOverlay {
  readonly memtable: CoreMemtable | undefined;
  hidden(memtable: CoreMemtable): ReadonlySet<number> | undefined;
  /** Rows of a segment that are dead for the transaction. */
  deadOf(segment: SegmentFile): DeadRows;
}

/** Whether key a comes first. */
export function before(a: RowKey, b: RowKey): boolean {
  return a.eventTs !== b.eventTs ? a.eventTs < b.eventTs : a.id < b.id;
}

/** First segment that reaches `time` or beyond. */
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

/** First segment that begins after `time`. */
export function firstBeyond(segments: readonly SegmentFile[], time: number): number {
  let low = 0;
  let high = segments.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (segments[middle]!.facts.timeMin <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}
