// Turns a result into a hypergraph to draw. Edges with equal member sets and roles become one
// shape. If that gives too many shapes, the edges of each stretch of time become one shape instead.

import type { FoundEdge } from './found-edges.ts';

/** A shape to draw. */
export interface DrawnEdge {
  /**
   * The member set with its roles as text, or the number of the stretch of time; -1 for edges
   * without a time.
   */
  readonly key: string;
  readonly members: readonly number[];
  /** The roles of the members, as in each of the edges; undefined if there are none. */
  readonly roles: FoundEdge['roles'];
  /** The edges that this shape stands for. */
  readonly edges: readonly FoundEdge[];
}

export interface Graph {
  readonly kind: 'edges' | 'buckets';
  readonly nodes: readonly number[];
  /** Number of edges in the result that contain the node. */
  readonly degree: ReadonlyMap<number, number>;
  readonly drawn: readonly DrawnEdge[];
  readonly edgeCount: number;
  /** Number of nodes in the result that are not drawn. */
  readonly nodesLeftOut: number;
  /** For buckets: the first second of all stretches, and the seconds in each. */
  readonly stretches: { readonly first: number; readonly width: number } | undefined;
}

/** The node or edge that is pinned or hovered over. */
export type Choice = { readonly kind: 'node'; readonly node: number } | { readonly kind: 'edge'; readonly key: string };

export function isSame(a: Choice | undefined, b: Choice | undefined): boolean {
  if (a?.kind === 'node') return b?.kind === 'node' && a.node === b.node;
  return a?.kind === 'edge' && b?.kind === 'edge' && a.key === b.key;
}

export function holds(edge: DrawnEdge, choice: Choice | undefined): boolean {
  if (choice === undefined) return false;
  return choice.kind === 'node' ? edge.members.includes(choice.node) : edge.key === choice.key;
}

/** With more distinct member sets than this, stretches of time are drawn instead. */
export const MOST_DRAWN = 400;
export const BUCKETS = 24;
const MOST_NODES_OF_BUCKETS = 40;

export function graphOf(all: readonly FoundEdge[]): Graph {
  const edges = withoutRepeats(all);
  const degree = new Map<number, number>();
  for (const { members } of edges) for (const node of members) degree.set(node, (degree.get(node) ?? 0) + 1);
  const sets = groupBy(edges, ({ members, roles }) => setKey(members, roles));
  if (sets.length <= MOST_DRAWN) {
    const nodes = [...degree.keys()].sort((a, b) => a - b);
    return {
      kind: 'edges',
      nodes,
      degree,
      drawn: sets,
      edgeCount: edges.length,
      nodesLeftOut: 0,
      stretches: undefined,
    };
  }
  return bucketsOf(edges, degree);
}

/** With more hulls than these limits allow, hulls overlap so much that lines are clearer. */
const MOST_HULLS = 20;
const HULLS_PER_NODE = 1.5;
const MOST_HULLS_OF_NODE = 8;

export function hullsAreClear({ drawn, nodes }: Graph): boolean {
  const hulls = drawn.filter(({ members }) => members.length > 2);
  if (hulls.length > Math.min(MOST_HULLS, HULLS_PER_NODE * nodes.length)) return false;
  const over = new Map<number, number>();
  for (const { members } of hulls) for (const node of members) over.set(node, (over.get(node) ?? 0) + 1);
  return [...over.values()].every((count) => count <= MOST_HULLS_OF_NODE);
}

/** Removes repeated edges, since an edge may occur in several rows. */
function withoutRepeats(edges: readonly FoundEdge[]): FoundEdge[] {
  const seen = new Set<number>();
  return edges.filter(({ id }) => {
    if (id === undefined) return true;
    if (seen.has(id)) return false;
    seen.add(id);
    return true;
  });
}

function setKey(members: readonly number[], roles: FoundEdge['roles']): string {
  return roles === undefined ? members.join(' ') : `${members.join(' ')} as ${roles.join(' ')}`;
}

function groupBy(edges: readonly FoundEdge[], keyOf: (edge: FoundEdge) => string): DrawnEdge[] {
  const groups = new Map<string, FoundEdge[]>();
  for (const edge of edges) {
    const key = keyOf(edge);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [edge]);
    else group.push(edge);
  }
  return [...groups].map(([key, group]) => ({
    key,
    members: group[0]!.members,
    roles: group[0]!.roles,
    edges: group,
  }));
}

/** Returns one shape for each stretch of time, with only the nodes that are in the most edges. */
function bucketsOf(edges: readonly FoundEdge[], degree: ReadonlyMap<number, number>): Graph {
  const busiest = [...degree].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, MOST_NODES_OF_BUCKETS);
  const nodes = busiest.map(([node]) => node);
  const isDrawn = new Set(nodes);
  const times = edges.flatMap(({ ts }) => (ts === undefined ? [] : [ts]));
  const first = times.reduce((least, ts) => Math.min(least, ts), Infinity);
  const last = times.reduce((most, ts) => Math.max(most, ts), -Infinity);
  const width = times.length === 0 ? 1 : (last - first + 1) / BUCKETS;
  const drawn = groupBy(edges, ({ ts }) => String(ts === undefined ? -1 : Math.floor((ts - first) / width))).map(
    (group) => ({
      ...group,
      roles: undefined,
      members: [...new Set(group.edges.flatMap(({ members }) => members))].filter((node) => isDrawn.has(node)),
    }),
  );
  const nodesLeftOut = degree.size - nodes.length;
  const stretches = times.length === 0 ? undefined : { first, width };
  return { kind: 'buckets', nodes, degree, drawn, edgeCount: edges.length, nodesLeftOut, stretches };
}
