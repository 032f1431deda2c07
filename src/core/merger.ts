// Runs compactions in the core: merges sorted runs of records and old segments into new segment
// files.
//
// Memory is bounded by bytes, not by rows. A part has at most one old segment, and runs of new
// records; consecutive parts form a stretch. The rows of the segment are converted to records slice
// by slice. Each step merges one slice with those records of the runs whose key is below the first
// row after the slice. Merged records are held back until there are enough for two files, so that
// the last two files of a stretch can be split evenly:
//
//   held records --+
//   segment slice --+--> list of addresses in key order --> full files; the rest is held
//   runs up to key -+                                        for the next step or part
//
// Invariant: every held record precedes all input that is not merged yet, so the output of each
// step continues the previous output in key order. At the end of a stretch, as many rows have been
// written as were read.

import { type ColumnType, KIND_CODES, kindOfType } from '../model/column-types.ts';
import type { Core } from './load.ts';
import { allocate, Region } from './region.ts';
import type { DeadRows } from './segment.ts';
import { loadSegment } from './segment-load.ts';
import { coreError } from './status.ts';
import { type PlacedText, placeTextBlock } from './text-block.ts';
import { TextInputs, type TextSource } from './text-input.ts';

export interface BuilderColumn {
  id: number;
  type: ColumnType;
  indexed: boolean;
  /** Whether the column has the ends of intervals, so that segments get a tree of them. */
  ends: boolean;
  /**
   * Property entry (FORMAT.md section 1) that applies to records without the column; empty if this
   * value is null.
   */
  missing: Uint8Array;
}

/** A text index over the rows of new files. */
export interface MergedText extends TextSource {
  readonly tag: number;
}

export interface MergerOptions {
  /** Undefined if files get no text block. */
  text?: MergedText | undefined;
  tableId: number;
  bucketSeconds: number;
  columns: readonly BuilderColumn[];
  /**
   * Rows of an old segment with an earlier time are dropped. The caller leaves such rows out of the
   * runs.
   */
  cutoffTs: number;
  /** Maximum number of rows per file. */
  maxRows: number;
  /**
   * Maximum size in bytes of the records in a file, and of a slice of an old segment. A row that is
   * larger is a file or a slice of its own.
   */
  maxBytes: number;
}

/**
 * An old segment, of which only the rows with a key in [lower, upper) are merged. An undefined
 * bound does not restrict the rows.
 */
export interface MergedSegment {
  bytes: number;
  /** Checksum of the segment's header. */
  checksum: number;
  read: (target: Uint8Array) => void;
  dead: DeadRows;
  lsn: number;
  file: string;
  lower: { eventTs: number; id: number } | undefined;
  upper: { eventTs: number; id: number } | undefined;
}

/**
 * Receives a finished segment file. The bytes are a view of core memory that is valid until the
 * promise resolves.
 */
export type EmitSegment = (file: Uint8Array) => Promise<void>;

/** Minimum size in bytes of a record (FORMAT.md section 1). */
const LEAST_RECORD_BYTES = 26;
/**
 * Positions of the held records and of the segment's slice among the inputs of a merge. The new
 * runs have the positions from FIRST_RUN on.
 */
const HELD = 0;
const SLICE = 1;
const FIRST_RUN = 2;

/** Merges parts in key order. Uses one instance, which is reset before each part. */
export class SegmentMerger {
  readonly #core: Core;
  readonly #options: MergerOptions;
  readonly #emit: EmitSegment;
  #carry: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  /**
   * Number of the records held back, and the region that contains them while a part runs. `#spare`
   * receives the records that the next step holds back.
   */
  #heldRows = 0;
  #held!: Region;
  #spare!: Region;
  #list!: Region;
  /** Total size in bytes of the records before each position of the list. */
  #sums = new Float64Array(1);
  #columns = { pointer: 0, count: 0 };
  rowsIn = 0;
  rowsOut = 0;

  constructor(core: Core, options: MergerOptions, emit: EmitSegment) {
    if (!(options.maxRows >= 1 && options.maxBytes >= 1)) throw new Error('a file must have room for a row');
    this.#core = core;
    this.#options = options;
    this.#emit = emit;
  }

  /**
   * Merges one part: at most one old segment and any number of runs of records, all with keys after
   * those of every earlier part. If `last` is true, this part ends the stretch. If `even` is true
   * and the held records need two files, they are split into equal halves, not into a full file and
   * a remainder.
   */
  async part(
    segment: MergedSegment | undefined,
    runs: readonly Uint8Array[],
    last: boolean,
    even: boolean,
  ): Promise<void> {
    this.#core.exports.hg_memory_reset();
    this.#placeColumns();
    this.#held = new Region(this.#core, Math.max(1024, this.#carry.length));
    this.#spare = new Region(this.#core, 1024);
    this.#list = new Region(this.#core, 1024);
    this.#core.memory.write(this.#held.pointer, this.#carry);
    const inputs = this.#placeInputs(runs);
    this.#carry = new Uint8Array(0);
    if (segment === undefined) await this.#step(inputs, undefined);
    else await this.#slices(segment, inputs);
    if (last) await this.#finish(inputs, even);
    else this.#carry = this.#core.memory.borrow(this.#held.pointer, this.#input(inputs, HELD)).slice();
    if (last && this.rowsIn !== this.rowsOut)
      throw new Error(`a stretch read ${this.rowsIn} rows and wrote ${this.rowsOut}`);
  }

  /**
   * Writes the table of the merge's inputs {u32 address, u32 bytes}: the held records, the slice
   * (still empty), then the new runs that are not empty.
   */
  #placeInputs(runs: readonly Uint8Array[]): { pointer: number; count: number } {
    const filled = runs.filter((run) => run.length > 0);
    const count = FIRST_RUN + filled.length;
    const pointer = allocate(this.#core, count * 8);
    this.#setInput(pointer, HELD, this.#held.pointer, this.#carry.length);
    this.#setInput(pointer, SLICE, 0, 0);
    for (const [index, run] of filled.entries())
      this.#setInput(pointer, FIRST_RUN + index, this.#place(run), run.length);
    return { pointer, count };
  }

  #setInput(pointer: number, place: number, address: number, bytes: number): void {
    const { words } = this.#core.memory;
    words[pointer / 4 + place * 2] = address;
    words[pointer / 4 + place * 2 + 1] = bytes;
  }

  /** Returns the number of bytes left in an input. */
  #input({ pointer }: { pointer: number }, place: number): number {
    return this.#core.memory.words[pointer / 4 + place * 2 + 1]!;
  }

  #place(bytes: Uint8Array): number {
    const pointer = allocate(this.#core, bytes.length);
    this.#core.memory.write(pointer, bytes);
    return pointer;
  }

  /** Merges the segment's rows slice by slice, each slice with the new records up to its end. */
  async #slices(segment: MergedSegment, inputs: { pointer: number; count: number }): Promise<void> {
    const { cutoffTs, maxBytes } = this.#options;
    const { lower, upper, dead, lsn, file, checksum } = segment;
    const resident = loadSegment(this.#core, segment.bytes, segment.read, { deep: false, file, checksum });
    const first = lower === undefined ? 0 : resident.seek(lower.eventTs, lower.id);
    const to = upper === undefined ? resident.facts.rows : resident.seek(upper.eventTs, upper.id);
    const out = new Region(this.#core, Math.max(1024, Math.min(maxBytes, segment.bytes * 3)));
    let from = Math.max(first, resident.seek(cutoffTs, -Infinity));
    do {
      const { bytes, next } = resident.exportSlice(from, to, dead, lsn, this.#columns, maxBytes, out);
      if (next <= from && from < to) throw new Error('a slice of a segment made no progress');
      this.#setInput(inputs.pointer, SLICE, out.pointer, bytes);
      await this.#step(inputs, next < to ? resident.keyOf(next) : undefined);
      from = next;
    } while (from < to);
  }

  /**
   * Merges everything with a key below `stop` (undefined: everything), writes full files, and holds
   * the other records back.
   */
  async #step(
    inputs: { pointer: number; count: number },
    stop: { eventTs: number; id: number } | undefined,
  ): Promise<void> {
    const { exports } = this.#core;
    let bytes = 0;
    for (let place = 0; place < inputs.count; place++) bytes += this.#input(inputs, place);
    const capacity = Math.floor(bytes / LEAST_RECORD_BYTES) + 1;
    this.#list.ensure(capacity * 4);
    const list = this.#list.pointer;
    const { eventTs, id } = stop ?? { eventTs: Infinity, id: Infinity };
    const count = exports.hg_records_merge_until(inputs.pointer, inputs.count, eventTs, id, list, capacity);
    if (count < 0) throw coreError(count, 'hg_records_merge_until');
    if (this.#input(inputs, HELD) > 0 || this.#input(inputs, SLICE) > 0)
      throw new Error('held records or the slice of a segment reach beyond the end of their step');
    this.rowsIn += count - this.#heldRows;
    this.#measure(count);
    let at = 0;
    for (let rows = this.#fullFile(0, count); rows > 0; rows = this.#fullFile(at, count)) {
      await this.#file(list + at * 4, rows);
      at += rows;
    }
    this.#hold(inputs, at, count - at);
  }

  /**
   * Computes prefix sums of the record sizes in the list, so that one subtraction gives the bytes
   * between two positions.
   */
  #measure(count: number): void {
    const { bytes, words } = this.#core.memory;
    const sums = new Float64Array(count + 1);
    const list = this.#list.pointer / 4;
    for (let place = 0; place < count; place++) {
      const at = words[list + place]!;
      const size = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
      sums[place + 1] = sums[place]! + (size >>> 0);
    }
    this.#sums = sums;
  }

  /**
   * Returns the number of rows for the file that starts at position `at` of the list, if there are
   * enough rows after it for another full file. Otherwise returns 0, and the rows are held back.
   */
  #fullFile(at: number, count: number): number {
    const { maxRows, maxBytes } = this.#options;
    const rows = this.#fitting(at, count);
    const end = at + rows;
    const isFollowed = count - end >= maxRows || (end < count && this.#sums[count]! - this.#sums[end]! >= maxBytes);
    return isFollowed ? rows : 0;
  }

  /** Returns how many rows fit in a file that starts at position `at` of the list; at least one. */
  #fitting(at: number, count: number): number {
    const { maxRows, maxBytes } = this.#options;
    const most = this.#sums[at]! + maxBytes;
    let low = Math.min(at + 1, count);
    let high = Math.min(count, at + maxRows);
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#sums[middle]! <= most) low = middle;
      else high = middle - 1;
    }
    return low - at;
  }

  /** Copies rows of the list to the spare region, which then becomes the held region. */
  #hold(inputs: { pointer: number; count: number }, at: number, rows: number): void {
    const { exports } = this.#core;
    const bytes = this.#sums[at + rows]! - this.#sums[at]!;
    this.#spare.ensure(bytes);
    const copied = exports.hg_records_copy(this.#list.pointer + at * 4, rows, this.#spare.pointer, bytes);
    if (copied < 0) throw coreError(copied, 'hg_records_copy');
    if (copied !== bytes) throw new Error(`${bytes} bytes should be held back, but ${copied} were`);
    [this.#held, this.#spare] = [this.#spare, this.#held];
    this.#heldRows = rows;
    this.#setInput(inputs.pointer, HELD, this.#held.pointer, bytes);
  }

  /**
   * Writes the held records at the end of a stretch: as one file, as two halves, or as full files
   * and a remainder.
   */
  async #finish(inputs: { pointer: number; count: number }, even: boolean): Promise<void> {
    const count = this.#heldRows;
    if (count === 0) return;
    const list = this.#list.pointer;
    this.#setInput(inputs.pointer, SLICE, 0, 0);
    const merged = this.#core.exports.hg_records_merge(inputs.pointer, 1, list, count);
    if (merged < 0) throw coreError(merged, 'hg_records_merge');
    if (merged !== count) throw new Error(`${count} rows were held back, but ${merged} are left`);
    this.#measure(count);
    for (let at = 0; at < count; ) {
      const rows = (even && at === 0 ? this.#half(count) : 0) || this.#fitting(at, count);
      await this.#file(list + at * 4, rows);
      at += rows;
    }
    this.#heldRows = 0;
  }

  /**
   * Returns the number of rows in the first of two halves that each fit in a file. Returns 0 if all
   * rows fit in one file, or if there is no such split.
   */
  #half(count: number): number {
    if (this.#fitting(0, count) === count) return 0;
    const byRows = Math.ceil(count / 2);
    for (const first of [byRows, this.#halfOfBytes(count)]) {
      if (this.#fitting(0, first) === first && this.#fitting(first, count) === count - first) return first;
    }
    return 0;
  }

  #halfOfBytes(count: number): number {
    const half = this.#sums[count]! / 2;
    let place = 1;
    while (place < count - 1 && this.#sums[place]! < half) place++;
    return place;
  }

  #placeColumns(): void {
    const { columns } = this.#options;
    const pointer = allocate(this.#core, columns.length * 8 + 8);
    const missing = columns.map((column) => (column.missing.length > 0 ? this.#place(column.missing) : 0));
    const { words } = this.#core.memory;
    for (const [index, column] of columns.entries()) {
      words[pointer / 4 + index * 2] =
        column.id | (KIND_CODES[kindOfType(column.type)] << 16) | (indexesOf(column) << 24);
      words[pointer / 4 + index * 2 + 1] = missing[index]!;
    }
    this.#columns = { pointer, count: columns.length };
  }

  /** Builds the text block of a file; returns the address of what `hg_segment_build` takes. */
  #placeText(list: number, rows: number): number {
    const { text } = this.#options;
    if (text === undefined) return 0;
    const { exports, memory } = this.#core;
    const at = allocate(this.#core, 16);
    try {
      const inputs = new TextInputs(this.#core, text);
      let placed: PlacedText;
      try {
        for (let row = 0; row < rows; row++) inputs.add(memory.words[list / 4 + row]!);
        placed = placeTextBlock(this.#core, inputs.input(text.tag));
      } finally {
        inputs.free();
      }
      memory.words.set([placed.pointer, placed.bytes, text.tag], at / 4);
      return at;
    } catch (error) {
      exports.hg_memory_free(at);
      throw error;
    }
  }

  async #file(list: number, rows: number): Promise<void> {
    const { exports, memory } = this.#core;
    const { bucketSeconds, tableId } = this.#options;
    const { pointer: columns, count } = this.#columns;
    const text = this.#placeText(list, rows);
    const bytes = exports.hg_segment_build(list, rows, bucketSeconds, tableId, columns, count, text);
    if (text !== 0) {
      exports.hg_memory_free(memory.words[text / 4]!);
      exports.hg_memory_free(text);
    }
    if (bytes < 0) throw coreError(bytes, 'hg_segment_build');
    const pointer = exports.hg_result_pointer() >>> 0;
    await this.#emit(memory.borrow(pointer, bytes));
    exports.hg_memory_free(pointer);
    this.rowsOut += rows;
  }
}

const INDEX_ORDER = 1;
const INDEX_INTERVAL = 2;

/** Returns the indexes of a column as the bits that `hg_segment_build` takes. */
function indexesOf({ indexed, ends }: BuilderColumn): number {
  return (indexed ? INDEX_ORDER : 0) | (ends ? INDEX_INTERVAL : 0);
}
