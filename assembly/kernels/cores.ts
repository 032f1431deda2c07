// Core numbers of a graph (Batagelj and Zaversnik 2003): vertices leave by least degree, kept sorted in bins.

function wordAt(base: usize, i: u32): usize {
  return base + ((<usize>i) << 2);
}

/**
 * cores u32[n]: the largest k such that the vertex is in the k-core. order u32[n]: vertices as they leave (a degeneracy order). scratch: 8 n + 4 bytes.
 * Gives the largest core number. Linear in vertices and arcs.
 */
export function coreNumbers(starts: usize, neighbours: usize, n: u32, cores: usize, order: usize, scratch: usize): u32 {
  if (n == 0) return 0;
  const bins = scratch;
  const places = wordAt(scratch, n + 1);
  memory.fill(bins, 0, (<usize>(n + 1)) << 2);
  for (let v: u32 = 0; v < n; v++) {
    const degree = load<u32>(wordAt(starts, v + 1)) - load<u32>(wordAt(starts, v));
    store<u32>(wordAt(cores, v), degree);
    const bin = wordAt(bins, degree);
    store<u32>(bin, load<u32>(bin) + 1);
  }
  // bins[d]: where the vertices of degree d begin.
  let sum: u32 = 0;
  for (let d: u32 = 0; d <= n; d++) {
    const count = load<u32>(wordAt(bins, d));
    store<u32>(wordAt(bins, d), sum);
    sum += count;
  }
  for (let v: u32 = 0; v < n; v++) {
    const bin = wordAt(bins, load<u32>(wordAt(cores, v)));
    const at = load<u32>(bin);
    store<u32>(bin, at + 1);
    store<u32>(wordAt(places, v), at);
    store<u32>(wordAt(order, at), v);
  }
  for (let d = n; d > 0; d--) store<u32>(wordAt(bins, d), load<u32>(wordAt(bins, d - 1)));
  store<u32>(bins, 0);
  for (let i: u32 = 0; i < n; i++) {
    const v = load<u32>(wordAt(order, i));
    const core = load<u32>(wordAt(cores, v));
    const end = load<u32>(wordAt(starts, v + 1));
    for (let arc = load<u32>(wordAt(starts, v)); arc < end; arc++) {
      const w = load<u32>(wordAt(neighbours, arc));
      const degree = load<u32>(wordAt(cores, w));
      if (degree > core) lower(w, degree, cores, order, places, bins);
    }
  }
  return load<u32>(wordAt(cores, load<u32>(wordAt(order, n - 1))));
}

/** Moves a vertex to the front of its bin, and the bin's front past it. */
function lower(w: u32, degree: u32, cores: usize, order: usize, places: usize, bins: usize): void {
  const bin = wordAt(bins, degree);
  const first = load<u32>(bin);
  const other = load<u32>(wordAt(order, first));
  if (other != w) {
    const place = load<u32>(wordAt(places, w));
    store<u32>(wordAt(places, w), first);
    store<u32>(wordAt(order, first), w);
    store<u32>(wordAt(places, other), place);
    store<u32>(wordAt(order, place), other);
  }
  store<u32>(bin, first + 1);
  store<u32>(wordAt(cores, w), degree - 1);
}
