// Computes density, in one of five senses: the number of things that are present, divided by the
// number of possible ones or of nodes.

import { basisOf, basisParameter, type Measure, type MeasureResult, WINDOW } from '../measure.ts';
import { missingParameter } from '../parameters.ts';

export const density: Measure = {
  name: 'density',
  about: 'How full the hypergraph is, in one of five senses.',
  source:
    'overlapness: Lee, Choe, Shin 2021, "How do hyperedges overlap in real-world hypergraphs?"; the other kinds divide what is present by what is possible.',
  parameters: [
    {
      name: 'kind',
      type: 'choice',
      choices: ['incidence', 'edges', 'uniform', 'pairwise', 'overlapness'],
      default: 'incidence',
      about:
        'n: number of nodes, m: number of edges. incidence: sum of sizes / (n m); edges: m / (2^n - 1); uniform: edges of size k / C(n, k); pairwise: co-member pairs / C(n, 2); overlapness: sum of sizes / n.',
    },
    { name: 'k', type: 'integer', least: 1, about: 'Size of the edges counted by kind uniform.' },
    basisParameter(),
    ...WINDOW,
  ],
  result: { type: 'number' },
  *run({ projections }, params) {
    const kind = params.kind as string;
    const k = params.k as number | undefined;
    if (kind === 'uniform' && k === undefined) throw missingParameter('k', 'kind uniform needs the size of the edges.');
    const basis = basisOf(params, kind === 'edges' || kind === 'uniform' ? 'distinct' : 'events');
    const incidence = yield* projections.incidence(basis);
    const { nodes, edges, incidences } = incidence;
    const result = (value: number): MeasureResult => ({
      shape: { kind: 'value', value },
      definition: kind,
      basis: kind === 'pairwise' ? null : basis,
    });
    switch (kind) {
      case 'incidence':
        return result(ratio(incidences, nodes * edges));
      case 'edges':
        return result(edgeDensity(edges, nodes));
      case 'uniform':
        return result(ratio(incidence.copySizes().filter((size) => size === k).length, binomial(nodes, k!)));
      case 'pairwise': {
        const graph = yield* projections.nodeGraph(1, 'events');
        return result(ratio(graph.arcs, nodes * (nodes - 1)));
      }
      default:
        return result(ratio(incidences, nodes));
    }
  },
};

/** Returns part / whole, or 0 if the whole is 0. */
function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

/** Returns m / (2^n - 1), computed with logarithms so that nothing overflows; underflows to 0. */
function edgeDensity(edges: number, nodes: number): number {
  if (edges === 0) return 0;
  if (nodes < 50) return edges / (2 ** nodes - 1);
  return Math.exp(Math.log(edges) - nodes * Math.LN2);
}

/** Returns C(n, k); Infinity if the result exceeds the largest number. */
function binomial(n: number, k: number): number {
  if (k > n) return 0;
  let product = 1;
  for (let i = 1; i <= Math.min(k, n - k); i++) product = (product * (n - Math.min(k, n - k) + i)) / i;
  return product;
}
