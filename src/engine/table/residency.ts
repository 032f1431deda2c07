// Which segments are in memory: loads on demand, evicts the least recently used beyond the budget.

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
 * The instances are measured once in so many loads as this part of them: that costs a load no more,
 * however many there are.
 */
const RECOUNT_PART = 8;

export class Residency {
  readonly #fs: Fs;
  readonly #module: CoreModule;
  readonly #budgetBytes: number;
  readonly #mostSegments: number;
  readonly #residents = new Map<SegmentFile, Resident>();
  /**
   * Instances of evicted segments, to be used again: memory of an instance is freed by the garbage
   * collector only.
   */
  readonly #pool: Core[] = [];
  /** Those that were there when they were last sorted, the least recently used at the end. */
  #order: { file: SegmentFile; used: number }[] = [];
  /** Since the instances were last measured. */
  #loads = 0;
  #clock = 0;
  #bytes = 0;
  #charged = 0;

  /** `mostSegments`: in memory at once, whatever their bytes. */
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
   * Takes other memory into the budget (negative: out of it): node filters, what cursors pin,
   * counts.
   */
  charge(bytes: number): void {
    this.#charged += bytes;
  }

  /** What `charge` took in. */
  get chargedBytes(): number {
    return this.#charged;
  }

  get budgetBytes(): number {
    return this.#budgetBytes;
  }

  /** Whether `get` reads no file. */
  has(file: SegmentFile): boolean {
    return this.#residents.has(file);
  }

  /**
   * The segment in memory, loaded and checked when it is not there. Throws `corrupt`. Synchronous:
   * one file read when absent.
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
      this.#residents.set(file, { segment, used: ++this.#clock, bytes });
      this.#bytes += bytes;
      return segment;
    } finally {
      handle.close();
    }
  }

  /**
   * A new instance of the core; when the process gets no more memory, segments leave theirs first.
   * Throws `overloaded`.
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
   * Lets half of the segments go, without keeping their instances: an address space that is given
   * back is another's. False: there is none.
   */
  #evictHalf(): boolean {
    this.#pool.length = 0;
    const oldest = [...this.#residents].sort(([, a], [, b]) => a.used - b.used);
    const count = Math.ceil(oldest.length / 2);
    for (const [file] of oldest.slice(0, count)) this.drop(file);
    this.#pool.length = 0;
    return count > 0;
  }

  /** Evicts until `bytes` more fit. One segment always may be resident, however large. */
  #makeRoom(bytes: number): void {
    this.#loads++;
    if (this.#loads * RECOUNT_PART >= this.#residents.size) this.#recount();
    const wanted = this.#charged + bytes;
    const isOver = () => this.#bytes + wanted > this.#budgetBytes || this.#residents.size >= this.#mostSegments;
    while (this.#residents.size > 0 && isOver()) this.drop(this.#nextToGo());
  }

  /** Instances grow while they are read. */
  #recount(): void {
    this.#loads = 0;
    for (const resident of this.#residents.values()) {
      const { residentBytes } = resident.segment;
      this.#bytes += residentBytes - resident.bytes;
      resident.bytes = residentBytes;
    }
  }

  /**
   * The least recently used one. They are sorted anew when all of the last order are gone or were
   * used since.
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

  /** Forgets a segment, say because its file goes. */
  drop(file: SegmentFile): void {
    const resident = this.#residents.get(file);
    if (resident === undefined) return;
    this.#residents.delete(file);
    this.#bytes -= resident.bytes;
    if (this.#pool.length < MAX_POOLED) this.#pool.push(resident.segment.core);
  }

  get count(): number {
    return this.#residents.size;
  }
}

function isOverloaded(error: unknown): boolean {
  return error instanceof HedgerowError && error.code === 'overloaded';
}
