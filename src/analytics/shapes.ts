// Builds results that are maps by node or edge id, with all entries, a single entry, or the largest
// entries.

import type { Steps } from '../core/index.ts';
import type { Basis, Projections, Shape } from './measure.ts';
import type { ParameterValues } from './parameters.ts';

/**
 * Returns a map of all ids, of the one id given by the parameter `idName` (empty if this id is not
 * in the window), or of the `limit` (or `top`) largest values. Ties are ordered by least id; null
 * is last.
 */
export function mapOf(
  keys: Float64Array,
  values: Float64Array | Uint32Array,
  params: ParameterValues,
  idName: 'node_id' | 'edge_id' = 'node_id',
): Shape {
  const ofNodes = idName === 'node_id';
  const id = params[idName];
  if (id !== undefined) {
    const at = keys.indexOf(id as number);
    if (at < 0) return { kind: 'map', ofNodes, keys: keys.slice(0, 0), values: values.slice(0, 0) };
    return { kind: 'map', ofNodes, keys: keys.slice(at, at + 1), values: values.slice(at, at + 1) };
  }
  const most = limitOf(params);
  if (most === undefined) return { kind: 'map', ofNodes, keys, values };
  const order = largestFirst(keys, values).subarray(0, most);
  return {
    kind: 'map',
    ofNodes,
    keys: Float64Array.from(order, (at) => keys[at]!),
    values: Float64Array.from(order, (at) => values[at]!),
  };
}

/**
 * Returns the parameters. With distinct sets, replaces `edge_id` by the id of the set, because the
 * id of any edge identifies its member set.
 */
export function* setNamed(projections: Projections, basis: Basis, params: ParameterValues): Steps<ParameterValues> {
  const id = params.edge_id as number | undefined;
  if (id === undefined || basis === 'events') return params;
  const sets = yield* projections.incidence('distinct');
  const event = (yield* projections.incidence('events')).edgeOrdinal(id);
  return event < 0 ? params : { ...params, edge_id: sets.copyEdgeIds()[sets.eventToSet()[event]!]! };
}

/** Returns `limit` or `top`, the smaller one if both are given, or undefined if neither is. */
export function limitOf(params: ParameterValues): number | undefined {
  const { limit, top } = params as { limit?: number; top?: number };
  if (limit === undefined) return top;
  return top === undefined ? limit : Math.min(limit, top);
}

function largestFirst(keys: Float64Array, values: Float64Array | Uint32Array): Uint32Array {
  const order = Uint32Array.from(keys, (_, at) => at);
  return order.sort((a, b) => {
    const [x, y] = [values[a]!, values[b]!];
    if (Number.isNaN(x) || Number.isNaN(y))
      return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || keys[a]! - keys[b]!;
    return y - x || keys[a]! - keys[b]!;
  });
}
