// Compares the connected components of graphs, and of rows that share at least s items, with naive
// label propagation.

import { describe, expect, it } from 'vitest';
import { components, finish, Graph, Incidence } from '../../src/core/index.ts';
import {
  CROWDED,
  columnsOf,
  naiveCase,
  naiveComponents,
  randomEdges,
  rowsOf,
  SHAPES,
  sharingPairs,
} from './support/hypergraphs.ts';
import { BUILDS, Instance } from './support/instance.ts';
import { randomFrom } from './support/random.ts';
import { watched } from './support/steps.ts';

describe.each(BUILDS)('components, %s build', (build) => {
  it.each([...SHAPES, ...CROWDED])(
    'are correct for nodes that share s edges and for edges that share s members: $name',
    (shape) => {
      const core = new Instance(build);
      const { edges, nodeRows, nodePairs, edgePairs } = naiveCase(shape, 21);
      const incidence = finish(Incidence.build(core.core, columnsOf(edges)));
      const used = core.x.hg_memory_used();
      for (const s of [1, 2, 3, 4, 5, 9, 300]) {
        const enough = ([, , shared]: readonly [number, number, number]) => shared >= s;
        const lines = naiveComponents(edges.length, edgePairs.filter(enough));
        expect([...watched(incidence.edgeComponents(s))], `edges, s = ${s}`).toEqual(lines);
        const nodes = naiveComponents(nodeRows, nodePairs.filter(enough));
        expect([...watched(incidence.nodeComponents(s))], `nodes, s = ${s}`).toEqual(nodes);
      }
      expect(core.x.hg_memory_used()).toBe(used);
    },
  );

  it('are correct for random graphs, from graphs without edges to connected ones', () => {
    const core = new Instance(build);
    const random = randomFrom(22);
    for (let vertices = 0; vertices < 60; vertices++) {
      const pairs = Array.from({ length: vertices }, (_, a): [number, number, number][] =>
        Array.from({ length: vertices - a - 1 }, (_, i): [number, number, number] => [a, a + 1 + i, 0]),
      )
        .flat()
        .filter(() => random.below(vertices) === 0);
      const graph = Graph.fromPairs(core.core, vertices, Uint32Array.from(pairs.flatMap(([a, b]) => [b, a])));
      expect([...watched(components(graph))]).toEqual(naiveComponents(vertices, pairs));
    }
  });

  it('are the same when the core stops early and its arena is as small as possible', () => {
    const core = new Instance(build);
    for (const [shape, s] of CROWDED.flatMap((shape) => [3, 4].map((s) => [shape, s] as const))) {
      const edges = randomEdges(randomFrom(23), shape);
      const incidence = finish(Incidence.build(core.core, columnsOf(edges)));
      const { edges: rows, nodes: items } = incidence;
      const zeros = (words: number) => core.putWords(new Uint32Array(words));
      const parents = core.putWords(Uint32Array.from({ length: rows }, (_, row) => row));
      const cursors = core.putWords(core.words(incidence.edgeStarts, rows));
      const block = zeros(core.x.HG_SUBSETS_BLOCK_BYTES.value / 4);
      const { edgeStarts, edgeNodes, nodeStarts, nodeEdges } = incidence;
      const frames = zeros((s * core.x.HG_SUBSETS_FRAME_BYTES.value) / 4);
      const fields = [
        edgeStarts,
        edgeNodes,
        nodeStarts,
        nodeEdges,
        items,
        s,
        cursors,
        zeros(items * 2),
        parents,
        frames,
      ];
      core.core.memory.words.set(fields, block / 4);
      let [arena, capacity, calls, grown] = [core.alloc(8), 0, 0, 0];
      for (let status = 1; status !== 0; calls++) {
        core.core.memory.words.set([arena, capacity], block / 4 + 10);
        status = core.x.hg_components_subsets(block, 0);
        if (status > 0) continue;
        if (status === 0) break;
        expect(core.needed).toBeGreaterThan(capacity);
        const larger = core.alloc(core.needed * 8 + 4);
        core.core.memory.bytes.copyWithin(larger, arena, arena + capacity * 8);
        core.core.memory.words[larger / 4 + core.needed * 2] = 0xabcdef;
        [arena, capacity] = [larger, core.needed];
        grown++;
      }
      expect(core.words(arena + capacity * 8, 1)).toEqual([0xabcdef]); // nothing is written after the arena
      core.x.hg_components_label(parents, 0, rows);
      const lines = naiveComponents(rows, sharingPairs(rowsOf(edges).edges, s));
      expect(core.words(parents, rows)).toEqual(lines);
      expect(calls).toBeGreaterThan(items);
      expect(grown).toBeGreaterThan(1);
    }
  });
});
