// Keeps the node filters of the segments of all tables in a few shared instances, and finds the
// segments of a table that may contain given nodes.

import type { Core, CoreModule } from './load.ts';
import { allocate, Region } from './region.ts';
import type { SegmentFacts } from './segment-facts.ts';

export interface FilterRoomOptions {
  /**
   * Upper bound on the size in bytes of all filters together. A table whose filters do not fit has
   * no filters.
   */
  limitBytes: number;
  /** Charges bytes to the memory budget; a negative number releases bytes. */
  charge: (bytes: number) => void;
  /**
   * Upper bound on the size in bytes of the filters in one instance. Default 512 MiB, far below the
   * 4 GiB that an instance can have; tests use smaller values.
   */
  shardBytes?: number;
}

const SHARD_BYTES = 2 ** 29;
/** Size in bytes of a filter's entry in a directory. */
const ENTRY_BYTES = 24;
const MAX_NODES = 255;

/** One instance, with the filters of any number of tables. */
class Shard {
  readonly core: Core;
  /** Address of the buffer for the nodes of a lookup. */
  readonly nodes: number;
  /** Buffer for the result of a lookup. */
  readonly out: Region;
  usedBytes = 0;

  constructor(core: Core) {
    this.core = core;
    this.nodes = allocate(core, MAX_NODES * 8);
    this.out = new Region(core, 4 * 16);
  }
}

interface Placed {
  shard: Shard;
  pointer: number;
  bytes: number;
}

/**
 * Allocates memory for filters. Instances are scarce: small tables share one, and only a large
 * table uses several.
 */
export class FilterRoom {
  readonly #module: CoreModule;
  readonly #options: Required<FilterRoomOptions>;
  #shards: Shard[] = [];
  #usedBytes = 0;
  #limitBytes: number;

  constructor(module: CoreModule, options: FilterRoomOptions) {
    this.#module = module;
    this.#options = { shardBytes: SHARD_BYTES, ...options };
    this.#limitBytes = options.limitBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  get limitBytes(): number {
    return this.#limitBytes;
  }

  get instances(): number {
    return this.#shards.length;
  }

  /** Returns whether the limit allows `bytes` more bytes of filters. */
  fits(bytes: number): boolean {
    return this.#usedBytes + bytes <= this.#limitBytes;
  }

  /**
   * Copies a filter into an instance. Returns undefined if there is no memory for it; if an
   * allocation failed, also lowers the limit to the bytes now in use.
   */
  place(filter: Uint8Array): Placed | undefined {
    const bytes = filter.length;
    if (!this.fits(bytes)) return undefined;
    try {
      const shard = this.#shardFor(bytes);
      const pointer = allocate(shard.core, bytes);
      shard.core.memory.write(pointer, filter);
      this.#use(shard, bytes);
      return { shard, pointer, bytes };
    } catch {
      this.ended();
      return undefined;
    }
  }

  free({ shard, pointer, bytes }: Placed): void {
    shard.core.exports.hg_memory_free(pointer);
    this.#use(shard, -bytes);
    // The memory of an instance is released only with the instance. One instance is always kept,
    // because small tables are often created and dropped.
    if (shard.usedBytes === 0 && this.#shards.length > 1) this.#shards = this.#shards.filter((one) => one !== shard);
  }

  /** Lowers the limit to the bytes now in use, because memory is exhausted. */
  ended(): void {
    this.#limitBytes = Math.min(this.#limitBytes, this.#usedBytes);
  }

  #use(shard: Shard, bytes: number): void {
    shard.usedBytes += bytes;
    this.#usedBytes += bytes;
    this.#options.charge(bytes);
    if (shard.usedBytes < 0 || this.#usedBytes < 0) throw new Error('a filter was freed twice');
  }

  #shardFor(bytes: number): Shard {
    const known = this.#shards.find((shard) => shard.usedBytes + bytes <= this.#options.shardBytes);
    if (known !== undefined) return known;
    const shard = new Shard(this.#module.instantiate());
    this.#shards.push(shard);
    return shard;
  }
}

interface Entry extends Placed {
  nodeMin: number;
  nodeMax: number;
}

/** The filters of a table that are in one instance. */
interface Part {
  shard: Shard;
  directory: Region;
  /**
   * For each entry of the directory, the position of its segment in the order passed to `arrange`;
   * ascending.
   */
  places: Uint32Array;
}

/** The filters of one table. */
export class FilterDirectory {
  readonly #room: FilterRoom;
  readonly #entries = new Map<number, Entry>();
  #parts: Part[] = [];

  constructor(room: FilterRoom) {
    this.#room = room;
  }

  /**
   * Adds the filter of a segment, under a number `segment` that the caller chooses. Returns
   * 'damaged' if the filter's size or checksum differs from that in the segment's header, and
   * 'no_room' if there is no memory.
   */
  add(segment: number, filter: Uint8Array, facts: SegmentFacts): 'added' | 'damaged' | 'no_room' {
    if (filter.length !== facts.filterBytes) return 'damaged';
    const placed = this.#room.place(filter);
    if (placed === undefined) return 'no_room';
    const { exports } = placed.shard.core;
    if (exports.hg_crc32c(placed.pointer, filter.length, 0) >>> 0 !== facts.filterChecksum) {
      this.#room.free(placed);
      return 'damaged';
    }
    this.#entries.set(segment, { ...placed, nodeMin: facts.nodeMin, nodeMax: facts.nodeMax });
    return 'added';
  }

  has(segment: number): boolean {
    return this.#entries.has(segment);
  }

  /**
   * Frees the filters of all segments that are not listed. Call `arrange` before the next probe.
   */
  keep(segments: readonly number[]): void {
    const kept = new Set(segments);
    for (const [segment, entry] of this.#entries) {
      if (kept.has(segment)) continue;
      this.#room.free(entry);
      this.#entries.delete(segment);
    }
    this.#freeParts();
  }

  /**
   * Sets the segments to probe, in this order; all must have been added. Returns false if there is
   * no memory for the directory.
   */
  arrange(segments: readonly number[]): boolean {
    this.#freeParts();
    const byShard = new Map<Shard, number[]>();
    for (const [place, segment] of segments.entries()) {
      const { shard } = this.#entries.get(segment)!;
      const places = byShard.get(shard);
      if (places === undefined) byShard.set(shard, [place]);
      else places.push(place);
    }
    try {
      for (const [shard, places] of byShard) this.#parts.push(this.#partOf(shard, places, segments));
      return true;
    } catch {
      this.#room.ended();
      return false;
    }
  }

  #partOf(shard: Shard, places: readonly number[], segments: readonly number[]): Part {
    shard.out.ensure(places.length * 4);
    const directory = new Region(shard.core, places.length * ENTRY_BYTES);
    const view = new DataView(shard.core.memory.bytes.buffer, directory.pointer, directory.bytes);
    for (const [index, place] of places.entries()) {
      const entry = this.#entries.get(segments[place]!)!;
      const at = index * ENTRY_BYTES;
      view.setUint32(at, entry.pointer, true);
      view.setUint32(at + 4, entry.bytes, true);
      view.setBigInt64(at + 8, BigInt(entry.nodeMin), true);
      view.setBigInt64(at + 16, BigInt(entry.nodeMax), true);
    }
    return { shard, directory, places: Uint32Array.from(places) };
  }

  /**
   * Returns the positions, in the order passed to `arrange`, of the segments that may contain all
   * nodes; ascending. A segment that does contain them is never missing.
   */
  probe(nodes: readonly number[]): Uint32Array {
    const found = this.#parts.map((part) => probePart(part, nodes));
    if (found.length === 1) return found[0]!;
    const all = new Uint32Array(found.reduce((sum, places) => sum + places.length, 0));
    let at = 0;
    for (const places of found) {
      all.set(places, at);
      at += places.length;
    }
    return all.sort();
  }

  /** Frees all memory. */
  close(): void {
    for (const entry of this.#entries.values()) this.#room.free(entry);
    this.#entries.clear();
    this.#freeParts();
  }

  #freeParts(): void {
    for (const { directory } of this.#parts) directory.free();
    this.#parts = [];
  }
}

function probePart({ shard, directory, places }: Part, nodes: readonly number[]): Uint32Array {
  const { exports, memory } = shard.core;
  const numbers = memory.numbers;
  for (let i = 0; i < nodes.length; i++) numbers[shard.nodes / 8 + i] = nodes[i]!;
  const out = shard.out.pointer;
  const count = exports.hg_filters_probe(directory.pointer, places.length, shard.nodes, nodes.length, out) >>> 0;
  const found = memory.words.slice(out / 4, out / 4 + count);
  for (let i = 0; i < count; i++) found[i] = places[found[i]!]!;
  return found;
}
