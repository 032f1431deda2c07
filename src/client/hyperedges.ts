// Calls on hyperedges: insert, delete, read a window or the edges of a node, compact.

import type { Connection } from './connection.ts';
import type { CallOptions } from './options.ts';
import { pagesOf } from './pages.ts';
import type {
  CompactAnswer,
  CompactInput,
  DeletedHyperedges,
  Hyperedge,
  HyperedgeChange,
  HyperedgeKey,
  InsertedHyperedge,
  InsertedHyperedges,
  LookupAnswer,
  LookupQuery,
  NewHyperedge,
  NodeKey,
  RangeAnswer,
  RangeQuery,
} from './types.ts';

export class Hyperedges {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Returns the edges in a time window (both ends inclusive), ordered by time and id. Without
   * `limit`, returns all of them as one value.
   */
  range(query: RangeQuery, options?: CallOptions): Promise<RangeAnswer> {
    return this.#connection.json('rangeHyperedges', { query }, options);
  }

  /**
   * Yields the same edges as `range` one by one, however many there are. Throws a
   * HedgerowConnectionError if the stream breaks off.
   */
  rangeRows(query: RangeQuery, options?: CallOptions): AsyncGenerator<Hyperedge, void, undefined> {
    return this.#connection.rows('rangeHyperedges', { query }, options);
  }

  /**
   * Yields the same edges in pages of at most `limit` edges. All pages show the same state of the
   * table.
   */
  rangePages(
    query: RangeQuery & { limit: number },
    options?: CallOptions,
  ): AsyncGenerator<RangeAnswer, void, undefined> {
    return pagesOf((cursor) => this.range({ ...query, ...cursor }, options));
  }

  /**
   * Returns the edge with this id. Throws a HedgerowApiError with the code `edge_not_found` if
   * there is none.
   */
  get(id: number, query: { table?: string | undefined } = {}, options?: CallOptions): Promise<Hyperedge> {
    return this.#connection.json('getHyperedge', { parameters: [id], query }, options);
  }

  /**
   * Returns the edges that contain a node, ordered by time and id. In a named table `nodeId` is the
   * node's key; `kind` in the query says its kind if the table has several.
   */
  node(nodeId: NodeKey, query: LookupQuery = {}, options?: CallOptions): Promise<LookupAnswer> {
    return this.#connection.json('lookupNode', { parameters: [nodeId], query }, options);
  }

  nodeRows(
    nodeId: NodeKey,
    query: LookupQuery = {},
    options?: CallOptions,
  ): AsyncGenerator<Hyperedge, void, undefined> {
    return this.#connection.rows('lookupNode', { parameters: [nodeId], query }, options);
  }

  nodePages(
    nodeId: NodeKey,
    query: LookupQuery & { limit: number },
    options?: CallOptions,
  ): AsyncGenerator<LookupAnswer, void, undefined> {
    return pagesOf((cursor) => this.node(nodeId, { ...query, ...cursor }, options));
  }

  insert(edge: NewHyperedge, options?: CallOptions): Promise<InsertedHyperedge> {
    return this.#connection.json('insertHyperedge', { body: edge }, options);
  }

  /**
   * Inserts all of the edges or none. They are sent as one body, whose size the server limits (64
   * MB by default).
   */
  insertMany(edges: Iterable<NewHyperedge>, table?: string, options?: CallOptions): Promise<InsertedHyperedges> {
    let lines = '';
    for (const edge of edges) lines += `${JSON.stringify(edge)}\n`;
    return this.#connection.json('insertHyperedge', { query: { table }, lines }, options);
  }

  /**
   * Changes the named columns of the edge with this id, and returns its new row. Null clears a
   * column. Throws a HedgerowApiError with the code `edge_not_found` if there is no such edge.
   */
  patch(id: number, change: HyperedgeChange, options?: CallOptions): Promise<InsertedHyperedge> {
    return this.#connection.json('patchHyperedge', { parameters: [id], body: change }, options);
  }

  /** Deletes every live edge with this time and member set. */
  delete(key: HyperedgeKey, options?: CallOptions): Promise<DeletedHyperedges> {
    return this.#connection.json('deleteHyperedge', { body: key }, options);
  }

  /** Compacts one table or all; resolves when the compaction is complete. */
  compact(input: CompactInput = {}, options?: CallOptions): Promise<CompactAnswer> {
    return this.#connection.json('compactHyperedges', { body: input }, options);
  }
}
