// Runs every variant of every measure on small random hypergraphs, and compares the results with
// textbook implementations. Also applies transformations that must not change a result.
// HEDGEROW_HYPERGRAPHS sets the number of hypergraphs; the long form uses 1,000.

import { describe, expect, it } from 'vitest';
import { measures } from '../../src/analytics/registry.ts';
import { Random } from '../support/random.ts';
import { Naive } from './naive.ts';
import { MeasuredEdges, type PlainEdge } from './run-measure.ts';

const COUNT = Number(process.env.HEDGEROW_HYPERGRAPHS ?? 60);
const TIMEOUT_MS = 900_000;

/** The name and the parameters of every variant of every measure. */
const CASES: [string, Record<string, unknown>][] = [
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

function randomEdges(seed: number): PlainEdge[] {
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

function close(found: unknown, wanted: unknown, place: string, tolerance: number): void {
  if (typeof wanted === 'number' && typeof found === 'number') {
    if (Math.abs(found - wanted) <= tolerance * Math.max(1, Math.abs(wanted))) return;
    expect.fail(`${place}: ${found} beside ${wanted}`);
  }
  if (wanted === null || typeof wanted !== 'object' || found === null || typeof found !== 'object') {
    if (found !== wanted) expect.fail(`${place}: ${JSON.stringify(found)} beside ${JSON.stringify(wanted)}`);
    return;
  }
  const keys = Object.keys(wanted);
  if (keys.length !== Object.keys(found).length)
    expect.fail(`${place}: ${JSON.stringify(found)} beside ${JSON.stringify(wanted)}`);
  for (const key of keys) close((found as never)[key], (wanted as never)[key], `${place}.${key}`, tolerance);
}

const toleranceOf = (name: string) => (/spectral|algebraic/.test(name) ? 1e-7 : 1e-9);

describe('measures of random hypergraphs', { timeout: TIMEOUT_MS }, () => {
  it('have the values that follow from their definitions', () => {
    for (let seed = 1; seed <= COUNT; seed++) {
      const edges = randomEdges(seed);
      const naive = new Naive(edges, 20);
      const measured = new MeasuredEdges(edges, 20, seed % 10 === 0 ? 'debug' : seed % 10 === 1 ? 'plain' : 'release');
      for (const [name, params] of CASES)
        close(
          measured.run(name, params).result,
          naive.run(name, params),
          `seed ${seed}, ${name} ${JSON.stringify(params)}`,
          toleranceOf(name),
        );
      const random = new Random(seed + 1e6);
      const partition = Object.fromEntries(naive.nodes.map((v) => [v, random.below(3)]));
      for (const weight of ['strict', 'majority', 'linear'])
        close(
          (measured.run('modularity', { partition, weight }).result as { value: number }).value,
          naive.modularity({ partition, weight }),
          `seed ${seed}, modularity ${weight}`,
          1e-9,
        );
    }
  });

  it('include every measure that exists', () => {
    const named = new Set([...CASES.map(([name]) => name), 'modularity']);
    expect([...named].sort()).toEqual(measures.map(({ name }) => name).sort());
  });

  it('do not depend on node ids or on the order of edges', () => {
    for (let seed = 1; seed <= Math.ceil(COUNT / 10); seed++) {
      const edges = randomEdges(seed);
      const rename = (v: number) => v * 1_000_003 - 4_000_000_000;
      const renamed = edges.map((edge) => ({ ...edge, members: edge.members.map(rename) }));
      const plain = new MeasuredEdges(edges, 20);
      const other = new MeasuredEdges(renamed, 20);
      const turned = new MeasuredEdges([...edges].reverse(), 20);
      for (const [name, params] of CASES) {
        const place = `seed ${seed}, ${name} ${JSON.stringify(params)}`;
        const answer = plain.run(name, params).result;
        expect(turned.run(name, params).result, place).toEqual(answer);
        close(other.run(name, params).result, withNames(name, params, answer, rename), place, toleranceOf(name));
      }
    }
  });

  it('yield communities that depend only on the seed and are never worse than a single community', () => {
    for (let seed = 1; seed <= Math.ceil(COUNT / 10); seed++) {
      const edges = randomEdges(seed);
      const run = (given: number) =>
        new MeasuredEdges(edges, 20).run('modularity', { weight: 'graph', seed: given }).result as {
          value: number;
          communities: number[][];
        };
      expect(run(3)).toEqual(run(3));
      const { value, communities } = run(seed);
      expect(value).toBeGreaterThanOrEqual(-1e-12);
      const naive = new Naive(edges, 20);
      expect(communities.flat().sort((a, b) => a - b)).toEqual(naive.nodes);
    }
  });
});

/** Returns the answer with its node ids renamed; edge ids are unchanged. */
function withNames(
  name: string,
  params: Record<string, unknown>,
  answer: unknown,
  rename: (v: number) => number,
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
