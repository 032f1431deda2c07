// Computes the PageRank of the nodes from a random walk over the edges.

import { pageRank, SINGULAR, type Steps, type Walk } from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';
import type { Direction } from '../directed.ts';
import { DIRECTION } from '../direction.ts';
import {
  basisOf,
  basisParameter,
  LIMIT,
  type Measure,
  type MeasureResult,
  NODE_ID,
  NODE_MAP,
  type Projections,
  WEIGHTED,
  WINDOW,
} from '../measure.ts';
import type { ParameterValues } from '../parameters.ts';
import { mapOf } from '../shapes.ts';
import { directedPageRank } from './directed-walk.ts';
import { assertNotNegative } from './weights.ts';

export const pagerank: Measure = {
  name: 'pagerank',
  about:
    'Share of its time that a random walk with restarts spends at a node; sums to 1. Directed: inside an edge, the walk leads from members with `from` to members with `to`; a node without a way out spreads evenly.',
  source: 'Zhou, Huang, Schoelkopf 2006, "Learning with hypergraphs" (the walk); Page et al. 1999 (restarts).',
  parameters: [
    {
      name: 'alpha',
      type: 'number',
      least: 0,
      most: 1,
      open: true,
      default: 0.85,
      about: 'Probability of continuing the walk instead of restarting it.',
    },
    { name: 'tol', type: 'number', least: 0, open: true, default: 1e-12, about: 'Greatest L1 error.' },
    { name: 'max_iter', type: 'integer', least: 1, default: 1000, about: 'Maximum number of rounds of the solver.' },
    {
      name: 'walk',
      type: 'choice',
      choices: ['hyperedge', 'clique', 'clique_count', 'nonlazy'],
      default: 'hyperedge',
      about:
        'hyperedge: an edge of the node, then any member of it; clique: a neighbour; clique_count: a neighbour, in proportion to the number of common edges; nonlazy: an edge, then another member of it.',
    },
    ...DIRECTION,
    NODE_ID,
    WEIGHTED,
    basisParameter('events'),
    ...LIMIT,
    ...WINDOW,
  ],
  result: NODE_MAP,
  *run({ projections, direction }, params) {
    if (direction !== undefined) return yield* runDirected(projections, direction, params);
    const walk = params.walk as Walk;
    const basis = basisOf(params, 'events');
    const isWeighted = params.weighted === true;
    // Equal member sets are merged into one edge with the weight that `weight` below defines. The
    // walk is the same, over fewer edges.
    const sets = yield* projections.incidence('distinct');
    if (isWeighted) assertNotNegative(sets);
    const graph = walk === 'clique' ? yield* projections.nodeGraph(1, 'events') : null;
    const { scores, iterations } = yield* pageRank(sets, graph, {
      walk,
      alpha: params.alpha as number,
      tol: params.tol as number,
      maxIterations: params.max_iter as number,
      weight: isWeighted ? 'given' : basis === 'events' ? 'events' : 'one',
    });
    if (iterations === SINGULAR)
      throw new HedgerowError(
        'invalid_input',
        'Parameter alpha: is too near 1 for floating-point precision; take a smaller alpha.',
        {
          errors: [{ loc: ['body', 'params', 'alpha'], msg: 'is too near 1' }],
        },
      );
    if (iterations < 0) throw tooFewRounds(params);
    return { shape: mapOf(sets.copyNodeIds(), scores, params), definition: walk, basis };
  },
};

function tooFewRounds({ max_iter }: ParameterValues): HedgerowError {
  return new HedgerowError(
    'invalid_input',
    `PageRank is not within tol after ${max_iter as number} rounds: raise max_iter or tol.`,
    { errors: [{ loc: ['body', 'params', 'max_iter'], msg: 'too few rounds for tol' }] },
  );
}

function* runDirected(projections: Projections, direction: Direction, params: ParameterValues): Steps<MeasureResult> {
  const walk = params.walk as Walk;
  const events = yield* projections.incidence('events');
  const isWeighted = params.weighted === true;
  if (isWeighted) assertNotNegative(events);
  const { scores, iterations } = yield* directedPageRank(events, yield* projections.directedRows(direction), {
    walk,
    alpha: params.alpha as number,
    tol: params.tol as number,
    maxIterations: params.max_iter as number,
    weights: isWeighted ? events.copyWeights() : undefined,
  });
  if (iterations < 0) throw tooFewRounds(params);
  return { shape: mapOf(events.copyNodeIds(), scores, params), definition: walk, basis: 'events' };
}
