// Finds the context of an edge: the edges directly before and after it among those with its rarest
// node. In a conversation these are the question before an answer and the remark after it, in a
// case file the entries before and after.

import type { Steps } from '../../schedule/steps.ts';
import { DAY_SECONDS } from '../question/calendar.ts';
import type { EdgeKey } from './edge-reads.ts';
import type { EdgeReader } from './edge-rows.ts';
import { needsNoTest, rowTest } from './row-test.ts';
import type { Search } from './search.ts';

/** Number of edges before, and of edges after an edge that are its neighbours. */
export const REACH = 2;
/** Members of an edge that are tried. */
const MOST_NODES = 8;
/** A node with more edges is a hub, whose edges are only read within HUB_SECONDS of an edge. */
const MOST_OF_NODE = 256;
const HUB_SECONDS = DAY_SECONDS;
/**
 * Maximum number of rows that are read for a node, or around one edge of a hub. If there may be
 * more (deleted rows count), the node gives no neighbours.
 */
const MOST_READ = 1024;

/** An edge and its members. */
export interface MemberEdge extends EdgeKey {
  readonly members: readonly number[];
}

/** Neighbours of an edge. `distance` is 1 for the next edge in either direction. */
export interface Neighbour extends EdgeKey {
  readonly distance: number;
}

type Searched = Pick<Search, 'least' | 'greatest' | 'at' | 'filters'>;

/** Finds neighbours among the edges that a search may find. */
export class Neighbours {
  readonly #reader: EdgeReader;
  readonly #search: Searched;
  /** The edges of each node that is no hub, by (event_ts, id). */
  readonly #known = new Map<number, readonly EdgeKey[] | undefined>();

  constructor(reader: EdgeReader, search: Searched) {
    this.#reader = reader;
    this.#search = search;
  }

  /** Returns the neighbours of an edge. */
  *of(edge: MemberEdge): Steps<Neighbour[]> {
    const nodes = edge.members.slice(0, MOST_NODES);
    let least: readonly EdgeKey[] | undefined;
    for (const node of nodes) {
      const edges = yield* this.#edgesOf(node);
      if (edges !== undefined && edges.length > 1 && edges.length < (least?.length ?? Infinity)) least = edges;
    }
    for (const node of least === undefined ? nodes : []) {
      const edges = yield* this.#read(node, edge.eventTs - HUB_SECONDS, edge.eventTs + HUB_SECONDS);
      if (edges !== undefined && edges.length > 1 && edges.length < (least?.length ?? Infinity)) least = edges;
    }
    return least === undefined ? [] : around(least, edge);
  }

  /** Returns the edges of a node; undefined if it is a hub. */
  *#edgesOf(node: number): Steps<readonly EdgeKey[] | undefined> {
    if (this.#known.has(node)) return this.#known.get(node);
    const edges = yield* this.#read(node, this.#search.least, this.#search.greatest);
    const few = edges !== undefined && edges.length <= MOST_OF_NODE ? edges : undefined;
    this.#known.set(node, few);
    return few;
  }

  *#read(node: number, startTs: number, endTs: number): Steps<readonly EdgeKey[] | undefined> {
    const { least, greatest, at, filters } = this.#search;
    const window = { startTs: Math.max(startTs, least), endTs: Math.min(endTs, greatest) };
    const bounds = { ...window, at, nodes: [node], where: filters.where.length === 0 ? undefined : filters.where };
    const { table, snapshot } = this.#reader;
    if (table.estimate(bounds, snapshot).rows > MOST_READ) return undefined;
    const edges: EdgeKey[] = [];
    for (const rows of this.#reader.readKeys(bounds)) {
      yield undefined;
      if (rows === null) continue;
      const passes = needsNoTest(filters) ? undefined : rowTest(filters, rows);
      for (let row = 0; row < rows.rows; row++)
        if (passes === undefined || passes(row)) edges.push({ id: rows.ids[row]!, eventTs: rows.times[row]! });
    }
    return edges;
  }
}

/** Returns the edges around one of a list by (event_ts, id). */
function around(edges: readonly EdgeKey[], edge: EdgeKey): Neighbour[] {
  let low = 0;
  let high = edges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = edges[middle]!;
    if (other.eventTs < edge.eventTs || (other.eventTs === edge.eventTs && other.id < edge.id)) low = middle + 1;
    else high = middle;
  }
  const neighbours: Neighbour[] = [];
  for (let distance = 1; distance <= REACH; distance++) {
    const [before, after] = [edges[low - distance], edges[low + distance]];
    if (before !== undefined) neighbours.push({ ...before, distance });
    if (after !== undefined) neighbours.push({ ...after, distance });
  }
  return neighbours;
}
