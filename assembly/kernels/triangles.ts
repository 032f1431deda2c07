// Counts the triangles through every vertex. Follows only arcs that lead to vertices of higher
// degree or, if the degrees are equal, of higher number (Latapy 2008, "forward").

import { cell, get, put } from '../memory/cells';

function degreeOf(starts: usize, v: u32): u32 {
  return get<u32>(starts, v + 1) - get<u32>(starts, v);
}

/**
 * Keeps half of the arcs: of each edge, only the arc from its lower end. Ends are compared by
 * (degree, number). Writes `outStarts` u32[n + 1] and `outs` u32[arcs / 2], which ascends for each
 * vertex.
 */
export function orient(starts: usize, neighbours: usize, n: u32, outStarts: usize, outs: usize): void {
  let at: u32 = 0;
  for (let v: u32 = 0; v < n; v++) {
    put<u32>(outStarts, v, at);
    const degree = degreeOf(starts, v);
    const end = get<u32>(starts, v + 1);
    for (let arc = get<u32>(starts, v); arc < end; arc++) {
      const w = get<u32>(neighbours, arc);
      const other = degreeOf(starts, w);
      if (degree < other || (degree == other && v < w)) {
        put<u32>(outs, at, w);
        at++;
      }
    }
  }
  put<u32>(outStarts, n, at);
}

/**
 * Finds the triangles whose lowest vertex, by (degree, number), is one of the vertices from `from`
 * on, and adds one to `counts` f64[n] for each of their three vertices. `marks` u32[n] is zero
 * before the first call. Stops once `most` vertices and arcs have been examined; returns the vertex
 * to continue from.
 */
export function triangles(
  outStarts: usize,
  outs: usize,
  n: u32,
  from: u32,
  most: u32,
  marks: usize,
  counts: usize,
): u32 {
  let seen: u32 = 0;
  let u = from;
  for (; u < n && seen < most; u++) {
    const begin = cell<u32>(outs, get<u32>(outStarts, u));
    const end = cell<u32>(outs, get<u32>(outStarts, u + 1));
    seen++;
    if (end - begin < 8) continue;
    const stamp = u + 1;
    for (let at = begin; at < end; at += 4) put<u32>(marks, load<u32>(at), stamp);
    let ofU: f64 = 0;
    for (let at = begin; at < end; at += 4) {
      const v = load<u32>(at);
      const from = cell<u32>(outs, get<u32>(outStarts, v));
      const to = cell<u32>(outs, get<u32>(outStarts, v + 1));
      seen += <u32>((to - from) >>> 2);
      let ofV: u32 = 0;
      for (let further = from; further < to; further += 4) {
        const w = load<u32>(further);
        if (get<u32>(marks, w) != stamp) continue;
        ofV++;
        const place = cell<u64>(counts, w);
        store<f64>(place, load<f64>(place) + 1);
      }
      const place = cell<u64>(counts, v);
      store<f64>(place, load<f64>(place) + <f64>ofV);
      ofU += <f64>ofV;
    }
    const place = cell<u64>(counts, u);
    store<f64>(place, load<f64>(place) + ofU);
  }
  return u;
}
