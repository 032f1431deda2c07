// A scan: returns the live rows of a table at one snapshot, in (event_ts, id) order, as row text or
// column blocks, slice by slice.
//
// A scan merges sorted sources. Each memtable is a source; all segments together are one source,
// because they are disjoint and in key order. The position of the scan is the key (`bounds.lowTs`,
// `bounds.lowId`): all rows below it were returned. A step picks the source with the smallest next
// key and copies its rows in one call to the core, up to the key where another source continues:
//
//   segments   1 2 3 | 7 8 9        step 1: 1 2 3 from the first segment, stop at 4
//   memtable         4 5            step 2: 4 5 from the memtable, stop at 7
//                                   step 3: 7 8 9 from the second segment
//
// With nodes or ranges, the scan first lists the matching rows of each memtable. With ranges, it
// lists those of a segment when it reaches the segment (segment-matches.ts). A step that passes
// many dead rows may end early; then it moves this key forward without returning a row.

import { assert } from '../../assert.ts';
import {
  isEmptyRange,
  type KeyForm,
  lowerBound,
  type RangeSet,
  type ResidentSegment,
  type RowPlan,
  SEPARATOR,
  STEP_STATE,
  type StepBounds,
  type StepResult,
  type TextSink,
} from '../../core/index.ts';
import { distinctNumbers } from '../../model/edge.ts';
import type { SegmentFile } from '../table/segment-file.ts';
import { findMatches, judgeNext, type SegmentMatches } from '../table/segment-matches.ts';
import type { QueryPlan, RowKey, ScanRequest } from '../types.ts';
import {
  hasNext,
  indexMemtables,
  listRows,
  type MemtableCursor,
  nextCursor,
  openCursors,
  placeBelow,
} from './memtable-cursor.ts';
import { searchMemtable } from './memtable-search.ts';
import {
  before,
  boundsOf,
  chooseSegments,
  deadOf,
  type ScanParts,
  type ScanSource,
  type ScanView,
  strategyOf,
} from './scan-view.ts';
import { nextKeyIn } from './segment-key.ts';

const SLICE_BYTES = 65536;
const SLICE_US = 3000;
const EMPTY_SLICE_US = 5000; // even if nothing was found: all rows of many segments may be dead
/** Without a filter, a slice checks the clock only after more steps than this. */
const STEPS_UNTIMED = 4;
/** Maximum nodes per lookup: no edge has more members. */
const MOST_NODES = 255;
const NO_LIMIT = Number.MAX_SAFE_INTEGER;
const NO_NODES: readonly number[] = [];
const NO_MEMTABLES: MemtableCursor[] = [];

// A scan is created for every read, so it has plain fields only: #private methods and closures
// would have to be created for each instance.
export class Scan {
  private readonly source: ScanSource;
  private readonly view: ScanView;
  private readonly request: ScanRequest;
  private readonly nodes: readonly number[];
  /** Undefined if there is no filter. */
  private readonly ranges: RangeSet | undefined;
  private readonly limit: number;
  /** Plan for row text or for column blocks. */
  private readonly rowPlan: RowPlan;
  private readonly keys: KeyForm | undefined;
  private readonly startedUs: number;
  private memtables: MemtableCursor[];
  private opened: boolean;
  private readonly segments: readonly SegmentFile[];
  private readonly result: StepResult;
  /** All rows below the key (`lowTs`, `lowId`) were returned. */
  private readonly bounds: StepBounds;
  private segmentIndex: number;
  private segmentBucket: number;
  /** With a filter: the matching rows of the segment reached last. */
  private matches: SegmentMatches | undefined;
  /** Whether the limit is reached, but not known yet whether one more row exists. */
  private probing: boolean;
  /** With a filter: whether the sort order of a column was used. */
  private ordered: boolean;
  /** When the current slice began. */
  private begunUs: number;
  /** Whether the slice reached a segment whose load is not complete. */
  private loading: boolean;
  private ended: boolean;
  private released: boolean;
  private buckets: number;
  private endedUs: number;
  /** Rows returned so far. */
  rows: number;
  /** Key of the last row returned. */
  lastKey: RowKey | undefined;
  /** After the end: whether at least one more row exists, which the limit left out. */
  hasMore: boolean;

  /**
   * `ranges` contains the encoded conditions of the request. `only` restricts the scan to some
   * segments, with or without the memtables; by default the scan reads everything in the view.
   */
  constructor(source: ScanSource, view: ScanView, request: ScanRequest, ranges?: RangeSet, only?: ScanParts) {
    this.source = source;
    this.view = view;
    this.request = request;
    this.startedUs = source.nowUs();
    this.nodes =
      request.nodes === undefined
        ? NO_NODES
        : request.nodes.length < 2
          ? request.nodes
          : distinctNumbers(request.nodes, MOST_NODES + 1);
    this.ranges = ranges;
    this.limit = request.limit ?? NO_LIMIT;
    this.rowPlan = request.format === 'columns' ? request.columns : (request.rows ?? source.rowPlan);
    this.keys = request.format === 'columns' ? undefined : request.keys;
    this.result = { rows: 0, firstTs: 0, lastTs: 0, lastId: 0, buckets: 0, state: STEP_STATE.more };
    this.bounds = boundsOf(request);
    const { after } = request;
    if (after !== undefined && after.eventTs >= this.bounds.lowTs) this.goOnFrom(after.eventTs, after.id + 1);
    this.segmentIndex = 0;
    this.segmentBucket = Number.NaN;
    this.matches = undefined;
    this.probing = false;
    this.ordered = false;
    this.ended =
      this.bounds.lowTs > this.bounds.endTs ||
      this.nodes.length > MOST_NODES ||
      ranges?.ranges.some(isEmptyRange) === true;
    this.begunUs = NaN;
    this.loading = false;
    this.released = false;
    this.buckets = 0;
    this.endedUs = 0;
    this.rows = 0;
    this.lastKey = undefined;
    this.hasMore = false;
    const found = request.search?.candidates;
    if (this.ended) this.segments = [];
    else this.segments = only?.segments ?? chooseSegments(source, view.version, this.nodes, ranges, this.bounds, found);
    this.memtables = NO_MEMTABLES;
    this.opened = this.ended || only?.memtables === false;
  }

  /**
   * Opens the memtables; returns false if the time of one slice was not enough. A lookup brings
   * their node indexes up to date; a filter examines all of their rows.
   */
  private open(): boolean {
    const { nodes, ranges, view, source, request } = this;
    const isLookup = nodes.length > 0 || request.anyOf !== undefined;
    if (isLookup && !indexMemtables(view, source.nowUs, SLICE_US)) return false;
    const { anyOf, search } = request;
    if (this.memtables === NO_MEMTABLES) {
      const begin = (cursor: MemtableCursor) =>
        searchMemtable(source, view, cursor, search!, this.bounds, ranges!, this.limit, cursor.rows);
      this.memtables = openCursors(view, nodes, this.bounds, ranges, anyOf, search && begin);
    }
    if (ranges !== undefined) {
      const untilUs = source.nowUs() + SLICE_US;
      const isLate = () => source.nowUs() > untilUs;
      const listed = listRows(this.memtables, this.bounds, ranges, source.bucketSeconds, this.limit, isLate);
      this.buckets += listed.buckets;
      if (!listed.isDone) return false;
    }
    this.opened = true;
    return true;
  }

  private goOnFrom(eventTs: number, id: number): void {
    this.bounds.lowTs = eventTs;
    this.bounds.lowId = id;
  }

  /**
   * Returns the next slice of row text or column blocks, about 64 KB at most, or null at the end. A
   * slice may be empty if its time was spent on other work, for example on loading a segment. Takes
   * at most a few milliseconds.
   * Throws `table_corrupt` or `overloaded`.
   */
  next(): Uint8Array<ArrayBuffer> | null {
    const sink = this.source.scanSink(this.keys);
    if (!this.fill(sink)) return null;
    return this.request.format === 'columns' ? sink.takeAligned() : sink.take();
  }

  /** Like `next`, but for text only. The slice is valid until the engine is called again. */
  borrowNext(): Uint8Array<ArrayBuffer> | null {
    const sink = this.source.scanSink(this.keys);
    return this.fill(sink) ? sink.borrow() : null;
  }

  /** Whether the last slice has been returned. */
  get isEnded(): boolean {
    return this.ended;
  }

  /**
   * Like `next`, but appends the slice to the contents of the sink. Returns false at the end. If it
   * returns true but has appended nothing, call it again.
   */
  fill(sink: TextSink): boolean {
    const before = sink.length;
    const filtered = this.ranges !== undefined;
    const untimed = filtered ? 0 : STEPS_UNTIMED;
    this.begunUs = Number.isNaN(this.begunUs) && !filtered ? this.startedUs : this.source.nowUs();
    this.loading = false;
    let steps = 0;
    try {
      if (!this.opened && !this.open()) return true;
      while (!this.ended && !this.loading && sink.length - before < SLICE_BYTES) {
        if (this.probing) this.probe();
        else {
          this.step(sink);
          if (this.rows >= this.limit) this.endByLimit();
        }
        const mayStop = filtered || this.view.overlay !== undefined || sink.length > before;
        if (++steps > untimed && this.source.nowUs() - this.begunUs > (mayStop ? SLICE_US : EMPTY_SLICE_US)) break;
      }
    } catch (error) {
      this.close();
      throw error;
    }
    if (sink.length > before || !this.ended) return true;
    this.close();
    return false;
  }

  /**
   * Appends rows of the source with the smallest next key, up to where another source continues.
   */
  private step(sink: TextSink): void {
    const first = this.memtables.length === 0 ? undefined : nextCursor(this.memtables, this.bounds);
    const segment = this.nextSegment();
    if (segment !== undefined && this.stepIn(segment, first, sink)) return;
    if (first === undefined) this.ended = segment === undefined;
    else if (first.rows !== undefined || !first.isBound) this.stepMemtable(first, sink);
  }

  /** Returns the segment in memory. If it is undefined, `loading` is true, and the slice ends. */
  private near(segment: SegmentFile): ResidentSegment | undefined {
    const resident = this.source.residentBy(segment, this.begunUs + SLICE_US);
    this.loading = resident === undefined;
    return resident;
  }

  private nextSegment(): SegmentFile | undefined {
    while (this.segmentIndex < this.segments.length) {
      const segment = this.segments[this.segmentIndex]!;
      const { facts } = segment;
      if (facts.timeMin > this.bounds.endTs) break;
      if (
        facts.timeMax > this.bounds.lowTs ||
        (facts.timeMax === this.bounds.lowTs && facts.lastId >= this.bounds.lowId)
      )
        return segment;
      this.segmentIndex++;
    }
    return undefined;
  }

  /**
   * Appends rows of a segment that are below the memtable's next key, or finds that there are none.
   * Returns false if the memtable must be read first. Does nothing if the segment is being loaded.
   */
  private stepIn(segment: SegmentFile, first: MemtableCursor | undefined, sink: TextSink): boolean {
    const { facts } = segment;
    if (
      first !== undefined &&
      (first.key.eventTs < facts.timeMin || (first.key.eventTs === facts.timeMin && first.key.id < facts.firstId))
    )
      return false;
    return this.ranges === undefined
      ? this.stepSegment(segment, first, sink)
      : this.stepMatches(segment, this.ranges, first, sink);
  }

  private stepMatches(
    segment: SegmentFile,
    ranges: RangeSet,
    first: MemtableCursor | undefined,
    sink: TextSink,
  ): boolean {
    const resident = this.near(segment);
    if (resident === undefined) return true;
    const matches = this.matchesIn(segment, resident, ranges);
    judgeNext(matches, resident);
    const { rows, next, ready } = matches;
    if (next === ready) {
      if (ready === rows.length) this.segmentIndex++;
      return true;
    }
    let end = Math.min(ready, next + this.limit - this.rows);
    if (first !== undefined) {
      const stop = resident.seek(first.key.eventTs, first.key.id);
      end = Math.min(end, next + lowerBound(rows.subarray(next, ready), stop));
    }
    if (end <= next) return false;
    const given = rows.subarray(next, end);
    matches.next += resident.stepRows(given, this.rowPlan, this.separator(), sink, this.result);
    this.segmentBucket = this.count(this.segmentBucket, matches.looked !== undefined);
    return true;
  }

  /** Returns the rows of the current segment that match the filter. */
  private matchesIn(segment: SegmentFile, resident: ResidentSegment, ranges: RangeSet): SegmentMatches {
    if (this.matches?.segment === segment) return this.matches;
    const { view, nodes, request, source } = this;
    const found = findMatches(segment, resident, view, this.bounds, { nodes, ranges, source, request });
    const { looked } = found;
    this.matches = found;
    this.ordered ||= found.ordered;
    if (looked !== undefined) {
      this.buckets += looked.buckets - (looked.first === this.segmentBucket ? 1 : 0);
      this.segmentBucket = looked.last;
    }
    return found;
  }

  /** Appends rows below the memtable's next key; returns false if the memtable comes first. */
  private stepSegment(segment: SegmentFile, first: MemtableCursor | undefined, sink: TextSink): boolean {
    const { bounds, result } = this;
    const resident = this.near(segment);
    if (resident === undefined) return true;
    if (first !== undefined) {
      bounds.stopTs = first.key.eventTs;
      bounds.stopId = first.key.id;
    }
    if (this.nodes.length > 0) resident.setNodes(this.nodes);
    const next = resident.step(
      bounds,
      this.nodes.length,
      deadOf(this.view, segment),
      this.view.lsn,
      this.limit - this.rows,
      this.rowPlan,
      this.separator(),
      sink,
      result,
    );
    bounds.stopTs = Infinity;
    if (result.rows > 0) this.segmentBucket = this.count(this.segmentBucket);
    if (result.state === STEP_STATE.end) this.segmentIndex++;
    else if (result.state === STEP_STATE.stop) {
      if (result.rows === 0) return false;
      this.goOnFrom(first!.key.eventTs, first!.key.id);
    } else if (result.rows === 0) {
      const key = resident.keyOf(next);
      this.goOnFrom(key.eventTs, key.id);
    }
    return true;
  }

  private stepMemtable(cursor: MemtableCursor, sink: TextSink): void {
    const plan = this.rowPlan;
    const stop = this.stopFor(cursor);
    const limit = this.limit - this.rows;
    const result = this.result;
    if (cursor.rows !== undefined) {
      let end = Math.min(cursor.rows.length, cursor.next + limit);
      if (stop !== undefined) end = Math.min(end, placeBelow(cursor, stop));
      cursor.next += cursor.memtable.stepRows(
        cursor.rows.subarray(cursor.next, end),
        plan,
        this.separator(),
        sink,
        result,
      );
    } else {
      const from = cursor.memtable.seek(cursor.key.eventTs, cursor.key.id);
      let to = cursor.memtable.seek(this.bounds.endTs, Infinity);
      if (stop !== undefined) to = Math.min(to, cursor.memtable.seek(stop.eventTs, stop.id));
      cursor.memtable.step(from, to, cursor.lsn, limit, cursor.hidden, plan, this.separator(), sink, result);
    }
    if (result.rows > 0) cursor.lastBucket = this.count(cursor.lastBucket, cursor.counted);
  }

  /**
   * Returns the first key above the cursor's own at which another source may have its next row. If
   * another source has the cursor's own key, that is a dead or hidden version of the same row.
   */
  private stopFor(cursor: MemtableCursor): RowKey | undefined {
    const behind = { eventTs: cursor.key.eventTs, id: cursor.key.id + 1 };
    const segment = this.nextSegment();
    let stop =
      segment &&
      nextKeyIn(
        this.source,
        this.view,
        segment,
        this.segments[this.segmentIndex + 1],
        behind,
        this.ranges !== undefined,
        this.matches,
      );
    for (const other of this.memtables) {
      if (other === cursor || other.done) continue;
      if (stop === undefined || before(other.key, stop)) stop = other.key;
    }
    return stop !== undefined && before(stop, behind) ? behind : stop;
  }

  private separator() {
    if (this.request.format === 'columns') return SEPARATOR.columns;
    if (this.request.format === 'ndjson') return SEPARATOR.newline;
    return this.rows === 0 ? SEPARATOR.commaBetween : SEPARATOR.commaBefore;
  }

  /**
   * Adds a step's rows to the figures. Returns the bucket in which the step ended, so that the next
   * step of the source does not count this bucket again. `counted` is true if all buckets of the
   * source were counted before.
   */
  private count(lastBucket: number, counted = false): number {
    const { rows, firstTs, lastTs, lastId, buckets } = this.result;
    const width = this.source.bucketSeconds;
    assert(lastTs > this.bounds.lowTs || lastId >= this.bounds.lowId, 'rows come in the order of their keys');
    if (!counted) this.buckets += buckets - (Math.floor(firstTs / width) === lastBucket ? 1 : 0);
    this.rows += rows;
    assert(this.rows <= this.limit, 'a scan gives no more rows than it was asked for');
    this.lastKey = { eventTs: lastTs, id: lastId };
    this.goOnFrom(lastTs, lastId + 1);
    return counted ? lastBucket : Math.floor(lastTs / width);
  }

  private endByLimit(): void {
    this.probing = true;
    if (this.ranges === undefined) this.probe();
  }

  /**
   * Looks for one more row in the memtables or in one segment. The next row may be many segments
   * away, so a call examines at most one segment.
   */
  private probe(): void {
    this.hasMore = this.memtables.some((cursor) => hasNext(cursor, this.bounds));
    const segment = this.hasMore ? undefined : this.nextSegment();
    if (segment !== undefined) {
      const resident = this.near(segment);
      if (resident === undefined) return;
      this.hasMore = this.hasRow(segment, resident);
      const isJudged = this.matches?.segment !== segment || this.matches.ready === this.matches.rows.length;
      if (!this.hasMore && isJudged) this.segmentIndex++;
    }
    this.ended = this.hasMore || segment === undefined;
  }

  private hasRow(segment: SegmentFile, resident: ResidentSegment): boolean {
    const { bounds, nodes, ranges, view } = this;
    if (ranges !== undefined) {
      const matches = this.matchesIn(segment, resident, ranges);
      judgeNext(matches, resident);
      return matches.next < matches.ready;
    }
    if (nodes.length > 0) resident.setNodes(nodes);
    const from = resident.seek(bounds.lowTs, bounds.lowId);
    const to = resident.seek(bounds.endTs, Infinity);
    return resident.hasRow(from, to, nodes.length, deadOf(view, segment), view.lsn);
  }

  /** Returns the access path of the scan and figures about what it has read so far. */
  plan(): QueryPlan {
    const total = this.view.version.totalBuckets;
    const scanned = this.buckets;
    const endUs = this.endedUs || this.source.nowUs();
    return {
      strategy: strategyOf(this.request, this.nodes.length, this.ordered),
      buckets_scanned: scanned,
      total_buckets: total,
      speedup_factor: total / Math.max(1, scanned),
      elapsed_us: Math.round(endUs - this.startedUs),
    };
  }

  /** Releases the version. `next()` returns null afterwards. */
  close(): void {
    if (this.released) return;
    this.released = true;
    this.ended = true;
    this.endedUs = this.source.nowUs();
    this.source.unpin(this.view.version);
  }
}
