// Lists isolated edges: edges whose members are in no other edge.

import type { Incidence } from '../../core/index.ts';
import { basisOf, basisParameter, LIMIT, type Measure, WINDOW } from '../measure.ts';
import { limitOf } from '../shapes.ts';

export const isolatedEdges: Measure = {
  name: 'isolated_edges',
  about: 'Edges all of whose members are in no other edge.',
  source: 'Edges of degree-1 members; Berge 1973, Graphs and Hypergraphs.',
  parameters: [basisParameter('events'), ...LIMIT, ...WINDOW],
  result: { type: 'array', items: { type: 'integer' }, description: 'Edge ids, ascending.' },
  *run({ projections }, params) {
    const basis = basisOf(params, 'events');
    const incidence = yield* projections.incidence(basis);
    const ids = incidence.copyEdgeIds().filter((_, edge) => isIsolated(incidence, edge));
    return {
      shape: { kind: 'ids', ofNodes: false, ids: ids.sort().subarray(0, limitOf(params)) },
      definition: 'members_of_degree_1',
      basis,
    };
  },
};

function isIsolated({ core, edgeStarts, edgeNodes, nodeStarts }: Incidence, edge: number): boolean {
  const { words } = core.memory;
  const end = words[edgeStarts / 4 + edge + 1]!;
  for (let at = words[edgeStarts / 4 + edge]!; at < end; at++) {
    const node = words[edgeNodes / 4 + at]!;
    if (words[nodeStarts / 4 + node + 1]! - words[nodeStarts / 4 + node]! > 1) return false;
  }
  return true;
}
