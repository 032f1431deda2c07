// A memtable: rows that are in the log but not yet in a segment. It has an instance of its own, or
// is one of many small memtables in an instance.

import type { Separator } from './abi-fields.ts';
import type { Core } from './load.ts';
import { MemtableHost } from './memtable-host.ts';
import type { RangeSet } from './ranges.ts';
import { allocate, Region } from './region.ts';
import { type RowWorkspace, STEP_ROWS, STEP_STATE, type StepResult, type TextSink } from './row-output.ts';
import type { RowPlan } from './row-plan.ts';
import { coreError, STATUS } from './status.ts';

/**
 * Approximate memory in bytes: of a row in addition to its record, and of a memtable in addition to
 * its rows.
 */
const ROW_BYTES = 40;
const SMALL_BYTES = 1024;

/**
 * If more rows than this are unsorted after an append of several rows, they are sorted at once. The
 * sort of this number takes a few milliseconds.
 */
const MOST_UNSORTED = 32768;

export class CoreMemtable {
  readonly host: MemtableHost;
  readonly #core: Core;
  #handle: number;
  readonly #work: RowWorkspace;
  /** Rows and bytes reserved but not yet appended. */
  #reservedRows = 0;
  #reservedBytes = 0;

  /** `baseLsn`: every row has a greater LSN. Throws `overloaded`. */
  constructor(host: MemtableHost, bucketSeconds: number, baseLsn: number) {
    const { core } = host;
    this.host = host;
    this.#core = core;
    this.#handle = core.exports.hg_memtable_new(bucketSeconds, baseLsn) >>> 0;
    if (this.#handle === 0) throw coreError(STATUS.outOfMemory, 'hg_memtable_new');
    this.#work = host.work;
    host.memtables++;
  }

  /** Creates a memtable with an instance of its own. */
  static alone(core: Core, bucketSeconds: number, baseLsn: number): CoreMemtable {
    return new CoreMemtable(new MemtableHost(core), bucketSeconds, baseLsn);
  }

  /** Returns the memtable's memory to the instance. The memtable must not be used afterwards. */
  free(): void {
    if (this.#handle === 0) throw new Error('a memtable is freed twice');
    this.#core.exports.hg_memtable_free(this.#handle);
    this.#handle = 0;
    this.host.memtables--;
  }

  /**
   * Number of bytes of linear memory in use: the whole instance if the memtable is alone in it,
   * otherwise approximately the memtable's share.
   */
  get residentBytes(): number {
    if (this.#handle === 0) return 0;
    return this.host.memtables === 1 ? this.#core.memory.size : this.recordBytes + this.rows * ROW_BYTES + SMALL_BYTES;
  }

  get rows(): number {
    return this.#core.exports.hg_memtable_field(this.#handle, 0) >>> 0;
  }

  get deadRows(): number {
    return this.#core.exports.hg_memtable_field(this.#handle, 1) >>> 0;
  }

  get buckets(): number {
    return this.#core.exports.hg_memtable_field(this.#handle, 2) >>> 0;
  }

  get recordBytes(): number {
    return this.#core.exports.hg_memtable_field(this.#handle, 3) >>> 0;
  }

  /** Number of appended and reserved rows. */
  get takenRows(): number {
    return this.rows + this.#reservedRows;
  }

  /** Size in bytes of the appended and reserved records. */
  get takenBytes(): number {
    return this.recordBytes + this.#reservedBytes;
  }

  /**
   * Reserves space for `rows` records with a total of `bytes` bytes, so that appending them cannot
   * fail; returns the address of this space. Throws `overloaded`, with nothing reserved, if out of
   * memory.
   */
  reserve(bytes: number, rows: number): number {
    const pointer = this.#core.exports.hg_memtable_reserve(this.#handle, bytes, rows) >>> 0;
    if (pointer === 0) throw coreError(STATUS.outOfMemory, 'hg_memtable_reserve');
    this.#reservedRows += rows;
    this.#reservedBytes += bytes;
    return pointer;
  }

  /** Releases reserved space to which no records will be appended. */
  unreserve(reserved: number, bytes: number, rows: number): void {
    this.#core.exports.hg_memtable_unreserve(this.#handle, reserved, bytes, rows);
    this.#reservedRows -= rows;
    this.#reservedBytes -= bytes;
  }

  /**
   * Fills reserved space with records and appends these with the LSNs `firstLsn`, `firstLsn + 1`,
   * ... Cannot run out of memory.
   */
  append(reserved: number, records: Uint8Array, count: number, firstLsn: number): void {
    this.#core.memory.write(reserved, records);
    const { exports } = this.#core;
    const status = exports.hg_memtable_append(this.#handle, reserved, count, firstLsn);
    if (status < 0) throw coreError(status, 'hg_memtable_append');
    this.#reservedRows -= count;
    this.#reservedBytes -= records.length;
    // The status is ignored. If there is no memory for the sort, a later reader sorts the rows or
    // receives the error.
    if (count > 1 && this.rows - this.#ordered > MOST_UNSORTED) exports.hg_memtable_sort(this.#handle);
  }

  get #ordered(): number {
    return this.#core.exports.hg_memtable_field(this.#handle, 5) >>> 0;
  }

  /**
   * Extends the node index by at most `limit` rows; returns true once the index is complete. A
   * lookup indexes the remaining rows itself, however long that takes.
   */
  index(limit: number): boolean {
    const left = this.#core.exports.hg_memtable_index(this.#handle, limit);
    if (left < 0) throw coreError(left, 'hg_memtable_index');
    return left === 0;
  }

  /**
   * Checks records that were read from a file, before they are appended. Returns the offset of the
   * first bad record, or -1.
   */
  checkRecords(reserved: number, records: Uint8Array, count: number): number {
    this.#core.memory.write(reserved, records);
    const status = this.#core.exports.hg_records_check(reserved, records.length, count);
    return status < 0 ? this.#core.exports.hg_result_offset() >>> 0 : -1;
  }

  sort(): void {
    const status = this.#core.exports.hg_memtable_sort(this.#handle);
    if (status < 0) throw coreError(status, 'hg_memtable_sort');
  }

  /** Returns the first position in key order whose key is >= (event_ts, id). */
  seek(eventTs: number, id: number): number {
    this.sort();
    return this.#core.exports.hg_memtable_seek(this.#handle, eventTs, id) >>> 0;
  }

  /**
   * Returns the first position in [from, to) whose row is visible at `lsn`, and fills `result` with
   * the key of this row. Returns -1 if there is no such row.
   */
  peek(from: number, to: number, lsn: number, result: { eventTs: number; id: number }): number {
    const { exports, memory } = this.#core;
    const n = exports.hg_memtable_rows(this.#handle, from, to, lsn, this.#work.rows, 1);
    if (n === 0) return -1;
    const position = (exports.hg_result_rows() >>> 0) - 1;
    exports.hg_memtable_key(this.#handle, memory.words[this.#work.rows / 4]!, this.#work.key);
    result.eventTs = memory.numbers[this.#work.key / 8]!;
    result.id = memory.numbers[this.#work.key / 8 + 1]!;
    return position;
  }

  /**
   * Writes row text for the visible rows at positions [from, to), without those in `hidden`; works
   * like `ResidentSegment.step`. Returns the position to continue from.
   */
  step(
    from: number,
    to: number,
    lsn: number,
    limit: number,
    hidden: ReadonlySet<number> | undefined,
    plan: RowPlan,
    separator: Separator,
    sink: TextSink,
    result: StepResult,
  ): number {
    const { exports } = this.#core;
    const rows = this.#work.rows;
    let n = exports.hg_memtable_rows(this.#handle, from, to, lsn, rows, Math.min(STEP_ROWS, limit)) >>> 0;
    let next = exports.hg_result_rows() >>> 0;
    if (hidden !== undefined && hidden.size > 0) n = this.#hide(n, hidden);
    result.rows = 0;
    result.state = next >= to ? STEP_STATE.end : STEP_STATE.more;
    if (n === 0) return next;
    const done = this.#writeRows(n, plan, separator, sink, result);
    if (done < n) {
      next = this.seek(result.lastTs, result.lastId + 1);
      result.state = STEP_STATE.more;
    }
    return next;
  }

  /** Removes hidden rows from the workspace's list; returns how many remain. */
  #hide(n: number, hidden: ReadonlySet<number>): number {
    const words = this.#core.memory.words;
    const at = this.#work.rows / 4;
    let kept = 0;
    for (let i = 0; i < n; i++) {
      const row = words[at + i]!;
      if (!hidden.has(row)) words[at + kept++] = row;
    }
    return kept;
  }

  /** Writes the first n rows of the workspace's list as text; returns how many fitted. */
  #writeRows(n: number, plan: RowPlan, separator: Separator, sink: TextSink, result: StepResult): number {
    const { exports, memory } = this.#core;
    const work = this.#work;
    const first = memory.words[work.rows / 4]!;
    const rowNumbers = memory.words.slice(work.rows / 4, work.rows / 4 + n);
    result.buckets = exports.hg_memtable_row_buckets(this.#handle, work.rows, n) >>> 0;
    exports.hg_memtable_addresses(this.#handle, work.rows, n);
    const planAt = work.plan(plan);
    let written = exports.hg_records_json(work.rows, n, planAt, separator, work.text.pointer, work.text.bytes);
    if (written === STATUS.tooSmall) {
      work.text.ensure(exports.hg_result_needed() >>> 0);
      written = exports.hg_records_json(work.rows, n, planAt, separator, work.text.pointer, work.text.bytes);
    }
    if (written < 0) throw coreError(written, 'hg_records_json');
    const done = exports.hg_result_rows() >>> 0;
    result.rows = done;
    sink.append(memory.borrow(work.text.pointer, written));
    exports.hg_memtable_key(this.#handle, first, work.key);
    result.firstTs = memory.numbers[work.key / 8]!;
    exports.hg_memtable_key(this.#handle, rowNumbers[done - 1]!, work.key);
    result.lastTs = memory.numbers[work.key / 8]!;
    result.lastId = memory.numbers[work.key / 8 + 1]!;
    if (done < n) {
      memory.words.set(rowNumbers.subarray(0, done), work.rows / 4);
      result.buckets = exports.hg_memtable_row_buckets(this.#handle, work.rows, done) >>> 0;
    }
    return done;
  }

  /**
   * Returns the rows that are within the bounds, contain all nodes and are visible at `lsn`, in key
   * order. Row numbers stay valid as long as the memtable exists.
   */
  lookup(nodes: readonly number[], startTs: number, startId: number, endTs: number, lsn: number): Uint32Array {
    const { exports, memory } = this.#core;
    this.#work.setNodes(nodes);
    const call = (out: number, capacity: number) =>
      exports.hg_memtable_lookup(
        this.#handle,
        this.#work.nodes,
        nodes.length,
        startTs,
        startId,
        endTs,
        lsn,
        out,
        capacity,
      );
    let count = call(this.#work.rows, STEP_ROWS);
    let out = this.#work.rows;
    let region: Region | undefined;
    if (count === STATUS.tooSmall) {
      const needed = exports.hg_result_needed() >>> 0;
      region = new Region(this.#core, needed * 4);
      out = region.pointer;
      count = call(out, needed);
    }
    const rows = count > 0 ? memory.words.slice(out / 4, out / 4 + count) : new Uint32Array(0);
    region?.free();
    if (count < 0) throw coreError(count, 'hg_memtable_lookup');
    return rows;
  }

  /** Returns the result of `hg_memtable_greatest` (assembly/README.md). */
  greatestFrom(column: number, from: number): number {
    return this.#core.exports.hg_memtable_greatest(this.#handle, column, from);
  }

  /** Returns those of the given rows whose values are in all ranges, in the same order. */
  filter(rows: Uint32Array, ranges: RangeSet): Uint32Array {
    const { exports, memory } = this.#core;
    const kept = new Uint32Array(rows.length);
    const at = this.#work.ranges(ranges);
    let count = 0;
    for (let from = 0; from < rows.length; from += STEP_ROWS) {
      const chunk = rows.subarray(from, from + STEP_ROWS);
      const list = this.#work.rows;
      memory.words.set(chunk, list / 4);
      const n = exports.hg_memtable_filter(this.#handle, list, chunk.length, at, ranges.ranges.length) >>> 0;
      kept.set(memory.words.subarray(list / 4, list / 4 + n), count);
      count += n;
    }
    return kept.subarray(0, count);
  }

  /**
   * Returns, in order, the first rows at positions [from, to) that are visible at `lsn`: at most
   * `limit` and at most STEP_ROWS. `next` is the position to continue from.
   */
  visibleRows(
    from: number,
    to: number,
    lsn: number,
    limit = STEP_ROWS,
  ): { rows: Uint32Array; next: number; buckets: number } {
    const { exports, memory } = this.#core;
    const list = this.#work.rows;
    const n = exports.hg_memtable_rows(this.#handle, from, to, lsn, list, Math.min(limit, STEP_ROWS)) >>> 0;
    const next = exports.hg_result_rows() >>> 0;
    const buckets = exports.hg_memtable_row_buckets(this.#handle, list, n) >>> 0;
    return { rows: memory.words.slice(list / 4, list / 4 + n), next, buckets };
  }

  /**
   * Writes the given rows (from `lookup` or `filter`) as text, as many as fit in one buffer.
   * Returns the number of rows written.
   */
  stepRows(rows: Uint32Array, plan: RowPlan, separator: Separator, sink: TextSink, result: StepResult): number {
    const n = Math.min(rows.length, STEP_ROWS);
    this.#core.memory.words.set(rows.subarray(0, n), this.#work.rows / 4);
    return this.#writeRows(n, plan, separator, sink, result);
  }

  /** Returns the key of the row at a position in key order, visible or not. */
  keyAt(position: number): { eventTs: number; id: number } {
    return this.keyOf(this.rowAt(position));
  }

  /** Returns the number of the row at a position in key order. */
  rowAt(position: number): number {
    this.sort();
    return this.#core.exports.hg_memtable_at(this.#handle, position) >>> 0;
  }

  keyOf(row: number): { eventTs: number; id: number } {
    this.#core.exports.hg_memtable_key(this.#handle, row, this.#work.key);
    const numbers = this.#core.memory.numbers;
    return { eventTs: numbers[this.#work.key / 8]!, id: numbers[this.#work.key / 8 + 1]! };
  }

  /** Returns the rows alive at `lsn` that have the record's time and member set. */
  match(record: Uint8Array, lsn: number): Uint32Array {
    this.sort();
    const { exports, memory } = this.#core;
    const pointer = allocate(this.#core, record.length);
    memory.write(pointer, record);
    let count = exports.hg_memtable_match(this.#handle, pointer, lsn, this.#work.rows, STEP_ROWS) >>> 0;
    let out = this.#work.rows;
    let region: Region | undefined;
    if (count > STEP_ROWS) {
      region = new Region(this.#core, count * 4);
      out = region.pointer;
      count = exports.hg_memtable_match(this.#handle, pointer, lsn, out, count) >>> 0;
    }
    const rows = memory.words.slice(out / 4, out / 4 + count);
    region?.free();
    exports.hg_memory_free(pointer);
    return rows;
  }

  /** Returns the live row with exactly this key, or -1. */
  find(eventTs: number, id: number): number {
    this.sort();
    return this.#core.exports.hg_memtable_find(this.#handle, eventTs, id);
  }

  /** Returns the row with exactly this key that is visible to a snapshot at `lsn`, or -1. */
  findAt(eventTs: number, id: number, lsn: number): number {
    const from = this.seek(eventTs, id);
    const to = this.seek(eventTs, id + 1);
    const { exports, memory } = this.#core;
    const n = exports.hg_memtable_rows(this.#handle, from, to, lsn, this.#work.rows, 1);
    return n === 0 ? -1 : memory.words[this.#work.rows / 4]!;
  }

  /** Marks a row as dead from `lsn` on; returns false if it was already dead. */
  kill(row: number, lsn: number): boolean {
    return this.#core.exports.hg_memtable_kill(this.#handle, row, lsn) === 1;
  }

  /**
   * Copies the records of the rows at positions [from, to) that are visible at `lsn`, in order, to
   * `target` from byte `offset` on. `target` must have space for all of them. Returns the offset
   * after the last record, and the number of rows.
   */
  copyRecords(
    from: number,
    to: number,
    lsn: number,
    target: Uint8Array,
    offset: number,
  ): { end: number; rows: number } {
    const { exports, memory } = this.#core;
    let end = offset;
    let rows = 0;
    let at = from;
    while (at < to) {
      const n = exports.hg_memtable_rows(this.#handle, at, to, lsn, this.#work.rows, STEP_ROWS) >>> 0;
      at = exports.hg_result_rows() >>> 0;
      exports.hg_memtable_addresses(this.#handle, this.#work.rows, n);
      rows += n;
      let done = 0;
      while (done < n) {
        const text = this.#work.text;
        const size = exports.hg_records_copy(this.#work.rows + done * 4, n - done, text.pointer, text.bytes);
        if (size === STATUS.tooSmall) {
          text.ensure(exports.hg_result_needed() >>> 0);
          continue;
        }
        done += exports.hg_result_rows() >>> 0;
        target.set(memory.borrow(text.pointer, size), end);
        end += size;
      }
    }
    return { end, rows };
  }

  /** Returns a copy of the records of at most STEP_ROWS rows, in the given order. */
  recordsOf(list: Uint32Array): Uint8Array {
    const { exports, memory } = this.#core;
    const { text, rows } = this.#work;
    memory.words.set(list, rows / 4);
    exports.hg_memtable_addresses(this.#handle, rows, list.length);
    const pieces: Uint8Array[] = [];
    for (let done = 0; done < list.length; ) {
      const size = exports.hg_records_copy(rows + done * 4, list.length - done, text.pointer, text.bytes);
      if (size === STATUS.tooSmall) {
        text.ensure(exports.hg_result_needed() >>> 0);
        continue;
      }
      done += exports.hg_result_rows() >>> 0;
      pieces.push(memory.copyOut(text.pointer, size));
    }
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  }

  /**
   * Sums the sizes of the records at positions [from, to) in key order, visible or not: sets
   * `sums[p + 1]` to `sums[p]` + the size in bytes of the record at position p.
   */
  sumBytes(from: number, to: number, sums: Uint32Array): void {
    this.sort();
    const { exports, memory } = this.#core;
    const list = this.#work.rows;
    for (let at = from; at < to; at += STEP_ROWS) {
      const n = Math.min(STEP_ROWS, to - at);
      const status = exports.hg_memtable_sums(this.#handle, at, n, sums[at]!, list);
      if (status < 0) throw coreError(status, 'hg_memtable_sums');
      sums.set(memory.words.subarray(list / 4, list / 4 + n), at + 1);
    }
  }

  /**
   * Returns the number of rows at positions [from, to) that are visible at `lsn`, and the number of
   * their buckets, where a bucket is counted again if its rows are in several batches of STEP_ROWS
   * rows.
   */
  count(from: number, to: number, lsn: number): { rows: number; buckets: number } {
    const { exports } = this.#core;
    let rows = 0;
    let buckets = 0;
    let at = from;
    while (at < to) {
      const n = exports.hg_memtable_rows(this.#handle, at, to, lsn, this.#work.rows, STEP_ROWS) >>> 0;
      at = exports.hg_result_rows() >>> 0;
      rows += n;
      buckets += exports.hg_memtable_row_buckets(this.#handle, this.#work.rows, n) >>> 0;
    }
    return { rows, buckets };
  }

  /** Returns the distinct nodes of all rows, including dead rows, in no particular order. */
  nodeIds(): Float64Array {
    const { exports, memory } = this.#core;
    const count = exports.hg_memtable_nodes(this.#handle, this.#work.nodes, 0);
    if (count < 0) throw coreError(count, 'hg_memtable_nodes');
    const region = new Region(this.#core, Math.max(8, count * 8));
    exports.hg_memtable_nodes(this.#handle, region.pointer, count);
    const ids = memory.numbers.slice(region.pointer / 8, region.pointer / 8 + count);
    region.free();
    return ids;
  }
}
