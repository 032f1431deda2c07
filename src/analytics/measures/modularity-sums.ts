// Computes the modularity of a partition: what the edges contribute, minus what they would
// contribute on average if their members were drawn at random in proportion to degree.
//
// Hypergraph modularity (Kaminski et al. 2019, equation 4) is
//
//   (sum over edges of w * share(c, d) - sum over sizes d of W_d * E_d) / W
//
// An edge has weight w and d members, and c is the number of its members in the community that has
// most of them. W_d is the weight of all edges of size d, and W the weight of all edges. E_d is the
// expected share of an edge whose d members are drawn independently, from community i with
// probability p_i = volume_i / volume:
//
//   E_d = sum over i, over c > d/2, of Binomial(c; d, p_i) * share(c, d)
//
// Terms with c <= d/2 are missing because share is 0 there, so at most one community per edge
// contributes. Example: with loss `linear`, an edge of weight 1 with d = 3 and c = 2 contributes
// 2/3.

import type { Incidence } from '../../core/index.ts';

/**
 * How share(c, d) depends on c and d (see above). strict: 1 if c = d; majority: 1 if c > d/2;
 * linear: c/d if c > d/2; otherwise 0.
 */
export type EdgeLoss = 'strict' | 'majority' | 'linear';

/** Returns the modularity defined above; 0 if all weights are 0. */
export function hypergraphModularity(
  incidence: Incidence,
  weights: Float64Array,
  communityOf: Uint32Array,
  loss: EdgeLoss,
): number {
  const { core, edges, edgeStarts, edgeNodes } = incidence;
  const { words } = core.memory;
  const counts = new Uint32Array(communityOf.length + 1);
  const volumes = new Float64Array(communityOf.length + 1);
  const bySize = new Map<number, number>();
  let whole = 0;
  let volume = 0;
  let inside = 0;
  for (let e = 0; e < edges; e++) {
    const begin = edgeNodes / 4 + words[edgeStarts / 4 + e]!;
    const end = edgeNodes / 4 + words[edgeStarts / 4 + e + 1]!;
    const weight = weights[e]!;
    let most = 0;
    for (let at = begin; at < end; at++) {
      const community = communityOf[words[at]!]!;
      volumes[community]! += weight;
      most = Math.max(most, ++counts[community]!);
    }
    for (let at = begin; at < end; at++) counts[communityOf[words[at]!]!] = 0;
    inside += weight * shareOf(loss, most, end - begin);
    bySize.set(end - begin, (bySize.get(end - begin) ?? 0) + weight);
    whole += weight;
    volume += weight * (end - begin);
  }
  if (whole === 0) return 0;
  let expected = 0;
  const shares = volumes.filter((part) => part > 0).map((part) => part / volume);
  for (const [size, weight] of bySize) expected += weight * expectation(loss, size, shares);
  return (inside - expected) / whole;
}

function shareOf(loss: EdgeLoss, most: number, size: number): number {
  if (loss === 'strict') return most === size ? 1 : 0;
  if (2 * most <= size) return 0;
  return loss === 'majority' ? 1 : most / size;
}

/**
 * Returns the expected share of an edge of `size` members drawn from communities with probabilities
 * `shares`: a sum of binomial terms from c = size downwards.
 */
function expectation(loss: EdgeLoss, size: number, shares: Float64Array): number {
  let sum = 0;
  for (const p of shares) {
    if (loss === 'strict') {
      sum += p ** size;
      continue;
    }
    if (p === 1) {
      sum += 1;
      continue;
    }
    // The term for c = size; each further term is computed from the term before it.
    let term = p ** size;
    for (let c = size; 2 * c > size; c--) {
      sum += term * shareOf(loss, c, size);
      term *= (c / (size - c + 1)) * ((1 - p) / p);
    }
  }
  return sum;
}

/**
 * Returns Newman and Girvan's modularity of the graph in which an edge of weight w gives each pair
 * of its members the weight w / (|e| - 1).
 */
export function graphModularity(incidence: Incidence, weights: Float64Array, communityOf: Uint32Array): number {
  const { core, edges, edgeStarts, edgeNodes } = incidence;
  const { words } = core.memory;
  const counts = new Uint32Array(communityOf.length + 1);
  const volumes = new Float64Array(communityOf.length + 1);
  let volume = 0;
  let inside = 0;
  for (let e = 0; e < edges; e++) {
    const begin = edgeNodes / 4 + words[edgeStarts / 4 + e]!;
    const end = edgeNodes / 4 + words[edgeStarts / 4 + e + 1]!;
    const size = end - begin;
    if (size < 2) continue;
    for (let at = begin; at < end; at++) {
      const community = communityOf[words[at]!]!;
      volumes[community]! += weights[e]!;
      counts[community]!++;
    }
    let pairs = 0;
    for (let at = begin; at < end; at++) {
      const community = communityOf[words[at]!]!;
      pairs += counts[community]! * (counts[community]! - 1);
      counts[community] = 0;
    }
    // Each ordered pair counts with weight w / (size - 1), so that a member has degree w.
    inside += (weights[e]! * pairs) / (size - 1);
    volume += weights[e]! * size;
  }
  if (volume === 0) return 0;
  let expected = 0;
  for (const part of volumes) expected += (part / volume) ** 2;
  return inside / volume - expected;
}
