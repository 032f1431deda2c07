// Triangles through every vertex, by looking only at arcs that lead to vertices of higher degree (Latapy 2008, "forward").

function wordAt(base: usize, i: u32): usize {
  return base + ((<usize>i) << 2);
}

function degreeOf(starts: usize, v: u32): u32 {
  return load<u32>(wordAt(starts, v + 1)) - load<u32>(wordAt(starts, v));
}

/** Half of the arcs, each edge once, from the end of lower (degree, number) to the other: outStarts u32[n + 1], outs u32[arcs / 2], ascending. */
export function orient(starts: usize, neighbours: usize, n: u32, outStarts: usize, outs: usize): void {
  let at: u32 = 0;
  for (let v: u32 = 0; v < n; v++) {
    store<u32>(wordAt(outStarts, v), at);
    const degree = degreeOf(starts, v);
    const end = load<u32>(wordAt(starts, v + 1));
    for (let arc = load<u32>(wordAt(starts, v)); arc < end; arc++) {
      const w = load<u32>(wordAt(neighbours, arc));
      const other = degreeOf(starts, w);
      if (degree < other || (degree == other && v < w)) {
        store<u32>(wordAt(outs, at), w);
        at++;
      }
    }
  }
  store<u32>(wordAt(outStarts, n), at);
}

/**
 * Triangles whose lowest vertex lies in [from, ...): adds one to counts f64[n] for each of the three. marks: u32[n], zero before the first call. Stops
 * once `most` arcs were looked at; gives the vertex to go on from.
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
    const begin = wordAt(outs, load<u32>(wordAt(outStarts, u)));
    const end = wordAt(outs, load<u32>(wordAt(outStarts, u + 1)));
    seen++;
    if (end - begin < 8) continue;
    const stamp = u + 1;
    for (let at = begin; at < end; at += 4) store<u32>(wordAt(marks, load<u32>(at)), stamp);
    let ofU: f64 = 0;
    for (let at = begin; at < end; at += 4) {
      const v = load<u32>(at);
      const from = wordAt(outs, load<u32>(wordAt(outStarts, v)));
      const to = wordAt(outs, load<u32>(wordAt(outStarts, v + 1)));
      seen += <u32>((to - from) >>> 2);
      let ofV: u32 = 0;
      for (let further = from; further < to; further += 4) {
        const w = load<u32>(further);
        if (load<u32>(wordAt(marks, w)) != stamp) continue;
        ofV++;
        const place = counts + ((<usize>w) << 3);
        store<f64>(place, load<f64>(place) + 1);
      }
      const place = counts + ((<usize>v) << 3);
      store<f64>(place, load<f64>(place) + <f64>ofV);
      ofU += <f64>ofV;
    }
    const place = counts + ((<usize>u) << 3);
    store<f64>(place, load<f64>(place) + ofU);
  }
  return u;
}
