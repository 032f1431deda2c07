// Keeps segments in memory: loads them on demand, and evicts the least recently used ones when the
// memory budget is exceeded.
//
// Each use of a segment stamps it with the value of a rising counter. Eviction takes segments from
// the end of a list sorted by stamp, and skips those that were used or dropped since the list was
// sorted. Only when the list is empty is a new one made, so the cost of sorting is spread over many
// evictions.

import { assert } from '../../assert.ts';
import { type Core, type CoreModule, ResidentSegment } from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';
import { type Fs, readFully } from '../../storage/index.ts';
import type { SegmentFile } from './segment-file.ts';

interface Resident {
  segment: ResidentSegment;
  used: number;
  bytes: number;
}

const MAX_POOLED = 8;
/**
 * With n segments in memory, the sizes of their instances are measured again every n / RECOUNT_PART
 * loads. So the cost per load does not depend on n.
 */
const RECOUNT_PART = 8;

export class Residency {
  readonly #fs: Fs;
  readonly #module: CoreModule;
  readonly #budgetBytes: number;
  readonly #mostSegments: number;
  readonly #residents = new Map<SegmentFile, Resident>();
  /**
   * Instances of evicted segments, which are reused because only the garbage collector can free the
   * memory of an instance.
   */
  readonly #pool: Core[] = [];
  /**
   * Of the segments that were in memory at the last sort, those not examined for eviction since;
   * least recently used last.
   */
  #order: { file: SegmentFile; used: number }[] = [];
  /** Number of loads since the instances were last measured. */
  #loads = 0;
  #clock = 0;
  #bytes = 0;
  #charged = 0;

  /** `mostSegments` is the maximum number of segments in memory, regardless of their size. */
  constructor(fs: Fs, module: CoreModule, budgetBytes: number, mostSegments: number) {
    this.#fs = fs;
    this.#module = module;
    this.#budgetBytes = budgetBytes;
    this.#mostSegments = mostSegments;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Charges other memory to the budget (a negative number removes it): node filters, memtables
   * pinned by readers, node counts in progress.
   */
  charge(bytes: number): void {
    this.#charged += bytes;
    assert(this.#charged >= -1, 'what is charged to the budget is given back once');
  }

  /** Total bytes charged to the budget with `charge`. */
  get chargedBytes(): number {
    return this.#charged;
  }

  get budgetBytes(): number {
    return this.#budgetBytes;
  }

  /** Returns whether the segment is in memory, so that `get` need not read a file. */
  has(file: SegmentFile): boolean {
    return this.#residents.has(file);
  }

  /**
   * Returns the segment in memory. If it is not in memory, it is loaded with one synchronous read
   * of the file, and checked. Throws `corrupt`.
   */
  get(file: SegmentFile): ResidentSegment {
    const known = this.#residents.get(file);
    if (known !== undefined) {
      known.used = ++this.#clock;
      return known.segment;
    }
    return this.#load(file);
  }

  #load(file: SegmentFile): ResidentSegment {
    this.#makeRoom(file.facts.bytes);
    for (let insist = false; ; insist = true) {
      try {
        return this.#read(file, insist);
      } catch (error) {
        if (!isOverloaded(error) || !this.#evictHalf()) throw error;
      }
    }
  }

  #read(file: SegmentFile, insist: boolean): ResidentSegment {
    const core = this.#pool.pop() ?? this.#module.instantiate(insist);
    core.exports.hg_memory_reset();
    const handle = this.#fs.open(file.path, 'read');
    try {
      const read = (target: Uint8Array) => void readFully(handle, target, 0);
      const options = { deep: !file.checked, file: file.path, checksum: file.facts.checksum };
      const segment = new ResidentSegment(core, file.facts.bytes, read, options);
      file.checked = true;
      const bytes = segment.residentBytes;
      assert(!this.#residents.has(file), 'a segment is in memory once');
      this.#residents.set(file, { segment, used: ++this.#clock, bytes });
      this.#bytes += bytes;
      return segment;
    } finally {
      handle.close();
    }
  }

  /**
   * Returns a new core instance. While the process cannot get more memory, evicts segments and
   * tries again. Throws `overloaded` when no segments are left.
   */
  instance(): Core {
    for (let insist = false; ; insist = true) {
      try {
        return this.#module.instantiate(insist);
      } catch (error) {
        if (!isOverloaded(error) || !this.#evictHalf()) throw error;
      }
    }
  }

  /**
   * Evicts the less recently used half of the segments without pooling their instances, so that the
   * address space of these instances can be reused. Returns false if there were none.
   */
  #evictHalf(): boolean {
    this.#pool.length = 0;
    const oldest = [...this.#residents].sort(([, a], [, b]) => a.used - b.used);
    const count = Math.ceil(oldest.length / 2);
    for (const [file] of oldest.slice(0, count)) this.drop(file);
    this.#pool.length = 0;
    return count > 0;
  }

  /**
   * Evicts segments until `bytes` more fit into the budget and there may be one more segment. One
   * segment may always be in memory, however large it is.
   */
  #makeRoom(bytes: number): void {
    this.#loads++;
    if (this.#loads * RECOUNT_PART >= this.#residents.size) this.#recount();
    const wanted = this.#charged + bytes;
    const isOver = () => this.#bytes + wanted > this.#budgetBytes || this.#residents.size >= this.#mostSegments;
    while (this.#residents.size > 0 && isOver()) this.drop(this.#nextToGo());
  }

  /** Instances grow while they are in use, so their sizes are measured again. */
  #recount(): void {
    this.#loads = 0;
    for (const resident of this.#residents.values()) {
      const { residentBytes } = resident.segment;
      this.#bytes += residentBytes - resident.bytes;
      resident.bytes = residentBytes;
    }
  }

  /**
   * Returns the least recently used segment. Sorts the segments again if all in the last list were
   * dropped or used since.
   */
  #nextToGo(): SegmentFile {
    for (;;) {
      const next = this.#order.pop();
      if (next === undefined) {
        const residents = [...this.#residents].sort(([, a], [, b]) => b.used - a.used);
        this.#order = residents.map(([file, { used }]) => ({ file, used }));
      } else if (this.#residents.get(next.file)?.used === next.used) return next.file;
    }
  }

  /** Drops a segment from memory, for example because its file is removed. */
  drop(file: SegmentFile): void {
    const resident = this.#residents.get(file);
    if (resident === undefined) return;
    this.#residents.delete(file);
    this.#bytes -= resident.bytes;
    assert(this.#bytes >= 0, 'segments are counted out as they were counted in');
    if (this.#pool.length < MAX_POOLED) this.#pool.push(resident.segment.core);
  }

  get count(): number {
    return this.#residents.size;
  }
}

function isOverloaded(error: unknown): boolean {
  return error instanceof HedgerowError && error.code === 'overloaded';
}
