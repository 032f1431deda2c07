// Computes redundancy: how much of what a node or an edge connects would still be connected without
// it.

import { type Incidence, pairsAgain, type Steps, sharingPairs } from '../../core/index.ts';
import {
  type Basis,
  basisOf,
  basisParameter,
  LIMIT,
  type Measure,
  type MeasureResult,
  NODE_ID,
  type Projections,
  WINDOW,
} from '../measure.ts';
import { misplacedParameter, type ParameterValues } from '../parameters.ts';
import { mapOf, setNamed } from '../shapes.ts';

export const redundancy: Measure = {
  name: 'redundancy',
  about: "Share of the pairs of a node's edges that share another node too; null with fewer than two edges.",
  source: 'Latapy, Magnien, Del Vecchio 2008, "Basic notions for the analysis of large two-mode networks".',
  parameters: [
    {
      name: 'variant',
      type: 'choice',
      choices: ['latapy_nodes', 'latapy_edges', 'pair_multiplicity', 'duplicate_fraction'],
      default: 'latapy_nodes',
      about:
        'latapy_nodes: by node; latapy_edges: by edge, the share of the pairs of its members that another edge contains; pair_multiplicity: mean number of common edges of a pair of nodes; duplicate_fraction: 1 - distinct sets / edges.',
    },
    NODE_ID,
    {
      name: 'edge_id',
      type: 'integer',
      about: 'Only this edge, for latapy_edges: the answer is a map with one entry, or empty.',
    },
    basisParameter(),
    ...LIMIT,
    ...WINDOW,
  ],
  result: { type: ['object', 'number'], description: 'A map by node or edge id, or one number.' },
  *run({ projections }, params) {
    const definition = params.variant as string;
    for (const [name, variant] of [
      ['node_id', 'latapy_nodes'],
      ['edge_id', 'latapy_edges'],
    ] as const)
      if (params[name] !== undefined && definition !== variant)
        throw misplacedParameter(name, `it is only for variant ${variant}.`);
    switch (definition) {
      case 'latapy_nodes':
        return yield* ofNodes(projections, params);
      case 'latapy_edges':
        return yield* ofEdges(projections, params);
      default: {
        const value = yield* definition === 'pair_multiplicity'
          ? pairMultiplicity(projections)
          : duplicates(projections);
        return { shape: { kind: 'value', value }, definition, basis: 'events' };
      }
    }
  },
};

function* ofNodes(projections: Projections, params: ParameterValues): Steps<MeasureResult> {
  const basis: Basis = basisOf(params, 'distinct');
  const incidence = yield* projections.incidence(basis);
  const degrees = incidence.copyNodeDegrees();
  const pairs = yield* sharingPairs(incidence);
  const values = pairs.map((count, v) =>
    degrees[v]! < 2 ? Number.NaN : count / ((degrees[v]! * (degrees[v]! - 1)) / 2),
  );
  return { shape: mapOf(incidence.copyNodeIds(), values, params), definition: 'latapy_nodes', basis };
}

function* ofEdges(projections: Projections, params: ParameterValues): Steps<MeasureResult> {
  const basis: Basis = basisOf(params, 'distinct');
  const incidence = yield* projections.incidence(basis);
  const sizes = incidence.copySizes();
  const again = yield* pairsAgain(incidence, yield* projections.nodeGraph(1, basis));
  const values = again.map((count, e) => (sizes[e]! < 2 ? Number.NaN : count / ((sizes[e]! * (sizes[e]! - 1)) / 2)));
  const named = yield* setNamed(projections, basis, params);
  return { shape: mapOf(incidence.copyEdgeIds(), values, named, 'edge_id'), definition: 'latapy_edges', basis };
}

function* pairMultiplicity(projections: Projections): Steps<number> {
  const events: Incidence = yield* projections.incidence('events');
  let pairs = 0;
  for (const size of events.copySizes()) pairs += (size * (size - 1)) / 2;
  const all = (events.nodes * (events.nodes - 1)) / 2;
  return all === 0 ? 0 : pairs / all;
}

function* duplicates(projections: Projections): Steps<number> {
  const events = yield* projections.incidence('events');
  const sets = yield* projections.incidence('distinct');
  return events.edges === 0 ? 0 : 1 - sets.edges / events.edges;
}
