// Virtual graphs: specs over tables that live elsewhere, queries over them, and copies of their
// results in tables.

import type { Connection } from './connection.ts';
import type { CallOptions } from './options.ts';
import type { CallInput } from './request.ts';
import type {
  ClearedVirtualCache,
  CompiledVirtualQuery,
  DeletedVirtualGraph,
  MaterializedVirtualQuery,
  MaterializeVirtualQuery,
  NewVirtualGraph,
  ProposedVirtualGraph,
  ProposeVirtualGraph,
  VirtualBackends,
  VirtualGraph,
  VirtualGraphList,
  VirtualHyperedge,
  VirtualQueryAnswer,
  VirtualQueryOptions,
  VirtualSchema,
} from './types.ts';

export class Virtual {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** The types of backends, and which are available at the server. */
  backends(options?: CallOptions): Promise<VirtualBackends> {
    return this.#connection.json('listVirtualBackends', {}, options);
  }

  /** A spec made from the schema of a backend, with a reason for each edge; `save` stores it. */
  propose(input: ProposeVirtualGraph, options?: CallOptions): Promise<ProposedVirtualGraph> {
    return this.#connection.json('proposeVirtualGraph', { body: input, reads: input.save !== true }, options);
  }

  list(options?: CallOptions): Promise<VirtualGraphList> {
    return this.#connection.json('listVirtualGraphs', {}, options);
  }

  get(id: string, options?: CallOptions): Promise<VirtualGraph> {
    return this.#connection.json('getVirtualGraph', { parameters: [id] }, options);
  }

  create(graph: NewVirtualGraph, options?: CallOptions): Promise<VirtualGraph> {
    return this.#connection.json('createVirtualGraph', { body: graph }, options);
  }

  /**
   * Takes the place of the graph of this id, which the spec must name too; `spec_version` grows by
   * one.
   */
  replace(id: string, graph: NewVirtualGraph, options?: CallOptions): Promise<VirtualGraph> {
    return this.#connection.json('replaceVirtualGraph', { parameters: [id], body: graph }, options);
  }

  /** Of the spec alone: its backend is not touched. */
  delete(id: string, options?: CallOptions): Promise<DeletedVirtualGraph> {
    return this.#connection.json('deleteVirtualGraph', { parameters: [id] }, options);
  }

  /** Forgets the kept results of a graph. */
  clearCache(id: string, options?: CallOptions): Promise<ClearedVirtualCache> {
    return this.#connection.json('clearVirtualCache', { parameters: [id] }, options);
  }

  /** Tables and columns of the backend. */
  introspect(id: string, options?: CallOptions): Promise<VirtualSchema> {
    return this.#connection.json('introspectVirtualGraph', { parameters: [id] }, options);
  }

  /** The SQL of a query and its plan; nothing is run. */
  compile(id: string, query: string, options?: CallOptions): Promise<CompiledVirtualQuery> {
    return this.#connection.json('compileVirtualQuery', { parameters: [id], body: { query }, reads: true }, options);
  }

  /** All hyperedges as one value. */
  query(
    id: string,
    query: string,
    input: VirtualQueryOptions = {},
    options?: CallOptions,
  ): Promise<VirtualQueryAnswer> {
    return this.#connection.json('queryVirtualGraph', queryInput(id, query, input), options);
  }

  /**
   * The hyperedges one by one, however many there are; throws a HedgerowConnectionError when the
   * stream breaks off.
   */
  queryRows(
    id: string,
    query: string,
    input: VirtualQueryOptions = {},
    options?: CallOptions,
  ): AsyncGenerator<VirtualHyperedge, void, undefined> {
    return this.#connection.rows('queryVirtualGraph', queryInput(id, query, input), options);
  }

  /**
   * Copies the result of a query into a new table, and its vertices into another, for statements
   * and measures.
   */
  materialize(id: string, input: MaterializeVirtualQuery, options?: CallOptions): Promise<MaterializedVirtualQuery> {
    return this.#connection.json('materializeVirtualQuery', { parameters: [id], body: input }, options);
  }
}

function queryInput(id: string, query: string, input: VirtualQueryOptions): CallInput {
  return { parameters: [id], body: { ...input, query }, reads: true };
}
