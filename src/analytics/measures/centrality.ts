// Shared by betweenness, closeness and harmonic centrality: builds the chosen projection of the
// hypergraph and maps vertex values back to node or edge ids.

import type { Graph, Steps } from '../../core/index.ts';
import {
  type Basis,
  basisOf,
  basisParameter,
  LIMIT,
  type MeasureInput,
  NODE_ID,
  type Shape,
  WINDOW,
} from '../measure.ts';
import { misplacedParameter, type Parameter, type ParameterValues } from '../parameters.ts';
import { mapOf, setNamed } from '../shapes.ts';

export const S: Parameter = {
  name: 's',
  type: 'integer',
  least: 1,
  default: 1,
  about:
    'Two nodes are joined if at least s edges contain both; two edges are joined if they share at least s members.',
};

export const PROJECTION: Parameter = {
  name: 'projection',
  type: 'choice',
  choices: ['clique', 'bipartite', 'line'],
  default: 'clique',
  about:
    'clique: nodes joined by common edges; bipartite: nodes and distinct member sets joined by membership, answers for nodes; line: distinct sets joined by common members, answers by edge id.',
};

export const CENTRALITY_PARAMETERS: readonly Parameter[] = [
  S,
  NODE_ID,
  {
    name: 'edge_id',
    type: 'integer',
    about: 'Only this edge, for projection line: the answer is a map with one entry, or empty.',
  },
  basisParameter(),
  ...LIMIT,
  ...WINDOW,
];

/**
 * A projection, its size for normalisation, and the function that turns vertex values into a
 * result.
 */
export interface CentralityGraph {
  graph: Graph;
  /**
   * Number of vertices used for normalisation. In projection `line`, edges with fewer than `s`
   * members are isolated vertices of `graph`, but are not counted and get no value in the result.
   */
  size: number;
  basis: Basis;
  definition: string;
  /** Returns the result for the values of all vertices. */
  shape: (values: Float64Array) => Shape;
}

export function* centralityGraph(input: MeasureInput, params: ParameterValues): Steps<CentralityGraph> {
  const { projections, direction } = input;
  const projection = (params.projection as string | undefined) ?? 'clique';
  const s = params.s as number;
  const basis = basisOf(params, projection === 'clique' || direction !== undefined ? 'events' : 'distinct');
  const other = projection === 'line' ? 'node_id' : 'edge_id';
  if (params[other] !== undefined)
    throw misplacedParameter(other, `projection ${projection} answers by ${projection === 'line' ? 'edge' : 'node'}.`);
  const kind = projection === 'clique' ? 'nodes' : projection === 'line' ? 'edges' : 'bipartite';
  const directed = direction && (yield* projections.directedGraph(kind, s, direction));
  switch (projection) {
    case 'bipartite': {
      const graph = directed ?? (yield* projections.bipartiteGraph(basis));
      const keys = (yield* projections.incidence(basis)).copyNodeIds();
      const shape = (values: Float64Array) => mapOf(keys, values.subarray(0, keys.length), params);
      return { graph, size: graph.vertices, basis, definition: 'bipartite', shape };
    }
    case 'line': {
      const graph = directed ?? (yield* projections.edgeGraph(s, basis));
      const sets = yield* projections.incidence(basis);
      const sizes = sets.copySizes();
      const ids = sets.copyEdgeIds();
      const isThere = (_: number, edge: number) => sizes[edge]! >= s;
      const keys = ids.filter(isThere);
      const named = yield* setNamed(projections, basis, params);
      const shape = (values: Float64Array) => mapOf(keys, values.filter(isThere), named, 'edge_id');
      return { graph, size: keys.length, basis, definition: 'line', shape };
    }
    default: {
      const graph = directed ?? (yield* projections.nodeGraph(s, basis));
      const keys = (yield* projections.incidence(basis)).copyNodeIds();
      return {
        graph,
        size: graph.vertices,
        basis,
        definition: 'clique',
        shape: (values) => mapOf(keys, values, params),
      };
    }
  }
}
