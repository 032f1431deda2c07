// Checks every measure with every variant on two small hypergraphs. The expected values (in
// expected/) were computed with public libraries and by hand.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { measures } from '../../src/analytics/registry.ts';
import { MeasuredEdges, type PlainEdge } from './run-measure.ts';

type Json = ReturnType<typeof JSON.parse>;

function fileOf(name: string): Json {
  return JSON.parse(readFileSync(new URL(`expected/${name}.json`, import.meta.url), 'utf8'));
}

/**
 * Throws unless both values are equal, except for rounding: numbers may differ by `tolerance`, or
 * by a relative `tolerance` if they are above 1.
 */
function close(found: unknown, wanted: unknown, place: string, tolerance = 1e-9): void {
  if (typeof wanted === 'number') {
    expect(typeof found, place).toBe('number');
    expect(Math.abs((found as number) - wanted), `${place}: ${found} beside ${wanted}`).toBeLessThanOrEqual(
      tolerance * Math.max(1, Math.abs(wanted)),
    );
    return;
  }
  if (wanted === null || typeof wanted !== 'object') {
    expect(found, place).toBe(wanted);
    return;
  }
  expect(Object.keys(found as object).sort(), place).toEqual(Object.keys(wanted).sort());
  for (const [key, value] of Object.entries(wanted)) close((found as Json)[key], value, `${place}.${key}`, tolerance);
}

const tried = new Set<string>();

describe.each(['tiny7', 'plain6'])('the hypergraph %s', (name) => {
  const wanted = fileOf(name);
  const { hyperedges, bucket_seconds: bucketSeconds } = wanted.input;
  const edges: PlainEdge[] = hyperedges.map((edge: Json, i: number) => ({ id: i + 1, ...edge }));
  const measured = new MeasuredEdges(edges, bucketSeconds);
  const run = (measure: string, params: Record<string, unknown> = {}): Json => {
    tried.add(measure);
    return measured.run(measure, params).result;
  };
  const check = (measure: string, params: Record<string, unknown>, value: unknown, tolerance?: number) =>
    close(run(measure, params), value, `${measure} ${JSON.stringify(params)}`, tolerance);
  /** Returns the smallest id of the edges with these members. */
  const setId = (members: number[]) => edges.find((edge) => String(edge.members) === String(members))!.id;
  const byText = (pairs: [number[], unknown][]) =>
    Object.fromEntries(pairs.map(([members, value]) => [setId(members), value]));

  it('has the expected density', () => {
    const { density } = wanted;
    check('density', {}, density.incidence);
    check('density', { basis: 'distinct' }, density.incidence_distinct);
    check('density', { kind: 'pairwise' }, density.pairwise);
    check('density', { kind: 'edges' }, density.edge_power_set);
    check('density', { kind: 'overlapness' }, density.overlapness);
    for (const [k, value] of Object.entries(density.by_size))
      check('density', { kind: 'uniform', k: Number(k) }, value);
  });

  it('has the expected uniformity', () => {
    const { uniformity } = wanted;
    check(
      'uniformity',
      {},
      {
        value: uniformity.modal_fraction,
        is_uniform: uniformity.is_uniform,
        k: uniformity.k,
        modal_size: uniformity.modal_size,
        mean: uniformity.mean_size,
        std: uniformity.std_size,
        cv: uniformity.cv,
        histogram: uniformity.histogram,
      },
    );
  });

  it('has the expected overlapping_coefficient', () => {
    const it = wanted.overlapping_coefficient;
    check('overlapping_coefficient', {}, it.simpson_mean_intersecting);
    check('overlapping_coefficient', { pairs: 'all' }, it.simpson_mean_all);
    check('overlapping_coefficient', { kind: 'jaccard' }, it.jaccard_mean_intersecting);
    check('overlapping_coefficient', { kind: 'jaccard', pairs: 'all' }, it.jaccard_mean_all);
    if ('multi_simpson_mean_all' in it) {
      check('overlapping_coefficient', { basis: 'events', pairs: 'all' }, it.multi_simpson_mean_all);
      check('overlapping_coefficient', { basis: 'events' }, it.multi_simpson_mean_intersecting);
    }
  });

  it('has the expected node_degree and edge_size', () => {
    check('node_degree', {}, wanted.node_degree.degree);
    check('node_degree', { basis: 'distinct' }, wanted.node_degree.degree_distinct);
    check('node_degree', { node_id: 3 }, { 3: wanted.node_degree.degree[3] });
    check('edge_size', {}, Object.fromEntries(edges.map(({ id, members }) => [id, members.length])));
    check('edge_size', { edge_id: 2 }, { 2: edges[1]!.members.length });
  });

  it('has the expected isolated nodes and edges', () => {
    check('isolated_nodes', {}, wanted.isolated_nodes);
    const isolated = wanted.isolated_edges.map((edge: PlainEdge) => setId(edge.members));
    check('isolated_edges', {}, isolated);
    check('isolated_edges', { basis: 'distinct' }, wanted.isolated_edges_distinct_basis.map(setId));
  });

  it('has the expected redundancy', () => {
    const { redundancy } = wanted;
    check('redundancy', {}, redundancy.latapy_nodes_distinct);
    check('redundancy', { basis: 'events' }, redundancy.latapy_nodes_multi);
    check('redundancy', { variant: 'latapy_edges' }, byText(redundancy.latapy_edges_distinct));
    check('redundancy', { variant: 'duplicate_fraction' }, redundancy.duplicate_fraction);
    const pairs = edges.reduce((sum, { members }) => sum + (members.length * (members.length - 1)) / 2, 0);
    const { nodes } = wanted.input;
    check('redundancy', { variant: 'pair_multiplicity' }, pairs / ((nodes * (nodes - 1)) / 2));
  });

  it('has the expected centralities', () => {
    check('betweenness', {}, wanted.betweenness.clique_normalized);
    check('betweenness', { normalized: false }, wanted.betweenness.clique_raw);
    check('betweenness', { projection: 'bipartite' }, wanted.betweenness.bipartite_distinct);
    check('closeness', {}, wanted.closeness.clique_wf);
    check('closeness', { projection: 'bipartite' }, wanted.closeness.bipartite_distinct);
    check('harmonic_centrality', {}, wanted.harmonic_centrality.clique_normalized);
    check('harmonic_centrality', { normalized: false }, wanted.harmonic_centrality.clique_sum);
  });

  it('has the expected pagerank', () => {
    check('pagerank', {}, wanted.pagerank.hyperedge_walk_multi);
    check('pagerank', { basis: 'distinct' }, wanted.pagerank.hyperedge_walk_distinct);
    check('pagerank', { walk: 'clique' }, wanted.pagerank.clique_unweighted);
    check('pagerank', { walk: 'clique_count' }, wanted.pagerank.clique_count);
    check('pagerank', { walk: 'nonlazy' }, wanted.pagerank.clique_nonlazy);
  });

  it('has the expected clique number and spectra', () => {
    check(
      'clique_number',
      {},
      {
        value: wanted.clique_number.two_section,
        exact: true,
        max_edge_size: wanted.clique_number.max_edge_size,
      },
    );
    check('spectral_gap', {}, wanted.spectral_gap.zhou_lambda2, 1e-7);
    check('spectral_gap', { basis: 'distinct' }, wanted.spectral_gap.zhou_lambda2_distinct, 1e-7);
    check('spectral_gap', { laplacian: 'normalized_clique' }, wanted.spectral_gap.normalized_two_section_lambda2, 1e-7);
    check('algebraic_connectivity', {}, wanted.algebraic_connectivity.two_section, 1e-7);
    check(
      'algebraic_connectivity',
      { weight: 'count' },
      wanted.algebraic_connectivity.two_section_count_weighted,
      1e-7,
    );
  });

  it('has the expected clustering', () => {
    check('zhou_clustering', {}, wanted.zhou_clustering.distinct);
    check('zhou_clustering', { basis: 'events' }, wanted.zhou_clustering.multi);
    check('pairwise_clustering', {}, wanted.pairwise_clustering.two_section_local);
    for (const mode of ['dot', 'min', 'max'])
      check('pairwise_clustering', { mode }, wanted.pairwise_clustering[`latapy_${mode}_distinct`]);
    check('pairwise_clustering', { mode: 'dot', basis: 'events' }, wanted.pairwise_clustering.latapy_dot_multi);
  });

  it('has the expected modularity', () => {
    const { modularity } = wanted;
    const nodes = [...new Set(edges.flatMap(({ members }) => members))].sort((a, b) => a - b);
    const components = run('s_connected_components') as number[][];
    const partitions = {
      partition_node_id_mod_3: Object.fromEntries(nodes.map((v) => [v, v % 3])),
      partition_components: Object.fromEntries(components.flatMap((group, i) => group.map((v) => [v, i]))),
      louvain_on_w_over_size_minus_1: modularity.louvain_on_w_over_size_minus_1.partition,
    };
    for (const [title, partition] of Object.entries(partitions))
      for (const weight of ['strict', 'majority', 'linear'])
        close(run('modularity', { partition, weight }).value, modularity[title][weight], `${title} ${weight}`);
    close(
      run('modularity', { partition: partitions.partition_node_id_mod_3, weight: 'graph' }).value,
      modularity.graph_modularity_mod_3,
      'graph',
    );
    const found = run('modularity', { weight: 'graph' });
    expect(found.value).toBeGreaterThanOrEqual(modularity.louvain_on_w_over_size_minus_1.graph_modularity - 1e-9);
    expect(found.communities).toHaveLength(modularity.louvain_on_w_over_size_minus_1.communities);
  });

  it('has the expected s-measures on edges', () => {
    for (const s of [1, 2, 3]) {
      const pairs = (run('s_adjacency', { s, on: 'edges' }) as number[][]).map(([a, b]) => [a, b]);
      const expected = wanted.s_adjacency[s].pairs.map((pair: number[][]) => pair.map(setId).sort((a, b) => a - b));
      expect(pairs.sort()).toEqual(expected.sort());
      for (const { source, target, distance } of wanted.s_distance[s])
        check('s_distance', { s, on: 'edges', source: setId(source), target: setId(target) }, distance);
      const groups = wanted.s_connected_components[s].components.map((group: number[][]) =>
        group.map(setId).sort((a, b) => a - b),
      );
      const ordered = groups.sort((a: number[], b: number[]) => b.length - a.length || a[0]! - b[0]!);
      check('s_connected_components', { s, on: 'edges' }, ordered);
      check(
        's_diameter',
        { s, on: 'edges' },
        {
          value: wanted.s_diameter[s].largest_component,
          connected: wanted.s_diameter[s].connected,
          components: groups.length,
          max_over_components: wanted.s_diameter[s].max_over_components,
        },
      );
    }
  });

  it('has the expected s-measures on nodes', () => {
    for (const [s, it] of Object.entries(fileOf(`${name}.node-s`).node_s_measures) as [string, Json][]) {
      check('s_adjacency', { s: Number(s) }, it.pairs);
      check('s_distance', { s: Number(s) }, it.distances);
      check('s_connected_components', { s: Number(s) }, it.component_list);
      const { value: _, ...rest } = run('s_diameter', { s: Number(s) });
      close(
        rest,
        { connected: it.connected, components: it.components, max_over_components: it.max_component_diameter },
        's_diameter',
      );
    }
  });

  it('has the expected measures of time', () => {
    const { temporal_activity: activity, temporal_burstiness: bursts, temporal_coreness: cores } = wanted;
    const series = activity.series.map((count: number, i: number) => ({
      ts: activity.first_bucket_start + i * activity.bucket_seconds,
      count,
    }));
    check('temporal_activity', { fill: true }, series);
    check(
      'temporal_activity',
      {},
      series.filter(({ count }: Json) => count > 0),
    );
    const shown = ({ intervals, B, A_n, memory }: Json) => ({ B, finite_size: A_n, memory, intervals });
    check('temporal_burstiness', {}, shown(bursts.table_distinct_timestamps));
    check('temporal_burstiness', { zeros: true }, shown(bursts.table));
    const found = run('temporal_burstiness', { scope: 'node', zeros: true });
    for (const [node, B] of Object.entries(bursts.node_B)) {
      // With a single gap the measure is null here, while the libraries return -1.
      if (found[node].intervals < 2) expect(found[node].B).toBeNull();
      else {
        close(found[node].B, B, `B of ${node}`);
        close(found[node].finite_size, bursts.node_A_n[node], `finite size of ${node}`);
      }
    }
    check('temporal_coreness', { window: 1000 }, cores.static_two_section_core);
    check('temporal_coreness', { window: 1000, mode: 'hypercore', m: 2 }, cores.static_hypercore_k_2);
    check('temporal_coreness', { window: 1000, mode: 'hypercore', m: 3 }, cores.static_hypercore_k_3);
    for (const window of [10, 50]) {
      check('temporal_coreness', { window }, cores[`window_${window}`].max_core);
      check('temporal_coreness', { window, mode: 'mean' }, cores[`window_${window}`].mean_over_nonempty_windows);
    }
    for (const [span, { per_node: values }] of Object.entries(cores.span_core_window_50) as [string, Json][])
      check('temporal_coreness', { window: 50, mode: 'span', span: Number(span) }, values);
  });
});

describe('measures whose bugs were fixed', () => {
  const edges: PlainEdge[] = [
    { id: 1, event_ts: 0, members: [1, 2] },
    { id: 2, event_ts: 10, members: [3, 4] },
    { id: 3, event_ts: 20, members: [2, 3], weight: 0 },
    { id: 4, event_ts: 30, members: [1, 2] },
  ];
  const run = (name: string, params: Record<string, unknown>) => new MeasuredEdges(edges, 10).run(name, params).result;

  it('connect no nodes by an edge of weight 0', () => {
    expect(run('spectral_gap', { weighted: true })).toBe(0);
    expect(run('spectral_gap', {})).toBeGreaterThan(0);
  });

  it('include size_ratio, which is 0 when there are fewer than two edges', () => {
    expect(run('zhou_clustering', { variant: 'size_ratio' })).toMatchObject({ 1: 0, 4: 0 });
  });

  it('accept the id of any of its edges as the name of a distinct set', () => {
    expect(run('edge_size', { edge_id: 4, basis: 'distinct' })).toEqual({ 1: 2 });
    expect(run('redundancy', { variant: 'latapy_edges', edge_id: 4 })).toEqual({ 1: 0 });
  });

  it('refuse a parameter that has no effect with the other ones, and name it in the error', () => {
    const wrong: [string, Record<string, unknown>, string][] = [
      ['betweenness', { projection: 'line', node_id: 1 }, 'node_id'],
      ['betweenness', { edge_id: 1 }, 'edge_id'],
      ['redundancy', { variant: 'latapy_edges', node_id: 1 }, 'node_id'],
      ['temporal_burstiness', { scope: 'edge', node_id: 1 }, 'node_id'],
    ];
    for (const [name, params, named] of wrong) expect(() => run(name, params)).toThrow(`Parameter ${named}`);
  });

  it('centralities accept a basis, all measures accept a budget, and lists accept a limit', () => {
    expect(run('closeness', { s: 2 })).not.toEqual(run('closeness', { s: 2, basis: 'distinct' }));
    expect(run('closeness', { s: 2, basis: 'distinct' })).toEqual({ 1: 0, 2: 0, 3: 0, 4: 0 });
    expect(measures.every(({ parameters }) => parameters.some(({ name }) => name === 'budget_ms'))).toBe(true);
    expect(run('temporal_activity', { top: 1 })).toEqual([{ ts: 0, count: 1 }]);
    expect(run('isolated_edges', { limit: 1 })).toEqual([]);
  });
});

it('every measure was tried on the hypergraphs above', () => {
  expect([...tried].sort()).toEqual(measures.map(({ name }) => name).sort());
});
