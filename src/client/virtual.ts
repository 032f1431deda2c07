// Calls on virtual graphs: specs that map tables of other databases or files to graphs, queries on
// these graphs, and copies of query results in tables.

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

  /** Lists the types of backends and which of them are available on the server. */
  backends(options?: CallOptions): Promise<VirtualBackends> {
    return this.#connection.json('listVirtualBackends', {}, options);
  }

  /**
   * Proposes a spec from the schema of a backend, with a reason for each edge. If `save` is true,
   * the spec is also stored.
   */
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
   * Replaces the graph with this id. The new spec must contain the same id. `spec_version`
   * increases by one.
   */
  replace(id: string, graph: NewVirtualGraph, options?: CallOptions): Promise<VirtualGraph> {
    return this.#connection.json('replaceVirtualGraph', { parameters: [id], body: graph }, options);
  }

  /** Deletes the spec only; the data of its backend does not change. */
  delete(id: string, options?: CallOptions): Promise<DeletedVirtualGraph> {
    return this.#connection.json('deleteVirtualGraph', { parameters: [id] }, options);
  }

  /** Removes the cached results of a graph. */
  clearCache(id: string, options?: CallOptions): Promise<ClearedVirtualCache> {
    return this.#connection.json('clearVirtualCache', { parameters: [id] }, options);
  }

  /** Returns the tables and columns of the backend. */
  introspect(id: string, options?: CallOptions): Promise<VirtualSchema> {
    return this.#connection.json('introspectVirtualGraph', { parameters: [id] }, options);
  }

  /** Returns the SQL into which a query is compiled, and its plan, without running it. */
  compile(id: string, query: string, options?: CallOptions): Promise<CompiledVirtualQuery> {
    return this.#connection.json('compileVirtualQuery', { parameters: [id], body: { query }, reads: true }, options);
  }

  /** Runs a query and returns all its hyperedges as one value. */
  query(
    id: string,
    query: string,
    input: VirtualQueryOptions = {},
    options?: CallOptions,
  ): Promise<VirtualQueryAnswer> {
    return this.#connection.json('queryVirtualGraph', queryInput(id, query, input), options);
  }

  /**
   * Runs a query and yields its hyperedges one by one, however many there are. Throws a
   * HedgerowConnectionError if the stream breaks off.
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
   * Copies the hyperedges found by a query into a new table, and their vertices into another new
   * table, where statements and measures can use them.
   */
  materialize(id: string, input: MaterializeVirtualQuery, options?: CallOptions): Promise<MaterializedVirtualQuery> {
    return this.#connection.json('materializeVirtualQuery', { parameters: [id], body: input }, options);
  }
}

function queryInput(id: string, query: string, input: VirtualQueryOptions): CallInput {
  return { parameters: [id], body: { ...input, query }, reads: true };
}
