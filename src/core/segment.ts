// A segment loaded into an instance of its own: its bytes are in linear memory and are queried in
// place.

import { SEPARATOR, type Separator } from './abi-fields.ts';
import type { Core } from './load.ts';
import { type NumericRange, type RangeSet, rangeFlags } from './ranges.ts';
import { Region } from './region.ts';
import {
  BLOCK_BYTES,
  RowWorkspace,
  STEP_ROWS,
  type StepBounds,
  type StepResult,
  type StepState,
  type TextSink,
} from './row-output.ts';
import type { RowPlan } from './row-plan.ts';
import { addCounts, addTally } from './segment-counts.ts';
import type { SegmentFacts } from './segment-facts.ts';
import { SegmentFold } from './segment-fold.ts';
import { matchRecord, textBlockAt } from './segment-parts.ts';
import { coreError, STATUS } from './status.ts';
import type { TextBlock } from './text-block.ts';

/**
 * Dead rows of a segment, ascending, with the LSN of each deletion. The engine keeps this list; it
 * is copied into the instance when it has changed.
 */
export interface DeadRows {
  readonly count: number;
  readonly rows: Uint32Array;
  readonly lsns: Float64Array;
  /** Changes whenever the list changes. */
  readonly version: number;
}

export class ResidentSegment {
  readonly #core: Core;
  readonly #base: number;
  readonly #handle: number;
  /** Null until it is first asked for. */
  #text: TextBlock | undefined | null = null;
  readonly #work: RowWorkspace;
  readonly facts: SegmentFacts;
  #dead: Region | undefined;
  #deadVersion = -1;
  #deadFor: DeadRows | undefined;

  /** Opens the checked file at `base` in the instance. Throws `overloaded`. */
  constructor(core: Core, base: number, facts: SegmentFacts) {
    this.#core = core;
    this.#base = base;
    this.facts = facts;
    this.#handle = core.exports.hg_segment_open(base) >>> 0;
    if (this.#handle === 0) throw coreError(STATUS.outOfMemory, 'hg_segment_open');
    this.#work = new RowWorkspace(core);
  }

  get core(): Core {
    return this.#core;
  }

  /** The text block over the rows; undefined if the segment has none. */
  get text(): TextBlock | undefined {
    if (this.#text === null) this.#text = textBlockAt(this.#core, this.#base, this.facts.rows);
    return this.#text;
  }

  /** Size in bytes of this instance's linear memory. */
  get residentBytes(): number {
    return this.#core.memory.size;
  }

  /** Returns the first row whose (event_ts, id) is >= the key. */
  seek(eventTs: number, id: number): number {
    return this.#core.exports.hg_segment_seek(this.#handle, eventTs, id) >>> 0;
  }

  /** Returns the row with exactly this key, or -1. */
  find(eventTs: number, id: number): number {
    return this.#core.exports.hg_segment_find(this.#handle, eventTs, id);
  }

  keyOf(row: number): { eventTs: number; id: number } {
    this.#core.exports.hg_segment_key(this.#handle, row, this.#work.key);
    const numbers = this.#core.memory.numbers;
    return { eventTs: numbers[this.#work.key / 8]!, id: numbers[this.#work.key / 8 + 1]! };
  }

  bucketsOf(from: number, to: number): number {
    return this.#core.exports.hg_segment_buckets(this.#handle, from, to) >>> 0;
  }

  /** Returns the rows with the record's time and member set, ascending, including dead rows. */
  match(record: Uint8Array): Uint32Array {
    return matchRecord(this.#core, this.#handle, this.#work.rows, record);
  }

  #uploadDead(dead: DeadRows): number {
    if (this.#deadFor === dead && this.#deadVersion === dead.version) return this.#dead!.pointer;
    const offset = (dead.count * 4 + 7) & ~7;
    this.#dead ??= new Region(this.#core, 1024);
    this.#dead.ensure(offset + dead.count * 8);
    const { pointer } = this.#dead;
    this.#core.memory.words.set(dead.rows.subarray(0, dead.count), pointer / 4);
    this.#core.memory.numbers.set(dead.lsns.subarray(0, dead.count), (pointer + offset) / 8);
    this.#deadFor = dead;
    this.#deadVersion = dead.version;
    return pointer;
  }

  /** Removes dead rows from the row list at `rows`; returns how many remain. */
  #reconcile(rows: number, n: number, dead: DeadRows, lsn: number): number {
    if (dead.count === 0 || n === 0) return n;
    const pointer = this.#uploadDead(dead);
    const offset = (dead.count * 4 + 7) & ~7;
    return this.#core.exports.hg_rows_reconcile(rows, n, pointer, pointer + offset, dead.count, lsn) >>> 0;
  }

  /** Copies the nodes of a lookup into the instance. Call it before a `step` with nodes. */
  setNodes(nodes: readonly number[]): void {
    this.#work.setNodes(nodes);
  }

  /**
   * Writes row text for live rows within the bounds, in one call into the core: at most `limit`
   * rows and at most one text buffer. If `nodeCount` is not 0, writes only rows that contain all
   * nodes of the last `setNodes`. Examines at most STEP_ROWS rows. Fills `result`, and returns the
   * row to continue from.
   */
  step(
    bounds: StepBounds,
    nodeCount: number,
    dead: DeadRows,
    lsn: number,
    limit: number,
    plan: RowPlan,
    separator: Separator,
    sink: TextSink,
    result: StepResult,
  ): number {
    const work = this.#work;
    const planAt = work.plan(plan);
    const deadAt = dead.count > 0 ? this.#uploadDead(dead) : 0;
    if (separator === SEPARATOR.columns) work.text.ensure(BLOCK_BYTES);
    const block = work.block;
    let bytes: number;
    do {
      const numbers = this.#core.memory.numbers;
      const at = block / 8;
      numbers[at] = bounds.lowTs;
      numbers[at + 1] = bounds.lowId;
      numbers[at + 2] = bounds.endTs;
      numbers[at + 3] = bounds.stopTs;
      numbers[at + 4] = bounds.stopId;
      numbers[at + 5] = lsn;
      numbers[at + 6] = limit;
      numbers[at + 7] = separator;
      numbers[at + 8] = nodeCount;
      numbers[at + 9] = dead.count;
      numbers[at + 10] = work.nodes;
      numbers[at + 11] = deadAt;
      numbers[at + 12] = deadAt + ((dead.count * 4 + 7) & ~7);
      numbers[at + 13] = planAt;
      numbers[at + 14] = work.rows;
      numbers[at + 15] = work.text.pointer;
      numbers[at + 16] = work.text.bytes;
      bytes = this.#core.exports.hg_segment_step(this.#handle, block);
      if (bytes === STATUS.tooSmall) work.text.ensure(this.#core.exports.hg_result_needed() >>> 0);
    } while (bytes === STATUS.tooSmall);
    if (bytes < 0) throw coreError(bytes, 'hg_segment_step');
    const numbers = this.#core.memory.numbers;
    const at = block / 8 + 17;
    result.rows = numbers[at]!;
    result.firstTs = numbers[at + 1]!;
    result.lastTs = numbers[at + 2]!;
    result.lastId = numbers[at + 3]!;
    result.buckets = numbers[at + 4]!;
    result.state = numbers[at + 6]! as StepState;
    const next = numbers[at + 5]!;
    if (bytes > 0) sink.append(this.#core.memory.borrow(work.text.pointer, bytes));
    return next;
  }

  /**
   * Returns whether there is a live row in [from, to) that contains the nodes of the last
   * `setNodes`. If `nodeCount` is 0, any live row counts.
   */
  hasRow(from: number, to: number, nodeCount: number, dead: DeadRows, lsn: number): boolean {
    const { exports } = this.#core;
    let at = from;
    while (at < to) {
      let n: number;
      if (nodeCount > 0) {
        n = exports.hg_segment_lookup(this.#handle, this.#work.nodes, nodeCount, at, to, this.#work.rows, STEP_ROWS);
        at = exports.hg_result_rows() >>> 0;
      } else {
        n = Math.min(to - at, STEP_ROWS);
        exports.hg_rows_range(at, at + n, this.#work.rows);
        at += n;
      }
      if (n > 0 && this.#reconcile(this.#work.rows, n, dead, lsn) > 0) return true;
    }
    return false;
  }

  /**
   * Returns how many rows of [from, to) contain a node, including dead rows. Cost: log2 nodes +
   * log2 rows.
   */
  countNode(node: number, from: number, to: number): number {
    return this.#core.exports.hg_segment_count(this.#handle, node, from, to) >>> 0;
  }

  /** Adds the numbers of rows of some nodes to counts, like `countNode` (segment-counts.ts). */
  countNodes(nodes: Float64Array, from: number, to: number, counts: Uint32Array): void {
    addCounts(this.#core, this.#handle, nodes, from, to, counts);
  }

  /** Adds the numbers of rows of the nodes from `least` on to counts (segment-counts.ts). */
  tallyNodes(least: number, from: number, to: number, counts: Uint32Array): void {
    addTally(this.#core, this.#handle, least, from, to, counts);
  }

  /**
   * Returns how many rows of the segment are in a range, including dead rows. Reads the sorted
   * index of the column; returns -1 if the segment has no such index. Cost: log2 rows.
   */
  countInOrder(range: NumericRange): number {
    const { column, low, high, nullIsIn, text } = range;
    // An order has no nulls, and texts have none.
    if (nullIsIn || text !== undefined) return -1;
    return Math.max(-1, this.#core.exports.hg_segment_psi_count(this.#handle, column, low, high, rangeFlags(range)));
  }

  /**
   * Returns the live rows of [from, to) that are in all ranges, ascending. If `driver` is given,
   * the rows are found through the index of its column: the tree of the ends if nulls are in the
   * range, otherwise the sorted index, which must exist. If there is no driver, and
   * `nodeCount` is not 0, only rows that contain all nodes of the last `setNodes` are returned. The
   * work is bounded by the rows of one segment.
   */
  listRows(
    from: number,
    to: number,
    nodeCount: number,
    ranges: RangeSet,
    driver: NumericRange | undefined,
    dead: DeadRows,
    lsn: number,
  ): Uint32Array {
    const { exports, memory } = this.#core;
    const region = new Region(this.#core, this.facts.rows * 4 + exports.HG_ROWS_SLACK_BYTES.value);
    try {
      const found = this.#candidates(region, from, to, nodeCount, driver);
      const live = this.#reconcile(found.pointer, found.count, dead, lsn);
      const at = this.#work.ranges(ranges);
      const n = exports.hg_segment_filter(this.#handle, found.pointer, live, at, ranges.ranges.length);
      if (n < 0) throw coreError(n, 'hg_segment_filter');
      return memory.words.slice(found.pointer / 4, found.pointer / 4 + n);
    } finally {
      region.free();
    }
  }

  /**
   * Returns the live rows of [from, to), or of a list, for aggregates over columns. Free the result
   * within the same turn of the event loop.
   */
  fold(rows: Uint32Array | { from: number; to: number }, dead: DeadRows, lsn: number): SegmentFold {
    const fold = new SegmentFold(this.#core, this.#handle, this.facts.rows);
    if (rows instanceof Uint32Array) fold.selectRows(rows);
    else fold.selectWindow(rows.from, rows.to);
    if (dead.count > 0) {
      const pointer = this.#uploadDead(dead);
      fold.drop(pointer, pointer + ((dead.count * 4 + 7) & ~7), dead.count, lsn);
    }
    return fold;
  }

  /** Does the same as `listRows` for rows that contain at least one of the nodes. */
  listAnyOf(from: number, to: number, nodes: Float64Array, ranges: RangeSet, dead: DeadRows, lsn: number): Uint32Array {
    const { exports, memory } = this.#core;
    const region = new Region(this.#core, this.facts.rows * 4 + exports.HG_ROWS_SLACK_BYTES.value);
    try {
      const { pointer } = region;
      const isFound = new Uint8Array(this.facts.rows);
      for (const node of nodes) {
        this.#work.setNodes([node]);
        const n = exports.hg_segment_lookup(this.#handle, this.#work.nodes, 1, from, to, pointer, this.facts.rows);
        if (n < 0) throw coreError(n, 'hg_segment_lookup');
        const rows = memory.words;
        for (let at = pointer / 4, end = at + n; at < end; at++) isFound[rows[at]!] = 1;
      }
      const rows = memory.words;
      let count = 0;
      for (let row = from; row < to; row++) if (isFound[row] === 1) rows[pointer / 4 + count++] = row;
      return this.#filtered(region, count, ranges, dead, lsn);
    } finally {
      region.free();
    }
  }

  /** Returns those of some ascending rows that are alive and in all ranges. */
  keptOf(rows: Uint32Array, ranges: RangeSet, dead: DeadRows, lsn: number): Uint32Array {
    if (ranges.ranges.length === 0 && dead.count === 0) return rows.slice();
    const region = new Region(this.#core, rows.length * 4 + this.#core.exports.HG_ROWS_SLACK_BYTES.value);
    try {
      this.#core.memory.words.set(rows, region.pointer / 4);
      return this.#filtered(region, rows.length, ranges, dead, lsn);
    } finally {
      region.free();
    }
  }

  /** Returns the rows of the list in `region` that are alive and in all ranges. */
  #filtered(region: Region, count: number, ranges: RangeSet, dead: DeadRows, lsn: number): Uint32Array {
    const { exports, memory } = this.#core;
    const { pointer } = region;
    let n = this.#reconcile(pointer, count, dead, lsn);
    if (ranges.ranges.length > 0) {
      n = exports.hg_segment_filter(this.#handle, pointer, n, this.#work.ranges(ranges), ranges.ranges.length);
      if (n < 0) throw coreError(n, 'hg_segment_filter');
    }
    return memory.words.slice(pointer / 4, pointer / 4 + n);
  }

  #candidates(
    region: Region,
    from: number,
    to: number,
    nodeCount: number,
    driver: NumericRange | undefined,
  ): { pointer: number; count: number } {
    const { exports } = this.#core;
    const { pointer } = region;
    if (driver?.nullIsIn) {
      const count = exports.hg_segment_stab(this.#handle, driver.column, driver.low, from, to, pointer);
      return { pointer, count: count >>> 0 };
    }
    if (driver !== undefined) return this.#inOrder(pointer, from, to, driver);
    if (nodeCount === 0) {
      exports.hg_rows_range(from, to, pointer);
      return { pointer, count: to - from };
    }
    let count = 0;
    for (let at = from; at < to; at = exports.hg_result_rows() >>> 0) {
      const { nodes } = this.#work;
      const room = this.facts.rows - count;
      const n = exports.hg_segment_lookup(this.#handle, nodes, nodeCount, at, to, pointer + count * 4, room);
      if (n < 0) throw coreError(n, 'hg_segment_lookup');
      count += n;
    }
    return { pointer, count };
  }

  #inOrder(out: number, from: number, to: number, range: NumericRange): { pointer: number; count: number } {
    const { exports, memory } = this.#core;
    const { column, low, high } = range;
    const n = exports.hg_segment_psi(this.#handle, column, low, high, rangeFlags(range), out, this.facts.rows);
    if (n < 0) throw coreError(n, 'hg_segment_psi');
    const rows = memory.words.subarray(out / 4, out / 4 + n);
    const first = lowerBound(rows, from);
    return { pointer: out + first * 4, count: lowerBound(rows, to) - first };
  }

  /**
   * Writes the given rows as text, as many as fit in one buffer. Returns the number of rows
   * written.
   */
  stepRows(rows: Uint32Array, plan: RowPlan, separator: Separator, sink: TextSink, result: StepResult): number {
    const { exports, memory } = this.#core;
    const work = this.#work;
    const n = Math.min(rows.length, STEP_ROWS);
    memory.words.set(rows.subarray(0, n), work.rows / 4);
    const planAt = work.plan(plan);
    const { text } = work;
    let written = exports.hg_segment_json(this.#handle, work.rows, n, planAt, separator, text.pointer, text.bytes);
    if (written === STATUS.tooSmall) {
      text.ensure(exports.hg_result_needed() >>> 0);
      written = exports.hg_segment_json(this.#handle, work.rows, n, planAt, separator, text.pointer, text.bytes);
    }
    if (written < 0) throw coreError(written, 'hg_segment_json');
    const done = exports.hg_result_rows() >>> 0;
    sink.append(memory.borrow(text.pointer, written));
    const last = this.keyOf(rows[done - 1]!);
    result.rows = done;
    result.firstTs = this.keyOf(rows[0]!).eventTs;
    result.lastTs = last.eventTs;
    result.lastId = last.id;
    result.buckets = exports.hg_segment_row_buckets(this.#handle, work.rows, done) >>> 0;
    return done;
  }

  /**
   * Exports live rows of [from, to) as records to the start of `out`: at most `limit` bytes, but at
   * least one row, for which `out` may grow beyond the limit. Omits texts that are equal to the
   * default of their column in `columns`. Returns the number of bytes written and the row to
   * continue from. The regions must belong to this segment's instance; compaction therefore opens
   * segments in its own instance.
   */
  exportSlice(
    from: number,
    to: number,
    dead: DeadRows,
    lsn: number,
    columns: { pointer: number; count: number },
    limit: number,
    out: Region,
  ): { bytes: number; next: number } {
    const { exports } = this.#core;
    const list = this.#work.rows;
    let written = 0;
    for (let at = from; at < to; at += STEP_ROWS) {
      const count = Math.min(STEP_ROWS, to - at);
      exports.hg_rows_range(at, at + count, list);
      const n = this.#reconcile(list, count, dead, lsn);
      for (let done = 0; done < n; ) {
        const room = Math.min(limit, out.bytes) - written;
        const size = this.#exportInto(list + done * 4, n - done, columns, out.pointer + written, room);
        if (size === STATUS.tooSmall) {
          const needed = written + (exports.hg_result_needed() >>> 0);
          if (needed <= limit) out.extend(Math.min(limit, Math.max(needed, out.bytes * 2)), written);
          else if (written > 0) return { bytes: written, next: this.#core.memory.words[list / 4 + done]! };
          else {
            // A row larger than the limit is a slice of its own.
            out.ensure(needed);
            const row = this.#core.memory.words[list / 4 + done]!;
            const bytes = this.#exportInto(list + done * 4, 1, columns, out.pointer, out.bytes);
            if (bytes < 0) throw coreError(bytes, 'hg_segment_records_short');
            return { bytes, next: row + 1 };
          }
          continue;
        }
        if (size < 0) throw coreError(size, 'hg_segment_records_short');
        done += exports.hg_result_rows() >>> 0;
        written += size;
      }
    }
    return { bytes: written, next: to };
  }

  #exportInto(
    rows: number,
    n: number,
    columns: { pointer: number; count: number },
    out: number,
    capacity: number,
  ): number {
    const { exports } = this.#core;
    return exports.hg_segment_records_short(this.#handle, rows, n, columns.pointer, columns.count, out, capacity);
  }

  /** Returns a copy of the records of at most STEP_ROWS rows, in the given order. */
  recordsOf(rows: Uint32Array): Uint8Array {
    const { exports, memory } = this.#core;
    const { text, rows: list } = this.#work;
    memory.words.set(rows, list / 4);
    const pieces: Uint8Array[] = [];
    for (let done = 0; done < rows.length; ) {
      const at = list + done * 4;
      const left = rows.length - done;
      const size = exports.hg_segment_records_short(this.#handle, at, left, 0, 0, text.pointer, text.bytes);
      if (size === STATUS.tooSmall) {
        text.ensure(exports.hg_result_needed() >>> 0);
        continue;
      }
      if (size < 0) throw coreError(size, 'hg_segment_records_short');
      done += exports.hg_result_rows() >>> 0;
      pieces.push(memory.copyOut(text.pointer, size));
    }
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  }

  /** Returns the distinct node ids, ascending. */
  nodeIds(): Float64Array {
    const { exports, memory } = this.#core;
    const region = new Region(this.#core, this.facts.nodes * 8);
    const n = exports.hg_segment_nodes(this.#handle, 0, region.pointer, this.facts.nodes) >>> 0;
    const ids = memory.numbers.slice(region.pointer / 8, region.pointer / 8 + n);
    region.free();
    return ids;
  }
}

/** Returns the first index in an ascending list whose value is >= `value`. */
export function lowerBound(rows: Uint32Array, value: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rows[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
