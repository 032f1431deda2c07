// The node filters of all segments of a table in one instance: which segments may hold these nodes, in one call.

import type { Core } from './load.ts';
import { allocate, Region } from './region.ts';
import type { SegmentFacts } from './segment-facts.ts';

interface Entry {
  pointer: number;
  bytes: number;
  nodeMin: number;
  nodeMax: number;
}

export class FilterDirectory {
  readonly #core: Core;
  readonly #entries = new Map<number, Entry>();
  readonly #directory: Region;
  readonly #out: Region;
  readonly #nodes: number;
  #order: number[] = [];

  constructor(core: Core) {
    this.#core = core;
    this.#directory = new Region(core, 24 * 16);
    this.#out = new Region(core, 4 * 16);
    this.#nodes = allocate(core, 255 * 8);
  }

  get residentBytes(): number {
    return this.#core.memory.size;
  }

  /** Adds the filter bytes of a segment under a number of the caller's. False when their checksum is not the one the segment's header gives. */
  add(segment: number, filter: Uint8Array, facts: SegmentFacts): boolean {
    const { exports, memory } = this.#core;
    const pointer = allocate(this.#core, filter.length);
    memory.write(pointer, filter);
    if (
      filter.length !== facts.filterBytes ||
      exports.hg_crc32c(pointer, filter.length, 0) >>> 0 !== facts.filterChecksum
    ) {
      exports.hg_memory_free(pointer);
      return false;
    }
    this.#entries.set(segment, { pointer, bytes: filter.length, nodeMin: facts.nodeMin, nodeMax: facts.nodeMax });
    return true;
  }

  has(segment: number): boolean {
    return this.#entries.has(segment);
  }

  /** Sets which segments count, in order; filters of others are given back. */
  arrange(segments: readonly number[]): void {
    const kept = new Set(segments);
    for (const [segment, entry] of this.#entries) {
      if (kept.has(segment)) continue;
      this.#core.exports.hg_memory_free(entry.pointer);
      this.#entries.delete(segment);
    }
    this.#order = [...segments];
    this.#directory.ensure(segments.length * 24);
    this.#out.ensure(segments.length * 4);
    const view = new DataView(this.#core.memory.bytes.buffer, this.#directory.pointer, this.#directory.bytes);
    for (const [index, segment] of segments.entries()) {
      const entry = this.#entries.get(segment)!;
      view.setUint32(index * 24, entry.pointer, true);
      view.setUint32(index * 24 + 4, entry.bytes, true);
      view.setBigInt64(index * 24 + 8, BigInt(entry.nodeMin), true);
      view.setBigInt64(index * 24 + 16, BigInt(entry.nodeMax), true);
    }
  }

  /** Places in the arranged order of the segments that may hold all nodes, ascending. No false negative. */
  probe(nodes: readonly number[]): Uint32Array {
    const { exports, memory } = this.#core;
    const numbers = memory.numbers;
    for (let i = 0; i < nodes.length; i++) numbers[this.#nodes / 8 + i] = nodes[i]!;
    const count =
      exports.hg_filters_probe(
        this.#directory.pointer,
        this.#order.length,
        this.#nodes,
        nodes.length,
        this.#out.pointer,
      ) >>> 0;
    return memory.words.slice(this.#out.pointer / 4, this.#out.pointer / 4 + count);
  }
}
