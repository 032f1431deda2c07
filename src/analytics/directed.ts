// Directed graphs of a hypergraph whose members have roles: inside an edge, arcs lead from the
// members with one role to those with another.
//
// The rows of a graph are made vertex by vertex: the arcs of a vertex are counted in an array over
// all vertices, which is cleared again for the next one. Cost: the sum over the edges of (members
// with `from`) x (members with `to`); between edges, the sum over the nodes of the product of the
// edges that they are in by `to` and by `from`.

import { type Core, Graph, type Incidence, type Steps } from '../core/index.ts';
import { HedgerowError } from '../errors.ts';

/** Masks of the roles at which an arc begins and ends. */
export interface Direction {
  readonly from: number;
  readonly to: number;
}

/** What is joined: nodes inside edges, edges by common nodes, or nodes and edges by membership. */
export type DirectedKind = 'nodes' | 'edges' | 'bipartite';

/** Number of arcs that a step counts. */
const STEP_ARCS = 500_000;

/** The members with the roles of a direction, by edge and by node. */
export interface DirectedRows {
  readonly nodes: number;
  readonly edges: number;
  /** Of each edge: the ordinals of the nodes with `from`, and of those with `to`. */
  readonly sources: Rows;
  readonly targets: Rows;
  /** Of each node: the ordinals of the edges that it is in by `from`, and by `to`. */
  readonly outEdges: Rows;
  readonly inEdges: Rows;
}

/** Lists of ordinals: list i is `items` from `starts[i]` to `starts[i + 1]`, ascending. */
export interface Rows {
  readonly starts: Uint32Array;
  readonly items: Uint32Array;
}

/** `masks`: one per incidence, in the order of the edges; undefined: no member has a role. */
export function directedRows(
  incidence: Incidence,
  masks: Uint16Array | undefined,
  { from, to }: Direction,
): DirectedRows {
  const { words } = incidence.core.memory;
  const { nodes, edges, incidences } = incidence;
  const starts = words.slice(incidence.edgeStarts / 4, incidence.edgeStarts / 4 + edges + 1);
  const members = words.slice(incidence.edgeNodes / 4, incidence.edgeNodes / 4 + incidences);
  const sources = rowsWith(starts, members, masks, from);
  const targets = rowsWith(starts, members, masks, to);
  return { nodes, edges, sources, targets, outEdges: turned(sources, nodes), inEdges: turned(targets, nodes) };
}

function rowsWith(starts: Uint32Array, members: Uint32Array, masks: Uint16Array | undefined, mask: number): Rows {
  const own = new Uint32Array(starts.length);
  const items = new Uint32Array(members.length);
  let count = 0;
  for (let edge = 0; edge + 1 < starts.length; edge++) {
    own[edge] = count;
    for (let at = starts[edge]!; at < starts[edge + 1]!; at++)
      if (masks !== undefined && (masks[at]! & mask) !== 0) items[count++] = members[at]!;
  }
  own[starts.length - 1] = count;
  return { starts: own, items: items.subarray(0, count) };
}

/** Returns for each item the lists that have it. */
function turned({ starts, items }: Rows, count: number): Rows {
  const own = new Uint32Array(count + 1);
  for (const item of items) own[item + 1]!++;
  for (let i = 0; i < count; i++) own[i + 1]! += own[i]!;
  const next = own.slice();
  const lists = new Uint32Array(items.length);
  for (let list = 0; list + 1 < starts.length; list++)
    for (let at = starts[list]!; at < starts[list + 1]!; at++) lists[next[items[at]!]!++] = list;
  return { starts: own, items: lists };
}

/** Calls `take` with each item of a list. */
export function each({ starts, items }: Rows, list: number, take: (item: number) => void): void {
  for (let at = starts[list]!; at < starts[list + 1]!; at++) take(items[at]!);
}

/**
 * Builds a directed graph without loops. `s`: two nodes are joined by at least s edges, two edges
 * by at least s nodes; the counts are their numbers. Throws `query_too_large` if there are more
 * than `most` arcs.
 */
export function* directedGraph(
  core: Core,
  rows: DirectedRows,
  kind: DirectedKind,
  s: number,
  most: number,
): Steps<Graph> {
  const { nodes, edges } = rows;
  if (kind === 'bipartite') {
    const arcsOf = (vertex: number, add: (other: number) => void) =>
      vertex < nodes
        ? each(rows.outEdges, vertex, (edge) => add(nodes + edge))
        : each(rows.targets, vertex - nodes, add);
    return yield* graphOf(core, nodes + edges, 1, most, arcsOf);
  }
  const [first, second] = kind === 'nodes' ? [rows.outEdges, rows.targets] : [rows.targets, rows.outEdges];
  return yield* graphOf(core, kind === 'nodes' ? nodes : edges, s, most, (vertex, add) =>
    each(first, vertex, (middle) => each(second, middle, add)),
  );
}

function* graphOf(
  core: Core,
  vertices: number,
  s: number,
  most: number,
  arcsOf: (vertex: number, add: (other: number) => void) => void,
): Steps<Graph> {
  const counts = new Uint32Array(vertices);
  const starts = new Uint32Array(vertices + 1);
  const arcs = new ArcList(most);
  let found: number[] = [];
  let done = 0;
  let counted = 0;
  const add = (other: number): void => {
    counted++;
    if (counts[other]!++ === 0) found.push(other);
  };
  for (let vertex = 0; vertex < vertices; vertex++) {
    arcsOf(vertex, add);
    for (const other of found.sort((a, b) => a - b)) {
      if (other !== vertex && counts[other]! >= s) arcs.add(other, counts[other]!);
      counts[other] = 0;
    }
    found = [];
    starts[vertex + 1] = arcs.length;
    if (counted - done < STEP_ARCS) continue;
    done = counted;
    yield vertex / vertices;
  }
  return Graph.fromRows(core, starts, arcs.neighbours, arcs.counts);
}

/** Arrays of arcs that grow by doubling. */
class ArcList {
  readonly #most: number;
  #neighbours = new Uint32Array(1024);
  #counts = new Uint32Array(1024);
  length = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get neighbours(): Uint32Array {
    return this.#neighbours.subarray(0, this.length);
  }

  get counts(): Uint32Array {
    return this.#counts.subarray(0, this.length);
  }

  add(neighbour: number, count: number): void {
    if (this.length === this.#most)
      throw new HedgerowError(
        'query_too_large',
        `The directed graph of these edges has more than ${this.#most} arcs: take a smaller window or a larger s.`,
      );
    if (this.length === this.#neighbours.length) {
      this.#neighbours = doubled(this.#neighbours);
      this.#counts = doubled(this.#counts);
    }
    this.#neighbours[this.length] = neighbour;
    this.#counts[this.length++] = count;
  }
}

function doubled(array: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(array.length * 2);
  larger.set(array);
  return larger;
}
