// Benchmarks graph measures. Kernels run on a prebuilt graph against igraph, graphology and
// networkx on the same graph. Complete answers are computed from the stored table. Measures that no
// peer has are compared with absolute limits.

import { existsSync } from 'node:fs';
import { Analytics, openDatabase } from 'hedgerow';
import {
  betweenness,
  type Core,
  cliqueNumber,
  distanceSums,
  finish,
  type Graph,
  Incidence,
  type IncidenceColumns,
  loadCore,
  localClustering,
  pageRank,
  zhouClustering,
} from 'hedgerow/core';
import { graphologyPeer, type PeerFigures, type PlainGraph, pythonPeer } from './analytics-peers.ts';
import { type Edge, readEdges, sharedFile } from './dataset.ts';
import { bestCpuMs, sink, timed } from './measure.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow } from './row.ts';
import { loadHedgerow } from './stores.ts';

const FILES = ['contact-primary-school', 'email-Eu'];
const TINY_EDGES = 300;
/** Upper bound on arcs; more than any graph measured here has. */
const MOST_ARCS = 100_000_000;
const IGRAPH_TARGET = { ratioAtMost: 1.5 };
/** On graphs with more vertices networkx skips betweenness, for which it would need a minute. */
const MOST_NETWORKX_VERTICES = 500;

/** A hypergraph whose distinct sets and co-member graph have been built. */
interface Built {
  name: string;
  edges: readonly Edge[];
  columns: IncidenceColumns;
  core: Core;
  sets: Incidence;
  graph: Graph;
}

/**
 * A measure of a graph, with one value per vertex, in vertex order. `measure` is the name in the
 * analytics API; `params` are the parameters that select this variant.
 */
interface Kernel {
  name: string;
  measure: string;
  params: Record<string, unknown>;
  run: (built: Built) => ArrayLike<number>;
  /** Converts the API's answer to the peers' convention. */
  asPeers: (result: Record<string, number>, vertices: number) => number[];
}

const KERNELS: readonly Kernel[] = [
  {
    name: 'betweenness',
    measure: 'betweenness',
    params: { normalized: false },
    run: ({ graph }) => finish(betweenness(graph)),
    asPeers: valuesOf,
  },
  {
    name: 'closeness',
    measure: 'closeness',
    params: {},
    run: ({ graph }) => {
      const { reached, sums } = finish(distanceSums(graph));
      return Float64Array.from(sums, (sum, v) => (sum === 0 ? 0 : reached[v]! / sum));
    },
    // The API multiplies closeness by the share of nodes reached, which is 1 in these files.
    asPeers: valuesOf,
  },
  {
    name: 'clustering',
    measure: 'pairwise_clustering',
    params: {},
    run: ({ graph }) => finish(localClustering(graph)),
    asPeers: valuesOf,
  },
  {
    name: 'clique number',
    measure: 'clique_number',
    params: {},
    run: ({ graph }) => [finish(cliqueNumber(graph, { atLeast: 0, isOver: () => false })).value],
    asPeers: ({ value }) => [value!],
  },
  {
    name: 'pagerank',
    measure: 'pagerank',
    params: { walk: 'clique' },
    run: ({ sets, graph }) => {
      const options = { walk: 'clique', alpha: 0.85, tol: 1e-12, maxIterations: 1000, weight: 'one' } as const;
      return finish(pageRank(sets, graph, options)).scores;
    },
    asPeers: valuesOf,
  },
];

export async function runAnalytics(options: PartOptions): Promise<BenchRow[]> {
  const { tiny, note } = options;
  const rounds = tiny ? 1 : 7;
  const built = filesOf(options).map(({ name, edges }) => build(name, edges));
  const graphs = built.map(({ graph }) => plainGraph(graph));
  const measures = KERNELS.map(({ name }) => name);
  const asked = graphs.map((graph) => ({ ...graph, measures }));
  const igraph = pythonPeer('igraph', asked, rounds);
  if (igraph === undefined) note('analytics: igraph is not installed (apt install python3-igraph)');
  const networkx = tiny ? undefined : pythonPeer('networkx', asked.map(forNetworkx), 1);
  if (networkx === undefined) note('analytics: networkx is not installed, or left out');
  const peers = [igraph, graphologyPeer(graphs, tiny ? 1 : 2), networkx].filter((peer) => peer !== undefined);

  const rows: BenchRow[] = [];
  for (const [index, each] of built.entries()) {
    const figures = peers.map((peer) => ({ title: peer.title, figures: peer.figures[index]! }));
    rows.push(...kernelRows(each, figures, rounds), ...limitRows(each, rounds));
    rows.push(...(await tableRows(each, igraph?.figures[index], options, rounds)));
  }
  rows.push(await largeRow(options));
  return rows;
}

function filesOf({ tiny, dataset, note }: PartOptions): { name: string; edges: readonly Edge[] }[] {
  if (tiny) return [{ name: 'synthetic', edges: dataset.edges.slice(0, TINY_EDGES) }];
  const there = FILES.filter((name) => existsSync(fileOf(name)));
  for (const name of FILES) if (!there.includes(name)) note(`analytics: ${fileOf(name)} is not there`);
  return there.map((name) => ({ name, edges: readEdges(fileOf(name)) }));
}

function fileOf(name: string): string {
  return sharedFile(`data/${name}.ndjson.gz`);
}

function build(name: string, edges: readonly Edge[]): Built {
  const core = loadCore().instantiate();
  const columns = columnsOf(edges);
  return { name, edges, columns, core, ...buildGraph(core, columns) };
}

function buildGraph(core: Core, columns: IncidenceColumns): { sets: Incidence; graph: Graph } {
  const events = finish(Incidence.build(core, columns));
  const sets = finish(events.distinct());
  events.free();
  return { sets, graph: finish(sets.nodeGraph(1, MOST_ARCS)) };
}

/** Returns the incidence columns as a table scan would produce them. */
function columnsOf(edges: readonly Edge[]): IncidenceColumns {
  return {
    times: Float64Array.from(edges, (edge) => edge.event_ts),
    ids: Float64Array.from(edges, (_, i) => i + 1),
    sizes: Uint32Array.from(edges, (edge) => edge.members.length),
    members: Float64Array.from(edges.flatMap((edge) => edge.members)),
    weights: null,
  };
}

function plainGraph(graph: Graph): PlainGraph {
  const starts = graph.copyStarts();
  const neighbours = graph.copyNeighbours();
  const pairs: [number, number][] = [];
  for (let v = 0; v < graph.vertices; v++)
    for (let arc = starts[v]!; arc < starts[v + 1]!; arc++) if (v < neighbours[arc]!) pairs.push([v, neighbours[arc]!]);
  return { vertices: graph.vertices, pairs };
}

function forNetworkx<Asked extends { vertices: number; measures: readonly string[] }>(asked: Asked): Asked {
  const measures = asked.measures.filter((name) => name !== 'betweenness');
  return asked.vertices > MOST_NETWORKX_VERTICES ? { ...asked, measures } : asked;
}

/**
 * Races our kernels against every peer that has the measure, all on a prebuilt graph. The figures
 * are CPU milliseconds of the best round.
 */
function kernelRows(
  built: Built,
  peers: readonly { title: string; figures: PeerFigures }[],
  rounds: number,
): BenchRow[] {
  return KERNELS.flatMap(({ name, run }) => {
    const ours = bestCpuMs(rounds, () => run(built));
    sink(ours.value[0]!);
    return peers.flatMap(({ title, figures }) => {
      const peer = figures[name];
      if (peer === undefined) return [];
      compare(`${name} of ${built.name} beside ${title}`, ours.value, peer.values);
      const target = title.startsWith('igraph') ? { target: IGRAPH_TARGET } : {};
      const row = `${built.name} ${name}, ready graph, beside ${title}`;
      return [benchRow({ name: row, unit: 'ms CPU', ours: ours.ms, peer: peer.ms, ...target })];
    });
  });
}

/** Times measures that no peer has, and compares them with upper limits. */
function limitRows({ name, columns, core, sets, graph }: Built, rounds: number): BenchRow[] {
  const row = (what: string, most: number | undefined, work: () => number) => {
    const { ms, value } = bestCpuMs(rounds, work);
    sink(value);
    const target = most === undefined ? {} : { target: { oursAtMost: most } };
    return benchRow({ name: `${name} ${what}`, unit: 'ms CPU', ours: ms, ...target });
  };
  return [
    // This row has no target for email-Eu.
    row('distinct sets and co-member graph from columns', name === FILES[1] ? undefined : 30, () => {
      const made = buildGraph(core, columns);
      const { arcs } = made.graph;
      made.graph.free();
      made.sets.free();
      return arcs;
    }),
    row('zhou_clustering, ready sets', 100, () => finish(zhouClustering(sets, graph))[0]!),
    row('components of sets that share two, ready sets', 150, () => finish(sets.edgeComponents(2))[0]!),
  ];
}

/**
 * Times whole answers from the stored table, with nothing cached between calls. The figure of the
 * peer does not include building its graph.
 */
async function tableRows(
  { name, edges, sets, graph }: Built,
  igraph: PeerFigures | undefined,
  { workspace }: PartOptions,
  rounds: number,
): Promise<BenchRow[]> {
  const dir = workspace.fresh('analytics');
  const database = await loadHedgerow(dir, edges);
  const analytics = new Analytics({ database, threads: 1, cacheBytes: 1 });
  const ids = [...sets.copyNodeIds()];
  const rows: BenchRow[] = [];
  try {
    for (const { name: what, measure, params, asPeers } of KERNELS) {
      let best = Infinity;
      for (let round = 0; round < rounds; round++) {
        let answer: Awaited<ReturnType<Analytics['run']>> | undefined;
        const ms = await timed(async () => {
          answer = await analytics.run(undefined, measure, params);
        });
        best = Math.min(best, ms);
        const result = answer!.result as Record<string, number>;
        const values = asPeers(what === 'clique number' ? result : inOrder(result, ids), graph.vertices);
        const peer = igraph?.[what];
        // On a disconnected graph the API and the peers define closeness differently.
        if (peer !== undefined && (what !== 'closeness' || isConnected(sets)))
          compare(`${measure} from the table`, values, peer.values);
      }
      const peer = igraph === undefined ? {} : { peer: igraph[what]!.ms };
      const beside = igraph === undefined ? '' : ', beside igraph on a ready graph';
      rows.push(benchRow({ name: `${name} ${what}, from the table${beside}`, unit: 'ms', ours: best, ...peer }));
    }
  } finally {
    await analytics.close();
    await database.close();
    workspace.remove(dir);
  }
  return rows;
}

/**
 * Times PageRank of the large data set, from the compacted table to the answer. The first round
 * also starts the thread; the best round counts.
 */
async function largeRow({ tiny, dataset, workspace }: PartOptions): Promise<BenchRow> {
  const dir = await workspace.compacted(dataset.edges);
  dataset.release();
  const database = await openDatabase({ dir });
  const analytics = new Analytics({ database, threads: 1, cacheBytes: 1 });
  try {
    let best = Infinity;
    for (let round = 0; round < (tiny ? 1 : 4); round++) {
      const ms = await timed(async () => {
        const { result } = await analytics.run(undefined, 'pagerank', { limit: 10 });
        sink(Object.values(result as Record<string, number>)[0]!);
      });
      best = Math.min(best, ms);
    }
    const name = `${tiny ? 'synthetic' : dataset.name} pagerank by the hyperedge walk, from the table`;
    return benchRow({ name, unit: 'ms', ours: best, target: { oursAtMost: 1000 } });
  } finally {
    await analytics.close();
    await database.close();
  }
}

function isConnected(sets: Incidence): boolean {
  return finish(sets.nodeComponents(1)).every((label) => label === 0);
}

function inOrder(result: Record<string, number>, ids: readonly number[]): Record<string, number> {
  return Object.fromEntries(ids.map((id, v) => [v, result[id]!]));
}

function valuesOf(result: Record<string, number>, vertices: number): number[] {
  return Array.from({ length: vertices }, (_, v) => result[v]!);
}

/** Throws if the answers differ by more than 1e-9 (relative error for values above 1). */
function compare(what: string, ours: ArrayLike<number>, theirs: ArrayLike<number>): void {
  if (ours.length !== theirs.length) throw new Error(`${what}: ${ours.length} values, not ${theirs.length}`);
  for (let v = 0; v < ours.length; v++) {
    const difference = Math.abs(ours[v]! - theirs[v]!);
    if (!(difference <= 1e-9 * Math.max(1, Math.abs(theirs[v]!))))
      throw new Error(`${what}: ${ours[v]} at ${v}, not ${theirs[v]}`);
  }
}
