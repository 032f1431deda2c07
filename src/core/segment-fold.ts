// Aggregates over the columns of a segment, in place: selects rows, computes codes of fields, and
// computes figures of numeric fields (assembly/README.md).

import type { Core } from './load.ts';
import { encodeRanges, type NumericRange } from './ranges.ts';
import { allocate } from './region.ts';
import { coreError, STATUS } from './status.ts';

/**
 * A field of a row. `kind` is a value of ROW_FIELD. `column` is the id of the property column if
 * the field is one.
 */
export interface RowField {
  readonly kind: (typeof ROW_FIELD)[keyof typeof ROW_FIELD];
  readonly column: number;
}

export const ROW_FIELD = { column: 0, eventTs: 1, id: 2, size: 3, bucket: 4 } as const;

/**
 * Positions of the figures of a group of rows: count of numbers, their sum, the compensation of the
 * sum (to be added to the sum), least, greatest.
 */
export const FIGURE = { count: 0, sum: 1, lack: 2, least: 3, greatest: 4 } as const;
export const FIGURES = 5;
/** Flags that select the figures to compute. */
export const WANT = { count: 1, sum: 2, ends: 4 } as const;

/** Codes of the rows of a segment: small numbers that stand for the values of a field. */
export interface RowCodes {
  /**
   * Number of codes. If some row is null, null has the last code, and there is one more code than
   * values.
   */
  readonly count: number;
  /**
   * Value of each code. For a text this is its rank among the distinct texts, for a bucket the time
   * of the first row in the bucket.
   */
  readonly values: Float64Array;
  /** Address of one u16 per row; 0 if there is only one code. */
  readonly pointer: number;
}

const MOST_CODES = 65536;
const TEXT_BYTES = 4096;
/** Number of spare bytes after the codes, which are written for several rows at a time. */
const CODE_SLACK_BYTES = 64;

/** A selection of rows of one segment. Use it within one turn of the event loop, then free it. */
export class SegmentFold {
  readonly #core: Core;
  readonly #segment: number;
  readonly #rows: number;
  readonly #selection: number;
  readonly #regions: number[] = [];

  /**
   * `rows`: number of rows of the segment. Call `selectWindow` or `selectRows` first: until then
   * the selection is undefined.
   */
  constructor(core: Core, segment: number, rows: number) {
    this.#core = core;
    this.#segment = segment;
    this.#rows = rows;
    this.#selection = this.#take(Math.ceil(rows / 64) * 8);
  }

  #take(bytes: number): number {
    const pointer = allocate(this.#core, bytes);
    this.#regions.push(pointer);
    return pointer;
  }

  /** Selects rows [from, to) and no others. */
  selectWindow(from: number, to: number): void {
    this.#core.exports.hg_selection_window(this.#selection, this.#rows, from, to);
  }

  /** Selects the listed rows and no others. */
  selectRows(list: Uint32Array): void {
    const at = this.#take(Math.max(4, list.length * 4));
    this.#core.memory.words.set(list, at / 4);
    this.#core.exports.hg_selection_rows(this.#selection, this.#rows, at, list.length);
  }

  /**
   * Deselects rows that were deleted at or before `lsn`. `dead` is the address of u32[count] rows,
   * `deaths` the address of the LSNs of their deletions.
   */
  drop(dead: number, deaths: number, count: number, lsn: number): void {
    this.#core.exports.hg_selection_drop(this.#selection, dead, deaths, count, lsn);
  }

  /** Returns the number of selected rows. */
  selected(): number {
    return this.#core.exports.hg_selection_count(this.#selection, this.#rows) >>> 0;
  }

  /**
   * Keeps the rows whose number is in the range or, with `outside`, the rows that have a number not
   * in the range. If the range is a text, keeps the rows that have it; `outside` is then false.
   */
  keepRange(field: RowField, range: NumericRange, outside = false): void {
    const { bytes } = encodeRanges([{ ...range, column: field.column }]);
    if (outside) bytes[FLAGS_OFFSET]! |= OUTSIDE;
    const at = this.#take(bytes.length);
    this.#core.memory.write(at, bytes);
    const status = this.#core.exports.hg_segment_select(this.#segment, this.#selection, field.kind, at);
    if (status < 0) throw coreError(status, 'hg_segment_select');
  }

  /**
   * Returns the codes of a field; undefined if the field has no codes in this segment, or more than
   * `most`.
   */
  codes(field: RowField, most: number): RowCodes | undefined {
    const { exports, memory } = this.#core;
    const capacity = Math.min(most, MOST_CODES);
    const pointer = this.#take(this.#rows * 2 + CODE_SLACK_BYTES);
    const at = this.#take(capacity * 8);
    const count = exports.hg_segment_codes(this.#segment, field.kind, field.column, pointer, at, capacity);
    if (count === 0 || count === STATUS.tooSmall || count > most) return undefined;
    if (count < 0) throw coreError(count, 'hg_segment_codes');
    const known = exports.hg_result_rows() >>> 0;
    return { count, values: memory.numbers.slice(at / 8, at / 8 + known), pointer };
  }

  /** Returns the codes of pairs: left * right.count + right. Overwrites the codes of `left`. */
  join(left: RowCodes, right: RowCodes): RowCodes {
    if (right.pointer === 0) return left;
    if (left.pointer === 0) return right;
    this.#core.exports.hg_codes_join(left.pointer, right.pointer, right.count, this.#rows);
    return { count: left.count * right.count, values: NO_VALUES, pointer: left.pointer };
  }

  /** Returns a copy of codes, for a join that must not overwrite the original. */
  copyOf(codes: RowCodes): RowCodes {
    if (codes.pointer === 0) return codes;
    const bytes = this.#rows * 2;
    const pointer = this.#take(bytes + CODE_SLACK_BYTES);
    this.#core.memory.bytes.copyWithin(pointer, codes.pointer, codes.pointer + bytes);
    return { ...codes, pointer };
  }

  /** Keeps the rows whose code has the truth value 1. */
  keepCodes({ pointer, count }: RowCodes, truth: Uint8Array): void {
    if (pointer === 0) {
      if (truth[0] !== 1) this.selectWindow(0, 0);
      return;
    }
    const at = this.#take(Math.max(16, count));
    this.#core.memory.write(at, truth);
    this.#core.exports.hg_selection_keep(this.#selection, pointer, this.#rows, at, count);
  }

  /** Returns the number of selected rows per code. */
  counts({ pointer, count }: RowCodes): Uint32Array {
    if (pointer === 0) return Uint32Array.of(this.selected());
    const at = this.#take(count * 4);
    this.#core.exports.hg_codes_count(pointer, this.#rows, this.#selection, at, count);
    return this.#core.memory.words.slice(at / 4, at / 4 + count);
  }

  /** Returns FIGURES numbers per code, for a field that is numeric in this segment. */
  figures(field: RowField, { pointer, count }: RowCodes, wants: number): Float64Array {
    const { exports, memory } = this.#core;
    const at = this.#take(count * exports.HG_FIGURES_BYTES.value);
    const { kind, column } = field;
    const status = exports.hg_segment_figures(this.#segment, kind, column, this.#selection, pointer, count, wants, at);
    if (status < 0) throw coreError(status, 'hg_segment_figures');
    return memory.numbers.slice(at / 8, at / 8 + count * FIGURES);
  }

  /**
   * Returns the distinct texts of a column in the order of their ranks, which is ascending by code
   * point.
   */
  texts(column: number, { values }: RowCodes): string[] {
    const count = values.length;
    const { exports, memory } = this.#core;
    let room = TEXT_BYTES;
    let at = this.#take(room);
    let bytes = exports.hg_segment_texts(this.#segment, column, at, room);
    if (bytes === STATUS.tooSmall) {
      room = exports.hg_result_needed() >>> 0;
      at = this.#take(room);
      bytes = exports.hg_segment_texts(this.#segment, column, at, room);
    }
    if (bytes < 0) throw coreError(bytes, 'hg_segment_texts');
    const ends = memory.words.subarray(at / 4, at / 4 + count);
    const all = Buffer.from(memory.borrow(at + count * 4, bytes - count * 4));
    const texts = new Array<string>(count);
    for (let i = 0, start = 0; i < count; start = ends[i]!, i++) texts[i] = all.toString('utf8', start, ends[i]!);
    return texts;
  }

  /** Frees the selection's memory; the selection must not be used afterwards. */
  free(): void {
    for (const pointer of this.#regions) this.#core.exports.hg_memory_free(pointer);
    this.#regions.length = 0;
  }
}

/** Range flag of the core that keeps the values outside the range. */
const OUTSIDE = 4;
/** Offset of the flags in an encoded range. */
const FLAGS_OFFSET = 28;
const NO_VALUES = new Float64Array(0);
/** One code that all rows have. */
export const ONE_CODE: RowCodes = { count: 1, values: NO_VALUES, pointer: 0 };
