// The sums behind modularity: what edges give, less what they would give if members were drawn by degree.

import type { Incidence } from '../../core/index.ts';

/** What an edge of d members gives, the most of which, c, are in one community. */
export type EdgeLoss = 'strict' | 'majority' | 'linear';

/**
 * (sum of what edges give - sum over sizes d of their weight * the expectation for d members drawn by weighted degree) / sum of weights
 * (Kaminski et al. 2019, equation 4).
 */
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

/** Of what an edge of `size` members gives, each drawn from the communities by `shares`: binomial terms, summed from the top down. */
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
    // Term of c = size, then each from the one above it.
    let term = p ** size;
    for (let c = size; 2 * c > size; c--) {
      sum += term * shareOf(loss, c, size);
      term *= (c / (size - c + 1)) * ((1 - p) / p);
    }
  }
  return sum;
}

/** Newman and Girvan's of the graph in which an edge of weight w gives each pair of its members w / (|e| - 1). */
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
    // Ordered pairs, each of weight w / (size - 1): a member has degree w.
    inside += (weights[e]! * pairs) / (size - 1);
    volume += weights[e]! * size;
  }
  if (volume === 0) return 0;
  let expected = 0;
  for (const part of volumes) expected += (part / volume) ** 2;
  return inside / volume - expected;
}
