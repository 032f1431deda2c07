// Computes the core numbers of a graph (Batagelj and Zaversnik 2003): removes the vertices one by
// one, always one of least degree.
//
// `order` holds the vertices sorted by current degree, and bins[d] is the position in `order` where
// the vertices of degree d begin. The scan removes the vertex at the next position; the degree of
// the vertex at that time is its core number. The degree of each neighbour of higher degree falls
// by one: the neighbour is swapped with the first vertex of its bin, and the start of the bin moves
// past the neighbour. This keeps `order` sorted in constant time. Invariant: the vertices before
// the scan position have been removed, and their core numbers are final and ascend.
//
// Example: a triangle a, b, c with a fourth vertex d joined to c. d (degree 1) is removed first and
// gets core number 1. This lowers the degree of c from 3 to 2, and a, b and c then get core number
// 2.

import { bytesOf, cell, get, put } from '../memory/cells';

/**
 * Writes the core number of each vertex, the largest k such that the vertex is in the k-core, to
 * `cores` u32[n], and the vertices in order of removal (a degeneracy order) to `order` u32[n].
 * `scratch` has 8 n + 4 bytes. Returns the largest core number. Cost: linear in vertices and arcs.
 */
export function coreNumbers(starts: usize, neighbours: usize, n: u32, cores: usize, order: usize, scratch: usize): u32 {
  if (n == 0) return 0;
  const bins = scratch;
  const places = cell<u32>(scratch, n + 1);
  memory.fill(bins, 0, bytesOf<u32>(n + 1));
  for (let v: u32 = 0; v < n; v++) {
    const degree = get<u32>(starts, v + 1) - get<u32>(starts, v);
    put<u32>(cores, v, degree);
    const bin = cell<u32>(bins, degree);
    store<u32>(bin, load<u32>(bin) + 1);
  }
  // bins[d] becomes the position where the vertices of degree d begin.
  let sum: u32 = 0;
  for (let d: u32 = 0; d <= n; d++) {
    const count = get<u32>(bins, d);
    put<u32>(bins, d, sum);
    sum += count;
  }
  for (let v: u32 = 0; v < n; v++) {
    const bin = cell<u32>(bins, get<u32>(cores, v));
    const at = load<u32>(bin);
    store<u32>(bin, at + 1);
    put<u32>(places, v, at);
    put<u32>(order, at, v);
  }
  for (let d = n; d > 0; d--) put<u32>(bins, d, get<u32>(bins, d - 1));
  store<u32>(bins, 0);
  for (let i: u32 = 0; i < n; i++) {
    const v = get<u32>(order, i);
    const core = get<u32>(cores, v);
    const end = get<u32>(starts, v + 1);
    for (let arc = get<u32>(starts, v); arc < end; arc++) {
      const w = get<u32>(neighbours, arc);
      const degree = get<u32>(cores, w);
      if (degree > core) lower(w, degree, cores, order, places, bins);
    }
  }
  return get<u32>(cores, get<u32>(order, n - 1));
}

/**
 * Lowers the degree of the vertex `w` by one: moves it to the front of its bin, then moves the
 * start of the bin past it.
 */
function lower(w: u32, degree: u32, cores: usize, order: usize, places: usize, bins: usize): void {
  const bin = cell<u32>(bins, degree);
  const first = load<u32>(bin);
  const other = get<u32>(order, first);
  if (other != w) {
    const place = get<u32>(places, w);
    put<u32>(places, w, first);
    put<u32>(order, first, w);
    put<u32>(places, other, place);
    put<u32>(order, place, other);
  }
  store<u32>(bin, first + 1);
  put<u32>(cores, w, degree - 1);
}
