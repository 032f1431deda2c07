// One retrieved hyperedge, in the form of `cited_edges` and `all_edges`.

import type { PropertyValue } from '../../engine/index.ts';

export interface RetrievedEdge {
  edge_id: number;
  /** `HEDGE-<edge id>`. */
  hedge_tag: string;
  /** Epoch seconds. */
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
