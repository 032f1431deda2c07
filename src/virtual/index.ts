// Entry point of virtual graphs. A virtual graph is a spec that maps tables stored elsewhere to
// hyperedges; queries over the graph are compiled to SQL over those tables.

import { setImmediate } from 'node:timers/promises';
import type { Attach, Database } from '../engine/index.ts';
import { HedgerowError, refusal } from '../errors.ts';
import type { Pauses } from '../schedule/steps.ts';
import type { BackendSchema, BackendSession, QueryOptions } from './backend.ts';
import { DUCKDB_PACKAGE } from './backends/duckdb-messages.ts';
import { type Backends, type BackendsOptions, type BackendTypeItem, openBackends } from './backends/index.ts';
import { ResultCache } from './cache.ts';
import { type CompiledQuery, compileQuery, type QueryPlan } from './compile/compile.ts';
import { type GraphStore, type GraphSummary, graphStore } from './graph-store.ts';
import { hydrate } from './hydrate/hydrate.ts';
import { checkTarget, type Materialized, type MaterializeRequest, materialize } from './materialize/materialize.ts';
import { type ProposeAnswer, type ProposeRequest, propose, type RefineProposal } from './propose/graph.ts';
import { fromBackend, fromCache, type RunningQuery } from './running-query.ts';
import { SchemaCache } from './schema-cache.ts';
import { type BackendSpec, checkedBackend, checkedSpec, type VirtualGraph } from './spec/spec.ts';

export type { HydratedEdge } from './hydrate/hydrate.ts';
export type { EdgesAsJson } from './hydrate/json.ts';
export type { Materialized, MaterializeRequest } from './materialize/materialize.ts';
export type { ProposeAnswer, ProposeRequest, RefineProposal } from './propose/graph.ts';
export type { RunningQuery } from './running-query.ts';
export type { VirtualGraph } from './spec/spec.ts';

export interface VirtualOptions extends Pick<BackendsOptions, 'duckdb' | 'installed'> {
  /**
   * The database into which results are materialized. If undefined, nothing can be materialized.
   */
  database: Database | undefined;
  documents: Parameters<typeof graphStore>[0];
  /** Absolute path of the folder that contains the files of backends. */
  root: string;
  /** Connection strings, each under the name by which `backend.dsn` of a spec refers to it. */
  dsns: Readonly<Record<string, string>>;
  /** If false, results are not cached. */
  cache: boolean;
  /** Size limit of the cache; default 64 MB. */
  cacheBytes?: number;
  /** Returns the milliseconds of a monotonic clock. */
  monotonicMs: () => number;
  /** Asks a language model to refine a proposal. If undefined, proposals are never refined. */
  refine?: RefineProposal | undefined;
}

export interface QueryRequest {
  query: string;
  /** The `captured_at` of the provenance in epoch seconds; default 0. */
  capturedAt?: number | undefined;
  /** Replaces the query's LIMIT. */
  limit?: number | undefined;
  /** Bypasses the cache. */
  refresh?: boolean | undefined;
  /** If false, the rows are unordered, so that a large result need not be sorted first. */
  ordered?: boolean | undefined;
}

const DEFAULT_CACHE_BYTES = 64 * 2 ** 20;

export class VirtualGraphs {
  readonly #options: VirtualOptions;
  readonly #backends: Backends;
  readonly #graphs: GraphStore;
  readonly #cache: ResultCache;
  readonly #schemas: SchemaCache;
  readonly #copies = new Set<Promise<unknown>>();

  constructor(options: VirtualOptions) {
    this.#options = options;
    const { root, dsns, monotonicMs: now, cacheBytes = DEFAULT_CACHE_BYTES } = options;
    this.#backends = openBackends({
      root,
      dsns: new Map(Object.entries(dsns)),
      now,
      duckdb: options.duckdb,
      installed: options.installed,
    });
    this.#graphs = graphStore(options.documents);
    this.#cache = new ResultCache(options.cache ? cacheBytes : 0);
    this.#schemas = new SchemaCache(now);
  }

  /** Throws `virtual_unavailable` when the backend library is not installed. */
  assertInstalled(): void {
    if (this.#backends.installed) return;
    throw refusal(
      'virtual_unavailable',
      `Virtual graphs need the package ${DUCKDB_PACKAGE}: run npm install ${DUCKDB_PACKAGE} beside hedgerow and start it again.`,
    );
  }

  backends(): BackendTypeItem[] {
    return this.#backends.types();
  }

  list(): GraphSummary[] {
    return this.#graphs.list();
  }

  /** Throws `graph_not_found`. */
  get(id: string): VirtualGraph {
    return this.#graphs.get(id);
  }

  /** Rejects with `invalid_input`, `graph_exists`. */
  async create(value: unknown, attach?: Attach<VirtualGraph>): Promise<VirtualGraph> {
    const spec = checkedSpec(value, this.#options);
    await this.#assertInside(spec.backend);
    return this.#graphs.create(spec, attach);
  }

  /** Rejects with `graph_not_found`, `invalid_input`. */
  async replace(id: string, value: unknown, attach?: Attach<VirtualGraph>): Promise<VirtualGraph> {
    this.#graphs.get(id);
    const spec = checkedSpec(value, this.#options);
    await this.#assertInside(spec.backend);
    const graph = await this.#graphs.replace(id, spec, attach);
    this.#cache.clear(id);
    return graph;
  }

  /** Rejects with `graph_not_found`. */
  async delete(id: string, attach?: Attach<void>): Promise<void> {
    await this.#graphs.delete(id, attach);
    this.#cache.clear(id);
  }

  /** Drops the cached results of a graph and returns their number. Throws `graph_not_found`. */
  clearCache(id: string): number {
    this.#graphs.get(id);
    return this.#cache.clear(id);
  }

  /** Rejects with `graph_not_found`, `backend_failed`, `timeout`. */
  async introspect(id: string, options: QueryOptions): Promise<BackendSchema> {
    const { backend } = this.#graphs.get(id);
    return this.#inSession(backend, async (session) => {
      const how = { anew: true, counted: true };
      return (await this.#schemas.get(backend, session, await session.fingerprint(), options, how)).schema;
    });
  }

  /**
   * Returns the SQL and the plan of a query. Rejects like `introspect`, and with errors of status
   * 400 that give the place in the query.
   */
  async compile(id: string, query: string, options: QueryOptions): Promise<{ sql: string; plan: QueryPlan }> {
    const graph = this.#graphs.get(id);
    return this.#inSession(graph.backend, async (session) => {
      const fingerprint = await session.fingerprint();
      const compiled = await this.#compiled(graph, session, fingerprint, { query }, options);
      return { sql: compiled.statement.sql, plan: compiled.plan };
    });
  }

  #pauses(): Pauses {
    const { database, monotonicMs } = this.#options;
    const pause = database === undefined ? () => setImmediate() : () => database.scheduler.pause('virtual');
    return { nowUs: () => monotonicMs() * 1000, pause };
  }

  /**
   * Starts a query. Resolves once the query is known to be valid; the caller reads the hyperedges
   * from the result. Rejects like `compile`.
   */
  async query(id: string, request: QueryRequest, options: QueryOptions): Promise<RunningQuery> {
    const graph = this.#graphs.get(id);
    const session = this.#backends.open(graph.backend);
    let running: RunningQuery | undefined;
    try {
      const fingerprint = await session.fingerprint();
      const compiled = await this.#compiled(graph, session, fingerprint, request, options);
      const { statement, reading } = compiled;
      const { id: name, spec_version } = graph;
      const provenance = { graph: name, spec_version, captured_at: request.capturedAt ?? 0 };
      // A graph that was deleted and recreated starts at version 1 again, so the key includes the
      // whole spec, which distinguishes the two graphs.
      const state = `${fingerprint}\n${JSON.stringify(graph)}`;
      const key = { graph: name, specVersion: spec_version, statement, fingerprint: state };
      const known = this.#options.cache && request.refresh !== true ? this.#cache.get(key) : undefined;
      if (known !== undefined) return fromCache({ sql: statement.sql, reading }, known, provenance);
      const source = () =>
        closing(hydrate(session.query(statement, options), reading, provenance, this.#pauses()), session);
      running = fromBackend(
        { sql: statement.sql, reading },
        source,
        this.#options.cache ? { cache: this.#cache, key, pauses: this.#pauses() } : undefined,
      );
      return running;
    } finally {
      if (running === undefined) await session.close();
    }
  }

  /**
   * Derives a spec from the backend's schema and stores it if requested. Rejects with
   * `graph_exists`, `invalid_input`, `backend_failed`.
   */
  async propose(request: ProposeRequest, options: QueryOptions): Promise<ProposeAnswer> {
    const backend = checkedBackend(request.backend, this.#options);
    return this.#inSession(backend, (session) =>
      propose({ ...request, backend }, session, this.#graphs, { ...options, ...this.#options }),
    );
  }

  /**
   * Copies a result into a table. Rejects like `query`, and with `table_exists`, `invalid_input`.
   * Calls `begun` when 10,000 edges or the whole result have arrived, because the remaining time
   * depends on the number of edges.
   */
  async materialize(
    id: string,
    request: MaterializeRequest,
    { begun, ...options }: QueryOptions & { begun?: () => void },
  ): Promise<Materialized> {
    const { database } = this.#options;
    if (database === undefined)
      throw refusal('invalid_input', 'This service keeps no tables. Ask a Hedgerow server to materialize.');
    this.#graphs.get(id);
    checkTarget(database, request);
    const running = await this.query(id, { query: request.query, limit: request.limit, refresh: true }, options);
    const copy = materialize(database, running, request, { signal: options.signal, begun, pauses: this.#pauses() });
    this.#copies.add(copy);
    try {
      return await copy;
    } finally {
      this.#copies.delete(copy);
    }
  }

  /**
   * Cancels the running queries. Resolves once interrupted copies are cleaned up, so the database
   * must still be open.
   */
  async close(): Promise<void> {
    await this.#backends.close();
    await Promise.allSettled(this.#copies);
  }

  /**
   * Rejects with `invalid_input` if a link leads to a file outside the root. Accepts missing files,
   * because they may appear later.
   */
  async #assertInside(backend: BackendSpec): Promise<void> {
    if (backend.type === 'postgres') return;
    try {
      await this.#inSession(backend, (session) => session.fingerprint());
    } catch (error) {
      if (!(error instanceof HedgerowError) || error.status < 500) throw error;
    }
  }

  async #compiled(
    graph: VirtualGraph,
    session: BackendSession,
    fingerprint: string,
    { query, limit, ordered: isOrdered }: QueryRequest,
    options: QueryOptions,
  ): Promise<CompiledQuery> {
    const compiled = (schema: BackendSchema) =>
      compileQuery(query, graph, schema, { dialect: session.dialect, limit, isOrdered });
    const known = await this.#schemas.get(graph.backend, session, fingerprint, options);
    try {
      return compiled(known.schema);
    } catch (error) {
      if (known.isCertain) throw error;
      // The query may name something created since the schema was read.
      return compiled((await this.#schemas.get(graph.backend, session, fingerprint, options, { anew: true })).schema);
    }
  }

  async #inSession<T>(backend: BackendSpec, work: (session: BackendSession) => Promise<T>): Promise<T> {
    const session = this.#backends.open(backend);
    try {
      return await work(session);
    } finally {
      await session.close();
    }
  }
}

async function* closing<T>(batches: AsyncIterable<T>, session: BackendSession): AsyncGenerator<T, void, undefined> {
  try {
    yield* batches;
  } finally {
    await session.close();
  }
}
