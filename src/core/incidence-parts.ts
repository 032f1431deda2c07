// Plain values of an incidence: the columns that it is built from, and the addresses of its arrays.

import type { Scratch } from './scratch.ts';

/**
 * Edges as columns, in (time, id) order:
 *
 * - `times` and `ids`: f64[rows], safe integers; ids are distinct;
 * - `sizes`: u32[rows], the number of members of each row, at most 255;
 * - `members`: node ids of all rows concatenated, ascending and distinct within each row;
 * - `weights`: f64[rows], NaN for a null; or null if the weights were not read;
 * - `masks`: role masks, parallel to the members; absent if they were not read.
 */
export interface IncidenceColumns {
  times: Float64Array;
  ids: Float64Array;
  sizes: Uint32Array;
  members: Float64Array;
  weights: Float64Array | null;
  masks?: Uint16Array | undefined;
}

/** Counts and addresses; the class Incidence documents each array. `regions` owns the memory. */
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
   * Address of u32[sources]: the set of each edge of the incidence from which this incidence was
   * collapsed; 0 if it was not collapsed.
   */
  setOf: number;
  sources: number;
  regions: Scratch;
}
