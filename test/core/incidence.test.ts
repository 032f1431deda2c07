// Compares the incidences of random hypergraphs with naive results: the ordinals of nodes, the
// members of each edge, the edges of each node, and the distinct sets.

import { describe, expect, it } from 'vitest';
import { finish, Incidence } from '../../src/core/index.ts';
import {
  columnsOf,
  distinctSets,
  type NaiveEdge,
  nodesOf,
  randomEdges,
  rowsOf,
  SHAPES,
} from './support/hypergraphs.ts';
import { BUILDS, Instance } from './support/instance.ts';
import { randomFrom } from './support/random.ts';
import { watched } from './support/steps.ts';

/** Reads the rows of a CSR from core memory as lists. */
function lists(core: Instance, starts: number, items: number, rows: number): number[][] {
  const at = core.words(starts, rows + 1);
  return Array.from({ length: rows }, (_, row) => core.words(items + at[row]! * 4, at[row + 1]! - at[row]!));
}

function expectRows(core: Instance, incidence: Incidence, edges: readonly NaiveEdge[]): void {
  const naive = rowsOf(edges);
  expect(lists(core, incidence.edgeStarts, incidence.edgeNodes, incidence.edges)).toEqual(naive.edges);
  expect(lists(core, incidence.nodeStarts, incidence.nodeEdges, incidence.nodes)).toEqual(naive.nodes);
  expect([incidence.edges, incidence.incidences]).toEqual([naive.edges.length, naive.edges.flat().length]);
  expect([...incidence.copySizes()]).toEqual(naive.edges.map((row) => row.length));
  expect([...incidence.copyNodeDegrees()]).toEqual(naive.nodes.map((row) => row.length));
  expect([...incidence.copyNodeIds()]).toEqual(nodesOf(edges));
  expect([...incidence.copyEdgeIds()]).toEqual(edges.map((edge) => edge.id));
  expect([...incidence.copyTimes()]).toEqual(edges.map((edge) => edge.time));
}

describe.each(BUILDS)('incidences, %s build', (build) => {
  it.each(SHAPES)(
    'give ordinals to nodes, and list the members of each edge and the edges of each node: $name',
    (shape) => {
      for (const seed of [1, 2, 3]) {
        const core = new Instance(build);
        const edges = randomEdges(randomFrom(seed), shape);
        const incidence = watched(Incidence.build(core.core, columnsOf(edges)));
        expectRows(core, incidence, edges);
        expect([...incidence.copyWeights()]).toEqual(edges.map((edge) => edge.weight ?? 1));
        expect([...incidence.copyMultiplicity()]).toEqual(edges.map(() => 1));
        const plain = finish(Incidence.build(core.core, columnsOf(edges, false)));
        expect([...plain.copyWeights()]).toEqual(edges.map(() => 1));
        expect(incidence.bytes).toBeGreaterThan(edges.length * 32);
      }
    },
  );

  it.each(SHAPES)('collapse to distinct sets: $name', (shape) => {
    for (const seed of [4, 5, 6]) {
      const core = new Instance(build);
      const edges = randomEdges(randomFrom(seed), shape);
      const source = finish(Incidence.build(core.core, columnsOf(edges)));
      const distinct = watched(source.distinct());
      const { sets, setOf } = distinctSets(edges);
      source.free();
      expectRows(core, distinct, sets);
      expect([...distinct.copyMultiplicity()]).toEqual(sets.map((set) => set.multiplicity));
      expect([...distinct.copyWeights()]).toEqual(sets.map((set) => set.total));
      expect([...distinct.eventToSet()]).toEqual(setOf);
      // Collapsing a second time gives the same sets, and maps each set to itself.
      const again = finish(distinct.distinct());
      expectRows(core, again, sets);
      expect([...again.copyMultiplicity()]).toEqual(sets.map((set) => set.multiplicity));
      expect([...again.eventToSet()]).toEqual(sets.map((_, index) => index));
    }
  });
});

describe('incidences', () => {
  const shape = SHAPES.find(({ name }) => name === 'hubs')!;

  it('find nodes and edges by id', () => {
    const core = new Instance('debug');
    const edges = randomEdges(randomFrom(7), shape);
    const incidence = finish(Incidence.build(core.core, columnsOf(edges)));
    for (const [ordinal, id] of nodesOf(edges).entries()) expect(incidence.nodeOrdinal(id)).toBe(ordinal);
    for (const [ordinal, { id }] of edges.entries()) expect(incidence.edgeOrdinal(id)).toBe(ordinal);
    for (const id of [-1, 999, 1e15, 0.5]) {
      expect(incidence.nodeOrdinal(id)).toBe(-1);
      expect(incidence.edgeOrdinal(id)).toBe(-1);
    }
    expect(() => incidence.eventToSet()).toThrow('distinct');
  });

  it('release all memory when freed, and when abandoned at any step', () => {
    const core = new Instance('release');
    const random = randomFrom(8);
    const edges = randomEdges(random, { ...shape, edges: 3000 });
    const spread = randomEdges(random, { ...SHAPES.find(({ name }) => name === 'ids anywhere')!, edges: 500 });
    const used = () => core.x.hg_memory_used() >>> 0;
    const before = used();
    for (const list of [edges, spread]) {
      const incidence = finish(Incidence.build(core.core, columnsOf(list)));
      const held = used();
      expect(held).toBeGreaterThanOrEqual(before + incidence.bytes);
      for (const steps of [() => Incidence.build(core.core, columnsOf(list)), () => incidence.distinct()]) {
        for (let stop = 1; ; stop++) {
          const work = steps();
          let done = false;
          for (let i = 0; i < stop && !done; i++) {
            const step = work.next();
            done = step.done === true;
            if (step.done) step.value.free();
          }
          if (done) break;
          expect(used()).toBeGreaterThan(held);
          work.return(undefined as never);
          expect(used()).toBe(held);
        }
        expect(used()).toBe(held);
      }
      incidence.free();
      expect(used()).toBe(before);
    }
  });

  it('report that memory cannot grow, and leave nothing allocated', () => {
    const core = new Instance('release');
    const edges = randomEdges(randomFrom(10), { ...shape, edges: 2000 });
    const incidence = finish(Incidence.build(core.core, columnsOf(edges)));
    for (let bytes = 0xe0000000; bytes >= 8192; bytes = Math.floor((bytes * 15) / 16)) {
      while (core.x.hg_memory_alloc(bytes) !== 0);
    }
    const held = core.x.hg_memory_used();
    for (const steps of [
      () => Incidence.build(core.core, columnsOf(edges)),
      () => incidence.distinct(),
      () => incidence.nodeGraph(1, 1e6),
      () => incidence.edgeGraph(2, 1e6),
      () => incidence.bipartiteGraph(),
      () => incidence.edgeComponents(2),
      () => incidence.edgeComponents(3),
    ]) {
      expect(() => finish<unknown>(steps())).toThrow(expect.objectContaining({ code: 'overloaded' }));
      expect(core.x.hg_memory_used()).toBe(held);
    }
    expect([...incidence.copyEdgeIds()]).toEqual(edges.map((edge) => edge.id));
  });

  it('refuse to be larger than an instance can hold', () => {
    const core = new Instance('release');
    const many = { length: 90_000_000 } as unknown as Float64Array;
    const columns = { ...columnsOf([]), members: many };
    expect(() => finish(Incidence.build(core.core, columns))).toThrow(
      expect.objectContaining({ code: 'query_too_large' }),
    );
  });

  it('sort many widely spread ids by digits, skipping digits that are equal in all ids', () => {
    const core = new Instance('release');
    const random = randomFrom(9);
    for (const step of [2 ** 20, 2 ** 31, 2 ** 45]) {
      const edges = randomEdges(random, {
        name: '',
        edges: 4000,
        node: (r) => (r.below(250) - 125) * step + r.below(3),
        size: (r) => 1 + r.below(3),
        repeats: 50,
      });
      const incidence = finish(Incidence.build(core.core, columnsOf(edges)));
      expectRows(core, incidence, edges);
    }
  });
});
