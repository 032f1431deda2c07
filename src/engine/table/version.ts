// A version of a table: the list of segments and memtables that contain its rows. A version is
// immutable. Readers pin it; a compaction or a new memtable replaces it with another version.

import { assert } from '../../assert.ts';
import type { CoreMemtable } from '../../core/index.ts';
import { isInOrder, type SegmentFile } from './segment-file.ts';

export interface MemtableEntry {
  readonly memtable: CoreMemtable;
  /** Every row in the memtable has a greater LSN. */
  readonly baseLsn: number;
  /** Number of versions that contain the memtable; at 0 its memory is freed. */
  references: number;
}

export class Version {
  /** Disjoint and in key order. */
  readonly segments: readonly SegmentFile[];
  /** Oldest first; the last one receives writes. */
  readonly memtables: readonly MemtableEntry[];
  /**
   * Number of non-empty buckets in all segments. A bucket shared by two neighbouring segments
   * counts once.
   */
  readonly segmentBuckets: number;
  readonly segmentRows: number;
  references = 1;
  /**
   * The version shows the states of its table from this LSN on: of older ones, a compaction has
   * removed rows, or moved rows to segments, which do not say since when they have them.
   */
  sinceLsn: number;

  constructor(
    segments: readonly SegmentFile[],
    memtables: readonly MemtableEntry[],
    bucketSeconds: number,
    sinceLsn = 0,
  ) {
    this.sinceLsn = sinceLsn;
    this.segments = segments;
    this.memtables = memtables;
    let buckets = 0;
    let rows = 0;
    for (const [index, segment] of segments.entries()) {
      buckets += segment.facts.buckets;
      rows += segment.facts.rows;
      const before = segments[index - 1];
      if (before !== undefined) {
        assert(isInOrder(before, segment), 'segments of a version are not in order, or overlap');
        if (Math.floor(before.facts.timeMax / bucketSeconds) === Math.floor(segment.facts.timeMin / bucketSeconds))
          buckets--;
      }
      segment.references++;
    }
    for (const [index, entry] of memtables.entries()) {
      const before = memtables[index - 1];
      assert(before === undefined || before.baseLsn <= entry.baseLsn, 'memtables of a version are not in order');
      entry.references++;
    }
    this.segmentBuckets = buckets;
    this.segmentRows = rows;
  }

  /**
   * Sum of the numbers of buckets in the segments and in each memtable. A bucket with rows in
   * several of them is read in each, so it counts several times.
   */
  get totalBuckets(): number {
    let buckets = this.segmentBuckets;
    for (const { memtable } of this.memtables) buckets += memtable.buckets;
    return buckets;
  }
}
