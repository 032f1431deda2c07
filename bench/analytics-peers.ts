// Libraries of graph measures as peers: igraph and networkx in a Python of their own, graphology in this process. All of them are given a graph that is ready.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import graphology from 'graphology';
import { betweenness, closeness, pagerank } from 'graphology-metrics/centrality/index.js';
import { bestCpuMs } from './measure.ts';

/** A simple undirected graph. */
export interface PlainGraph {
  vertices: number;
  pairs: readonly (readonly [number, number])[];
}

export interface PeerFigure {
  /** Least CPU time of the rounds, milliseconds. */
  ms: number;
  values: number[];
}

/** By measure. betweenness: pairs once, not normalized; closeness: those reached / the sum of distances to them. */
export type PeerFigures = Record<string, PeerFigure>;

export interface Peer {
  title: string;
  /** For each graph. */
  figures: PeerFigures[];
}

const SCRIPT = fileURLToPath(new URL('analytics-peers.py', import.meta.url));
/** Debian's first: libraries that come as its packages are not seen by others. */
const PYTHONS = ['/usr/bin/python3', 'python3'];
const MOST_OUTPUT_BYTES = 2 ** 28;

/** Undefined: no Python here has the library. */
export function pythonPeer(
  library: 'igraph' | 'networkx',
  graphs: readonly (PlainGraph & { measures: readonly string[] })[],
  rounds: number,
): Peer | undefined {
  const python = PYTHONS.find((each) => spawnSync(each, ['-c', `import ${library}`]).status === 0);
  if (python === undefined) return undefined;
  const { status, stdout, stderr } = spawnSync(python, [SCRIPT, library, String(rounds)], {
    input: JSON.stringify(graphs),
    maxBuffer: MOST_OUTPUT_BYTES,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`${library} failed: ${stderr}`);
  const { version, graphs: figures } = JSON.parse(stdout) as { version: string; graphs: PeerFigures[] };
  return { title: `${library} ${version}`, figures };
}

/** Its package is always there: a development dependency. */
export function graphologyPeer(graphs: readonly PlainGraph[], rounds: number): Peer {
  return { title: 'graphology', figures: graphs.map((graph) => graphologyFigures(graph, rounds)) };
}

function graphologyFigures({ vertices, pairs }: PlainGraph, rounds: number): PeerFigures {
  const graph = new graphology.UndirectedGraph();
  for (let v = 0; v < vertices; v++) graph.addNode(v);
  for (const [a, b] of pairs) graph.addEdge(a, b);
  const ask = (work: () => Record<string, number>): PeerFigure => {
    const { ms, value } = bestCpuMs(rounds, work);
    return { ms, values: Array.from({ length: vertices }, (_, v) => value[v]!) };
  };
  const between = ask(() => betweenness(graph, { getEdgeWeight: null, normalized: true }));
  const pairsOfOthers = ((vertices - 1) * (vertices - 2)) / 2;
  return {
    betweenness: { ...between, values: between.values.map((value) => value * pairsOfOthers) },
    closeness: ask(() => closeness(graph, { wassermanFaust: false })),
    pagerank: ask(() => pagerank(graph, { getEdgeWeight: null, alpha: 0.85, maxIterations: 1000, tolerance: 1e-14 })),
  };
}
