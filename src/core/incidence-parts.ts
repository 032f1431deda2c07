// Plain values of an incidence: the columns it is built from, and the addresses of its arrays.

import type { Scratch } from './scratch.ts';

/**
 * Edges as columns, in (time, id) order. times, ids: f64[rows], safe integers, ids distinct; sizes:
 * u32[rows], at most 255; members: node ids of all rows concatenated, ascending and distinct within
 * each row; weights: f64[rows], NaN for null, or null if they were not read.
 */
export interface IncidenceColumns {
  times: Float64Array;
  ids: Float64Array;
  sizes: Uint32Array;
  members: Float64Array;
  weights: Float64Array | null;
}

/** Counts and addresses; class Incidence documents each array. `regions` owns them. */
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
  /**
   * u32[sources], the set of each edge of the incidence that this one was collapsed from; 0 if not
   * collapsed.
   */
  setOf: number;
  sources: number;
  regions: Scratch;
}
