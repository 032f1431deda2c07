// Reads the rows of a request segment by segment, for aggregates over columns. A segment is read as
// a selection of rows or as cached figures. Rows in memtables are read as column blocks.

import {
  type ColumnPlan,
  ID_RANGE,
  ONE_CODE,
  type RangeSet,
  type ResidentSegment,
  ROW_FIELD,
  type RowField,
  type SegmentFold,
  type StepBounds,
  WANT,
} from '../../core/index.ts';
import type { SegmentFile } from '../table/segment-file.ts';
import { cheapestOrder } from '../table/segment-matches.ts';
import type { ScanBounds } from '../types.ts';
import { Scan } from './scan.ts';
import { boundsOf, chooseSegments, deadOf, LOAD_US, type ScanSource, type ScanView } from './scan-view.ts';

const NO_NODES: readonly number[] = [];
/**
 * If the sort order of a column finds fewer than one in this many rows of a segment, reading the
 * rows found as blocks is cheaper than a selection.
 */
const SPARSE_SHARE = 16;

/** The rows of the request in one segment. */
export interface SegmentPart {
  readonly segment: SegmentFile;
  /** Whether the request covers all rows of the segment and all of them are live. */
  readonly isWhole: boolean;
  /**
   * Whether a column's sort order finds only few rows, which should then be read with `blocks`.
   * Throws `table_corrupt`.
   */
  readonly isSparse: boolean;
  /**
   * Loads the segment for a few milliseconds at most, and returns whether it is in memory then.
   * Otherwise call it again in the next step. Without it, the other functions load the segment at
   * once. Throws `table_corrupt` or `overloaded`.
   */
  load(): boolean;
  /** Returns whether the figures of a field are cached; `figures` then needs no segment. */
  hasFigures(field: RowField): boolean;
  /**
   * Selects the live rows within the bounds and ranges. The selection must be freed in the same
   * event loop turn. Throws `table_corrupt`.
   */
  open(): SegmentFold;
  /**
   * Returns the count, sum, minimum and maximum of a numeric field. `isWhole` must be true, and the
   * segment must have the field. The figures are cached, so later calls read no rows. Throws
   * `table_corrupt`.
   */
  figures(field: RowField): Float64Array;
  /**
   * Adds to each count the number of rows that contain the node at the same index of `nodes`, which
   * ascend strictly, and returns true. Returns false and adds nothing if the segment has dead rows
   * or the request has ranges. Reads no rows. Throws `table_corrupt`.
   */
  countNodes(nodes: Float64Array, counts: Uint32Array): boolean;
  /**
   * Does the same as `countNodes` for all nodes from `least` on: the count of a node is at index
   * node - `least`. Faster if there are about as many nodes as in the segment. Pauses by yielding.
   */
  tallyNodes(least: number, counts: Uint32Array): Generator<null, boolean, void>;
}

/** Number of nodes that one step of `tallyNodes` counts at most. */
const TALLIED_AT_ONCE = 2 ** 16;

export class SegmentScan {
  readonly #source: ScanSource;
  readonly #view: ScanView;
  readonly #request: ScanBounds;
  readonly #ranges: RangeSet | undefined;
  readonly #bounds: StepBounds;
  readonly #segments: readonly SegmentFile[];
  #next = 0;
  #lastBucket = Number.NaN;
  #closed = false;
  /** Number of buckets touched in segments that were opened or whose figures were used. */
  buckets = 0;

  /** `request` must have no nodes, limit or cursor. `close` releases the version of the view. */
  constructor(source: ScanSource, view: ScanView, request: ScanBounds, ranges: RangeSet | undefined) {
    this.#source = source;
    this.#view = view;
    this.#request = request;
    this.#ranges = ranges;
    this.#bounds = boundsOf(request);
    this.#segments = chooseSegments(source, view.version, NO_NODES, ranges, this.#bounds);
  }

  /**
   * Returns the next segment that may have rows, or undefined at the end. Throws `table_corrupt`.
   */
  next(): SegmentPart | undefined {
    const segment = this.#segments[this.#next++];
    if (segment === undefined) return undefined;
    const { lowTs, endTs } = this.#bounds;
    const { facts } = segment;
    const isInside = facts.timeMin >= lowTs && facts.timeMax <= endTs;
    const source = this.#source;
    const ranges = this.#ranges;
    const isWhole = isInside && ranges === undefined && deadOf(this.#view, segment).count === 0;
    return {
      segment,
      isWhole,
      get isSparse() {
        return ranges !== undefined && isSparse(segment, source.resident(segment), ranges);
      },
      load: () => source.residentBy(segment, source.nowUs() + LOAD_US) !== undefined,
      hasFigures: (field) => segment.figures.has(figuresKey(field)),
      open: () => this.#open(segment, isInside),
      figures: (field) => this.#figures(segment, field),
      countNodes: (nodes, counts) => this.#countNodes(segment, isInside, nodes, counts),
      tallyNodes: (least, counts) => this.#tallyNodes(segment, isInside, least, counts),
    };
  }

  get #hasRanges(): boolean {
    return this.#ranges !== undefined && this.#ranges.ranges.length > 0;
  }

  #countNodes(segment: SegmentFile, isInside: boolean, nodes: Float64Array, counts: Uint32Array): boolean {
    if (this.#hasRanges || deadOf(this.#view, segment).count > 0) return false;
    const resident = this.#source.resident(segment);
    const { from, to } = this.#window(segment, resident, isInside);
    resident.countNodes(nodes, from, to, counts);
    return true;
  }

  *#tallyNodes(
    segment: SegmentFile,
    isInside: boolean,
    least: number,
    counts: Uint32Array,
  ): Generator<null, boolean, void> {
    if (this.#hasRanges || deadOf(this.#view, segment).count > 0) return false;
    const { nodeMin, nodeMax } = segment.facts;
    const { from, to } = this.#window(segment, this.#source.resident(segment), isInside);
    const end = Math.min(counts.length, nodeMax + 1 - least);
    for (let at = Math.max(0, nodeMin - least); at < end; at += TALLIED_AT_ONCE) {
      const part = counts.subarray(at, Math.min(end, at + TALLIED_AT_ONCE));
      // Another request may have taken the memory of the segment during a pause.
      this.#source.resident(segment).tallyNodes(least + at, from, to, part);
      yield null;
    }
    return true;
  }

  #open(segment: SegmentFile, isInside: boolean): SegmentFold {
    const resident = this.#source.resident(segment);
    const { from, to } = this.#window(segment, resident, isInside);
    const dead = deadOf(this.#view, segment);
    const ranges = this.#ranges;
    const held = ranges?.ranges.find(({ nullIsIn }) => nullIsIn);
    if (ranges !== undefined && held !== undefined)
      return resident.fold(resident.listRows(from, to, 0, ranges, held, dead, this.#view.lsn), dead, this.#view.lsn);
    const fold = resident.fold({ from, to }, dead, this.#view.lsn);
    for (const range of ranges?.ranges ?? [])
      fold.keepRange(
        { kind: range.column === ID_RANGE ? ROW_FIELD.id : ROW_FIELD.column, column: range.column },
        range,
      );
    return fold;
  }

  /** Returns the rows within the bounds of the request, and counts their buckets. */
  #window(segment: SegmentFile, resident: ResidentSegment, isInside: boolean): { from: number; to: number } {
    const { lowTs, endTs } = this.#bounds;
    const from = isInside ? 0 : resident.seek(lowTs, -Infinity);
    const to = isInside ? segment.facts.rows : resident.seek(endTs, Infinity);
    if (from < to) {
      const first = isInside ? segment.facts.timeMin : resident.keyOf(from).eventTs;
      const last = isInside ? segment.facts.timeMax : resident.keyOf(to - 1).eventTs;
      this.#count(isInside ? segment.facts.buckets : resident.bucketsOf(from, to), first, last);
    }
    return { from, to };
  }

  #count(buckets: number, first: number, last: number): void {
    const width = this.#source.bucketSeconds;
    this.buckets += buckets - (Math.floor(first / width) === this.#lastBucket ? 1 : 0);
    this.#lastBucket = Math.floor(last / width);
  }

  #figures(segment: SegmentFile, field: RowField): Float64Array {
    const { facts, figures } = segment;
    const key = figuresKey(field);
    let kept = figures.get(key);
    if (kept === undefined) {
      const fold = this.#open(segment, true);
      try {
        kept = fold.figures(field, ONE_CODE, WANT.count | WANT.sum | WANT.ends);
      } finally {
        fold.free();
      }
      figures.set(key, kept);
    } else this.#count(facts.buckets, facts.timeMin, facts.timeMax);
    return kept;
  }

  /**
   * Returns a scan of the request's rows in one segment or, if `segment` is undefined, in the
   * memtables and the overlay of a transaction. The caller must close the scan.
   */
  blocks(columns: ColumnPlan, segment: SegmentFile | undefined): Scan {
    this.#view.version.references++;
    const segments = segment === undefined ? [] : [segment];
    const request = { ...this.#request, format: 'columns' as const, columns };
    return new Scan(this.#source, this.#view, request, this.#ranges, { segments, memtables: segment === undefined });
  }

  /** Releases the version. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#source.unpin(this.#view.version);
  }
}

/** Column ids are below this. */
const FIELD_KEY = 65536;

/** Returns the key of the field's figures in `SegmentFile.figures`. */
function figuresKey(field: RowField): number {
  return field.kind * FIELD_KEY + field.column;
}

function isSparse({ facts }: SegmentFile, resident: ResidentSegment, ranges: RangeSet): boolean {
  return cheapestOrder(resident, ranges, Math.ceil(facts.rows / SPARSE_SHARE)) !== undefined;
}
