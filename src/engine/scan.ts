// A scan: live rows of a table at one snapshot, in (event_ts, id) order, as row text, slice by slice.

import { type CoreMemtable, type DeadRows, type ResidentSegment, type RowPlan, SEPARATOR, type StepResult, type TextSink } from '../core/index.ts';
import type { SegmentFile } from './segment-file.ts';
import type { QueryPlan, RowKey, ScanRequest } from './types.ts';
import type { Version } from './version.ts';

/** What a scan reads: one version of a table, seen at one LSN, and what a transaction lays over it. */
export interface ScanView {
  readonly version: Version;
  readonly lsn: number;
  readonly bucketSeconds: number;
  readonly plan: RowPlan;
  readonly sink: TextSink;
  /** The segment in memory. Throws `table_corrupt`. Valid until the next call. */
  resident(segment: SegmentFile): ResidentSegment;
  /** Places in version.segments that may hold all nodes, or undefined when all may. */
  candidates(nodes: readonly number[]): Uint32Array | undefined;
  /** Rows of a segment that are dead for this view. */
  deadOf(segment: SegmentFile): DeadRows;
  readonly overlay: ScanOverlay | undefined;
  /** Microseconds, monotonic. */
  nowUs(): number;
  release(): void;
}

/** Staged writes of a transaction. */
export interface ScanOverlay {
  readonly memtable: CoreMemtable | undefined;
  hidden(memtable: CoreMemtable): ReadonlySet<number> | undefined;
}

const SLICE_BYTES = 65536;
const SLICE_US = 3000;
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

export class Scan {
  readonly #view: ScanView;
  readonly #request: ScanRequest;
  readonly #nodes: readonly number[];
  readonly #endTs: number;
  readonly #limit: number;
  readonly #startedUs: number;
  readonly #memtables: MemtableCursor[];
  readonly #segments: readonly SegmentFile[];
  readonly #result: StepResult = { rows: 0, firstTs: 0, lastTs: 0, lastId: 0, buckets: 0, exhausted: false };
  /** All rows below this key were given. */
  #lowTs: number;
  #lowId: number;
  #segmentIndex = 0;
  #segmentBucket = Number.NaN;
  #ended = false;
  #released = false;
  #buckets = 0;
  #endedUs = 0;
  rows = 0;
  lastKey: RowKey | undefined;
  /** After `next()` gave null: the limit ended the scan and at least one more row exists. */
  hasMore = false;

  constructor(view: ScanView, request: ScanRequest) {
    this.#view = view;
    this.#request = request;
    this.#startedUs = view.nowUs();
    this.#nodes = request.nodes === undefined ? [] : [...new Set(request.nodes)];
    this.#endTs = request.endTs ?? Infinity;
    this.#limit = request.limit ?? NO_LIMIT;
    this.#lowTs = request.startTs ?? -Infinity;
    this.#lowId = -Infinity;
    const { after } = request;
    if (after !== undefined && after.eventTs >= this.#lowTs) {
      this.#lowTs = after.eventTs;
      this.#lowId = after.id + 1;
    }
    this.#ended = this.#lowTs > this.#endTs || this.#nodes.length > 255;
    this.#segments = this.#ended ? [] : this.#chooseSegments();
    this.#memtables = this.#ended ? [] : this.#openMemtables();
  }

  #chooseSegments(): readonly SegmentFile[] {
    const { segments } = this.#view.version;
    const places = this.#nodes.length > 0 ? this.#view.candidates(this.#nodes) : undefined;
    const low = this.#lowTs;
    const high = this.#endTs;
    if (places === undefined) {
      if (segments.length === 0 || (segments[0]!.facts.timeMin >= low && segments[segments.length - 1]!.facts.timeMax <= high)) return segments;
      return segments.slice(firstReaching(segments, low), firstBeyond(segments, high));
    }
    const chosen: SegmentFile[] = [];
    for (const place of places) {
      const segment = segments[place]!;
      if (segment.facts.timeMax >= low && segment.facts.timeMin <= high) chosen.push(segment);
    }
    return chosen;
  }

  #openMemtables(): MemtableCursor[] {
    const { version, lsn, overlay } = this.#view;
    const cursors: MemtableCursor[] = [];
    for (const { memtable } of version.memtables) {
      if (memtable.rows > 0) cursors.push(this.#openMemtable(memtable, lsn, overlay?.hidden(memtable)));
    }
    if (overlay?.memtable) cursors.push(this.#openMemtable(overlay.memtable, Infinity, undefined));
    return cursors;
  }

  #openMemtable(memtable: CoreMemtable, lsn: number, hidden: ReadonlySet<number> | undefined): MemtableCursor {
    let rows: Uint32Array | undefined;
    if (this.#nodes.length > 0) {
      rows = memtable.lookup(this.#nodes, this.#lowTs, this.#lowId, this.#endTs, lsn);
      if (hidden !== undefined && hidden.size > 0) rows = rows.filter((row) => !hidden.has(row));
    }
    return { memtable, lsn, hidden, rows, next: 0, key: { eventTs: 0, id: 0 }, done: false, lastBucket: Number.NaN };
  }

  /** The next slice of row text, about 64 KB at most, null at the end. Bounded to a few milliseconds. Throws `corrupt`, `overloaded`. */
  next(): Uint8Array<ArrayBuffer> | null {
    if (this.#released) return null;
    const { sink, nowUs } = this.#view;
    const begunUs = nowUs();
    try {
      while (!this.#ended && sink.length < SLICE_BYTES) {
        this.#step();
        if (this.rows >= this.#limit) this.#endByLimit();
        if (sink.length > 0 && nowUs() - begunUs > SLICE_US) break;
      }
    } catch (error) {
      sink.take();
      this.close();
      throw error;
    }
    if (sink.length > 0) return sink.take();
    this.close();
    return null;
  }

  /** Gives the rows of the source that has the next one, up to where another source goes on. */
  #step(): void {
    const bound = this.#nextMemtable();
    const segment = this.#nextSegment();
    if (segment !== undefined && this.#stepSegment(segment, bound)) return;
    if (bound === undefined) {
      if (segment === undefined) this.#ended = true;
      return;
    }
    this.#stepMemtable(bound);
  }

  /** The memtable whose next visible row comes first, its `key` set. */
  #nextMemtable(): MemtableCursor | undefined {
    let best: MemtableCursor | undefined;
    for (const cursor of this.#memtables) {
      if (cursor.done || !this.#peek(cursor)) continue;
      if (best === undefined || before(cursor.key, best.key)) best = cursor;
    }
    return best;
  }

  #peek(cursor: MemtableCursor): boolean {
    const { memtable, rows } = cursor;
    if (rows !== undefined) {
      if (cursor.next >= rows.length) cursor.done = true;
      else cursor.key = memtable.keyOf(rows[cursor.next]!);
      return !cursor.done;
    }
    const from = memtable.seek(this.#lowTs, this.#lowId);
    const to = memtable.seek(this.#endTs, Infinity);
    const position = memtable.peek(from, to, cursor.lsn, cursor.key);
    cursor.done = position < 0;
    return !cursor.done;
  }

  #nextSegment(): SegmentFile | undefined {
    while (this.#segmentIndex < this.#segments.length) {
      const segment = this.#segments[this.#segmentIndex]!;
      const { facts } = segment;
      if (facts.timeMin > this.#endTs) break;
      if (facts.timeMax > this.#lowTs || (facts.timeMax === this.#lowTs && facts.lastId >= this.#lowId)) return segment;
      this.#segmentIndex++;
    }
    return undefined;
  }

  /** Gives rows of a segment below the memtable's next key. False: that key comes first. */
  #stepSegment(segment: SegmentFile, bound: MemtableCursor | undefined): boolean {
    const { facts } = segment;
    if (bound !== undefined && (bound.key.eventTs < facts.timeMin || (bound.key.eventTs === facts.timeMin && bound.key.id < facts.firstId))) return false;
    const { lsn, plan, sink } = this.#view;
    const resident = this.#view.resident(segment);
    const whole = this.#lowTs < facts.timeMin;
    const from = whole ? 0 : resident.seek(this.#lowTs, this.#lowId);
    let to = this.#endTs >= facts.timeMax ? facts.rows : resident.seek(this.#endTs, Infinity);
    let cut = false;
    if (bound !== undefined) {
      const stop = resident.seek(bound.key.eventTs, bound.key.id);
      if (stop < to) {
        to = stop;
        cut = true;
      }
    }
    if (from >= to) {
      if (cut) return false;
      this.#segmentIndex++;
      return true;
    }
    if (this.#nodes.length > 0) resident.setNodes(this.#nodes);
    const separator = this.#separator();
    const next = resident.step(from, to, this.#nodes.length, this.#view.deadOf(segment), lsn, this.#limit - this.rows, plan, separator, sink, this.#result);
    if (this.#result.rows > 0) this.#segmentBucket = this.#count(this.#segmentBucket);
    if (this.#result.exhausted && !cut) {
      this.#segmentIndex++;
      if (this.#result.rows === 0) return true;
    }
    if (this.#result.exhausted && cut) {
      this.#lowTs = bound!.key.eventTs;
      this.#lowId = bound!.key.id;
    } else if (next < facts.rows && this.#result.rows === 0) {
      const key = resident.keyOf(next);
      this.#lowTs = key.eventTs;
      this.#lowId = key.id;
    }
    return true;
  }

  #stepMemtable(cursor: MemtableCursor): void {
    const { plan, sink } = this.#view;
    const stop = this.#stopFor(cursor);
    const limit = this.#limit - this.rows;
    const result = this.#result;
    if (cursor.rows !== undefined) {
      let end = Math.min(cursor.rows.length, cursor.next + limit);
      if (stop !== undefined) end = Math.min(end, this.#placeBelow(cursor, stop));
      cursor.next += cursor.memtable.stepRows(cursor.rows.subarray(cursor.next, end), plan, this.#separator(), sink, result);
    } else {
      const from = cursor.memtable.seek(cursor.key.eventTs, cursor.key.id);
      let to = cursor.memtable.seek(this.#endTs, Infinity);
      if (stop !== undefined) to = Math.min(to, cursor.memtable.seek(stop.eventTs, stop.id));
      const next = cursor.memtable.step(from, to, cursor.lsn, limit, cursor.hidden, plan, this.#separator(), sink, result);
      if (result.rows === 0) this.#skipTo(cursor, next, to, stop);
    }
    if (result.rows > 0) cursor.lastBucket = this.#count(cursor.lastBucket);
  }

  /** All rows of a range step were hidden: go on behind them. */
  #skipTo(cursor: MemtableCursor, next: number, to: number, stop: RowKey | undefined): void {
    if (next >= to && stop !== undefined) {
      this.#lowTs = stop.eventTs;
      this.#lowId = stop.id;
      return;
    }
    const key = { eventTs: 0, id: 0 };
    if (next >= to || cursor.memtable.peek(next, to, cursor.lsn, key) < 0) cursor.done = true;
    else {
      this.#lowTs = key.eventTs;
      this.#lowId = key.id;
    }
  }

  /** Key at which another source has its next row. */
  #stopFor(cursor: MemtableCursor): RowKey | undefined {
    let stop: RowKey | undefined;
    for (const other of this.#memtables) {
      if (other === cursor || other.done) continue;
      if (stop === undefined || before(other.key, stop)) stop = other.key;
    }
    const segment = this.#nextSegment();
    if (segment === undefined) return stop;
    const resident = this.#view.resident(segment);
    const row = resident.seek(cursor.key.eventTs, cursor.key.id);
    if (row >= segment.facts.rows) return stop;
    const key = resident.keyOf(row);
    return stop === undefined || before(key, stop) ? key : stop;
  }

  /** First place of a lookup's rows whose key is not below `stop`. */
  #placeBelow(cursor: MemtableCursor, stop: RowKey): number {
    let low = cursor.next;
    let high = cursor.rows!.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (before(cursor.memtable.keyOf(cursor.rows![middle]!), stop)) low = middle + 1;
      else high = middle;
    }
    return Math.max(low, cursor.next + 1);
  }

  #separator() {
    if (this.#request.format === 'ndjson') return SEPARATOR.newline;
    return this.rows === 0 ? SEPARATOR.commaBetween : SEPARATOR.commaBefore;
  }

  /** Takes a step's rows into the figures; returns the bucket the step ended in, so that the source's next one is not counted twice. */
  #count(lastBucket: number): number {
    const { rows, firstTs, lastTs, lastId, buckets } = this.#result;
    const width = this.#view.bucketSeconds;
    this.#buckets += buckets - (Math.floor(firstTs / width) === lastBucket ? 1 : 0);
    this.rows += rows;
    this.lastKey = { eventTs: lastTs, id: lastId };
    this.#lowTs = lastTs;
    this.#lowId = lastId + 1;
    return Math.floor(lastTs / width);
  }

  #endByLimit(): void {
    this.#ended = true;
    const from = { lowTs: this.#lowTs, lowId: this.#lowId };
    this.hasMore = this.#nextMemtable() !== undefined || this.#anySegmentRow();
    this.#lowTs = from.lowTs;
    this.#lowId = from.lowId;
  }

  #anySegmentRow(): boolean {
    const { lsn } = this.#view;
    for (let segment = this.#nextSegment(); segment !== undefined; segment = this.#nextSegment()) {
      const resident = this.#view.resident(segment);
      if (this.#nodes.length > 0) resident.setNodes(this.#nodes);
      const from = resident.seek(this.#lowTs, this.#lowId);
      const to = resident.seek(this.#endTs, Infinity);
      if (resident.hasRow(from, to, this.#nodes.length, this.#view.deadOf(segment), lsn)) return true;
      this.#segmentIndex++;
    }
    return false;
  }

  /** Figures of what was touched so far (contract section 4: strategies). */
  plan(): QueryPlan {
    const total = this.#view.version.totalBuckets;
    const scanned = this.#buckets;
    const nodes = this.#nodes.length;
    const strategy = nodes > 1 ? 'FMI_INTERSECT' : nodes === 1 ? 'FMI_LOOKUP' : this.#isBounded() ? 'TPI_BUCKET_PUSHDOWN' : 'FULL_SCAN';
    const endUs = this.#endedUs || this.#view.nowUs();
    return {
      strategy,
      buckets_scanned: scanned,
      total_buckets: total,
      speedup_factor: total / Math.max(1, scanned),
      elapsed_us: Math.round(endUs - this.#startedUs),
    };
  }

  #isBounded(): boolean {
    return this.#request.startTs !== undefined || this.#request.endTs !== undefined;
  }

  /** Frees the snapshot. `next()` gives null afterwards. */
  close(): void {
    if (this.#released) return;
    this.#released = true;
    this.#ended = true;
    this.#endedUs = this.#view.nowUs();
    this.#view.release();
  }
}

function before(a: RowKey, b: RowKey): boolean {
  return a.eventTs !== b.eventTs ? a.eventTs < b.eventTs : a.id < b.id;
}

/** First segment that reaches `time` or beyond. */
function firstReaching(segments: readonly SegmentFile[], time: number): number {
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
