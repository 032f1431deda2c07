// Sums the overlaps of pairs of edges. Also counts, for each edge, the pairs of its members that
// other edges contain too.

import { cell, get, put } from '../memory/cells';

function numberAt(base: usize, i: u32): usize {
  return cell<u64>(base, i);
}

function widthOf(starts: usize, row: u32): u32 {
  return get<u32>(starts, row + 1) - get<u32>(starts, row);
}

/**
 * Examines the pairs of intersecting edges {e, f} with e < f, for e from `from` on. Let s be the
 * number of members that e and f share. Adds 1 for each pair to sums[0], s / min(|e|, |f|) to
 * sums[1] and s / (|e| + |f| - s) to sums[2]. `counts` u32[m] is zero before and after the call;
 * `met` u32[m] is scratch memory. Stops once `most` incidences have been examined; returns the edge
 * to continue from.
 */
export function sumOverlaps(
  edgeStarts: usize,
  edgeNodes: usize,
  nodeStarts: usize,
  nodeEdges: usize,
  m: u32,
  from: u32,
  most: u32,
  counts: usize,
  met: usize,
  sums: usize,
): u32 {
  let seen: u32 = 0;
  let e = from;
  let pairs = load<f64>(sums);
  let simpson = load<f64>(sums, 8);
  let jaccard = load<f64>(sums, 16);
  for (; e < m && seen < most; e++) {
    const size = widthOf(edgeStarts, e);
    let found: u32 = 0;
    const end = cell<u32>(edgeNodes, get<u32>(edgeStarts, e + 1));
    for (let at = cell<u32>(edgeNodes, get<u32>(edgeStarts, e)); at < end; at += 4) {
      const v = load<u32>(at);
      const first = cell<u32>(nodeEdges, get<u32>(nodeStarts, v));
      // The edges of a node ascend, so the edges after e are at the end of the list.
      for (let other = cell<u32>(nodeEdges, get<u32>(nodeStarts, v + 1)) - 4; other >= first; other -= 4) {
        const f = load<u32>(other);
        if (f <= e) break;
        seen++;
        const count = cell<u32>(counts, f);
        const before = load<u32>(count);
        store<u32>(count, before + 1);
        if (before == 0) put<u32>(met, found++, f);
      }
    }
    seen += size;
    for (let i: u32 = 0; i < found; i++) {
      const f = get<u32>(met, i);
      const both = <f64>get<u32>(counts, f);
      put<u32>(counts, f, 0);
      const other = widthOf(edgeStarts, f);
      simpson += both / <f64>min(size, other);
      jaccard += both / (<f64>(size + other) - both);
    }
    pairs += <f64>found;
  }
  store<f64>(sums, pairs);
  store<f64>(sums, simpson, 8);
  store<f64>(sums, jaccard, 16);
  return e;
}

/**
 * Writes, for each edge from `from` on, the number of pairs of its members that another edge
 * contains too (`out` f64[m]). `counts` is the number of edges that contain both ends, for each arc
 * of the co-member graph. Stops once `most` steps are done, of which a pair takes 8; returns the
 * edge to continue from.
 */
export function countPairsAgain(
  edgeStarts: usize,
  edgeNodes: usize,
  m: u32,
  from: u32,
  most: u32,
  starts: usize,
  neighbours: usize,
  counts: usize,
  out: usize,
): u32 {
  let seen: u32 = 0;
  let e = from;
  for (; e < m && seen < most; e++) {
    const begin = cell<u32>(edgeNodes, get<u32>(edgeStarts, e));
    const end = cell<u32>(edgeNodes, get<u32>(edgeStarts, e + 1));
    let again: u32 = 0;
    for (let at = begin; at < end; at += 4) {
      const u = load<u32>(at);
      let low = get<u32>(starts, u);
      const last = get<u32>(starts, u + 1);
      for (let other = at + 4; other < end; other += 4) {
        const w = load<u32>(other);
        let high = last;
        // Both lists ascend, so the search for the next member can begin at `low`.
        while (low < high) {
          const middle = (low + high) >>> 1;
          if (get<u32>(neighbours, middle) < w) low = middle + 1;
          else high = middle;
        }
        again += u32(get<u32>(counts, low) > 1);
        seen += 8;
      }
    }
    seen++;
    store<f64>(numberAt(out, e), <f64>again);
  }
  return e;
}
