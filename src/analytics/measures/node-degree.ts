// Computes node degree: the number of edges that contain a node, or the sum of their weights.

import { each } from '../directed.ts';
import { DIRECTION } from '../direction.ts';
import { basisOf, basisParameter, LIMIT, type Measure, NODE_ID, NODE_MAP, WEIGHTED, WINDOW } from '../measure.ts';
import { mapOf } from '../shapes.ts';

export const nodeDegree: Measure = {
  name: 'node_degree',
  about:
    'How many edges contain each node, or the sum of their weights (null if the sum is not finite). Directed: the edges that it is in by `from`.',
  source: 'Berge 1973, Graphs and Hypergraphs.',
  parameters: [
    NODE_ID,
    WEIGHTED,
    ...DIRECTION,
    { name: 'size', type: 'integer', least: 1, about: 'Only edges of this size count.' },
    basisParameter('events'),
    ...LIMIT,
    ...WINDOW,
  ],
  result: NODE_MAP,
  *run({ projections, direction }, params) {
    const basis = basisOf(params, 'events');
    const incidence = yield* projections.incidence(basis);
    const { core, edges, edgeStarts, edgeNodes, nodes } = incidence;
    const { words } = core.memory;
    const weights = params.weighted === true ? incidence.copyWeights() : undefined;
    const size = params.size as number | undefined;
    const degrees = new Float64Array(nodes);
    const rows = direction && (yield* projections.directedRows(direction));
    for (let e = 0; e < edges; e++) {
      const begin = words[edgeStarts / 4 + e]!;
      const end = words[edgeStarts / 4 + e + 1]!;
      if (size !== undefined && end - begin !== size) continue;
      const weight = weights === undefined ? 1 : weights[e]!;
      if (rows !== undefined)
        each(rows.sources, e, (node) => {
          degrees[node]! += weight;
        });
      else for (let at = begin; at < end; at++) degrees[words[edgeNodes / 4 + at]!]! += weight;
    }
    // A sum of weights that is not finite becomes NaN, which is written as null.
    for (let v = 0; v < nodes; v++) if (!Number.isFinite(degrees[v]!)) degrees[v] = Number.NaN;
    const definition = weights === undefined ? 'edges' : 'weights';
    return { shape: mapOf(incidence.copyNodeIds(), degrees, params), definition, basis };
  },
};
