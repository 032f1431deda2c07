// Finds a key at which a segment, or the one after it, may have its next row in a scan.

import { behindDead } from '../table/dead-rows.ts';
import type { SegmentFile } from '../table/segment-file.ts';
import type { SegmentMatches } from '../table/segment-matches.ts';
import type { RowKey } from '../types.ts';
import { before, deadOf, firstKey, type ScanSource, type ScanView } from './scan-view.ts';

/** Maximum number of dead rows of a segment that one search for a live row skips. */
const MOST_DEAD = 8192;

/**
 * Returns a key, not before `behind`, at which the segment or the `following` one may have its next
 * row; undefined if there is none. `matches`: the rows that are left of the segment, if the scan
 * has a filter and has reached it. A segment that the scan has not reached need not be in memory.
 */
export function nextKeyIn(
  source: ScanSource,
  view: ScanView,
  segment: SegmentFile,
  following: SegmentFile | undefined,
  behind: RowKey,
  isFiltered: boolean,
  matches: SegmentMatches | undefined,
): RowKey | undefined {
  const first = firstKey(segment);
  if (!before(first, behind) || (isFiltered && matches?.segment !== segment)) return first;
  const resident = source.resident(segment);
  if (isFiltered) return resident.keyOf(matches!.rows[matches!.next]!);
  const from = resident.seek(behind.eventTs, behind.id);
  const row = behindDead(deadOf(view, segment), from, view.lsn, MOST_DEAD);
  if (row < segment.facts.rows) return resident.keyOf(row);
  return following && firstKey(following);
}
