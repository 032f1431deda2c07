// Lists isolated nodes: nodes that share no edge with another node.

import type { Incidence } from '../../core/index.ts';
import { LIMIT, type Measure, type Shape, WINDOW } from '../measure.ts';
import { limitOf } from '../shapes.ts';

export const isolatedNodes: Measure = {
  name: 'isolated_nodes',
  about: 'Nodes that share no edge with another node.',
  source: 'Nodes without neighbours in the co-member graph; Berge 1973, Graphs and Hypergraphs.',
  parameters: [...LIMIT, ...WINDOW],
  result: {
    type: 'array',
    items: { type: ['integer', 'string'] },
    description: 'Node ids, ascending; in a named table keys.',
  },
  *run({ projections }, params) {
    const incidence = yield* projections.incidence('events');
    const ids = incidence.copyNodeIds().filter((_, node) => isAlone(incidence, node));
    const shape: Shape = { kind: 'ids', ofNodes: true, ids: ids.subarray(0, limitOf(params)) };
    return { shape, definition: 'no_neighbours', basis: null };
  },
};

function isAlone({ core, nodeStarts, nodeEdges, edgeStarts }: Incidence, node: number): boolean {
  const { words } = core.memory;
  const end = words[nodeStarts / 4 + node + 1]!;
  for (let at = words[nodeStarts / 4 + node]!; at < end; at++) {
    const edge = words[nodeEdges / 4 + at]!;
    if (words[edgeStarts / 4 + edge + 1]! - words[edgeStarts / 4 + edge]! > 1) return false;
  }
  return true;
}
