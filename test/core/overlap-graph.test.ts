// Compares three kinds of graphs with a naive computation pair by pair: nodes that share edges,
// edges that share members, and the graph of nodes and edges.

import { describe, expect, it } from 'vitest';
import { finish, Graph, Incidence } from '../../src/core/index.ts';
import { CROWDED, columnsOf, naiveCase, randomEdges, rowsOf, SHAPES, sharingPairs } from './support/hypergraphs.ts';
import { BUILDS, Instance, STATUS } from './support/instance.ts';
import { randomFrom } from './support/random.ts';
import { watched } from './support/steps.ts';

const MANY = 2 ** 40;

/** Returns the graph's arcs as [from, to, count], in memory order. */
function arcsOf(graph: Graph): number[][] {
  const [starts, neighbours, counts] = [graph.copyStarts(), graph.copyNeighbours(), graph.copyCounts()];
  expect(starts[0]).toBe(0);
  expect(starts.at(-1)).toBe(graph.arcs);
  return Array.from({ length: graph.vertices }, (_, vertex) =>
    Array.from(neighbours.subarray(starts[vertex], starts[vertex + 1]), (other, i) => [
      vertex,
      other,
      counts?.[starts[vertex]! + i] ?? 0,
    ]),
  ).flat();
}

/**
 * Returns the arcs as text. Comparing long lists as text is much faster, and a difference is still
 * visible.
 */
function textOf(arcs: readonly (readonly number[])[]): string {
  return arcs.map((arc) => arc.join(' ')).join('\n');
}

function bothWays(pairs: readonly (readonly [number, number, number])[]): number[][] {
  return pairs
    .flatMap(([a, b, count]) => [
      [a, b, count],
      [b, a, count],
    ])
    .sort((x, y) => x[0]! - y[0]! || x[1]! - y[1]!);
}

describe.each(BUILDS)('overlap graphs, %s build', (build) => {
  it.each([...SHAPES, ...CROWDED])('have exactly the pairs that share enough members or edges: $name', (shape) => {
    const core = new Instance(build);
    const { edges, nodeRows, nodePairs, edgePairs } = naiveCase(shape, 11);
    const incidence = finish(Incidence.build(core.core, columnsOf(edges)));
    for (const s of [1, 2, 3, 8]) {
      const enough = ([, , shared]: readonly [number, number, number]) => shared >= s;
      const nodes = watched(incidence.nodeGraph(s, MANY));
      expect(nodes.vertices).toBe(nodeRows);
      expect(textOf(arcsOf(nodes))).toBe(textOf(bothWays(nodePairs.filter(enough))));
      const lines = watched(incidence.edgeGraph(s, MANY));
      expect(lines.vertices).toBe(edges.length);
      expect(textOf(arcsOf(lines))).toBe(textOf(bothWays(edgePairs.filter(enough))));
    }
  });

  it('are the same when the core stops after every row and has room for only one row', () => {
    const core = new Instance(build);
    const edges = randomEdges(randomFrom(12), { ...SHAPES[3]!, edges: 150 });
    const incidence = finish(Incidence.build(core.core, columnsOf(edges)));
    const { rows, block, lengths } = overlapBlock(core, incidence, 2);
    const arcs: number[][] = [];
    const capacity = rows - 1;
    // The word after the output region must stay unchanged.
    const regions = [0, 1].map(() => core.putWords([...new Array(capacity).fill(0), 0xabcdef])) as [number, number];
    for (let row = 0; row < rows; row++) {
      const written = core.x.hg_graph_overlaps(block, row, 0, ...regions, capacity);
      expect(core.rows).toBe(row + 1);
      expect(core.words(lengths + row * 4, 1)).toEqual([written]);
      const [neighbours, counts] = regions.map((at) => core.words(at, capacity + 1)) as [number[], number[]];
      expect([neighbours.at(-1), counts.at(-1)]).toEqual([0xabcdef, 0xabcdef]);
      for (let i = 0; i < written; i++) arcs.push([row, neighbours[i]!, counts[i]!]);
    }
    expect(arcs).toEqual(bothWays(sharingPairs(rowsOf(edges).edges, 2)));
    expect(core.x.hg_graph_overlaps(block, 0, 0, ...regions, 0)).toBe(STATUS.badArgument);
  });

  it('include the incidence graph, whose vertices are the nodes and the edges', () => {
    const core = new Instance(build);
    for (const shape of SHAPES) {
      const edges = randomEdges(randomFrom(13), shape);
      const graph = watched(finish(Incidence.build(core.core, columnsOf(edges))).bipartiteGraph());
      const rows = rowsOf(edges);
      const n = rows.nodes.length;
      const pairs = rows.edges.flatMap((row, edge) => row.map((node): [number, number, number] => [node, n + edge, 0]));
      expect(graph.vertices).toBe(n + edges.length);
      expect(graph.counts).toBe(0);
      expect(arcsOf(graph)).toEqual(bothWays(pairs));
    }
  });
});

/** Places the argument block of `hg_graph_overlaps`, with edges as rows. */
function overlapBlock(core: Instance, incidence: Incidence, s: number) {
  const { edges: rows, edgeStarts, edgeNodes, nodeStarts, nodeEdges } = incidence;
  const zeros = (words: number) => core.putWords(new Uint32Array(words));
  const [counts, met, lengths] = [zeros(rows), zeros(rows), zeros(rows)];
  const bits = core.put(new Uint8Array(core.x.hg_graph_bitmap_bytes(rows)));
  const block = core.putWords([rows, s, edgeStarts, edgeNodes, nodeStarts, nodeEdges, counts, met, bits, lengths]);
  return { rows, block, lengths };
}

describe('overlap graphs in the release build', () => {
  it('list neighbours in ascending order, even if a row has thousands of them', () => {
    const core = new Instance('release');
    const random = randomFrom(14);
    // One word of the bitmap's summary covers 64 * 64 nodes. The 9,000 nodes here need several
    // words, and each hub shares edges with thousands of nodes.
    const edges = randomEdges(random, {
      name: '',
      edges: 9000,
      node: (r) => (r.below(5) === 0 ? r.below(4) : r.below(9000)),
      size: () => 3,
      repeats: 100,
    });
    const incidence = finish(Incidence.build(core.core, columnsOf(edges)));
    const graph = finish(incidence.nodeGraph(1, MANY));
    const found = new Map<number, number>();
    for (const row of rowsOf(edges).edges) {
      for (const a of row) for (const b of row) if (a !== b) found.set(a * 1e6 + b, (found.get(a * 1e6 + b) ?? 0) + 1);
    }
    const expected = [...found]
      .sort((x, y) => x[0] - y[0])
      .map(([key, count]) => [Math.floor(key / 1e6), key % 1e6, count]);
    expect(textOf(arcsOf(graph))).toBe(textOf(expected));
  });

  it('are refused when they have more arcs than the limit, and leave nothing allocated', () => {
    const core = new Instance('release');
    const edges = randomEdges(randomFrom(15), SHAPES.find(({ name }) => name === 'hubs')!);
    const incidence = finish(Incidence.build(core.core, columnsOf(edges)));
    const used = core.x.hg_memory_used();
    for (const s of [1, 2]) {
      const arcs = finish(incidence.edgeGraph(s, MANY)).arcs;
      expect(finish(incidence.edgeGraph(s, arcs)).arcs).toBe(arcs);
      const refused = () => finish(incidence.edgeGraph(s, arcs - 1));
      const before = core.x.hg_memory_used();
      expect(refused).toThrow(expect.objectContaining({ code: 'query_too_large', fields: { limit: arcs / 2 - 1 } }));
      expect(core.x.hg_memory_used()).toBe(before);
    }
    expect(core.x.hg_memory_used()).toBeGreaterThan(used);
  });

  it('release all memory when freed, and when abandoned at any step', () => {
    const core = new Instance('release');
    const edges = randomEdges(randomFrom(16), SHAPES.find(({ name }) => name === 'hubs')!);
    const incidence = finish(Incidence.build(core.core, columnsOf(edges)));
    const used = () => core.x.hg_memory_used() >>> 0;
    const held = used();
    for (const steps of [
      () => incidence.nodeGraph(1, MANY),
      () => incidence.edgeGraph(2, MANY),
      () => incidence.bipartiteGraph(),
    ]) {
      for (let stop = 1; ; stop++) {
        const work = steps();
        let graph: Graph | undefined;
        for (let i = 0; i < stop && !graph; i++) {
          const step = work.next();
          if (step.done) graph = step.value;
        }
        if (!graph) work.return(undefined as never);
        else {
          expect(used()).toBeGreaterThanOrEqual(held + graph.bytes);
          graph.free();
        }
        expect(used()).toBe(held);
        if (graph) break;
      }
    }
  });

  it('can be made from given pairs', () => {
    const core = new Instance('release');
    const graph = Graph.fromPairs(core.core, 5, Uint32Array.of(3, 1, 0, 3, 1, 4), Uint32Array.of(7, 8, 9));
    expect(arcsOf(graph)).toEqual(
      bothWays([
        [1, 3, 7],
        [0, 3, 8],
        [1, 4, 9],
      ]),
    );
    expect(Graph.fromPairs(core.core, 5, Uint32Array.of(3, 1)).copyCounts()).toBeNull();
    expect(arcsOf(Graph.fromPairs(core.core, 0, new Uint32Array(0)))).toEqual([]);
  });
});
