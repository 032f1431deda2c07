// Calls on node tables and their nodes.

import type { Connection } from './connection.ts';
import type { CallOptions } from './options.ts';
import { pagesOf } from './pages.ts';
import type {
  DeletedNode,
  DroppedTable,
  NewNodeTable,
  Node,
  NodeKey,
  Nodes as NodesPage,
  NodesQuery,
  NodeTable,
  WrittenNodes,
} from './types.ts';

export class NodeTables {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  list(options?: CallOptions): Promise<NodeTable[]> {
    return this.#connection.json('listNodeTables', {}, options);
  }

  get(name: string, options?: CallOptions): Promise<NodeTable> {
    return this.#connection.json('getNodeTable', { parameters: [name] }, options);
  }

  create(table: NewNodeTable, options?: CallOptions): Promise<NodeTable> {
    return this.#connection.json('createNodeTable', { body: table }, options);
  }

  /** Drops a node table and its nodes; no hyperedge table may name it. */
  drop(name: string, options?: CallOptions): Promise<DroppedTable> {
    return this.#connection.json('dropNodeTable', { parameters: [name] }, options);
  }
}

/** A node is an object with its key and its attributes, under the names of the columns. */
export class Nodes {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Returns the nodes of a table, ordered by key. Without `limit`, returns all as one value. */
  list(table: string, query: NodesQuery = {}, options?: CallOptions): Promise<NodesPage> {
    return this.#connection.json('listNodes', { parameters: [table], query }, options);
  }

  /**
   * Yields the nodes one by one, however many there are. Throws a HedgerowConnectionError if the
   * stream breaks off.
   */
  rows(table: string, query: NodesQuery = {}, options?: CallOptions): AsyncGenerator<Node, void, undefined> {
    return this.#connection.rows('listNodes', { parameters: [table], query }, options);
  }

  /** Yields the nodes in pages of at most `limit`. All pages show one state of the node table. */
  pages(
    table: string,
    query: NodesQuery & { limit: number },
    options?: CallOptions,
  ): AsyncGenerator<NodesPage, void, undefined> {
    return pagesOf((cursor) => this.list(table, { ...query, ...cursor }, options));
  }

  /**
   * Returns the node with this key. Throws a HedgerowApiError with the code `node_not_found` if
   * there is none, and a TypeError for the keys `.` and `..`, which no URL can contain.
   */
  async get(table: string, key: NodeKey, options?: CallOptions): Promise<Node> {
    return this.#connection.json('getNode', { parameters: [table, inPath(key)] }, options);
  }

  /** Creates a node, or replaces it if its key is known. Attributes left out get their defaults. */
  write(table: string, node: Node, options?: CallOptions): Promise<WrittenNodes> {
    return this.#connection.json('writeNodes', { parameters: [table], body: node }, options);
  }

  /** Does the same for many nodes, for all or for none. They are sent as one body. */
  writeMany(table: string, nodes: Iterable<Node>, options?: CallOptions): Promise<WrittenNodes> {
    let lines = '';
    for (const node of nodes) lines += `${JSON.stringify(node)}\n`;
    return this.#connection.json('writeNodes', { parameters: [table], lines }, options);
  }

  /** Creates or replaces a node, and returns it. Throws like `get`. */
  async put(table: string, key: NodeKey, attributes: Node, options?: CallOptions): Promise<Node> {
    return this.#connection.json('putNode', { parameters: [table, inPath(key)], body: attributes }, options);
  }

  /** Sets the attributes that are named; null clears one. Returns the node. Throws like `get`. */
  async patch(table: string, key: NodeKey, attributes: Node, options?: CallOptions): Promise<Node> {
    return this.#connection.json('patchNode', { parameters: [table, inPath(key)], body: attributes }, options);
  }

  /** Deletes a node that is in no edge. Throws like `get`. */
  async delete(table: string, key: NodeKey, options?: CallOptions): Promise<DeletedNode> {
    return this.#connection.json('deleteNode', { parameters: [table, inPath(key)] }, options);
  }
}

/** `fetch` removes the segments `.` and `..` from a path, percent-encoded or not. */
function inPath(key: NodeKey): NodeKey {
  if (key !== '.' && key !== '..') return key;
  throw new TypeError(
    `No URL can contain the key ${JSON.stringify(key)}; read and write it with a statement, or with write().`,
  );
}
