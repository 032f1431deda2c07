// Computes the clustering of a node from the extra overlap of its edges (core/kernels/zhou.ts).

import { type Incidence, zhouClustering as zhouClusteringOf } from '../../core/index.ts';
import { basisOf, basisParameter, LIMIT, type Measure, NODE_ID, NODE_MAP, WINDOW } from '../measure.ts';
import { mapOf } from '../shapes.ts';

export const zhouClustering: Measure = {
  name: 'zhou_clustering',
  about: 'How much the edges of a node are joined to each other by other edges; 0 with fewer than two edges.',
  source:
    'Zhou and Nakhleh 2011, "Properties of metabolic graphs: biological organization or representation artifacts?"',
  parameters: [
    NODE_ID,
    {
      name: 'variant',
      type: 'choice',
      choices: ['zhou_nakhleh', 'size_ratio'],
      default: 'zhou_nakhleh',
      about:
        "zhou_nakhleh: mean extra overlap of the pairs of a node's edges; size_ratio: (sum of |e|(|e| - 1)) / (d(v) (sum of |e| - d(v))) over the edges of node v; 0 / 0 is 0.",
    },
    basisParameter('distinct'),
    ...LIMIT,
    ...WINDOW,
  ],
  result: NODE_MAP,
  *run({ projections }, params) {
    const definition = params.variant as string;
    const basis = basisOf(params, 'distinct');
    const incidence = yield* projections.incidence(basis);
    const values =
      definition === 'size_ratio'
        ? sizeRatios(incidence)
        : yield* zhouClusteringOf(incidence, yield* projections.nodeGraph(1, 'events'));
    return { shape: mapOf(incidence.copyNodeIds(), values, params), definition, basis };
  },
};

/** Returns the variant size_ratio for each node; 0 with fewer than two edges, or for 0 / 0. */
function sizeRatios({ core, nodes, nodeStarts, nodeEdges, ...incidence }: Incidence): Float64Array {
  const { words } = core.memory;
  const sizes = incidence.edgeStarts / 4;
  return Float64Array.from({ length: nodes }, (_, v) => {
    const begin = words[nodeStarts / 4 + v]!;
    const end = words[nodeStarts / 4 + v + 1]!;
    let pairs = 0;
    let sum = 0;
    for (let at = begin; at < end; at++) {
      const edge = words[nodeEdges / 4 + at]!;
      const size = words[sizes + edge + 1]! - words[sizes + edge]!;
      pairs += size * (size - 1);
      sum += size;
    }
    const degree = end - begin;
    if (degree < 2) return 0;
    const whole = degree * (sum - degree);
    return whole === 0 ? 0 : pairs / whole;
  });
}
