// Shared by the s-measures: builds the s-graph, which joins nodes that share at least s edges (or
// edges that share at least s members), and maps ids to its vertices.

import type { Graph, Incidence, Steps } from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';
import { type Basis, basisOf, basisParameter, type MeasureInput, WINDOW } from '../measure.ts';
import type { Parameter, ParameterValues } from '../parameters.ts';
import { S } from './centrality.ts';

export const S_PARAMETERS: readonly Parameter[] = [
  S,
  {
    name: 'on',
    type: 'choice',
    choices: ['nodes', 'edges'],
    default: 'nodes',
    about:
      'nodes: joined by at least s common edges; edges: joined by at least s common members (s-walks; Aksoy et al. 2020).',
  },
  basisParameter(),
  ...WINDOW,
];

export const S_SOURCE =
  'Aksoy, Joslyn, Ortiz Marrero, Praggastis, Purvine 2020, "Hypernetwork science via high-order hypergraph walks".';

export type On = 'nodes' | 'edges';

/**
 * What an s-graph is built on: nodes or edges, and the basis (default: events for nodes, distinct
 * sets for edges).
 */
export interface SView {
  s: number;
  on: On;
  basis: Basis;
  incidence: Incidence;
  /** Ids of the vertices, f64[vertices]. */
  ids: Float64Array;
  /** Whether a vertex is in the s-graph. Edges smaller than s are not. */
  isThere: (vertex: number) => boolean;
}

export function* sView({ projections, direction }: MeasureInput, params: ParameterValues): Steps<SView> {
  const s = params.s as number;
  const on = params.on as On;
  const basis = basisOf(params, on === 'nodes' || direction !== undefined ? 'events' : 'distinct');
  const incidence = yield* projections.incidence(basis);
  if (on === 'nodes') return { s, on, basis, incidence, ids: incidence.copyNodeIds(), isThere: () => true };
  const sizes = incidence.copySizes();
  return { s, on, basis, incidence, ids: incidence.copyEdgeIds(), isThere: (edge) => sizes[edge]! >= s };
}

export function sGraph({ projections, direction }: MeasureInput, { s, on, basis }: SView): Steps<Graph> {
  if (direction !== undefined) return projections.directedGraph(on, s, direction);
  return on === 'nodes' ? projections.nodeGraph(s, basis) : projections.edgeGraph(s, basis);
}

/**
 * Returns the vertex for an id. With distinct sets, the id of any edge identifies its member set.
 * Throws `invalid_input` if the id is not in the window.
 */
export function* vertexOf({ projections }: MeasureInput, view: SView, name: string, id: number): Steps<number> {
  const at = view.ids.indexOf(id);
  if (at >= 0) return at;
  if (view.on === 'edges' && view.basis === 'distinct') {
    const event = (yield* projections.incidence('events')).edgeOrdinal(id);
    if (event >= 0) return view.incidence.eventToSet()[event]!;
  }
  const what = view.on === 'nodes' ? 'Node' : 'Edge';
  throw new HedgerowError('invalid_input', `Parameter ${name}: ${what} ${id} is not in this window.`, {
    errors: [{ loc: ['body', 'params', name], msg: 'is not in this window' }],
  });
}
