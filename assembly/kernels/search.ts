// Searches breadth-first from one source, and computes Brandes' betweenness sums for a range of
// sources.
//
// Betweenness (Brandes 2001) takes two passes per source. The forward pass, a breadth-first search,
// counts the shortest paths to each vertex: paths(w) is the sum of paths(v) over the predecessors v
// of w, which are the neighbours of w that are one level nearer to the source. The backward pass
// begins at the farthest level and computes dependency(v) = paths(v) * (sum of share(w) over the
// successors w of v), where share(w) = (1 + dependency(w)) / paths(w). The sum of dependency(v)
// over all sources is the betweenness of v, with each unordered pair counted twice. Predecessors
// are not stored: a neighbour is a successor if its distance is greater by one.
//
// Example: the path a - b - c. From source a, share(c) = 1, so dependency(b) = 1; the same holds
// from source c. The sum for b is 2: b is on the shortest path of one pair, which is counted twice.

import { bytesOf, cell, get, put } from '../memory/cells';

const UNSEEN: u32 = 0xffff_ffff;

function numberAt(base: usize, i: u32): usize {
  return cell<u64>(base, i);
}

/**
 * Writes the distances from `source` to `distances` u32[n], 0xFFFFFFFF for unreachable vertices.
 * `queue` u32[n] receives the reached vertices in the order in which they were found: the source is
 * first, and the last vertex is a farthest one. Returns the number of vertices reached, including
 * the source.
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
 * Adds the dependency of each source in [from, to) on each vertex to `sums` f64[n] (Brandes 2001).
 * `scratch` has 24 n bytes. `reach` u32[n] is the number of vertices that each vertex reaches,
 * including itself. The arcs of the last level are never read: all reachable vertices are known by
 * then, and a vertex of the last level has no successors.
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

/**
 * Counts the shortest paths to all vertices that the source reaches; returns how many vertices of
 * the queue are before the last level.
 */
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
    // All vertices have been found; those from `head` on are the last level.
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

/**
 * Runs the backward pass, from the last level inwards: computes shares and dependencies (see the
 * top of this file), and adds the dependencies to `sums`.
 */
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
