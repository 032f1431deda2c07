// Every variant of every measure, and small random hypergraphs on which they are tried.

import { Random } from '../support/random.ts';
import type { PlainEdge } from './run-measure.ts';

/** The name and the parameters of every variant of every measure. */
export const CASES: [string, Record<string, unknown>][] = [
  ['density', {}],
  ['density', { basis: 'distinct' }],
  ...['edges', 'pairwise', 'overlapness'].map((kind): [string, object] => ['density', { kind }]),
  ...[1, 2, 3].map((k): [string, object] => ['density', { kind: 'uniform', k }]),
  ['uniformity', {}],
  ['uniformity', { basis: 'distinct' }],
  ...['intersecting', 'all'].flatMap((pairs) =>
    ['simpson', 'jaccard'].flatMap((kind) =>
      ['events', 'distinct'].map((basis): [string, object] => ['overlapping_coefficient', { pairs, kind, basis }]),
    ),
  ),
  ['node_degree', {}],
  ['node_degree', { weighted: true }],
  ['node_degree', { weighted: true, basis: 'distinct' }],
  ['node_degree', { size: 2 }],
  ['edge_size', {}],
  ['edge_size', { basis: 'distinct' }],
  ['isolated_nodes', {}],
  ['isolated_edges', {}],
  ['isolated_edges', { basis: 'distinct' }],
  ...['latapy_nodes', 'latapy_edges'].flatMap((variant) =>
    ['events', 'distinct'].map((basis): [string, object] => ['redundancy', { variant, basis }]),
  ),
  ['redundancy', { variant: 'pair_multiplicity' }],
  ['redundancy', { variant: 'duplicate_fraction' }],
  ...['clique', 'bipartite', 'line'].flatMap((projection) =>
    [1, 2].flatMap((s): [string, Record<string, unknown>][] => [
      ['betweenness', { projection, s }],
      ['closeness', { projection, s }],
    ]),
  ),
  ['betweenness', { normalized: false }],
  ['harmonic_centrality', {}],
  ['harmonic_centrality', { s: 2, normalized: false }],
  ...['hyperedge', 'clique', 'clique_count', 'nonlazy'].flatMap((walk): [string, Record<string, unknown>][] => [
    ['pagerank', { walk }],
    ['pagerank', { walk, basis: 'distinct', alpha: 0.5 }],
    ['pagerank', { walk, weighted: true }],
  ]),
  ['clique_number', {}],
  ['spectral_gap', {}],
  ['spectral_gap', { basis: 'distinct' }],
  ['spectral_gap', { weighted: true }],
  ['spectral_gap', { laplacian: 'normalized_clique' }],
  ['algebraic_connectivity', {}],
  ['algebraic_connectivity', { weight: 'count' }],
  ['algebraic_connectivity', { weight: 'count', basis: 'distinct' }],
  ['zhou_clustering', {}],
  ['zhou_clustering', { basis: 'events' }],
  ['zhou_clustering', { variant: 'size_ratio' }],
  ['pairwise_clustering', {}],
  ...['dot', 'min', 'max'].flatMap((mode) =>
    ['events', 'distinct'].map((basis): [string, object] => ['pairwise_clustering', { mode, basis }]),
  ),
  ...['s_adjacency', 's_distance', 's_connected_components', 's_diameter'].flatMap((name) =>
    ['nodes', 'edges'].flatMap((on) =>
      [1, 2, 3, 4].flatMap((s): [string, Record<string, unknown>][] => [
        [name, { on, s }],
        [name, { on, s, basis: on === 'nodes' ? 'distinct' : 'events' }],
      ]),
    ),
  ),
  ['temporal_activity', {}],
  ['temporal_activity', { bucket_seconds: 7, fill: true }],
  ...['table', 'node', 'edge'].flatMap((scope) =>
    [true, false].map((zeros): [string, object] => ['temporal_burstiness', { scope, zeros }]),
  ),
  ...['max', 'mean', 'span'].map((mode): [string, object] => ['temporal_coreness', { mode, window: 25, span: 2 }]),
  ...[1, 2, 3].map((m): [string, object] => ['temporal_coreness', { mode: 'hypercore', window: 60, m }]),
].map(([name, params]) => [name as string, params as Record<string, unknown>]);

export function randomEdges(seed: number): PlainEdge[] {
  const random = new Random(seed);
  const nodes = 1 + random.below(seed % 5 === 0 ? 14 : 8);
  const count = seed % 50 === 0 ? 1 : 1 + random.below(14);
  const largest = 1 + random.below(seed % 7 === 0 ? 1 : 5);
  const offset = random.below(3) === 0 ? -3 : 0;
  const edges: PlainEdge[] = [];
  for (let id = 1; id <= count; id++) {
    const again = edges.length > 0 && random.chance(0.25) ? edges[random.below(edges.length)]! : undefined;
    const size = 1 + random.below(largest);
    edges.push({
      id,
      event_ts: random.below(4) === 0 && again ? again.event_ts : random.below(200) - 50,
      members: again?.members ?? Array.from({ length: size }, () => random.below(nodes) + offset),
      weight: random.chance(0.3) ? null : (1 + random.below(40)) / 8,
    });
  }
  // The ids are not in the order of the times.
  return edges;
}

/**
 * Returns the answer with its node ids renamed (but not those of modularity); edge ids are
 * unchanged.
 */
export function withNames(
  name: string,
  params: Record<string, unknown>,
  answer: unknown,
  rename: (v: number) => number | string,
): unknown {
  const ofEdges =
    params.on === 'edges' ||
    params.projection === 'line' ||
    params.scope === 'edge' ||
    params.variant === 'latapy_edges';
  if (ofEdges || answer === null || typeof answer !== 'object') return answer;
  if (/^(edge_size|isolated_edges|uniformity|clique_number|s_diameter|temporal_activity)$/.test(name)) return answer;
  if (name === 'isolated_nodes') return (answer as number[]).map(rename);
  if (name === 's_connected_components') return (answer as number[][]).map((group) => group.map(rename));
  if (name === 's_adjacency' || name === 's_distance')
    return (answer as number[][]).map(([a, b, value]) => [rename(a!), rename(b!), value]);
  if (name === 'temporal_burstiness' && params.scope !== 'node') return answer;
  return Object.fromEntries(Object.entries(answer).map(([id, value]) => [rename(Number(id)), value]));
}
