// Computes the modularity of a partition of the nodes, which is either given or found by Louvain.

import { type Graph, type Incidence, louvain, type Steps, tameFactor } from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';
import { basisOf, basisParameter, type Measure, type MeasureInput, WEIGHTED, WINDOW } from '../measure.ts';
import type { ParameterValues } from '../parameters.ts';
import { type EdgeLoss, graphModularity, hypergraphModularity } from './modularity-sums.ts';
import { assertNotNegative } from './weights.ts';

export const modularity: Measure = {
  name: 'modularity',
  about: 'How much more the edges lie within communities than expected by chance.',
  source:
    'Kaminski, Poulin, Pralat, Szufel, Theberge 2019, "Clustering via hypergraph modularity"; Kaminski, Pralat, Theberge 2020 (linear); Blondel et al. 2008 (Louvain); Newman and Girvan 2004 (graph).',
  parameters: [
    { name: 'partition', type: 'partition', about: 'Community of each node; default: found by Louvain.' },
    {
      name: 'weight',
      type: 'choice',
      choices: ['strict', 'majority', 'linear', 'graph'],
      default: 'linear',
      about:
        'What an edge contributes that has d members, c of them in the community with most of them: strict: 1 if c = d; majority: 1 if c > d/2; linear: c/d if c > d/2; graph: modularity of the graph of weights w / (|e| - 1).',
    },
    {
      name: 'seed',
      type: 'integer',
      least: 0,
      default: 0,
      about: 'Determines the order in which Louvain visits nodes.',
    },
    WEIGHTED,
    basisParameter('events'),
    ...WINDOW,
  ],
  result: {
    type: 'object',
    properties: {
      value: { type: ['number', 'null'], description: 'Null if the sum of the weights is not finite.' },
      communities: {
        type: 'array',
        items: { type: 'array', items: { type: ['integer', 'string'] } },
        description: 'The largest first; in a named table of keys.',
      },
    },
  },
  *run(input, params) {
    const basis = basisOf(params, 'events');
    const incidence = yield* input.projections.incidence(basis);
    if (params.weighted === true) assertNotNegative(incidence);
    const definition = params.weight as string;
    if (incidence.nodes === 0) return { shape: { kind: 'communities', value: 0, groups: [] }, definition, basis };
    const weights = params.weighted === true ? incidence.copyWeights() : new Float64Array(incidence.edges).fill(1);
    const isWhole = hasFiniteSum(incidence, weights);
    const factor = tameFactor(weights);
    for (let e = 0; factor !== 1 && e < weights.length; e++) weights[e]! *= factor;
    const ids = incidence.copyNodeIds();
    const communityOf =
      params.partition === undefined
        ? yield* found(input, params, incidence, weights)
        : given(ids, params.partition as Record<string, number | string>);
    const value =
      definition === 'graph'
        ? graphModularity(incidence, weights, communityOf)
        : hypergraphModularity(incidence, weights, communityOf, definition as EdgeLoss);
    const groups = listed(ids, communityOf);
    return { shape: { kind: 'communities', value: isWhole ? value : null, groups }, definition, basis };
  },
};

/** Returns whether the sum of the weighted degrees of all nodes is finite. */
function hasFiniteSum(incidence: Incidence, weights: Float64Array): boolean {
  const sizes = incidence.copySizes();
  let sum = 0;
  for (let e = 0; e < weights.length; e++) sum += weights[e]! * sizes[e]!;
  return Number.isFinite(sum);
}

function* found(
  { projections }: MeasureInput,
  params: ParameterValues,
  incidence: Incidence,
  weights: Float64Array,
): Steps<Uint32Array> {
  const graph: Graph = yield* projections.nodeGraph(1, 'events');
  return yield* louvain(incidence, graph, weights, params.seed as number);
}

/**
 * Returns the community of each node, u32[nodes]. Communities are numbered from 0 in the order of
 * their least node.
 */
function given(ids: Float64Array, partition: Record<string, number | string>): Uint32Array {
  const numbers = new Map<number | string, number>();
  return Uint32Array.from(ids, (id) => {
    const name = Object.hasOwn(partition, String(id)) ? partition[String(id)]! : undefined;
    if (name === undefined)
      throw new HedgerowError(
        'invalid_input',
        `Parameter partition: node ${id} is in no community; name one for every node of the window.`,
        {
          errors: [{ loc: ['body', 'params', 'partition'], msg: `node ${id} is missing` }],
        },
      );
    const known = numbers.get(name);
    if (known !== undefined) return known;
    numbers.set(name, numbers.size);
    return numbers.size - 1;
  });
}

/** Returns the node ids by community: the largest community first, ties by least id. */
function listed(ids: Float64Array, communityOf: Uint32Array): number[][] {
  const groups = new Map<number, number[]>();
  for (const [v, community] of communityOf.entries()) {
    const group = groups.get(community);
    if (group === undefined) groups.set(community, [ids[v]!]);
    else group.push(ids[v]!);
  }
  return [...groups.values()].sort((a, b) => b.length - a.length || a[0]! - b[0]!);
}
