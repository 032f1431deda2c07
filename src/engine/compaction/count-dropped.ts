// What a compaction with a TTL drops: live edges, and the buckets they lie in, each once wherever its rows stand.

import type { CoreMemtable } from '../../core/index.ts';
import type { DeadList } from '../dead-rows.ts';
import { firstReaching } from '../scan-view.ts';
import type { SegmentFile } from '../segment-file.ts';
import type { Table } from '../table.ts';
import type { RowKey } from '../types.ts';

export interface Dropped {
  edgesDropped: number;
  bucketsDropped: number;
}

/** Rows before `beforeRow` that are dead at an LSN. */
export function deadAt(dead: DeadList, lsn: number, beforeRow = Infinity): number {
  let count = 0;
  for (let i = 0; i < dead.count; i++) if (dead.lsns[i]! <= lsn && dead.rows[i]! < beforeRow) count++;
  return count;
}

/** Counts what lives at `lsn` before `cutoffTs`, the start of a bucket. Cost: the buckets of rows that are in no segment yet, and those of dead rows. */
export function countDropped(
  table: Table,
  segments: readonly SegmentFile[],
  memtables: readonly CoreMemtable[],
  lsn: number,
  cutoffTs: number,
): Dropped {
  const dropped: Dropped = { edgesDropped: 0, bucketsDropped: 0 };
  if (cutoffTs === -Infinity) return dropped;
  const count = new DroppedCount(table, segments, memtables, lsn);
  for (const [place, segment] of segments.entries()) {
    if (segment.facts.timeMin >= cutoffTs) break;
    const rows =
      segment.facts.timeMax < cutoffTs ? segment.facts.rows : table.resident(segment).seek(cutoffTs, -Infinity);
    dropped.edgesDropped += rows - deadAt(segment.dead, lsn, rows);
    dropped.bucketsDropped += count.inSegment(place, rows);
  }
  for (const [place, memtable] of memtables.entries()) {
    const end = memtable.seek(cutoffTs, -Infinity);
    dropped.edgesDropped += memtable.count(0, end, lsn).rows;
    dropped.bucketsDropped += count.inMemtable(place, end);
  }
  return dropped;
}

/** Counts buckets with live rows of one source after the other; one that an earlier source has too is not counted again. */
class DroppedCount {
  readonly #table: Table;
  readonly #width: number;
  readonly #segments: readonly SegmentFile[];
  readonly #memtables: readonly CoreMemtable[];
  readonly #lsn: number;

  constructor(table: Table, segments: readonly SegmentFile[], memtables: readonly CoreMemtable[], lsn: number) {
    this.#table = table;
    this.#width = table.bucketSeconds;
    this.#segments = segments;
    this.#memtables = memtables;
    this.#lsn = lsn;
  }

  #bucketOf(eventTs: number): number {
    return Math.floor(eventTs / this.#width);
  }

  /** Of the first `rows` rows. A segment shares its first bucket at most with those before it. */
  inSegment(place: number, rows: number): number {
    const segment = this.#segments[place]!;
    const { facts } = segment;
    const all = rows === facts.rows ? facts.buckets : this.#table.resident(segment).bucketsOf(0, rows);
    const first = this.#bucketOf(facts.timeMin);
    const isShared = this.#livesInSegments(first, place) && this.#livesIn(segment, first);
    return all - this.#deadBuckets(segment, rows) - (isShared ? 1 : 0);
  }

  /** Buckets among the first `rows` rows in which every row is dead. */
  #deadBuckets(segment: SegmentFile, rows: number): number {
    const { dead } = segment;
    let count = 0;
    let last = Number.NaN;
    for (let i = 0; i < dead.count; i++) {
      if (dead.lsns[i]! > this.#lsn || dead.rows[i]! >= rows) continue;
      const bucket = this.#bucketOf(this.#table.resident(segment).keyOf(dead.rows[i]!).eventTs);
      if (bucket !== last && !this.#livesIn(segment, bucket)) count++;
      last = bucket;
    }
    return count;
  }

  #livesIn(segment: SegmentFile, bucket: number): boolean {
    const resident = this.#table.resident(segment);
    const from = resident.seek(bucket * this.#width, -Infinity);
    const to = resident.seek((bucket + 1) * this.#width, -Infinity);
    return resident.hasRow(from, to, 0, segment.dead, this.#lsn);
  }

  /** Whether one of the segments before `end` has a live row in the bucket. */
  #livesInSegments(bucket: number, end: number): boolean {
    const behind = (bucket + 1) * this.#width;
    for (let place = firstReaching(this.#segments, bucket * this.#width); place < end; place++) {
      const segment = this.#segments[place]!;
      if (segment.facts.timeMin >= behind) return false;
      if (this.#livesIn(segment, bucket)) return true;
    }
    return false;
  }

  /** Of the positions before `end`. */
  inMemtable(place: number, end: number): number {
    const memtable = this.#memtables[place]!;
    const key: RowKey = { eventTs: 0, id: 0 };
    let count = 0;
    for (let at = 0; at < end; ) {
      if (memtable.peek(at, end, this.#lsn, key) < 0) break;
      const bucket = this.#bucketOf(key.eventTs);
      if (!this.#livesInMemtables(bucket, place) && !this.#livesInSegments(bucket, this.#segments.length)) count++;
      at = memtable.seek((bucket + 1) * this.#width, -Infinity);
    }
    return count;
  }

  #livesInMemtables(bucket: number, end: number): boolean {
    const key: RowKey = { eventTs: 0, id: 0 };
    return this.#memtables.slice(0, end).some((memtable) => {
      const from = memtable.seek(bucket * this.#width, -Infinity);
      const to = memtable.seek((bucket + 1) * this.#width, -Infinity);
      return memtable.peek(from, to, this.#lsn, key) >= 0;
    });
  }
}
