// Computes core numbers within time windows, which are ranges of edges in time order.

import type { Steps } from '../../schedule/steps.ts';
import type { Incidence } from '../incidence.ts';
import { Scratch } from '../scratch.ts';

/** Number of incidences per step, which takes about 5 ms. */
const STEP_ITEMS = 200_000;

/**
 * The nodes of a window, and their core numbers in it. The arrays are views that are valid until
 * the next call into the core.
 */
export interface WindowCores {
  nodes: Uint32Array;
  cores: Uint32Array;
}

/**
 * Calls `visit` for each window, the edges [bounds[i], bounds[i + 1]), with the core numbers of the
 * co-member graph of these edges.
 */
export function* windowCores(
  incidence: Incidence,
  bounds: Uint32Array,
  visit: (window: number, found: WindowCores) => void,
): Steps<void> {
  const { core, nodes, edgeStarts, edgeNodes } = incidence;
  const scratch = new Scratch(core);
  try {
    const slots = scratch.zeroed(nodes * 4);
    const { members, bytes } = roomOf(incidence, bounds);
    const nodesAt = scratch.take(members * 4);
    const coresAt = scratch.take(members * 4);
    const work = scratch.take(bytes);
    let done = 0;
    for (let window = 0; window + 1 < bounds.length; window++) {
      const from = bounds[window]!;
      const to = bounds[window + 1]!;
      const count = core.exports.hg_window_cores(edgeStarts, edgeNodes, from, to, slots, nodesAt, coresAt, work) >>> 0;
      const { words } = core.memory;
      visit(window, {
        nodes: words.subarray(nodesAt / 4, nodesAt / 4 + count),
        cores: words.subarray(coresAt / 4, coresAt / 4 + count),
      });
      done += words[edgeStarts / 4 + to]! - words[edgeStarts / 4 + from]! + 10;
      if (done < STEP_ITEMS) continue;
      done = 0;
      yield window / bounds.length;
    }
  } finally {
    scratch.free();
  }
}

/**
 * Returns the sizes of the buffers that fit every window: `members` in entries, and the scratch
 * memory in bytes.
 */
function roomOf({ core, edgeStarts }: Incidence, bounds: Uint32Array): { members: number; bytes: number } {
  const { words } = core.memory;
  let members = 0;
  let bytes = 0;
  for (let window = 0; window + 1 < bounds.length; window++) {
    let pairs = 0;
    for (let e = bounds[window]!; e < bounds[window + 1]!; e++) {
      const size = words[edgeStarts / 4 + e + 1]! - words[edgeStarts / 4 + e]!;
      pairs += size * (size - 1);
    }
    const count = words[edgeStarts / 4 + bounds[window + 1]!]! - words[edgeStarts / 4 + bounds[window]!]!;
    members = Math.max(members, count);
    bytes = Math.max(bytes, core.exports.hg_window_bytes(count, pairs) >>> 0);
  }
  return { members, bytes };
}
