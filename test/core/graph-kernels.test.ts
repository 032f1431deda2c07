// Compares graph kernels with naive ones: searches, betweenness, diameters, triangles, cores and
// cliques. The variable HEDGEROW_GRAPHS sets the number of random graphs; a long run uses 150.

import { describe, expect, it } from 'vitest';
import { Graph } from '../../src/core/graph.ts';
import { cliqueNumber } from '../../src/core/kernels/cliques.ts';
import { components } from '../../src/core/kernels/components.ts';
import { coreNumbers } from '../../src/core/kernels/cores.ts';
import { diameters } from '../../src/core/kernels/diameter.ts';
import { betweenness, distanceSums, distancesFrom, UNREACHED } from '../../src/core/kernels/searches.ts';
import { localClustering, triangleCounts } from '../../src/core/kernels/triangles.ts';
import { type CoreBuild, loadCore } from '../../src/core/load.ts';
import { finish } from '../../src/schedule/steps.ts';
import { Random } from '../support/random.ts';

interface Plain {
  n: number;
  adjacent: boolean[][];
  pairs: number[];
}

function randomGraph(seed: number): Plain {
  const random = new Random(seed);
  const n = 1 + random.below(seed % 7 === 0 ? 300 : 24);
  const density = (random.below(1000) / 1000) ** 2 * (n > 30 ? 0.1 : 1);
  const adjacent = Array.from({ length: n }, () => new Array<boolean>(n).fill(false));
  const pairs: number[] = [];
  for (let a = 0; a < n; a++)
    for (let b = a + 1; b < n; b++) {
      if (!random.chance(density)) continue;
      adjacent[a]![b] = adjacent[b]![a] = true;
      pairs.push(a, b);
    }
  return { n, adjacent, pairs };
}

function naiveDistances({ n, adjacent }: Plain, source: number): number[] {
  const distances = new Array<number>(n).fill(Number.POSITIVE_INFINITY);
  distances[source] = 0;
  for (let level = 0, some = true; some; level++) {
    some = false;
    for (let v = 0; v < n; v++) {
      if (distances[v] !== level) continue;
      for (let w = 0; w < n; w++)
        if (adjacent[v]![w] && distances[w] === Number.POSITIVE_INFINITY) {
          distances[w] = level + 1;
          some = true;
        }
    }
  }
  return distances;
}

/** Returns the number of shortest paths between each pair, computed in order of distance. */
function naivePaths({ n, adjacent }: Plain, distances: number[][]): number[][] {
  return distances.map((from, source) => {
    const counts = new Array<number>(n).fill(0);
    counts[source] = 1;
    const order = [...from.keys()].filter((v) => Number.isFinite(from[v]!)).sort((a, b) => from[a]! - from[b]!);
    for (const v of order)
      if (v !== source)
        for (let w = 0; w < n; w++) if (adjacent[w]![v] && from[w] === from[v]! - 1) counts[v]! += counts[w]!;
    return counts;
  });
}

function naiveBetweenness(graph: Plain, distances: number[][]): number[] {
  const paths = naivePaths(graph, distances);
  return graph.adjacent.map((_, v) => {
    let sum = 0;
    for (let s = 0; s < graph.n; s++)
      for (let t = s + 1; t < graph.n; t++) {
        if (s === v || t === v || !Number.isFinite(distances[s]![t]!)) continue;
        if (distances[s]![v]! + distances[v]![t]! === distances[s]![t])
          sum += (paths[s]![v]! * paths[v]![t]!) / paths[s]![t]!;
      }
    return sum;
  });
}

function naiveTriangles({ n, adjacent }: Plain): number[] {
  return adjacent.map((row) => {
    let count = 0;
    for (let a = 0; a < n; a++) for (let b = a + 1; b < n; b++) if (row[a] && row[b] && adjacent[a]![b]) count++;
    return count;
  });
}

function naiveCores({ n, adjacent }: Plain): number[] {
  const cores = new Array<number>(n).fill(0);
  for (let k = 1; k < n; k++) {
    const alive = new Set(Array(n).keys());
    for (let some = true; some; ) {
      some = false;
      for (const v of alive) {
        let degree = 0;
        for (const w of alive) if (adjacent[v]![w]) degree++;
        if (degree < k) some = alive.delete(v);
      }
    }
    for (const v of alive) cores[v] = k;
  }
  return cores;
}

function naiveClique({ adjacent }: Plain, chosen: number, candidates: number[]): number {
  let best = chosen;
  for (const [i, v] of candidates.entries())
    best = Math.max(
      best,
      naiveClique(
        { n: 0, adjacent, pairs: [] },
        chosen + 1,
        candidates.slice(i + 1).filter((w) => adjacent[v]![w]!),
      ),
    );
  return best;
}

const GRAPHS = Number(process.env.HEDGEROW_GRAPHS ?? 70);
const never = { atLeast: 0, isOver: () => false };

describe.each<CoreBuild>(['release', 'plain', 'debug'])('%s core', (build) => {
  const module = loadCore(build);
  const graphs = Array.from({ length: build === 'release' ? GRAPHS : 40 }, (_, seed) => randomGraph(seed + 1));
  const open = ({ n, pairs }: Plain) => Graph.fromPairs(module.instantiate(), n, Uint32Array.from(pairs));

  it('finds distances, their sums and betweenness', () => {
    for (const plain of graphs) {
      const graph = open(plain);
      const distances = plain.adjacent.map((_, v) => naiveDistances(plain, v));
      for (let v = 0; v < plain.n; v++)
        expect([...distancesFrom(graph, v)]).toEqual(distances[v]!.map((d) => (Number.isFinite(d) ? d : UNREACHED)));
      const { reached, sums, inverses } = finish(distanceSums(graph));
      const others = distances.map((row) => row.filter((d) => d > 0 && Number.isFinite(d)));
      expect([...reached]).toEqual(others.map((row) => row.length));
      expect([...sums]).toEqual(others.map((row) => row.reduce((a, b) => a + b, 0)));
      for (const [v, row] of others.entries())
        expect(inverses[v]).toBeCloseTo(
          row.reduce((a, b) => a + 1 / b, 0),
          9,
        );
      const between = finish(betweenness(graph));
      for (const [v, expected] of naiveBetweenness(plain, distances).entries())
        expect(Math.abs(between[v]! - expected)).toBeLessThanOrEqual(1e-9 * (1 + expected));
      expect(graph.core.exports.hg_memory_used()).toBe(usedByGraphAlone(plain, module));
    }
  });

  it('finds diameters', () => {
    for (const plain of graphs) {
      const graph = open(plain);
      const labels = finish(components(graph));
      const byLabel = new Map<number, number[]>();
      for (const [v, label] of labels.entries()) byLabel.set(label, [...(byLabel.get(label) ?? []), v]);
      const eccentricity = (v: number) => Math.max(...naiveDistances(plain, v).filter(Number.isFinite));
      const found = [...byLabel.entries()].map(([least, members]) => ({
        least,
        size: members.length,
        diameter: Math.max(...members.map(eccentricity)),
      }));
      found.sort((a, b) => b.size - a.size || a.least - b.least);
      expect(finish(diameters(graph, labels, Float64Array.from(labels.keys())))).toEqual({
        largest: found[0]!.diameter,
        most: Math.max(...found.map(({ diameter }) => diameter)),
        components: found.length,
      });
    }
  });

  it('finds triangles, clustering and cores', () => {
    for (const plain of graphs) {
      const graph = open(plain);
      const expected = naiveTriangles(plain);
      expect([...finish(triangleCounts(graph))]).toEqual(expected);
      const clustering = finish(localClustering(graph));
      for (const [v, count] of expected.entries()) {
        const degree = plain.adjacent[v]!.filter(Boolean).length;
        expect(clustering[v]).toBeCloseTo(degree < 2 ? 0 : (2 * count) / (degree * (degree - 1)), 12);
      }
      const { numbers, order } = coreNumbers(graph);
      if (plain.n < 60) expect([...numbers]).toEqual(naiveCores(plain));
      expect([...order].sort((a, b) => a - b)).toEqual([...Array(plain.n).keys()]);
    }
  });

  it('finds the largest clique', () => {
    for (const plain of graphs) {
      if (plain.n > 60 && plain.pairs.length > 4000) continue;
      const value = naiveClique(plain, 0, [...Array(plain.n).keys()]);
      expect(finish(cliqueNumber(open(plain), never))).toEqual({ value, exact: true });
    }
  });
});

/** Returns the memory used by an instance that contains only the given graph. */
function usedByGraphAlone({ n, pairs }: Plain, module: ReturnType<typeof loadCore>): number {
  return Graph.fromPairs(module.instantiate(), n, Uint32Array.from(pairs)).core.exports.hg_memory_used();
}

describe('the clique search', () => {
  it('takes many steps, and stops on request with the best result so far', () => {
    const random = new Random(5);
    const n = 190;
    const pairs: number[] = [];
    for (let a = 0; a < n; a++) for (let b = a + 1; b < n; b++) if (random.chance(0.8)) pairs.push(a, b);
    const graph = Graph.fromPairs(loadCore().instantiate(), n, Uint32Array.from(pairs));
    let steps = 0;
    const whole = cliqueNumber(graph, never);
    let answer = whole.next();
    for (; !answer.done; answer = whole.next()) steps++;
    expect(steps).toBeGreaterThan(10);
    expect(answer.value.exact).toBe(true);
    const cut = finish(cliqueNumber(graph, { atLeast: 0, isOver: () => true }));
    expect(cut.exact).toBe(false);
    expect(cut.value).toBeLessThanOrEqual(answer.value.value);
    expect(finish(cliqueNumber(graph, { atLeast: answer.value.value, isOver: () => false }))).toEqual(answer.value);
  });
});
