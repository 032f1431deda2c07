// Defines a retrieved hyperedge, as it appears in `cited_edges` and `all_edges` of an answer.

import type { PropertyValue } from '../../engine/index.ts';
import type { RoleLists } from '../../model/roles.ts';

export interface RetrievedEdge {
  edge_id: number;
  /** The tag `HEDGE-<edge id>`. */
  hedge_tag: string;
  /** Time in epoch seconds. */
  event_ts: number;
  /** Only in tables with intervals: when the edge ends, or null while it holds. */
  end_ts?: number | null;
  /** Distinct nodes in ascending order. */
  members: number[];
  /** Of a table with roles: the members of each role. */
  roles?: RoleLists | undefined;
  weight: number | null;
  mean_dist_m: number | null;
  formation: string | null;
  score: number;
  /** User columns by name. */
  properties: Record<string, PropertyValue>;
}
