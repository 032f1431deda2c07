// Looks up single facts among edges: whether a base fact holds.

import { BASE_PREDICATES } from './base-predicates.ts';
import type { KnownFacts } from './check-statements.ts';
import type { Constant } from './rule.ts';

/** An edge as answers contain it in `all_edges`. */
export interface EdgeSaying {
  readonly edge_id: number;
  readonly event_ts: number;
  /** Only in tables with intervals. */
  readonly end_ts?: number | null | undefined;
  readonly members: readonly number[];
  /** Members by role, of a table with roles. */
  readonly roles?: Readonly<Record<string, readonly number[]>> | undefined;
  readonly weight: number | null;
  readonly mean_dist_m: number | null;
  readonly formation: string | null;
  /** User columns by name. */
  readonly properties: Readonly<Record<string, Constant | null>>;
}

/**
 * Returns what is known about facts if there are no edges besides `edges`: any other fact about an
 * edge does not hold. Nothing is known about `bucket`, because edges do not contain the width of
 * buckets, nor about predicates that are not base predicates.
 */
export function knownOfEdges(edges: readonly EdgeSaying[]): KnownFacts {
  const byId = new Map(edges.map((edge) => [edge.edge_id, edge]));
  return (predicate, [id, ...rest]) => {
    const arity = BASE_PREDICATES.get(predicate);
    if (arity === undefined) return undefined;
    const edge = typeof id === 'number' ? byId.get(id) : undefined;
    if (edge === undefined || rest.length !== arity - 1) return 'false';
    const holds = says(edge, predicate, rest);
    return holds === undefined ? undefined : holds ? 'given' : 'false';
  };
}

function says(edge: EdgeSaying, predicate: string, [value, second]: readonly Constant[]): boolean | undefined {
  switch (predicate) {
    case 'hyperedge':
      return true;
    case 'at':
      return edge.event_ts === value;
    case 'until':
      return edge.end_ts !== null && edge.end_ts === value;
    case 'member':
      return edge.members.includes(value as number);
    case 'role':
      return typeof second === 'string' && listOf(edge.roles, second).includes(value as number);
    case 'weight':
      return edge.weight === value;
    case 'mean_dist':
      return edge.mean_dist_m === value;
    case 'formation':
      return edge.formation === value;
    case 'size':
      return edge.members.length === value;
    case 'property':
      return typeof value === 'string' && Object.hasOwn(edge.properties, value) && edge.properties[value] === second;
    default:
      return undefined;
  }
}

function listOf(roles: EdgeSaying['roles'], role: string): readonly number[] {
  return roles !== undefined && Object.hasOwn(roles, role) ? roles[role]! : [];
}
