// Counts the pairs of a node's edges that share another node too (Latapy, Magnien, Del Vecchio
// 2008), with one bit per edge of the node, 64 edges per word.

import { bytesOf, cell, get, put } from '../memory/cells';

/**
 * Returns the number of ordered pairs (e, f) of different edges of v that share a node besides v,
 * where e is one of the `64 * words` edges of v that begin at position `from`. `slots` u32[n] is
 * zero before and after the call. `bits` is u64[others + 1][words], where `others` is at least the
 * number of nodes that share an edge with v.
 */
export function countSharing(
  edgeStarts: usize,
  edgeNodes: usize,
  nodeStarts: usize,
  nodeEdges: usize,
  v: u32,
  from: u32,
  words: u32,
  slots: usize,
  bits: usize,
): f64 {
  const begin = get<u32>(nodeStarts, v);
  const degree = get<u32>(nodeStarts, v + 1) - begin;
  const to = min(degree, from + words * 64);
  const rowBytes = bytesOf<u64>(words);
  let used: u32 = 0;
  for (let at = from; at < to; at++) {
    const e = get<u32>(nodeEdges, begin + at);
    const end = cell<u32>(edgeNodes, get<u32>(edgeStarts, e + 1));
    for (let member = cell<u32>(edgeNodes, get<u32>(edgeStarts, e)); member < end; member += 4) {
      const u = load<u32>(member);
      if (u == v) continue;
      let slot = get<u32>(slots, u);
      if (slot == 0) {
        slot = ++used;
        put<u32>(slots, u, slot);
        memory.fill(bits + rowBytes * slot, 0, rowBytes);
      }
      const word = cell<u64>(bits + rowBytes * slot, (at - from) >>> 6);
      store<u64>(word, load<u64>(word) | ((<u64>1) << (<u64>((at - from) & 63))));
    }
  }
  let pairs: f64 = 0;
  for (let at: u32 = 0; at < degree; at++) {
    const f = get<u32>(nodeEdges, begin + at);
    memory.fill(bits, 0, rowBytes);
    const end = cell<u32>(edgeNodes, get<u32>(edgeStarts, f + 1));
    for (let member = cell<u32>(edgeNodes, get<u32>(edgeStarts, f)); member < end; member += 4) {
      const slot = get<u32>(slots, load<u32>(member));
      if (slot == 0) continue;
      const row = bits + rowBytes * slot;
      for (let i: usize = 0; i < rowBytes; i += 8) store<u64>(bits + i, load<u64>(bits + i) | load<u64>(row + i));
    }
    let count: u64 = 0;
    for (let i: usize = 0; i < rowBytes; i += 8) count += popcnt(load<u64>(bits + i));
    // If an edge of the range has members besides v, it was counted as sharing them with itself.
    const own = at >= from && at < to && get<u32>(edgeStarts, f + 1) - get<u32>(edgeStarts, f) > 1;
    pairs += <f64>(count - u64(own));
  }
  for (let at = from; at < to; at++) {
    const e = get<u32>(nodeEdges, begin + at);
    const end = cell<u32>(edgeNodes, get<u32>(edgeStarts, e + 1));
    for (let member = cell<u32>(edgeNodes, get<u32>(edgeStarts, e)); member < end; member += 4)
      put<u32>(slots, load<u32>(member), 0);
  }
  return pairs;
}
