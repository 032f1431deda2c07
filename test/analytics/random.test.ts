// Runs every variant of every measure on small random hypergraphs, and compares the results with
// textbook implementations. Also applies transformations that must not change a result.
// HEDGEROW_HYPERGRAPHS sets the number of hypergraphs; the long form uses 1,000.

import { describe, expect, it } from 'vitest';
import { measures } from '../../src/analytics/registry.ts';
import { Random } from '../support/random.ts';
import { Naive } from './naive.ts';
import { CASES, randomEdges, withNames } from './random-cases.ts';
import { MeasuredEdges } from './run-measure.ts';

const COUNT = Number(process.env.HEDGEROW_HYPERGRAPHS ?? 60);
const TIMEOUT_MS = 900_000;

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
