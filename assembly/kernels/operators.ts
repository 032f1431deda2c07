// Computes the sums in the product of a symmetric operator of a hypergraph or graph with a vector,
// for a range of edges, nodes or vertices. The caller first multiplies the vector by the scales,
// which gives `x`. The product for a hypergraph takes two passes: `gatherEdges` for all edges, then
// `gatherNodes`. All vectors are f64.

import { cell, get } from '../memory/cells';

function numberAt(base: usize, i: u32): usize {
  return cell<u64>(base, i);
}

/** Computes flows[e] = rates[e] * (sum of x over the members of e) for the edges [from, to). */
export function gatherEdges(
  edgeStarts: usize,
  edgeNodes: usize,
  from: u32,
  to: u32,
  rates: usize,
  x: usize,
  flows: usize,
): void {
  let at = cell<u32>(edgeNodes, get<u32>(edgeStarts, from));
  for (let e = from; e < to; e++) {
    const end = cell<u32>(edgeNodes, get<u32>(edgeStarts, e + 1));
    let sum: f64 = 0;
    for (; at < end; at += 4) sum += load<f64>(numberAt(x, load<u32>(at)));
    store<f64>(numberAt(flows, e), sum * load<f64>(numberAt(rates, e)));
  }
}

/**
 * Computes out[v] = scales[v] * (sum of flows over the edges of v - own[v] * x[v]) for the nodes
 * [from, to). If the address `own` is 0, nothing is subtracted.
 */
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
  let at = cell<u32>(nodeEdges, get<u32>(nodeStarts, from));
  for (let v = from; v < to; v++) {
    const end = cell<u32>(nodeEdges, get<u32>(nodeStarts, v + 1));
    let sum: f64 = 0;
    for (; at < end; at += 4) sum += load<f64>(numberAt(flows, load<u32>(at)));
    const scale = load<f64>(numberAt(scales, v));
    if (own != 0) sum -= load<f64>(numberAt(own, v)) * load<f64>(numberAt(x, v));
    store<f64>(numberAt(out, v), scale * sum);
  }
}

/**
 * Computes out[v] = scales[v] * (sum over the neighbours w of counts(v, w) * x[w]) for the vertices
 * [from, to). If the address `counts` is 0, every count is 1.
 */
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
  let arc = get<u32>(starts, from);
  for (let v = from; v < to; v++) {
    const end = get<u32>(starts, v + 1);
    let sum: f64 = 0;
    for (; arc < end; arc++) {
      const w = get<u32>(neighbours, arc);
      const share = load<f64>(numberAt(x, w));
      sum += counts == 0 ? share : share * <f64>get<u32>(counts, arc);
    }
    store<f64>(numberAt(out, v), sum * load<f64>(numberAt(scales, v)));
  }
}
