// Peer libraries for the graph measures: igraph and networkx in a separate Python process,
// graphology in this process. All of them measure a graph that is already built.

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
  /** Lowest CPU time of the rounds, in milliseconds. */
  ms: number;
  values: number[];
}

/**
 * Figures by measure. Betweenness counts each pair once and is not normalized; closeness is the
 * number of reached vertices divided by the sum of the distances to them.
 */
export type PeerFigures = Record<string, PeerFigure>;

export interface Peer {
  title: string;
  /** One entry per graph, in the order of the input. */
  figures: PeerFigures[];
}

const SCRIPT = fileURLToPath(new URL('analytics-peers.py', import.meta.url));
/**
 * Interpreters to try. Debian's own comes first: other interpreters do not see libraries installed
 * as Debian packages.
 */
const PYTHONS = ['/usr/bin/python3', 'python3'];
const MOST_OUTPUT_BYTES = 2 ** 28;

/** Runs a Python library on the graphs; undefined if no Python here has the library. */
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

/** Runs graphology on the graphs. This library is a development dependency: always installed. */
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
