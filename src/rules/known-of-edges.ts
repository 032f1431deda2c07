// Looks up single facts among edges: whether a base fact holds.

import { supersededBy } from '../model/memories.ts';
import type { KindAndKey } from '../model/node-refs.ts';
import { BASE_PREDICATES, isAboutNodes } from './base-predicates.ts';
import type { KnownFacts } from './check-statements.ts';
import type { Constant } from './rule.ts';

/** An edge as answers contain it in `all_edges`. */
export interface EdgeSaying {
  readonly edge_id: number;
  readonly event_ts: number;
  /** Only in tables with intervals. */
  readonly end_ts?: number | null | undefined;
  /** Numbers or, in a named table, keys; objects with kind and key if there are several kinds. */
  readonly members: readonly (number | string | KindAndKey)[];
  /** Members by role, of a table with roles. */
  readonly roles?: Readonly<Record<string, readonly (number | string | KindAndKey)[]>> | undefined;
  readonly weight: number | null;
  readonly mean_dist_m: number | null;
  readonly formation: string | null;
  /** User columns by name. */
  readonly properties: Readonly<Record<string, Constant | null>>;
}

/**
 * Returns what is known about facts if there are no edges besides `edges`: any other fact about an
 * edge does not hold. Nothing is known about `bucket`, because edges do not contain the width of
 * buckets, about nodes that are not shown with their kind, about attributes of nodes, nor about
 * predicates that are not base predicates.
 */
export function knownOfEdges(edges: readonly EdgeSaying[]): KnownFacts {
  const byId = new Map(edges.map((edge) => [edge.edge_id, edge]));
  const kinds = new Map<Constant, string>();
  for (const { members } of edges)
    for (const member of members) if (isObject(member)) kinds.set(constantOf(member), member.kind);
  return (predicate, [id, ...rest]) => {
    if (isAboutNodes({ pred: predicate, args: [id, ...rest] }))
      return predicate === 'node' ? knownKind(kinds.get(id!), rest[0]) : undefined;
    const arity = BASE_PREDICATES.get(predicate);
    if (arity === undefined) return undefined;
    const edge = typeof id === 'number' ? byId.get(id) : undefined;
    if (edge === undefined || rest.length !== arity - 1) return 'false';
    const holds = says(edge, predicate, rest);
    return holds === undefined ? undefined : holds ? 'given' : 'false';
  };
}

function knownKind(kind: string | undefined, said: Constant | undefined): 'given' | 'false' | undefined {
  return kind === undefined ? undefined : said === kind ? 'given' : 'false';
}

/** Returns a member as facts contain it: with several kinds the text `Kind:key`. */
function constantOf(member: number | string | KindAndKey): Constant {
  return isObject(member) ? `${member.kind}:${member.key}` : member;
}

function isObject(member: number | string | KindAndKey): member is KindAndKey {
  return typeof member === 'object' && member !== null;
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
      return edge.members.some((member) => constantOf(member) === value);
    case 'role':
      return typeof second === 'string' && listOf(edge.roles, second).some((member) => constantOf(member) === value);
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
    case 'supersedes':
      return supersededBy(edge) === value;
    default:
      return undefined;
  }
}

function listOf(roles: EdgeSaying['roles'], role: string): EdgeSaying['members'] {
  return roles !== undefined && Object.hasOwn(roles, role) ? roles[role]! : [];
}
