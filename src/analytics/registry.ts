// The list of all measures. To add one, add a file to measures/ and a line here.

import { HedgerowError } from '../errors.ts';
import { didYouMean } from '../model/suggestions.ts';
import { BUDGET, type Measure } from './measure.ts';
import { algebraicConnectivity } from './measures/algebraic-connectivity.ts';
import { betweenness } from './measures/betweenness.ts';
import { cliqueNumber } from './measures/clique-number.ts';
import { closeness } from './measures/closeness.ts';
import { density } from './measures/density.ts';
import { edgeSize } from './measures/edge-size.ts';
import { harmonicCentrality } from './measures/harmonic-centrality.ts';
import { isolatedEdges } from './measures/isolated-edges.ts';
import { isolatedNodes } from './measures/isolated-nodes.ts';
import { modularity } from './measures/modularity.ts';
import { nodeDegree } from './measures/node-degree.ts';
import { overlappingCoefficient } from './measures/overlapping-coefficient.ts';
import { pagerank } from './measures/pagerank.ts';
import { pairwiseClustering } from './measures/pairwise-clustering.ts';
import { redundancy } from './measures/redundancy.ts';
import { sAdjacency } from './measures/s-adjacency.ts';
import { sConnectedComponents } from './measures/s-connected-components.ts';
import { sDiameter } from './measures/s-diameter.ts';
import { sDistance } from './measures/s-distance.ts';
import { spectralGap } from './measures/spectral-gap.ts';
import { temporalActivity } from './measures/temporal-activity.ts';
import { temporalBurstiness } from './measures/temporal-burstiness.ts';
import { temporalCoreness } from './measures/temporal-coreness.ts';
import { uniformity } from './measures/uniformity.ts';
import { zhouClustering } from './measures/zhou-clustering.ts';

const LISTED: readonly Measure[] = [
  density,
  uniformity,
  overlappingCoefficient,
  nodeDegree,
  edgeSize,
  isolatedNodes,
  isolatedEdges,
  redundancy,
  betweenness,
  closeness,
  pagerank,
  harmonicCentrality,
  cliqueNumber,
  spectralGap,
  algebraicConnectivity,
  zhouClustering,
  pairwiseClustering,
  modularity,
  sAdjacency,
  sDistance,
  sConnectedComponents,
  sDiameter,
  temporalActivity,
  temporalBurstiness,
  temporalCoreness,
];

/** All measures, in the order in which callers see them. Each has the parameter `budget_ms`. */
export const measures: readonly Measure[] = LISTED.map((measure) => {
  const { parameters } = measure;
  return parameters.some(({ name }) => name === BUDGET.name)
    ? measure
    : { ...measure, parameters: [...parameters, BUDGET] };
});

/**
 * Returns the measure with this name. If there is none, throws `invalid_input`; the message lists
 * the valid names.
 */
export function measureNamed(name: string): Measure {
  const measure = measures.find((each) => each.name === name);
  if (measure !== undefined) return measure;
  const names = measures.map((each) => each.name);
  throw new HedgerowError(
    'invalid_input',
    `There is no measure ${JSON.stringify(name.slice(0, 80))}.${didYouMean(name, names)} Measures: ${names.join(', ')}.`,
  );
}
