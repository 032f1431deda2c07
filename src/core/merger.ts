// Compaction in the core: sorted runs of records and old segments go in, new segment files come out.

import type { Core } from './load.ts';
import { PROPERTY_TYPE, type PropertyTypeName } from './properties.ts';
import { allocate, Region } from './region.ts';
import { type DeadRows, ResidentSegment } from './segment.ts';
import { coreError } from './status.ts';

export interface BuilderColumn {
  id: number;
  type: PropertyTypeName;
  indexed: boolean;
  /** Property entry (FORMAT.md section 1) that stands for a column a record does not have; empty: null. */
  missing: Uint8Array;
}

export interface MergerOptions {
  tableId: number;
  bucketSeconds: number;
  columns: readonly BuilderColumn[];
  /** Rows with a smaller time are left out. */
  cutoffTs: number;
}

/** A finished segment file; the bytes are its memory in the core, until the promise resolves. */
export type EmitSegment = (file: Uint8Array) => Promise<void>;

/**
 * Merges parts in key order. Rows are held back until two segments' worth is there, so that the last two files of a stretch can be
 * cut evenly. One instance, reset between parts: memory is bounded by the largest part.
 */
export class SegmentMerger {
  readonly #core: Core;
  readonly #options: MergerOptions;
  readonly #emit: EmitSegment;
  readonly #maxRows: number;
  #carry: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  #carryRows = 0;
  rowsIn = 0;
  rowsOut = 0;

  constructor(core: Core, options: MergerOptions, emit: EmitSegment, maxRows: number) {
    this.#core = core;
    this.#options = options;
    this.#emit = emit;
    this.#maxRows = maxRows;
  }

  /**
   * One part: at most one old segment (its bytes, its dead rows) and any number of runs of records, all within one range of keys that lies
   * behind every earlier part. `last`: nothing that touches this stretch follows. `even`: cut the rest in equal halves, not full-then-rest.
   */
  async part(
    segment:
      | { bytes: number; read: (target: Uint8Array) => void; dead: DeadRows; lsn: number; file: string }
      | undefined,
    runs: readonly Uint8Array[],
    last: boolean,
    even: boolean,
  ): Promise<void> {
    const core = this.#core;
    core.exports.hg_memory_reset();
    const regions: { pointer: number; bytes: number }[] = [];
    if (this.#carry.length > 0) regions.push(this.#place(this.#carry));
    if (segment) {
      const resident = new ResidentSegment(core, segment.bytes, segment.read, { deep: false, file: segment.file });
      const from = resident.seek(this.#options.cutoffTs, -Infinity);
      const out = new Region(core, Math.max(1024, segment.bytes * 3));
      const bytes = resident.exportRecords(from, resident.facts.rows, segment.dead, segment.lsn, out, 0);
      regions.push({ pointer: out.pointer, bytes });
    }
    for (const run of runs) if (run.length > 0) regions.push(this.#place(run));
    await this.#build(regions, last, even);
  }

  #place(bytes: Uint8Array): { pointer: number; bytes: number } {
    const pointer = allocate(this.#core, bytes.length);
    this.#core.memory.write(pointer, bytes);
    return { pointer, bytes: bytes.length };
  }

  /** Merges the regions into an address list. */
  #merge(regions: readonly { pointer: number; bytes: number }[]): { list: number; count: number } {
    const { exports, memory } = this.#core;
    const total = regions.reduce((sum, region) => sum + region.bytes, 0);
    const capacity = Math.floor(total / 26) + 1;
    const list = allocate(this.#core, capacity * 4);
    const runs = allocate(this.#core, regions.length * 8 + 8);
    const words = memory.words;
    for (const [index, region] of regions.entries()) {
      words[runs / 4 + index * 2] = region.pointer;
      words[runs / 4 + index * 2 + 1] = region.bytes;
    }
    const count = exports.hg_records_merge(runs, regions.length, list, capacity);
    if (count < 0) throw coreError(count, 'hg_records_merge');
    return { list, count };
  }

  async #build(regions: readonly { pointer: number; bytes: number }[], last: boolean, even: boolean): Promise<void> {
    const { list, count } = this.#merge(regions);
    this.rowsIn += count - this.#carryRows;
    const columns = this.#placeColumns();
    let at = 0;
    while (count - at >= 2 * this.#maxRows) {
      await this.#file(list + at * 4, this.#maxRows, columns);
      at += this.#maxRows;
    }
    if (last && count > at) {
      const rest = count - at;
      const first = rest <= this.#maxRows ? rest : even ? Math.ceil(rest / 2) : this.#maxRows;
      await this.#file(list + at * 4, first, columns);
      if (rest > first) await this.#file(list + (at + first) * 4, rest - first, columns);
      at = count;
    }
    this.#keep(list + at * 4, count - at);
  }

  #keep(list: number, rows: number): void {
    const { exports, memory } = this.#core;
    this.#carryRows = rows;
    if (rows === 0) {
      this.#carry = new Uint8Array(0);
      return;
    }
    let bytes = 0;
    const words = memory.words;
    for (let i = 0; i < rows; i++) bytes += this.#sizeAt(words[list / 4 + i]!);
    const out = allocate(this.#core, bytes);
    exports.hg_records_copy(list, rows, out, bytes);
    this.#carry = memory.borrow(out, bytes).slice();
  }

  #sizeAt(pointer: number): number {
    const bytes = this.#core.memory.bytes;
    return bytes[pointer]! | (bytes[pointer + 1]! << 8) | (bytes[pointer + 2]! << 16) | (bytes[pointer + 3]! << 24);
  }

  #placeColumns(): number {
    const { columns } = this.#options;
    const pointer = allocate(this.#core, columns.length * 8 + 8);
    const missing = columns.map((column) => (column.missing.length > 0 ? this.#place(column.missing).pointer : 0));
    const words = this.#core.memory.words;
    for (const [index, column] of columns.entries()) {
      words[pointer / 4 + index * 2] =
        column.id | (PROPERTY_TYPE[column.type] << 16) | ((column.indexed ? 1 : 0) << 24);
      words[pointer / 4 + index * 2 + 1] = missing[index]!;
    }
    return pointer;
  }

  async #file(list: number, rows: number, columns: number): Promise<void> {
    const { exports, memory } = this.#core;
    const { bucketSeconds, tableId } = this.#options;
    const bytes = exports.hg_segment_build(list, rows, bucketSeconds, tableId, columns, this.#options.columns.length);
    if (bytes < 0) throw coreError(bytes, 'hg_segment_build');
    const pointer = exports.hg_result_pointer() >>> 0;
    await this.#emit(memory.borrow(pointer, bytes));
    exports.hg_memory_free(pointer);
    this.rowsOut += rows;
  }
}
