// A scan: live rows of a table at one snapshot, in (event_ts, id) order, as row text, slice by slice.

import {
  type CoreMemtable,
  SEPARATOR,
  STEP_STATE,
  type StepBounds,
  type StepResult,
  type TextSink,
} from '../core/index.ts';
import { before, firstBeyond, firstReaching, type ScanSource, type ScanView } from './scan-view.ts';
import type { SegmentFile } from './segment-file.ts';
import type { QueryPlan, RowKey, ScanRequest } from './types.ts';

const SLICE_BYTES = 65536;
const SLICE_US = 3000;
/** A clock is read only in a slice of more steps than this. */
const STEPS_UNTIMED = 4;
/** Nodes of one lookup, at most: an edge has no more members. */
const MOST_NODES = 255;
/** Rows a lookup indexes between two looks at the clock: about a millisecond. */
const INDEX_ROWS = 8192;
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/** A memtable's part in a scan. A lookup holds its rows as a list; a range is sought anew at each step, since the order may move. */
interface MemtableCursor {
  memtable: CoreMemtable;
  lsn: number;
  hidden: ReadonlySet<number> | undefined;
  /** Rows of a lookup, with the place of the next one. */
  rows: Uint32Array | undefined;
  next: number;
  key: RowKey;
  done: boolean;
  lastBucket: number;
}

const NO_NODES: readonly number[] = [];
const NO_MEMTABLES: MemtableCursor[] = [];

// One is made for every read, so it holds plain fields only: private methods and closures would be made anew each time.
export class Scan {
  private readonly source: ScanSource;
  private readonly view: ScanView;
  private readonly request: ScanRequest;
  private readonly nodes: readonly number[];
  private readonly limit: number;
  private readonly startedUs: number;
  private memtables: MemtableCursor[];
  private opened: boolean;
  private readonly segments: readonly SegmentFile[];
  private readonly result: StepResult;
  /** All rows below low were given. */
  private readonly bounds: StepBounds;
  private segmentIndex: number;
  private segmentBucket: number;
  private ended: boolean;
  private released: boolean;
  private buckets: number;
  private endedUs: number;
  /** Rows given so far. */
  rows: number;
  /** Key of the last row given. */
  lastKey: RowKey | undefined;
  /** After the end: the limit ended the scan and at least one more row exists. */
  hasMore: boolean;

  constructor(source: ScanSource, view: ScanView, request: ScanRequest) {
    this.source = source;
    this.view = view;
    this.request = request;
    this.startedUs = source.nowUs();
    this.nodes =
      request.nodes === undefined ? NO_NODES : request.nodes.length < 2 ? request.nodes : [...new Set(request.nodes)];
    this.limit = request.limit ?? NO_LIMIT;
    this.result = { rows: 0, firstTs: 0, lastTs: 0, lastId: 0, buckets: 0, state: STEP_STATE.more };
    this.bounds = {
      lowTs: request.startTs ?? -Infinity,
      lowId: -Infinity,
      endTs: request.endTs ?? Infinity,
      stopTs: Infinity,
      stopId: 0,
    };
    const { after } = request;
    if (after !== undefined && after.eventTs >= this.bounds.lowTs) this.goOnFrom(after.eventTs, after.id + 1);
    this.segmentIndex = 0;
    this.segmentBucket = Number.NaN;
    this.ended = this.bounds.lowTs > this.bounds.endTs || this.nodes.length > MOST_NODES;
    this.released = false;
    this.buckets = 0;
    this.endedUs = 0;
    this.rows = 0;
    this.lastKey = undefined;
    this.hasMore = false;
    this.segments = this.ended ? [] : this.chooseSegments();
    this.memtables = NO_MEMTABLES;
    this.opened = this.ended;
  }

  /** Opens the memtables; a lookup first brings their node index up to date, for a slice's time at most. False: not done yet. */
  private open(): boolean {
    if (this.nodes.length > 0) {
      const begunUs = this.source.nowUs();
      for (const { memtable } of this.view.version.memtables) {
        while (!memtable.index(INDEX_ROWS)) if (this.source.nowUs() - begunUs > SLICE_US) return false;
      }
    }
    this.memtables = this.openMemtables();
    this.opened = true;
    return true;
  }

  private goOnFrom(eventTs: number, id: number): void {
    this.bounds.lowTs = eventTs;
    this.bounds.lowId = id;
  }

  private chooseSegments(): readonly SegmentFile[] {
    const { segments } = this.view.version;
    const places = this.nodes.length > 0 ? this.source.candidates(this.view.version, this.nodes) : undefined;
    const low = this.bounds.lowTs;
    const high = this.bounds.endTs;
    if (places === undefined) {
      if (
        segments.length === 0 ||
        (segments[0]!.facts.timeMin >= low && segments[segments.length - 1]!.facts.timeMax <= high)
      )
        return segments;
      return segments.slice(firstReaching(segments, low), firstBeyond(segments, high));
    }
    const chosen: SegmentFile[] = [];
    for (const place of places) {
      const segment = segments[place]!;
      if (segment.facts.timeMax >= low && segment.facts.timeMin <= high) chosen.push(segment);
    }
    return chosen;
  }

  private openMemtables(): MemtableCursor[] {
    const { version, lsn, overlay } = this.view;
    const cursors: MemtableCursor[] = [];
    for (const { memtable } of version.memtables) {
      if (memtable.rows > 0) cursors.push(this.openMemtable(memtable, lsn, overlay?.hidden(memtable)));
    }
    if (overlay?.memtable) cursors.push(this.openMemtable(overlay.memtable, Infinity, undefined));
    return cursors;
  }

  private openMemtable(memtable: CoreMemtable, lsn: number, hidden: ReadonlySet<number> | undefined): MemtableCursor {
    let rows: Uint32Array | undefined;
    if (this.nodes.length > 0) {
      rows = memtable.lookup(this.nodes, this.bounds.lowTs, this.bounds.lowId, this.bounds.endTs, lsn);
      if (hidden !== undefined && hidden.size > 0) rows = rows.filter((row) => !hidden.has(row));
    }
    return { memtable, lsn, hidden, rows, next: 0, key: { eventTs: 0, id: 0 }, done: false, lastBucket: Number.NaN };
  }

  /**
   * The next slice of row text, about 64 KB at most, null at the end; it may be empty, when there was only work to do. Bounded to a few
   * milliseconds. Throws `table_corrupt`, `overloaded`.
   */
  next(): Uint8Array<ArrayBuffer> | null {
    const sink = this.source.scanSink;
    sink.clear();
    return this.fill(sink) ? sink.take() : null;
  }

  /** As `next`, behind what the sink holds. False at the end; true with nothing added: call again. */
  fill(sink: TextSink): boolean {
    const before = sink.length;
    const begunUs = this.rows === 0 ? this.startedUs : this.source.nowUs();
    let steps = 0;
    try {
      if (!this.opened && !this.open()) return true;
      while (!this.ended && sink.length - before < SLICE_BYTES) {
        this.step(sink);
        if (this.rows >= this.limit) this.endByLimit();
        if (++steps > STEPS_UNTIMED && sink.length > before && this.source.nowUs() - begunUs > SLICE_US) break;
      }
    } catch (error) {
      this.close();
      throw error;
    }
    if (sink.length > before) return true;
    this.close();
    return false;
  }

  /** Gives the rows of the source that has the next one, up to where another source goes on. */
  private step(sink: TextSink): void {
    const first = this.memtables.length === 0 ? undefined : this.nextMemtable();
    const segment = this.nextSegment();
    if (segment !== undefined && this.stepSegment(segment, first, sink)) return;
    if (first !== undefined) this.stepMemtable(first, sink);
    else if (segment === undefined) this.ended = true;
  }

  /** The memtable whose next visible row comes first, its `key` set. */
  private nextMemtable(): MemtableCursor | undefined {
    let best: MemtableCursor | undefined;
    for (const cursor of this.memtables) {
      if (cursor.done || !this.peek(cursor)) continue;
      if (best === undefined || before(cursor.key, best.key)) best = cursor;
    }
    return best;
  }

  private peek(cursor: MemtableCursor): boolean {
    const { memtable, rows } = cursor;
    if (rows !== undefined) {
      if (cursor.next >= rows.length) cursor.done = true;
      else cursor.key = memtable.keyOf(rows[cursor.next]!);
      return !cursor.done;
    }
    const from = memtable.seek(this.bounds.lowTs, this.bounds.lowId);
    const to = memtable.seek(this.bounds.endTs, Infinity);
    const position = memtable.peek(from, to, cursor.lsn, cursor.key);
    cursor.done = position < 0;
    return !cursor.done;
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

  /** Gives rows of a segment below the memtable's next key. False: that key comes first. */
  private stepSegment(segment: SegmentFile, first: MemtableCursor | undefined, sink: TextSink): boolean {
    const { facts } = segment;
    const { bounds, result } = this;
    if (first !== undefined) {
      if (first.key.eventTs < facts.timeMin || (first.key.eventTs === facts.timeMin && first.key.id < facts.firstId))
        return false;
      bounds.stopTs = first.key.eventTs;
      bounds.stopId = first.key.id;
    }
    const resident = this.source.resident(segment);
    if (this.nodes.length > 0) resident.setNodes(this.nodes);
    const { view } = this;
    const dead = view.overlay === undefined ? segment.dead : view.overlay.deadOf(segment);
    const next = resident.step(
      bounds,
      this.nodes.length,
      dead,
      view.lsn,
      this.limit - this.rows,
      this.source.rowPlan,
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
    const plan = this.source.rowPlan;
    const stop = this.stopFor(cursor);
    const limit = this.limit - this.rows;
    const result = this.result;
    if (cursor.rows !== undefined) {
      let end = Math.min(cursor.rows.length, cursor.next + limit);
      if (stop !== undefined) end = Math.min(end, this.placeBelow(cursor, stop));
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
      const next = cursor.memtable.step(
        from,
        to,
        cursor.lsn,
        limit,
        cursor.hidden,
        plan,
        this.separator(),
        sink,
        result,
      );
      if (result.rows === 0) this.skipTo(cursor, next, to, stop);
    }
    if (result.rows > 0) cursor.lastBucket = this.count(cursor.lastBucket);
  }

  /** All rows of a range step were hidden: go on behind them. */
  private skipTo(cursor: MemtableCursor, next: number, to: number, stop: RowKey | undefined): void {
    if (next >= to && stop !== undefined) {
      this.goOnFrom(stop.eventTs, stop.id);
      return;
    }
    const key = { eventTs: 0, id: 0 };
    if (next >= to || cursor.memtable.peek(next, to, cursor.lsn, key) < 0) cursor.done = true;
    else {
      this.goOnFrom(key.eventTs, key.id);
    }
  }

  /** Key at which another source has its next row. */
  private stopFor(cursor: MemtableCursor): RowKey | undefined {
    let stop: RowKey | undefined;
    for (const other of this.memtables) {
      if (other === cursor || other.done) continue;
      if (stop === undefined || before(other.key, stop)) stop = other.key;
    }
    const segment = this.nextSegment();
    if (segment === undefined) return stop;
    const resident = this.source.resident(segment);
    const row = resident.seek(cursor.key.eventTs, cursor.key.id);
    if (row >= segment.facts.rows) return stop;
    const key = resident.keyOf(row);
    return stop === undefined || before(key, stop) ? key : stop;
  }

  /** First place of a lookup's rows whose key is not below `stop`. */
  private placeBelow(cursor: MemtableCursor, stop: RowKey): number {
    let low = cursor.next;
    let high = cursor.rows!.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (before(cursor.memtable.keyOf(cursor.rows![middle]!), stop)) low = middle + 1;
      else high = middle;
    }
    return Math.max(low, cursor.next + 1);
  }

  private separator() {
    if (this.request.format === 'ndjson') return SEPARATOR.newline;
    return this.rows === 0 ? SEPARATOR.commaBetween : SEPARATOR.commaBefore;
  }

  /** Takes a step's rows into the figures; returns the bucket the step ended in, so that the source's next one is not counted twice. */
  private count(lastBucket: number): number {
    const { rows, firstTs, lastTs, lastId, buckets } = this.result;
    const width = this.source.bucketSeconds;
    this.buckets += buckets - (Math.floor(firstTs / width) === lastBucket ? 1 : 0);
    this.rows += rows;
    this.lastKey = { eventTs: lastTs, id: lastId };
    this.goOnFrom(lastTs, lastId + 1);
    return Math.floor(lastTs / width);
  }

  private endByLimit(): void {
    this.ended = true;
    const from = { lowTs: this.bounds.lowTs, lowId: this.bounds.lowId };
    this.hasMore = this.memtables.some((cursor) => this.anyMemtableRow(cursor)) || this.anySegmentRow();
    this.goOnFrom(from.lowTs, from.lowId);
  }

  private anyMemtableRow(cursor: MemtableCursor): boolean {
    const { memtable, lsn, hidden, rows, key } = cursor;
    if (cursor.done) return false;
    if (rows !== undefined || hidden === undefined || hidden.size === 0) return this.peek(cursor);
    const to = memtable.seek(this.bounds.endTs, Infinity);
    let position = memtable.peek(memtable.seek(this.bounds.lowTs, this.bounds.lowId), to, lsn, key);
    while (position >= 0 && hidden.has(memtable.rowAt(position))) position = memtable.peek(position + 1, to, lsn, key);
    return position >= 0;
  }

  private anySegmentRow(): boolean {
    const { lsn } = this.view;
    for (let segment = this.nextSegment(); segment !== undefined; segment = this.nextSegment()) {
      const resident = this.source.resident(segment);
      if (this.nodes.length > 0) resident.setNodes(this.nodes);
      const from = resident.seek(this.bounds.lowTs, this.bounds.lowId);
      const to = resident.seek(this.bounds.endTs, Infinity);
      if (
        resident.hasRow(
          from,
          to,
          this.nodes.length,
          this.view.overlay === undefined ? segment.dead : this.view.overlay.deadOf(segment),
          lsn,
        )
      )
        return true;
      this.segmentIndex++;
    }
    return false;
  }

  /** Figures of what was touched so far (contract section 4: strategies). */
  plan(): QueryPlan {
    const total = this.view.version.totalBuckets;
    const scanned = this.buckets;
    const nodes = this.nodes.length;
    const strategy =
      nodes > 1 ? 'FMI_INTERSECT' : nodes === 1 ? 'FMI_LOOKUP' : this.isBounded() ? 'TPI_BUCKET_PUSHDOWN' : 'FULL_SCAN';
    const endUs = this.endedUs || this.source.nowUs();
    return {
      strategy,
      buckets_scanned: scanned,
      total_buckets: total,
      speedup_factor: total / Math.max(1, scanned),
      elapsed_us: Math.round(endUs - this.startedUs),
    };
  }

  private isBounded(): boolean {
    return this.request.startTs !== undefined || this.request.endTs !== undefined;
  }

  /** Frees the snapshot. `next()` gives null afterwards. */
  close(): void {
    if (this.released) return;
    this.released = true;
    this.ended = true;
    this.endedUs = this.source.nowUs();
    this.source.unpin(this.view.version);
  }
}
