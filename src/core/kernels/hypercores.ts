// Computes hypercores: core numbers of a hypergraph whose edges shrink as nodes are removed (Leng,
// Sun, Bian, Tan 2013).
//
// An edge is alive while at least m of its members remain, and the degree of a node is its number
// of live edges. The node of least degree is always removed next. An edge that falls below m
// members dies, which lowers the degree of its remaining members. Take a node and all nodes that
// were removed before it. The core number of the node is the greatest degree that any of these had
// at its removal.
//
// Nodes are kept in bins by degree. A node whose degree falls is pushed into its new bin. Its old
// entry stays in the old bin and is skipped when it is popped. The scan then steps back to the
// lowest bin that received a node.
//
// Example, m = 2, edges {a,b}, {a,b,c}, {b,c}: a and c have degree 2, b has 3. The first node
// removed has degree 2, and no later one has a greater degree at its removal, so a, b and c all
// have core number 2.

import type { Incidence } from '../incidence.ts';

export interface Hypercores {
  /** Ordinals of the nodes that occur in an edge of the window. */
  nodes: Uint32Array;
  /**
   * u32, one per node: the largest k such that the node survives the repeated removal of nodes that
   * are in fewer than k live edges.
   */
  cores: Uint32Array;
}

/**
 * Computes core numbers for the edges [from, to) with the minimum edge size m. If `distinct`, equal
 * member sets count as one edge. Cost: linear in the number of incidences and the greatest degree.
 */
export function hypercoreNumbers(
  { core, edgeStarts, edgeNodes }: Incidence,
  from: number,
  to: number,
  m: number,
  distinct: boolean,
): Hypercores {
  const { words } = core.memory;
  const sets: Uint32Array[] = [];
  const seen = new Set<string>();
  const slots = new Map<number, number>();
  for (let e = from; e < to; e++) {
    const begin = edgeNodes / 4 + words[edgeStarts / 4 + e]!;
    const end = edgeNodes / 4 + words[edgeStarts / 4 + e + 1]!;
    for (let at = begin; at < end; at++) if (!slots.has(words[at]!)) slots.set(words[at]!, slots.size);
    if (distinct) {
      const text = words.subarray(begin, end).join();
      if (seen.has(text)) continue;
      seen.add(text);
    }
    sets.push(words.subarray(begin, end).map((node) => slots.get(node)!));
  }
  return { nodes: Uint32Array.from(slots.keys()), cores: peeled(sets, slots.size, m) };
}

function peeled(sets: readonly Uint32Array[], n: number, m: number): Uint32Array {
  const remaining = sets.map((set) => (set.length < m ? 0 : set.length));
  const edgesOf: number[][] = Array.from({ length: n }, () => []);
  for (const [e, set] of sets.entries()) if (remaining[e]! > 0) for (const v of set) edgesOf[v]!.push(e);
  const degrees = Uint32Array.from(edgesOf, (edges) => edges.length);
  const most = degrees.reduce((greatest, degree) => Math.max(greatest, degree), 0);
  const bins: number[][] = Array.from({ length: most + 1 }, () => []);
  for (let v = 0; v < n; v++) bins[degrees[v]!]!.push(v);
  const cores = new Uint32Array(n);
  const left = new Uint8Array(n);
  let k = 0;
  for (let bin = 0; bin < bins.length; bin++) {
    for (let v = bins[bin]!.pop(); v !== undefined; v = bins[bin]!.pop()) {
      if (left[v] === 1 || degrees[v] !== bin) continue;
      left[v] = 1;
      k = Math.max(k, bin);
      cores[v] = k;
      const lowered = leave(v, sets, edgesOf, remaining, degrees, left, m);
      for (const u of lowered) bins[degrees[u]!]!.push(u);
      const least = lowered.reduce((low, u) => Math.min(low, degrees[u]!), bin);
      // The inner loop continues with the lower bin. The outer loop then visits the bins above it
      // again.
      if (least < bin) bin = least;
    }
  }
  return cores;
}

/**
 * Removes a node from its edges. Returns the remaining nodes of the edges that die of this, each
 * node once per such edge.
 */
function leave(
  v: number,
  sets: readonly Uint32Array[],
  edgesOf: readonly number[][],
  remaining: number[],
  degrees: Uint32Array,
  left: Uint8Array,
  m: number,
): number[] {
  const lowered: number[] = [];
  for (const e of edgesOf[v]!) {
    if (remaining[e] === 0) continue;
    remaining[e]!--;
    if (remaining[e]! >= m) continue;
    remaining[e] = 0;
    for (const u of sets[e]!)
      if (left[u] === 0) {
        degrees[u]!--;
        lowered.push(u);
      }
  }
  return lowered;
}
