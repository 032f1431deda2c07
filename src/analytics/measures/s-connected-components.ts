// Lists the connected components of the s-graph.

import type { Measure, Shape } from '../measure.ts';
import { S_PARAMETERS, S_SOURCE, type SView, sView } from './s-graph.ts';

export const sConnectedComponents: Measure = {
  name: 's_connected_components',
  about: 'Components of nodes (or edges) joined by steps over at least s common edges (or members), the largest first.',
  source: S_SOURCE,
  parameters: [
    ...S_PARAMETERS,
    { name: 'limit', type: 'integer', least: 1, about: 'Return at most this many components, the largest first.' },
    { name: 'top', type: 'integer', least: 1, about: 'The same as limit.' },
  ],
  result: {
    type: 'array',
    items: { type: 'array', items: { type: ['integer', 'string'] } },
    description: 'Ids ascending; components by size, then by least id. In a named table nodes are keys.',
  },
  *run(input, params) {
    const view = yield* sView(input, params);
    const { incidence, on, s } = view;
    const labels = yield* on === 'nodes' ? incidence.nodeComponents(s) : incidence.edgeComponents(s);
    const groups = groupsOf(view, labels);
    const most = Math.min(
      (params.limit as number | undefined) ?? Infinity,
      (params.top as number | undefined) ?? Infinity,
    );
    const shape: Shape = { kind: 'groups', ofNodes: on === 'nodes', groups: groups.slice(0, most) };
    return { shape, definition: on, basis: view.basis };
  },
};

/** Returns the ids by component: the largest component first, ties by least id. */
export function groupsOf({ ids, isThere }: SView, labels: Uint32Array): Float64Array[] {
  const members = new Map<number, number[]>();
  for (const [vertex, label] of labels.entries()) {
    if (!isThere(vertex)) continue;
    const group = members.get(label);
    if (group === undefined) members.set(label, [ids[vertex]!]);
    else group.push(ids[vertex]!);
  }
  const groups = [...members.values()].map((group) => Float64Array.from(group).sort());
  return groups.sort((a, b) => b.length - a.length || a[0]! - b[0]!);
}
