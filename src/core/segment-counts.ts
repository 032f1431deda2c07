// Counts the rows of many nodes in a segment, in one call into the core.

import type { Core } from './load.ts';
import { Region } from './region.ts';
import { coreError } from './status.ts';

/**
 * Adds to each count the number of rows of [from, to), including dead rows, that contain the node
 * at the same index. The nodes must ascend strictly. Throws `overloaded`.
 */
export function addCounts(
  core: Core,
  segment: number,
  nodes: Float64Array,
  from: number,
  to: number,
  counts: Uint32Array,
): void {
  const { exports, memory } = core;
  const { length } = nodes;
  const region = new Region(core, length * 12);
  try {
    const countsAt = region.pointer + length * 8;
    memory.numbers.set(nodes, region.pointer / 8);
    memory.words.set(counts, countsAt / 4);
    const done = exports.hg_segment_counts(segment, region.pointer, length, from, to, countsAt);
    if (done < 0) throw coreError(done, 'hg_segment_counts');
    counts.set(memory.words.subarray(countsAt / 4, countsAt / 4 + length));
  } finally {
    region.free();
  }
}

/**
 * Adds to the count of each node, at index node - `least`, the number of rows of [from, to),
 * including dead rows, that contain it. Throws `overloaded`.
 */
export function addTally(
  core: Core,
  segment: number,
  least: number,
  from: number,
  to: number,
  counts: Uint32Array,
): void {
  const { exports, memory } = core;
  const { length } = counts;
  const region = new Region(core, length * 4);
  try {
    const { pointer } = region;
    memory.words.set(counts, pointer / 4);
    const found = exports.hg_segment_tally(segment, least, length, from, to, pointer);
    if (found < 0) throw coreError(found, 'hg_segment_tally');
    counts.set(memory.words.subarray(pointer / 4, pointer / 4 + length));
  } finally {
    region.free();
  }
}
