// Products of symmetric operators of a hypergraph or a graph with a vector, in ranges of edges or nodes. All vectors are f64.

function wordAt(base: usize, i: u32): usize {
  return base + ((<usize>i) << 2);
}

function numberAt(base: usize, i: u32): usize {
  return base + ((<usize>i) << 3);
}

/** flows[e] = rates[e] * sum of x over the members, for the edges [from, to). */
export function gatherEdges(
  edgeStarts: usize,
  edgeNodes: usize,
  from: u32,
  to: u32,
  rates: usize,
  x: usize,
  flows: usize,
): void {
  let at = wordAt(edgeNodes, load<u32>(wordAt(edgeStarts, from)));
  for (let e = from; e < to; e++) {
    const end = wordAt(edgeNodes, load<u32>(wordAt(edgeStarts, e + 1)));
    let sum: f64 = 0;
    for (; at < end; at += 4) sum += load<f64>(numberAt(x, load<u32>(at)));
    store<f64>(numberAt(flows, e), sum * load<f64>(numberAt(rates, e)));
  }
}

/** out[v] = scales[v] * (sum of flows of the edges of v - own[v] * x[v]) for the nodes [from, to); own 0: nothing is taken off. */
export function gatherNodes(
  nodeStarts: usize,
  nodeEdges: usize,
  from: u32,
  to: u32,
  flows: usize,
  scales: usize,
  own: usize,
  x: usize,
  out: usize,
): void {
  let at = wordAt(nodeEdges, load<u32>(wordAt(nodeStarts, from)));
  for (let v = from; v < to; v++) {
    const end = wordAt(nodeEdges, load<u32>(wordAt(nodeStarts, v + 1)));
    let sum: f64 = 0;
    for (; at < end; at += 4) sum += load<f64>(numberAt(flows, load<u32>(at)));
    const scale = load<f64>(numberAt(scales, v));
    if (own != 0) sum -= load<f64>(numberAt(own, v)) * load<f64>(numberAt(x, v));
    store<f64>(numberAt(out, v), scale * sum);
  }
}

/** out[v] = scales[v] * sum over neighbours w of c(v, w) * x[w] for the vertices [from, to); counts 0: c is 1. */
export function gatherNeighbours(
  starts: usize,
  neighbours: usize,
  counts: usize,
  from: u32,
  to: u32,
  scales: usize,
  x: usize,
  out: usize,
): void {
  let arc = load<u32>(wordAt(starts, from));
  for (let v = from; v < to; v++) {
    const end = load<u32>(wordAt(starts, v + 1));
    let sum: f64 = 0;
    for (; arc < end; arc++) {
      const w = load<u32>(wordAt(neighbours, arc));
      const share = load<f64>(numberAt(x, w));
      sum += counts == 0 ? share : share * <f64>load<u32>(wordAt(counts, arc));
    }
    store<f64>(numberAt(out, v), sum * load<f64>(numberAt(scales, v)));
  }
}
