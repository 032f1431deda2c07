// Runs every measure with its defaults on real files. Results that are cheap to compute are
// compared with plain JavaScript; of the others, only bounds and identities are checked. The files
// are not part of this repository: they are read from `../shared/data`, or from the folder `data`
// in `HEDGEROW_SHARED`.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { measures } from '../../src/analytics/registry.ts';
import { MeasuredEdges, type PlainEdge } from '../analytics/run-measure.ts';
import {
  bucketsOf,
  coreNumbers,
  distancesFrom,
  extraOverlap,
  type Neighbours,
  neighboursOf,
  nodesOf,
  pairCounts,
  setsOf,
  walkScores,
} from './plain-measures.ts';

const DATA = join(process.env.HEDGEROW_SHARED ?? fileURLToPath(new URL('../../../shared', import.meta.url)), 'data');
const FILES = ['email-Enron', 'contact-primary-school'];
const BUCKET_SECONDS = 3600;
/** One node in this many is checked pair by pair. */
const EVERY = 11;

type Values = Record<string, number>;

function read(name: string): PlainEdge[] | undefined {
  const path = join(DATA, `${name}.ndjson.gz`);
  if (!existsSync(path)) {
    console.log(`skipped: ${path} is absent (HEDGEROW_SHARED sets the path of the shared folder)`);
    return undefined;
  }
  const lines = gunzipSync(readFileSync(path)).toString().trimEnd().split('\n');
  return lines.map((line, i) => ({ id: i + 1, ...(JSON.parse(line) as { event_ts: number; members: number[] }) }));
}

function expectClose(found: Values, wanted: ReadonlyMap<number, number>): void {
  expect(Object.keys(found)).toHaveLength(wanted.size);
  for (const [key, value] of wanted) expect(found[key], `of ${key}`).toBeCloseTo(value, 9);
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

function expectWithin(values: Iterable<number | null>, least: number, most: number): void {
  for (const value of values) {
    if (value === null) continue;
    expect(value).toBeGreaterThanOrEqual(least);
    expect(value).toBeLessThanOrEqual(most + 1e-12);
  }
}

for (const name of FILES) {
  const edges = read(name);
  describe.skipIf(edges === undefined)(name, () => allMeasures(edges ?? []));
}

interface Real {
  run: <Result = Values>(measure: string, params?: Record<string, unknown>) => Result;
  edges: readonly PlainEdge[];
  nodes: number[];
  graph: Neighbours;
  distances: Map<number, Map<number, number>>;
}

function allMeasures(edges: readonly PlainEdge[]): void {
  const measured = new MeasuredEdges(edges, BUCKET_SECONDS);
  const tried = new Set<string>();
  const run = <Result = Values>(measure: string, params: Record<string, unknown> = {}): Result => {
    tried.add(measure);
    return measured.run(measure, params).result as Result;
  };
  const nodes = nodesOf(edges);
  const graph = neighboursOf(edges);
  const distances = new Map(nodes.map((v) => [v, distancesFrom(graph, v)]));
  const real: Real = { run, edges, nodes, graph, distances };
  countsAndSets(real);
  distancesAndNeighbours(real);
  walksAndTime(real);

  it('every measure was tried on the file', () => {
    expect([...tried].sort()).toEqual(measures.map((measure) => measure.name).sort());
  });
}

function countsAndSets({ run, edges, nodes, graph }: Real): void {
  const sets = setsOf(edges);
  const some = nodes.filter((_, i) => i % EVERY === 0);
  const incidences = sum(edges.map(({ members }) => members.length));

  it('the measures that count have the expected values', () => {
    const degrees = new Map(nodes.map((v) => [v, 0]));
    for (const { members } of edges) for (const v of members) degrees.set(v, degrees.get(v)! + 1);
    expectClose(run('node_degree'), degrees);
    expectClose(run('edge_size'), new Map(edges.map(({ id, members }) => [id, members.length])));
    expect(run<number>('density')).toBeCloseTo(incidences / (nodes.length * edges.length), 12);
    const { histogram, mean, value } = run<{ histogram: Values; mean: number; value: number }>('uniformity');
    expect(sum(Object.values(histogram))).toBe(edges.length);
    expect(mean).toBeCloseTo(incidences / edges.length, 12);
    expect(value).toBeCloseTo(Math.max(...Object.values(histogram)) / edges.length, 12);
    expect(run('isolated_nodes')).toEqual(nodes.filter((v) => graph.get(v)!.size === 0));
    const alone = edges.filter(({ members }) => members.every((v) => degrees.get(v) === 1));
    expect(run('isolated_edges')).toEqual(alone.map(({ id }) => id));
  });

  it('the measures of pairs of sets have the expected values', () => {
    const holding = new Map(nodes.map((v) => [v, sets.filter(({ members }) => members.includes(v))]));
    const zhou = run('zhou_clustering');
    const redundancy = run<Record<string, number | null>>('redundancy');
    expectWithin(Object.values(zhou), 0, 1);
    expectWithin(Object.values(redundancy), 0, 1);
    expect(Object.keys(zhou)).toHaveLength(nodes.length);
    for (const v of some) {
      const mine = holding.get(v)!;
      let [extra, again, pairs] = [0, 0, 0];
      for (const [i, { members: a }] of mine.entries())
        for (const { members: b } of mine.slice(0, i)) {
          pairs++;
          extra += extraOverlap(graph, a, b);
          if (a.some((u) => u !== v && b.includes(u))) again++;
        }
      expect(zhou[v], `zhou_clustering of ${v}`).toBeCloseTo(pairs === 0 ? 0 : extra / pairs, 9);
      if (pairs === 0) expect(redundancy[v]).toBeNull();
      else expect(redundancy[v], `redundancy of ${v}`).toBeCloseTo(again / pairs, 9);
    }
    expectWithin([run<number>('overlapping_coefficient')], 1e-9, 1);
  });
}

function distancesAndNeighbours({ run, edges, nodes, graph, distances }: Real): void {
  it('the measures of distances have the expected values', () => {
    const found = run<[number, number, number][]>('s_distance');
    const wanted = nodes.flatMap((v) => [...distances.get(v)!].filter(([w]) => w > v).map(([w, d]) => [v, w, d]));
    const byPair = ([a, b]: number[], [c, d]: number[]) => a! - c! || b! - d!;
    expect(found.toSorted(byPair)).toEqual(wanted.sort(byPair));
    const ofOthers = (v: number) => [...distances.get(v)!.values()].filter((d) => d > 0);
    const others = nodes.length - 1;
    const wassermanFaust = (ds: number[]) => (ds.length === 0 ? 0 : (ds.length / others) * (ds.length / sum(ds)));
    expectClose(run('closeness'), new Map(nodes.map((v) => [v, wassermanFaust(ofOthers(v))])));
    const harmonic = new Map(nodes.map((v) => [v, sum(ofOthers(v).map((d) => 1 / d)) / others]));
    expectClose(run('harmonic_centrality'), harmonic);
    const diameter = run<{ value: number; components: number; max_over_components: number }>('s_diameter');
    expect(diameter.max_over_components).toBe(Math.max(...wanted.map(([, , d]) => d!)));
    // Every shortest path between two nodes at distance d has d - 1 inner nodes.
    const between = Object.values(run('betweenness'));
    expectWithin(between, 0, 1);
    const inner = sum(wanted.map(([, , d]) => d! - 1));
    expect((sum(between) * others * (others - 1)) / 2 / inner).toBeCloseTo(1, 9);
    const groups = new Set(nodes.map((v) => [...distances.get(v)!.keys()].sort((a, b) => a - b).join()));
    const components = run<number[][]>('s_connected_components');
    expect(new Set(components.map((group) => group.join()))).toEqual(groups);
    expect(diameter.components).toBe(groups.size);
  });

  it('the measures of neighbours have the expected values', () => {
    const counts = pairCounts(edges);
    const found = run<[number, number, number][]>('s_adjacency');
    expect(found).toHaveLength(counts.size);
    for (const [a, b, count] of found) expect(counts.get(`${a},${b}`)).toBe(count);
    expectClose(run('pairwise_clustering'), new Map(nodes.map((v) => [v, clusteringOf(graph, v)])));
    const clique = run<{ value: number; exact: boolean; max_edge_size: number }>('clique_number');
    expect(clique.exact).toBe(true);
    expect(clique.max_edge_size).toBe(Math.max(...edges.map(({ members }) => members.length)));
    expectWithin([clique.value], clique.max_edge_size, Math.max(...coreNumbers(graph).values()) + 1);
    const isConnected = distances.get(nodes[0]!)!.size === nodes.length;
    const leastDegree = Math.min(...nodes.map((v) => graph.get(v)!.size));
    const connectivity = run<number>('algebraic_connectivity');
    const gap = run<number>('spectral_gap');
    // The upper bound is that of Fiedler (1973).
    expectWithin([connectivity], 0, (leastDegree * nodes.length) / (nodes.length - 1));
    expectWithin([gap], 0, 1);
    expect([connectivity > 0, gap > 0]).toEqual([isConnected, isConnected]);
  });
}

function walksAndTime({ run, edges, nodes }: Real): void {
  it('the measures of walks and communities have the expected values', () => {
    const scores = run('pagerank');
    expect(sum(Object.values(scores))).toBeCloseTo(1, 9);
    expectClose(scores, walkScores(edges, nodes, 0.85));
    const { value, communities } = run<{ value: number; communities: number[][] }>('modularity');
    expectWithin([value], 0, 1);
    expect(communities.flat().sort((a, b) => a - b)).toEqual(nodes);
    const partition = Object.fromEntries(communities.flatMap((group, i) => group.map((v) => [v, i])));
    expect(run<{ value: number }>('modularity', { partition }).value).toBeCloseTo(value, 9);
  });

  it('the measures of time have the expected values', () => {
    const buckets = bucketsOf(edges, BUCKET_SECONDS);
    const counts = [...buckets].map(([bucket, { length }]) => ({ ts: bucket * BUCKET_SECONDS, count: length }));
    expect(run('temporal_activity')).toEqual(counts.sort((a, b) => a.ts - b.ts));
    const times = [...new Set(edges.map(({ event_ts }) => event_ts))].sort((a, b) => a - b);
    const gaps = times.slice(1).map((time, i) => time - times[i]!);
    const mean = sum(gaps) / gaps.length;
    const sd = Math.sqrt(sum(gaps.map((gap) => (gap - mean) ** 2)) / gaps.length);
    const { B, intervals } = run<{ B: number; intervals: number }>('temporal_burstiness');
    expect(intervals).toBe(gaps.length);
    expect(B).toBeCloseTo((sd - mean) / (sd + mean), 9);
    const cores = new Map(nodes.map((v) => [v, 0]));
    for (const bucket of buckets.values())
      for (const [v, core] of coreNumbers(neighboursOf(bucket))) cores.set(v, Math.max(core, cores.get(v)!));
    expectClose(run('temporal_coreness'), cores);
  });
}

function clusteringOf(graph: Neighbours, v: number): number {
  const near = [...graph.get(v)!];
  let joined = 0;
  for (const [i, a] of near.entries()) for (const b of near.slice(0, i)) if (graph.get(a)!.has(b)) joined++;
  return near.length < 2 ? 0 : joined / ((near.length * (near.length - 1)) / 2);
}
