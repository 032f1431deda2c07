// Copies the hyperedges of a query into a table of this database, so that statements and measures
// can run on them. Vertices become node ids.

import { createHash } from 'node:crypto';
import {
  type ColumnDefinition,
  type Database,
  type EdgeInput,
  type PropertyValue,
  type Table,
  WideMap,
} from '../../engine/index.ts';
import { refusal } from '../../errors.ts';
import { IDENTIFIER } from '../../model/columns.ts';
import { TABLE_OPTIONS } from '../../model/options.ts';
import { MAX_TEXT_BYTES } from '../../model/text.ts';
import { inSlices, type Pauses, type Steps } from '../../schedule/steps.ts';
import type { HydratedEdge } from '../hydrate/hydrate.ts';
import type { RunningQuery } from '../running-query.ts';
import { columnsOf, type MaterializedColumn } from './columns.ts';

export interface MaterializeRequest {
  query: string;
  /** Name of the new table. */
  table: string;
  limit?: number | undefined;
  bucketSeconds?: number | undefined;
  /**
   * How vertices get their node ids. `map`, the default, numbers them from 1 in order of
   * appearance. `hash` takes 52 bits from the SHA-256 of `label:value`, so that a vertex has the
   * same id in every copy.
   */
  ids?: 'map' | 'hash' | undefined;
}

/** Describes a finished copy; sent in an answer. */
export interface Materialized {
  table: string;
  /**
   * Name of a table with one edge per node. The only member of that edge is the node's id, and the
   * column `vertex` contains the node's `vertex_local_id`.
   */
  nodes_table: string;
  ids: 'map' | 'hash';
  inserted: number;
  nodes: number;
  /** Rows and groups that did not become edges, and edges with too many members for a table. */
  skipped: number;
  columns: { name: string; type: string; property: string }[];
  sql: string;
}

/** Number of edges per durable commit. */
const BATCH = 10_000;
/** At least this many edges, if there are so many, are inspected to choose column types. */
const LOOKED_AT = 10_000;
/** Number of edges that are inserted in one step, which takes a millisecond or two. */
const EDGES_A_STEP = 100;
/** Number of edges and vertices that are read in one step, some 3 ms if all vertices are new. */
const VERTICES_A_STEP = 4000;
const MOST_NODES = 20_000_000;
const NODES_SUFFIX = '_nodes';

export interface CopyOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called when the edges that determine the column types have arrived. */
  readonly begun?: (() => void) | undefined;
  readonly pauses: Pauses;
}

/**
 * Copies a result into a new table, whose name must have been checked. Rejects with `table_exists`
 * or with the query's error; in that case the tables created so far are dropped.
 */
export async function materialize(
  database: Database,
  running: RunningQuery,
  request: MaterializeRequest,
  { signal, begun, pauses }: CopyOptions,
): Promise<Materialized> {
  const { table: name, ids = 'map', bucketSeconds = TABLE_OPTIONS.bucketSeconds.default } = request;
  const { members, properties } = running.reading;
  const batches = running.batches()[Symbol.asyncIterator]();
  const made: string[] = [];
  try {
    const first = await take(batches, LOOKED_AT, pauses);
    begun?.();
    const columns = columnsOf(properties, first);
    const own = columns.filter(({ builtIn }) => !builtIn);
    const table = await database.createTable({
      name,
      bucketSeconds,
      memberTables: [...new Set(members.map(({ nodeLabel }) => nodeLabel))],
      columns: own.map(({ name: column, type }): ColumnDefinition => ({ name: column, type })),
    });
    made.push(name);
    const nodes = await database.createTable({
      name: `${name}${NODES_SUFFIX}`,
      columns: [{ name: 'vertex', type: 'TEXT' }],
    });
    made.push(nodes.name);
    const copy = new Copy({ table, nodes, columns, ids, pauses });
    await copy.add(first);
    for (let next = await batches.next(); next.done !== true; next = await batches.next()) {
      signal?.throwIfAborted();
      await copy.add(next.value);
    }
    await copy.end();
    return {
      table: table.name,
      nodes_table: nodes.name,
      ids,
      inserted: copy.inserted,
      nodes: copy.nodes,
      skipped: running.skipped + copy.skipped,
      columns: columns.map(({ name: column, type, property }) => ({ name: column, type, property })),
      sql: running.sql,
    };
  } catch (error) {
    for (const table of made.reverse()) await database.dropTable(table).catch(() => undefined);
    throw error;
  } finally {
    await batches.return?.();
  }
}

/** Checks the name of the new table. Throws `invalid_input`, `table_exists`. */
export function checkTarget(database: Database, name: string): void {
  if (!IDENTIFIER.test(name) || !IDENTIFIER.test(name + NODES_SUFFIX)) {
    const msg = 'must start with a letter or _ and hold only letters, digits and _, at most 58 characters';
    throw refusal('invalid_input', `table ${msg}.`, { errors: [{ loc: ['body', 'table'], msg }] });
  }
  const wanted = [name, name + NODES_SUFFIX].map((one) => one.toLowerCase());
  const found = database.tables().find((table) => wanted.includes(table.name.toLowerCase()));
  if (found !== undefined)
    throw refusal('table_exists', `There is a table ${found.name} already. Drop it, or materialize into another name.`);
}

async function take(
  batches: AsyncIterator<readonly HydratedEdge[]>,
  atLeast: number,
  { pause }: Pauses,
): Promise<HydratedEdge[]> {
  const edges: HydratedEdge[] = [];
  while (edges.length < atLeast) {
    const next = await batches.next();
    if (next.done === true) break;
    for (const edge of next.value) edges.push(edge);
    // The next batch may have arrived already, and would then follow in the same turn.
    await pause();
  }
  return edges;
}

interface CopyTarget {
  readonly table: Table;
  readonly nodes: Table;
  readonly columns: readonly MaterializedColumn[];
  readonly ids: 'map' | 'hash';
  readonly pauses: Pauses;
}

class Copy {
  inserted = 0;
  skipped = 0;
  readonly #table: Table;
  readonly #nodesTable: Table;
  readonly #columns: readonly MaterializedColumn[];
  readonly #ids: 'map' | 'hash';
  readonly #pauses: Pauses;
  readonly #idOf = new WideMap<string, number>();
  /** Detects two vertices with the same hash. */
  readonly #hashed = new WideMap<number, string>();
  /** Edges and vertices that were read since the last pause. */
  #work = 0;
  #edges: EdgeInput[] = [];
  #newNodes: EdgeInput[] = [];

  constructor({ table, nodes, columns, ids, pauses }: CopyTarget) {
    this.#table = table;
    this.#nodesTable = nodes;
    this.#columns = columns;
    this.#ids = ids;
    this.#pauses = pauses;
  }

  get nodes(): number {
    return this.#idOf.size;
  }

  async add(edges: readonly HydratedEdge[]): Promise<void> {
    for (const { event_ts, members, properties } of edges) {
      this.#work += 1 + members.length;
      if (this.#work >= VERTICES_A_STEP) {
        this.#work = 0;
        await this.#pauses.pause();
      }
      const vertices = new Set(members.map(({ vertex_local_id }) => vertex_local_id));
      if (vertices.size > this.#table.maxMembers || !Number.isSafeInteger(event_ts)) {
        this.skipped++;
        continue;
      }
      const nodes = [...vertices].map((vertex) => this.#nodeOf(vertex, event_ts));
      this.#edges.push({ event_ts, members: nodes, properties: this.#propertiesOf(properties) });
      if (this.#edges.length >= BATCH) await this.#write();
    }
  }

  async end(): Promise<void> {
    await this.#write();
  }

  #propertiesOf(properties: HydratedEdge['properties']): Record<string, PropertyValue> {
    const values = this.#columns.map(({ name, property, read }) => [name, read(properties[property] ?? null)] as const);
    return Object.fromEntries(values);
  }

  /**
   * Returns the node id of a vertex. When a vertex first appears, it is added to the nodes table
   * with the time of the edge that contains it.
   */
  #nodeOf(vertex: string, event_ts: number): number {
    const known = this.#idOf.get(vertex);
    if (known !== undefined) return known;
    if (this.#idOf.size >= MOST_NODES)
      throw refusal('query_too_large', `The result has more than ${MOST_NODES} vertices. Ask for fewer edges.`);
    if (Buffer.byteLength(vertex) > MAX_TEXT_BYTES)
      throw refusal(
        'invalid_input',
        `A vertex of the result is longer than ${MAX_TEXT_BYTES} bytes, which no column holds.`,
      );
    const id = this.#ids === 'map' ? this.#idOf.size + 1 : this.#hashOf(vertex);
    this.#idOf.set(vertex, id);
    this.#newNodes.push({ event_ts, members: [id], properties: { vertex } });
    return id;
  }

  #hashOf(vertex: string): number {
    const id = Number.parseInt(createHash('sha256').update(vertex).digest('hex').slice(0, 13), 16);
    const other = this.#hashed.get(id);
    if (other !== undefined)
      throw refusal('conflict', `Two vertices have the same hash. Materialize with ids "map" instead.`);
    this.#hashed.set(id, vertex);
    return id;
  }

  async #write(): Promise<void> {
    await insert(this.#nodesTable, this.#newNodes, this.#pauses);
    await insert(this.#table, this.#edges, this.#pauses);
    this.inserted += this.#edges.length;
    this.#newNodes = [];
    this.#edges = [];
  }
}

async function insert(table: Table, edges: readonly EdgeInput[], pauses: Pauses): Promise<void> {
  if (edges.length === 0) return;
  const bulk = table.bulk();
  try {
    await inSlices(adding(bulk, edges), pauses);
  } catch (error) {
    bulk.discard();
    throw error;
  }
  await bulk.commit();
}

function* adding(bulk: ReturnType<Table['bulk']>, edges: readonly EdgeInput[]): Steps<void> {
  for (let index = 0; index < edges.length; index++) {
    bulk.add(edges[index]!);
    if (index % EDGES_A_STEP === EDGES_A_STEP - 1) yield;
  }
}
