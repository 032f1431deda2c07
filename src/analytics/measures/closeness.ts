// Computes closeness centrality.

import { distanceSums, type Graph, type Steps, searchFromAll } from '../../core/index.ts';
import { DIRECTION } from '../direction.ts';
import { type Measure, NODE_MAP } from '../measure.ts';
import { CENTRALITY_PARAMETERS, centralityGraph, PROJECTION } from './centrality.ts';

export const closeness: Measure = {
  name: 'closeness',
  about:
    'How near a node is to the nodes that it reaches, times the share of the other nodes that it reaches; 0 if it reaches none. Directed: by paths that begin at the node.',
  source: 'Wasserman and Faust 1994, Social Network Analysis, (r / (n - 1)) (r / sum of distances); Freeman 1979.',
  parameters: [PROJECTION, ...DIRECTION, ...CENTRALITY_PARAMETERS],
  result: NODE_MAP,
  *run(input, params) {
    const { graph, size, basis, definition, shape } = yield* centralityGraph(input, params);
    const { reached, sums } = input.direction === undefined ? yield* distanceSums(graph) : yield* directedSums(graph);
    const values = sums.map((sum, v) => (sum === 0 ? 0 : (reached[v]! / (size - 1)) * (reached[v]! / sum)));
    return { shape: shape(values), definition, basis };
  },
};

/**
 * Returns how many others each vertex of a directed graph reaches, and the sum of the distances.
 */
function* directedSums(graph: Graph): Steps<{ reached: Uint32Array; sums: Float64Array }> {
  const reached = new Uint32Array(graph.vertices);
  const sums = new Float64Array(graph.vertices);
  yield* searchFromAll(graph, (source, { order, distances }) => {
    reached[source] = order.length - 1;
    for (const v of order) sums[source]! += distances[v]!;
  });
  return { reached, sums };
}
