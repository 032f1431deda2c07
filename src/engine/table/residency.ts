// Keeps segments in memory: loads them on demand, and evicts the least recently used ones when the
// memory budget is exceeded.
//
// A segment is loaded in steps of about a millisecond, so that the event loop can serve others in
// between. A load that has begun is charged to the budget like a segment, and is given up like a
// segment when it is the least recently continued. A segment whose load was given up is loaded at
// once the next time. Otherwise two readers whose segments do not fit into the budget together
// could take each other's load for ever.
//
// Each use of a segment stamps it with the value of a rising counter. Eviction takes segments from
// the end of a list sorted by stamp, and skips those that were used or dropped since the list was
// sorted. Only when the list is empty is a new one made, so the cost of sorting is spread over many
// evictions.

import { assert } from '../../assert.ts';
import { type Core, type CoreModule, type ResidentSegment, SegmentLoad } from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';
import { type Fs, readFully } from '../../storage/index.ts';
import type { SegmentFile } from './segment-file.ts';

interface Resident {
  segment: ResidentSegment;
  used: number;
  bytes: number;
}

/** A load that has begun. */
interface Loading {
  readonly load: SegmentLoad;
  /** The counter's value when the load was last continued. */
  readonly used: number;
  readonly bytes: number;
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
  readonly #nowUs: () => number;
  readonly #budgetBytes: number;
  readonly #mostSegments: number;
  readonly #residents = new Map<SegmentFile, Resident>();
  /**
   * The loads that have begun, least recently continued first. If a reader ends before its load,
   * nobody may continue the load; it stays until its memory is needed.
   */
  readonly #loading = new Map<SegmentFile, Loading>();
  /** Files whose last load was given up. */
  readonly #givenUp = new WeakSet<SegmentFile>();
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

  /**
   * `mostSegments` is the maximum number of segments in memory, regardless of their size. `nowUs`
   * returns monotonic microseconds.
   */
  constructor(fs: Fs, module: CoreModule, nowUs: () => number, budgetBytes: number, mostSegments: number) {
    this.#fs = fs;
    this.#module = module;
    this.#nowUs = nowUs;
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
   * Returns the segment in memory. If it is not in memory, its file is read and checked, by steps
   * until `untilUs` has passed, but by one step at least. Returns undefined if the load is not
   * complete then; the next call continues it. By default, the segment is loaded at once. Throws
   * `corrupt` or `overloaded`; the load is then given up.
   */
  get(file: SegmentFile, untilUs = Infinity): ResidentSegment | undefined {
    const known = this.#residents.get(file);
    if (known !== undefined) {
      known.used = ++this.#clock;
      return known.segment;
    }
    return this.#load(file, this.#givenUp.has(file) ? Infinity : untilUs);
  }

  #load(file: SegmentFile, untilUs: number): ResidentSegment | undefined {
    for (let insist = false; ; insist = true) {
      try {
        return this.#advance(file, this.#loading.get(file) ?? this.#begin(file, insist), untilUs);
      } catch (error) {
        this.#forget(file);
        if (!isOverloaded(error) || !this.#evictHalf()) throw error;
      }
    }
  }

  #begin(file: SegmentFile, insist: boolean): Loading {
    const { facts, path, checked } = file;
    this.#makeRoom(facts.bytes);
    const core = this.#pool.pop() ?? this.#module.instantiate(insist);
    core.exports.hg_memory_reset();
    const read = (target: Uint8Array, position: number) => this.#read(path, target, position);
    const load = new SegmentLoad(core, facts.bytes, read, { deep: !checked, file: path, checksum: facts.checksum });
    return this.#keep(file, load);
  }

  /** Counts the load with its present size, because the check allocates memory of its own. */
  #keep(file: SegmentFile, load: SegmentLoad): Loading {
    const loading = { load, used: ++this.#clock, bytes: load.residentBytes };
    assert(!this.#residents.has(file) && !this.#loading.has(file), 'a segment is in memory once');
    this.#loading.set(file, loading);
    this.#bytes += loading.bytes;
    return loading;
  }

  /** A file is opened for each piece, so that a load that nobody continues holds no open file. */
  #read(path: string, target: Uint8Array, position: number): void {
    const handle = this.#fs.open(path, 'read');
    try {
      readFully(handle, target, position);
    } finally {
      handle.close();
    }
  }

  #advance(file: SegmentFile, { load }: Loading, untilUs: number): ResidentSegment | undefined {
    let segment: ResidentSegment | undefined;
    if (untilUs === Infinity) segment = load.finish();
    else {
      do segment = load.step();
      while (segment === undefined && this.#nowUs() < untilUs);
    }
    if (segment !== undefined) {
      this.#forget(file);
      this.#givenUp.delete(file);
      file.checked = true;
      const bytes = segment.residentBytes;
      assert(!this.#residents.has(file), 'a segment is in memory once');
      this.#residents.set(file, { segment, used: ++this.#clock, bytes });
      this.#bytes += bytes;
      return segment;
    }
    this.#forget(file);
    this.#keep(file, load);
    return undefined;
  }

  #forget(file: SegmentFile): Loading | undefined {
    const loading = this.#loading.get(file);
    if (loading === undefined) return undefined;
    this.#loading.delete(file);
    this.#bytes -= loading.bytes;
    assert(this.#bytes >= 0, 'loads are counted out as they were counted in');
    return loading;
  }

  #giveUp(file: SegmentFile): void {
    const loading = this.#forget(file);
    if (loading === undefined) return;
    this.#givenUp.add(file);
    this.#recycle(loading.load.core);
  }

  #recycle(core: Core): void {
    if (this.#pool.length < MAX_POOLED) this.#pool.push(core);
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
   * Evicts the less recently used half of the segments and loads without pooling their instances,
   * so that the address space of these instances can be reused. Returns false if there were none.
   */
  #evictHalf(): boolean {
    this.#pool.length = 0;
    const oldest = [...this.#usage()].sort((a, b) => a.used - b.used);
    const count = Math.ceil(oldest.length / 2);
    for (const { file } of oldest.slice(0, count)) this.drop(file);
    this.#pool.length = 0;
    return count > 0;
  }

  /**
   * Evicts segments and loads until `bytes` more fit into the budget and there may be one more
   * segment. One segment may always be in memory, however large it is.
   */
  #makeRoom(bytes: number): void {
    this.#loads++;
    if (this.#loads * RECOUNT_PART >= this.#residents.size) this.#recount();
    const wanted = this.#charged + bytes;
    const size = () => this.#residents.size + this.#loading.size;
    const isOver = () => this.#bytes + wanted > this.#budgetBytes || size() >= this.#mostSegments;
    while (size() > 0 && isOver()) this.drop(this.#nextToGo());
  }

  /** Instances grow while they are in use, so their sizes are measured again. */
  #recount(): void {
    this.#loads = 0;
    for (const resident of this.#residents.values()) this.#measure(resident);
  }

  #measure(resident: Resident): void {
    const { residentBytes } = resident.segment;
    this.#bytes += residentBytes - resident.bytes;
    resident.bytes = residentBytes;
  }

  /** Counts what a segment keeps in its instance since its last use; the next load makes room. */
  measure(file: SegmentFile): void {
    const resident = this.#residents.get(file);
    if (resident !== undefined) this.#measure(resident);
  }

  /**
   * Returns the least recently used segment or load. Sorts the segments again if all in the last
   * list were dropped or used since.
   */
  #nextToGo(): SegmentFile {
    const [oldest] = this.#loading;
    for (;;) {
      const next = this.#order.at(-1);
      if (next === undefined) {
        if (this.#residents.size === 0) return oldest![0];
        const residents = [...this.#residents].sort(([, a], [, b]) => b.used - a.used);
        this.#order = residents.map(([file, { used }]) => ({ file, used }));
      } else if (this.#residents.get(next.file)?.used !== next.used) this.#order.pop();
      else return oldest !== undefined && oldest[1].used < next.used ? oldest[0] : next.file;
    }
  }

  *#usage(): Generator<{ file: SegmentFile; used: number }> {
    for (const [file, { used }] of this.#residents) yield { file, used };
    for (const [file, { used }] of this.#loading) yield { file, used };
  }

  /** Drops a segment or its load from memory, for example because its file is removed. */
  drop(file: SegmentFile): void {
    const resident = this.#residents.get(file);
    if (resident === undefined) {
      this.#giveUp(file);
      return;
    }
    this.#residents.delete(file);
    this.#bytes -= resident.bytes;
    assert(this.#bytes >= 0, 'segments are counted out as they were counted in');
    this.#recycle(resident.segment.core);
  }

  /** Number of segments in memory; loads that have begun are not counted. */
  get count(): number {
    return this.#residents.size;
  }
}

function isOverloaded(error: unknown): boolean {
  return error instanceof HedgerowError && error.code === 'overloaded';
}
