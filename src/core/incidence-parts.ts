// The plain values behind an incidence: the columns it is built from, and where its arrays lie.

import type { Scratch } from './scratch.ts';

/**
 * Edges as columns, in (time, id) order. times, ids: f64[rows], safe integers, ids distinct; sizes: u32[rows], at most 255; members: node ids of the rows
 * behind each other, ascending and distinct in each row; weights: f64[rows], NaN is null, or null when they were not read.
 */
export interface IncidenceColumns {
  times: Float64Array;
  ids: Float64Array;
  sizes: Uint32Array;
  members: Float64Array;
  weights: Float64Array | null;
}

/** Counts and addresses; class Incidence says what each array is. `regions` owns them. */
export interface IncidenceParts {
  nodes: number;
  edges: number;
  incidences: number;
  nodeIds: number;
  edgeIds: number;
  times: number;
  weights: number;
  multiplicity: number;
  edgeStarts: number;
  edgeNodes: number;
  nodeStarts: number;
  nodeEdges: number;
  /** u32[sources], the set of each edge of what this was collapsed from; 0: not collapsed. */
  setOf: number;
  sources: number;
  regions: Scratch;
}
