// Computes the clustering of nodes from pairs: from triangles of the co-member graph, or from the
// common edges of a node and a neighbour.

import { type Graph, type Incidence, localClustering } from '../../core/index.ts';
import { basisOf, basisParameter, LIMIT, type Measure, NODE_ID, NODE_MAP, WINDOW } from '../measure.ts';
import { mapOf } from '../shapes.ts';

type Mode = 'two_section' | 'dot' | 'min' | 'max';

export const pairwiseClustering: Measure = {
  name: 'pairwise_clustering',
  about: 'How much the neighbours of a node are joined among themselves.',
  source:
    'Watts and Strogatz 1998 (two_section); Latapy, Magnien, Del Vecchio 2008, "Basic notions for the analysis of large two-mode networks" (dot, min, max).',
  parameters: [
    NODE_ID,
    {
      name: 'mode',
      type: 'choice',
      choices: ['two_section', 'dot', 'min', 'max'],
      default: 'two_section',
      about:
        'two_section: share of the pairs of neighbours that are neighbours of each other; dot, min, max: mean over the neighbours of the number of common edges, divided by the number of edges of the node or the neighbour (dot), the lesser (min) or the greater (max) of their degrees.',
    },
    basisParameter(),
    ...LIMIT,
    ...WINDOW,
  ],
  result: NODE_MAP,
  *run({ projections }, params) {
    const mode = params.mode as Mode;
    const basis = basisOf(params, 'distinct');
    const incidence = yield* projections.incidence(basis);
    const graph = yield* projections.nodeGraph(1, basis);
    const values = mode === 'two_section' ? yield* localClustering(graph) : commonEdges(graph, incidence, mode);
    return {
      shape: mapOf(incidence.copyNodeIds(), values, params),
      definition: mode,
      basis: mode === 'two_section' ? null : basis,
    };
  },
};

/**
 * Returns, for each node, the mean over its neighbours of the share of common edges; 0 for a node
 * without neighbours.
 */
function commonEdges(graph: Graph, incidence: Incidence, mode: Mode): Float64Array {
  const degrees = incidence.copyNodeDegrees();
  const starts = graph.copyStarts();
  const neighbours = graph.copyNeighbours();
  const counts = graph.copyCounts()!;
  return Float64Array.from(degrees, (degree, v) => {
    let sum = 0;
    for (let arc = starts[v]!; arc < starts[v + 1]!; arc++) {
      const other = degrees[neighbours[arc]!]!;
      sum += counts[arc]! / commonOf(mode, degree, other, counts[arc]!);
    }
    const others = starts[v + 1]! - starts[v]!;
    return others === 0 ? 0 : sum / others;
  });
}

function commonOf(mode: Mode, a: number, b: number, both: number): number {
  if (mode === 'dot') return a + b - both;
  return mode === 'min' ? Math.min(a, b) : Math.max(a, b);
}
