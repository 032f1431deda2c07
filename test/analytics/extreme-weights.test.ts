// Runs measures on weights of every magnitude in one table: no measure may fail, and results that
// do not depend on the scale of the weights must not change with the scale.

import { describe, expect, it } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import { randomFrom } from '../core/support/random.ts';
import { MeasuredEdges, type PlainEdge } from './run-measure.ts';

const edgesOf = (rows: readonly (readonly [number[], number | null])[]): PlainEdge[] =>
  rows.map(([members, weight], at) => ({ id: at + 1, event_ts: at, members, weight }));

const gapOf = (edges: PlainEdge[]) =>
  new MeasuredEdges(edges, 10).run('spectral_gap', { weighted: true }).result as number | null;

describe('spectral_gap', () => {
  it.each([1e-4, 1e-6, 1e-10, 1e-12, 1e-14, 1e-15, 1e-16, 1e-20, 1e-100, 1e-300])(
    'is about half of %s for two pairs joined by an edge of that weight',
    (weight) => {
      const pairs = [
        [[1, 2], 1],
        [[2, 3], weight],
        [[3, 4], 1],
      ] as const;
      expect(Math.abs(gapOf(edgesOf(pairs as never))! - weight / 2)).toBeLessThan(1e-7);
      const larger = pairs.map(([members, w]) => [members, w * 1e300] as const);
      expect(Math.abs(gapOf(edgesOf(larger as never))! - weight / 2)).toBeLessThan(1e-7);
    },
  );

  it('is a number even for weights that differ by more than doubles can express', () => {
    // Nearly every walk from node 1 stays in its two singleton edges. The random test below found
    // this case, which made the solver fail.
    const edges = edgesOf([
      [[0, 2, 3], 1e-308],
      [[1], 1e150],
      [[3], null],
      [[1, 3], 1e-160],
      [[1], 1e150],
      [[0, 1], 5e-324],
    ]);
    const gap = gapOf(edges)!;
    expect(gap).toBeGreaterThanOrEqual(0);
    expect(gap).toBeLessThan(1e-7);
  });
});

describe('modularity and pagerank', () => {
  const parts = { 1: 'a', 2: 'a', 3: 'b', 4: 'b' };
  const rows = [
    [[1, 2], 5],
    [[3, 4], 3],
    [[2, 3, 4], 1],
  ] as const;

  it.each([1e-300, 1e-160, 1e160, 1e300, 5e306])('do not change when all weights are multiplied by %s', (factor) => {
    const plain = new MeasuredEdges(edgesOf(rows as never), 10);
    const scaled = new MeasuredEdges(edgesOf(rows.map(([members, w]) => [[...members], w * factor])), 10);
    for (const params of [{}, { weight: 'graph' }, { weight: 'strict', partition: parts }, { partition: parts }]) {
      const [a, b] = [plain, scaled].map((edges) => edges.run('modularity', { weighted: true, ...params }).result) as {
        value: number;
        communities: number[][];
      }[];
      expect(b!.value).toBeCloseTo(a!.value, 9);
      expect(b!.communities).toEqual(a!.communities);
    }
    const [a, b] = [plain, scaled].map((edges) => edges.run('pagerank', { weighted: true }).result) as Record<
      string,
      number
    >[];
    for (const node of [1, 2, 3, 4]) expect(b![node]).toBeCloseTo(a![node]!, 9);
  });

  it('are null when the sum of the weights is not finite', () => {
    const heavy = new MeasuredEdges(
      edgesOf([
        [[1, 2], 1e308],
        [[2, 3], 1e308],
      ]),
      10,
    );
    for (const weight of ['strict', 'majority', 'linear', 'graph'])
      expect(heavy.run('modularity', { weighted: true, weight }).result).toMatchObject({ value: null });
    expect(heavy.run('pagerank', { weighted: true }).result).toEqual({ 1: null, 2: null, 3: null });
  });

  it('refuse an alpha that is too close to 1, and the error names it', () => {
    const edges = new MeasuredEdges(
      edgesOf([
        [[1, 2], 1],
        [[2, 3], 1e-10],
        [[3, 4], 1],
      ]),
      10,
    );
    expect(() => edges.run('pagerank', { weighted: true, alpha: 1 - 2 ** -53 })).toThrow(/alpha|max_iter/);
  });
});

it('weights of any size never make a measure fail with an internal error', () => {
  const WEIGHTS = [0, 1, 1e308, 1.7e308, 5e-324, 1e-308, null, 1e150, 1e-160];
  const RUNS: [string, Record<string, unknown>][] = [
    ...['strict', 'majority', 'linear', 'graph'].map((weight) => ['modularity', { weight }] as [string, object]),
    ...['hyperedge', 'clique', 'clique_count', 'nonlazy'].map((walk) => ['pagerank', { walk }] as [string, object]),
    ['spectral_gap', {}],
    ['spectral_gap', { laplacian: 'normalized_clique' }],
    ['node_degree', {}],
    ['node_degree', { basis: 'distinct' }],
  ] as never;
  const random = randomFrom(3);
  let answered = 0;
  for (let round = 0; round < 300; round++) {
    const nodes = 2 + random.below(5);
    const rows = Array.from({ length: 1 + random.below(6) }, () => {
      const members = Array.from({ length: 1 + random.below(4) }, () => random.below(nodes));
      return [members, WEIGHTS[random.below(WEIGHTS.length)]!] as const;
    });
    const edges = new MeasuredEdges(edgesOf(rows as never), 10);
    for (const [measure, params] of RUNS) {
      try {
        const { result } = edges.run(measure, { weighted: true, ...params });
        answered++;
        if (measure !== 'pagerank') continue;
        const scores = Object.values(result as Record<string, number | null>);
        if (scores.includes(null)) expect(scores.every((score) => score === null)).toBe(true);
        else expect(scores.reduce<number>((sum, score) => sum + score!, 0)).toBeCloseTo(1, 9);
      } catch (error) {
        expect(error, `${measure} ${JSON.stringify(params)} ${JSON.stringify(rows)}`).toBeInstanceOf(HedgerowError);
      }
    }
  }
  expect(answered).toBeGreaterThan(3000);
});
