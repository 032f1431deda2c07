// Defines a retrieved hyperedge, as it appears in `cited_edges` and `all_edges` of an answer.

import type { PropertyValue } from '../../engine/index.ts';
import type { KindAndKey } from '../../model/node-refs.ts';
import type { Member, MemberKeys } from './member-keys.ts';

export interface RetrievedEdge {
  edge_id: number;
  /** The tag `HEDGE-<edge id>`. */
  hedge_tag: string;
  /** Time in epoch seconds. */
  event_ts: number;
  /** Only in tables with intervals: when the edge ends, or null while it holds. */
  end_ts?: number | null;
  /** Distinct nodes in the order of their numbers. */
  members: Member[];
  /** Of a table with roles: the members of each role. */
  roles?: Readonly<Record<string, readonly Member[]>> | undefined;
  weight: number | null;
  mean_dist_m: number | null;
  formation: string | null;
  score: number;
  /** What of the question matched, as texts: `nodes: Ada`, `words: budget (rank 1)`. */
  why: readonly string[];
  /** User columns by name. */
  properties: Record<string, PropertyValue>;
}

/** An edge as answers show it: with several kinds, its members are objects with kind and key. */
export type AnsweredEdge = Omit<RetrievedEdge, 'members' | 'roles'> & {
  members: (Member | KindAndKey)[];
  roles?: Readonly<Record<string, readonly (Member | KindAndKey)[]>> | undefined;
};

export function answeredEdge(edge: RetrievedEdge, keys: MemberKeys | undefined): AnsweredEdge {
  if (keys === undefined || keys.kinds.length === 1) return edge;
  const shown = (members: readonly Member[]) => members.map((member) => keys.shown(member));
  const { roles } = edge;
  if (roles === undefined) return { ...edge, members: shown(edge.members) };
  const lists = Object.entries(roles).map(([role, members]) => [role, shown(members)] as const);
  return { ...edge, members: shown(edge.members), roles: Object.fromEntries(lists) };
}
