// Breadth-first search from one source, and Brandes' sums over a range of sources.

import { bytesOf, cell, get, put } from '../memory/cells';

const UNSEEN: u32 = 0xffff_ffff;

function numberAt(base: usize, i: u32): usize {
  return cell<u64>(base, i);
}

/**
 * Distances from `source`: distances u32[n], 0xFFFFFFFF where it does not reach; queue u32[n] holds the reached vertices in the order they were met, the source
 * first, so that the last one is the farthest. Gives how many are reached, the source among them.
 */
export function search(starts: usize, neighbours: usize, n: u32, source: u32, distances: usize, queue: usize): u32 {
  memory.fill(distances, 0xff, bytesOf<u32>(n));
  put<u32>(distances, source, 0);
  store<u32>(queue, source);
  let met: u32 = 1;
  for (let head: u32 = 0; head < met && met < n; head++) {
    const v = get<u32>(queue, head);
    const next = get<u32>(distances, v) + 1;
    const end = cell<u32>(neighbours, get<u32>(starts, v + 1));
    for (let at = cell<u32>(neighbours, get<u32>(starts, v)); at < end; at += 4) {
      const w = load<u32>(at);
      const place = cell<u32>(distances, w);
      if (load<u32>(place) == UNSEEN) {
        store<u32>(place, next);
        put<u32>(queue, met, w);
        met++;
      }
    }
  }
  return met;
}

/**
 * Brandes 2001, accumulation step of the sources [from, to): adds to sums f64[n] what each of them depends on each vertex. scratch: 24 n bytes. The
 * arcs of the last level are never looked at: all vertices that a source reaches are known by then, and none depends on others.
 * `reach`: u32[n], how many vertices each source reaches, itself among them.
 */
export function accumulateBetweenness(
  starts: usize,
  neighbours: usize,
  n: u32,
  from: u32,
  to: u32,
  reach: usize,
  sums: usize,
  scratch: usize,
): void {
  const paths = scratch;
  const shares = numberAt(paths, n);
  const distances = numberAt(shares, n);
  const queue = cell<u32>(distances, n);
  for (let source = from; source < to; source++) {
    const whole = get<u32>(reach, source);
    if (whole < 3) continue;
    const inner = countPaths(starts, neighbours, n, source, whole, paths, distances, queue);
    gather(starts, neighbours, source, inner, whole, paths, shares, distances, queue, sums);
  }
}

/** Counts shortest paths to all that the source reaches; gives how many vertices of the queue lie above the last level. */
function countPaths(
  starts: usize,
  neighbours: usize,
  n: u32,
  source: u32,
  whole: u32,
  paths: usize,
  distances: usize,
  queue: usize,
): u32 {
  memory.fill(distances, 0xff, bytesOf<u32>(n));
  memory.fill(paths, 0, bytesOf<u64>(n));
  put<u32>(distances, source, 0);
  store<f64>(numberAt(paths, source), 1);
  store<u32>(queue, source);
  let met: u32 = 1;
  let head: u32 = 0;
  for (let level: u32 = 1; head < met; level++) {
    // All are met: the vertices from `head` on are the last level.
    if (met == whole) return head;
    const levelEnd = met;
    for (; head < levelEnd; head++) {
      const v = get<u32>(queue, head);
      const count = load<f64>(numberAt(paths, v));
      const end = cell<u32>(neighbours, get<u32>(starts, v + 1));
      for (let at = cell<u32>(neighbours, get<u32>(starts, v)); at < end; at += 4) {
        const w = load<u32>(at);
        const distance = get<u32>(distances, w);
        if (distance < level) continue;
        const place = numberAt(paths, w);
        if (distance == UNSEEN) {
          put<u32>(distances, w, level);
          put<u32>(queue, met, w);
          met++;
        }
        store<f64>(place, load<f64>(place) + count);
      }
    }
  }
  return head;
}

/** Shares from the far end inwards: share(w) = (1 + dependency(w)) / paths(w); dependency(v) = paths(v) * sum of the shares of its successors. */
function gather(
  starts: usize,
  neighbours: usize,
  source: u32,
  inner: u32,
  whole: u32,
  paths: usize,
  shares: usize,
  distances: usize,
  queue: usize,
  sums: usize,
): void {
  for (let i = inner; i < whole; i++) {
    const v = get<u32>(queue, i);
    store<f64>(numberAt(shares, v), 1 / load<f64>(numberAt(paths, v)));
  }
  for (let i = inner; i-- > 1; ) {
    const v = get<u32>(queue, i);
    const next = get<u32>(distances, v) + 1;
    let sum: f64 = 0;
    const end = cell<u32>(neighbours, get<u32>(starts, v + 1));
    for (let at = cell<u32>(neighbours, get<u32>(starts, v)); at < end; at += 4) {
      const w = load<u32>(at);
      if (get<u32>(distances, w) == next) sum += load<f64>(numberAt(shares, w));
    }
    const count = load<f64>(numberAt(paths, v));
    const dependency = count * sum;
    store<f64>(numberAt(shares, v), (1 + dependency) / count);
    store<f64>(numberAt(sums, v), load<f64>(numberAt(sums, v)) + dependency);
  }
}
