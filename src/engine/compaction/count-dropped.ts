// Counts what a compaction with a TTL drops: the live edges, and the distinct buckets that contain
// them, in segments and memtables. The counting pauses between slices, so that the event loop is
// not blocked.

import { assert } from '../../assert.ts';
import type { CoreMemtable } from '../../core/index.ts';
import { firstReaching, LOAD_US } from '../scan/scan-view.ts';
import type { DeadList } from '../table/dead-rows.ts';
import type { SegmentFile } from '../table/segment-file.ts';
import type { Table } from '../table/table.ts';
import type { RowKey } from '../types.ts';

/** Number of calls into the core between two pauses; that many take a millisecond or two. */
const CALLS_A_SLICE = 1024;
/** Number of rows of a memtable that are counted between two pauses. */
const ROWS_A_SLICE = 32_768;

export interface Dropped {
  edgesDropped: number;
  bucketsDropped: number;
  /** Number of dropped edges that were in segments. */
  fromSegments: number;
}

/** The rows to count, as of one LSN. */
export interface DropSource {
  segments: readonly SegmentFile[];
  memtables: readonly CoreMemtable[];
  lsn: number;
}

/** Returns the number of rows before `beforeRow` that are dead at an LSN. */
export function deadAt(dead: DeadList, lsn: number, beforeRow = Infinity): number {
  let count = 0;
  for (let i = 0; i < dead.count; i++) if (dead.lsns[i]! <= lsn && dead.rows[i]! < beforeRow) count++;
  return count;
}

/**
 * Counts the rows with a time before `cutoffTs` that are alive at the LSN of `source`, and their
 * buckets. `cutoffTs` must be the start of a bucket, or -Infinity. The cost grows with the number
 * of segments, of dead rows and of memtable rows before `cutoffTs`.
 */
export async function countDropped(table: Table, source: DropSource, cutoffTs: number): Promise<Dropped> {
  const dropped: Dropped = { edgesDropped: 0, bucketsDropped: 0, fromSegments: 0 };
  if (cutoffTs === -Infinity) return dropped;
  const count = new DroppedCount(table, source);
  for (const [place, segment] of source.segments.entries()) {
    const { facts, dead } = segment;
    if (facts.timeMin >= cutoffTs) break;
    if (facts.timeMax >= cutoffTs) await load(table, segment);
    const rows = facts.timeMax < cutoffTs ? facts.rows : table.resident(segment).seek(cutoffTs, -Infinity);
    dropped.fromSegments += rows - deadAt(dead, source.lsn, rows);
    dropped.bucketsDropped += await count.inSegment(place, rows);
  }
  assert(dropped.fromSegments >= 0, 'no more rows are dead than there are');
  dropped.edgesDropped = dropped.fromSegments;
  for (const [place, memtable] of source.memtables.entries()) {
    const end = memtable.seek(cutoffTs, -Infinity);
    for (let from = 0; from < end; from += ROWS_A_SLICE) {
      dropped.edgesDropped += memtable.count(from, Math.min(end, from + ROWS_A_SLICE), source.lsn).rows;
      await table.context.pauses.compaction();
    }
    dropped.bucketsDropped += await count.inMemtable(place, end);
  }
  return dropped;
}

/** Loads the segment into memory, in steps with pauses. It may be evicted at any later pause. */
async function load(table: Table, segment: SegmentFile): Promise<void> {
  const { nowUs, pauses } = table.context;
  while (table.residentBy(segment, nowUs() + LOAD_US) === undefined) await pauses.compaction();
}

/**
 * Counts the buckets with live rows, source by source: segments, then memtables. A bucket that has
 * live rows in an earlier source is not counted again.
 */
class DroppedCount {
  readonly #table: Table;
  readonly #width: number;
  readonly #source: DropSource;
  #calls = 0;

  constructor(table: Table, source: DropSource) {
    this.#table = table;
    this.#width = table.bucketSeconds;
    this.#source = source;
  }

  async #breathe(calls: number): Promise<void> {
    this.#calls += calls;
    if (this.#calls < CALLS_A_SLICE) return;
    this.#calls = 0;
    await this.#table.context.pauses.compaction();
  }

  #bucketOf(eventTs: number): number {
    return Math.floor(eventTs / this.#width);
  }

  /**
   * Counts the buckets with live rows among the first `rows` rows of a segment, without those
   * counted before. Only the first bucket of a segment can also have rows in earlier segments.
   */
  async inSegment(place: number, rows: number): Promise<number> {
    const segment = this.#source.segments[place]!;
    const { facts } = segment;
    if (rows !== facts.rows) await load(this.#table, segment);
    const all = rows === facts.rows ? facts.buckets : this.#table.resident(segment).bucketsOf(0, rows);
    const first = this.#bucketOf(facts.timeMin);
    const isShared = (await this.#livesInSegments(first, place)) && (await this.#livesIn(segment, first));
    return all - (await this.#deadBuckets(segment, rows)) - (isShared ? 1 : 0);
  }

  /**
   * Counts the buckets among the first `rows` rows in which every row is dead. The list of dead
   * rows may grow meanwhile, so the rows that were dead at the LSN are copied from it first.
   */
  async #deadBuckets(segment: SegmentFile, rows: number): Promise<number> {
    const { lsn } = this.#source;
    const dying: number[] = [];
    for (let i = 0; i < segment.dead.count; i++) {
      if (segment.dead.lsns[i]! <= lsn && segment.dead.rows[i]! < rows) dying.push(segment.dead.rows[i]!);
    }
    let count = 0;
    let last = Number.NaN;
    for (const row of dying) {
      if (!this.#table.isResident(segment)) await load(this.#table, segment);
      const bucket = this.#bucketOf(this.#table.resident(segment).keyOf(row).eventTs);
      if (bucket !== last && !(await this.#livesIn(segment, bucket))) count++;
      last = bucket;
      await this.#breathe(1);
    }
    return count;
  }

  async #livesIn(segment: SegmentFile, bucket: number): Promise<boolean> {
    await this.#breathe(3);
    if (!this.#table.isResident(segment)) await load(this.#table, segment);
    const resident = this.#table.resident(segment);
    const from = resident.seek(bucket * this.#width, -Infinity);
    const to = resident.seek((bucket + 1) * this.#width, -Infinity);
    return resident.hasRow(from, to, 0, segment.dead, this.#source.lsn);
  }

  /** Resolves with whether a segment before index `end` has a live row in the bucket. */
  async #livesInSegments(bucket: number, end: number): Promise<boolean> {
    const { segments } = this.#source;
    const behind = (bucket + 1) * this.#width;
    for (let place = firstReaching(segments, bucket * this.#width); place < end; place++) {
      const segment = segments[place]!;
      if (segment.facts.timeMin >= behind) return false;
      if (await this.#livesIn(segment, bucket)) return true;
    }
    return false;
  }

  /**
   * Counts the buckets with live rows among the positions of a memtable before `end`, without those
   * that an earlier source has counted.
   */
  async inMemtable(place: number, end: number): Promise<number> {
    const { lsn, memtables, segments } = this.#source;
    const memtable = memtables[place]!;
    const key: RowKey = { eventTs: 0, id: 0 };
    let count = 0;
    for (let at = 0; at < end; ) {
      if (memtable.peek(at, end, lsn, key) < 0) break;
      const bucket = this.#bucketOf(key.eventTs);
      await this.#breathe(2);
      if (!(await this.#livesInMemtables(bucket, place)) && !(await this.#livesInSegments(bucket, segments.length)))
        count++;
      at = memtable.seek((bucket + 1) * this.#width, -Infinity);
    }
    return count;
  }

  /** Resolves with whether a memtable before index `end` has a live row in the bucket. */
  async #livesInMemtables(bucket: number, end: number): Promise<boolean> {
    const key: RowKey = { eventTs: 0, id: 0 };
    for (let place = 0; place < end; place++) {
      const memtable = this.#source.memtables[place]!;
      const from = memtable.seek(bucket * this.#width, -Infinity);
      const to = memtable.seek((bucket + 1) * this.#width, -Infinity);
      await this.#breathe(3);
      if (memtable.peek(from, to, this.#source.lsn, key) >= 0) return true;
    }
    return false;
  }
}
