// One retrieved hyperedge, as `cited_edges` and `all_edges` answer it.

import type { PropertyValue } from '../../engine/index.ts';

export interface RetrievedEdge {
  edge_id: number;
  /** `HEDGE-<edge id>`. */
  hedge_tag: string;
  /** Seconds. */
  event_ts: number;
  /** Ascending, without repeats. */
  members: number[];
  weight: number | null;
  mean_dist_m: number | null;
  formation: string | null;
  score: number;
  /** User columns by name. */
  properties: Record<string, PropertyValue>;
}
