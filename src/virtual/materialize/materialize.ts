// Copies the hyperedges of a query into a table of this database, so that statements and measures
// can run on them. Vertices become nodes of node tables, or numbers if the request asks for ids.

import {
  type ColumnDefinition,
  type Database,
  type EdgeInput,
  type PropertyValue,
  type Table,
  type TableInput,
  WideMap,
} from '../../engine/index.ts';
import { refusal } from '../../errors.ts';
import { IDENTIFIER, LONGEST_IDENTIFIER } from '../../model/columns.ts';
import type { MemberInput } from '../../model/edge.ts';
import { TABLE_OPTIONS } from '../../model/options.ts';
import type { Pauses } from '../../schedule/steps.ts';
import type { HydratedEdge, HydratedMember } from '../hydrate/hydrate.ts';
import type { RunningQuery } from '../running-query.ts';
import { columnsOf, type MaterializedColumn } from './columns.ts';
import { openNodeTables, VertexKeys } from './vertex-keys.ts';
import { insert, type ToldNodes, type VertexMembers } from './vertex-members.ts';
import { NODES_SUFFIX, VertexNumbers } from './vertex-numbers.ts';

export interface MaterializeRequest {
  query: string;
  /** Name of the new table. */
  table: string;
  limit?: number | undefined;
  bucketSeconds?: number | undefined;
  /**
   * Makes members numbers, and stores the vertices in a companion table. `map` numbers them from 1
   * in order of appearance. `hash` takes 52 bits from the SHA-256 of `label:value`, so that a
   * vertex has the same number in every copy. Undefined: vertices are nodes of node tables.
   */
  ids?: 'map' | 'hash' | undefined;
}

/** Describes a finished copy; sent in an answer. */
export interface Materialized extends ToldNodes {
  table: string;
  inserted: number;
  /** Number of distinct vertices. */
  nodes: number;
  /**
   * Rows and groups that did not become edges, and edges that no table holds: with too many
   * members, or with a vertex that cannot be a key.
   */
  skipped: number;
  columns: { name: string; type: string; property: string }[];
  sql: string;
}

/** Number of edges per durable commit. */
const BATCH = 10_000;
/** At least this many edges, if there are so many, are inspected to choose column types. */
const LOOKED_AT = 10_000;
/** Number of edges and vertices that are read in one step, some 3 ms if all vertices are new. */
const VERTICES_A_STEP = 4000;
const MOST_NODES = 20_000_000;

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
  const { table: name, ids, bucketSeconds = TABLE_OPTIONS.bucketSeconds.default } = request;
  const { members, properties } = running.reading;
  const batches = running.batches()[Symbol.asyncIterator]();
  /** Drops what was made, in this order, if the copy fails. */
  const undo: (() => Promise<void>)[] = [];
  try {
    const first = await take(batches, LOOKED_AT, pauses);
    begun?.();
    const columns = columnsOf(properties, first);
    const own = columns.filter(({ builtIn }) => !builtIn);
    const input: TableInput = {
      name,
      bucketSeconds,
      columns: own.map(({ name: column, type }): ColumnDefinition => ({ name: column, type })),
    };
    const labels = [...new Set(members.map(({ nodeLabel }) => nodeLabel))];
    // A table with a node table among its member tables would be named.
    const memberTables =
      ids === undefined ? await openNodeTables(database, labels, undo) : labels.filter(isFree(database));
    const table = await database.createTable({ ...input, memberTables });
    undo.unshift(() => database.dropTable(name));
    const vertices =
      ids === undefined
        ? new VertexKeys(members, table)
        : await VertexNumbers.open(database, { table: name, ids, undo });
    const copy = new Copy({ table, vertices, columns, pauses });
    await copy.add(first);
    for (let next = await batches.next(); next.done !== true; next = await batches.next()) {
      signal?.throwIfAborted();
      await copy.add(next.value);
    }
    await copy.end();
    return {
      table: table.name,
      ...vertices.told,
      inserted: copy.inserted,
      nodes: copy.nodes,
      skipped: running.skipped + copy.skipped,
      columns: columns.map(({ name: column, type, property }) => ({ name: column, type, property })),
      sql: running.sql,
    };
  } catch (error) {
    for (const drop of undo) await drop().catch(() => undefined);
    throw error;
  } finally {
    await batches.return?.();
  }
}

/** Returns whether a label is not the name of a node table. */
function isFree(database: Database): (label: string) => boolean {
  const names = new Set(database.nodes.tables().map(({ name }) => name.toLowerCase()));
  return (label) => !names.has(label.toLowerCase());
}

/** Checks the name of the new table. Throws `invalid_input`, `table_exists`. */
export function checkTarget(database: Database, { table: name, ids }: Pick<MaterializeRequest, 'table' | 'ids'>): void {
  const names = ids === undefined ? [name] : [name, name + NODES_SUFFIX];
  if (!names.every((one) => IDENTIFIER.test(one))) {
    const most = LONGEST_IDENTIFIER - (ids === undefined ? 0 : NODES_SUFFIX.length);
    const msg = `must start with a letter or _ and hold only letters, digits and _, at most ${most} characters`;
    throw refusal('invalid_input', `table ${msg}.`, { errors: [{ loc: ['body', 'table'], msg }] });
  }
  const wanted = names.map((one) => one.toLowerCase());
  const tables = [...database.tables(), ...database.nodes.tables()];
  const found = tables.find((table) => wanted.includes(table.name.toLowerCase()));
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
  readonly vertices: VertexMembers;
  readonly columns: readonly MaterializedColumn[];
  readonly pauses: Pauses;
}

class Copy {
  inserted = 0;
  skipped = 0;
  readonly #table: Table;
  readonly #vertices: VertexMembers;
  readonly #columns: readonly MaterializedColumn[];
  readonly #pauses: Pauses;
  readonly #memberOf = new WideMap<string, MemberInput>();
  /** Edges and vertices that were read since the last pause. */
  #work = 0;
  #edges: EdgeInput[] = [];

  constructor({ table, vertices, columns, pauses }: CopyTarget) {
    this.#table = table;
    this.#vertices = vertices;
    this.#columns = columns;
    this.#pauses = pauses;
  }

  get nodes(): number {
    return this.#memberOf.size;
  }

  async add(edges: readonly HydratedEdge[]): Promise<void> {
    for (const { event_ts, members: given, properties } of edges) {
      this.#work += 1 + given.length;
      if (this.#work >= VERTICES_A_STEP) {
        this.#work = 0;
        await this.#pauses.pause();
      }
      const vertices = new Map(given.map((member) => [member.vertex_local_id, member]));
      if (vertices.size > this.#table.maxMembers || !Number.isSafeInteger(event_ts)) {
        this.skipped++;
        continue;
      }
      const members = this.#membersOf(vertices, event_ts);
      if (members === undefined) {
        this.skipped++;
        continue;
      }
      this.#edges.push({ event_ts, members, properties: this.#propertiesOf(properties) });
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

  /** Returns the members of an edge; undefined if one of its vertices cannot be a member. */
  #membersOf(vertices: ReadonlyMap<string, HydratedMember>, eventTs: number): MemberInput[] | undefined {
    const members: MemberInput[] = [];
    for (const [id, vertex] of vertices) {
      let member = this.#memberOf.get(id);
      if (member === undefined) {
        if (this.#memberOf.size >= MOST_NODES)
          throw refusal('query_too_large', `The result has more than ${MOST_NODES} vertices. Ask for fewer edges.`);
        member = this.#vertices.memberOf(vertex, eventTs);
        if (member === undefined) return undefined;
        this.#memberOf.set(id, member);
      }
      members.push(member);
    }
    return members;
  }

  async #write(): Promise<void> {
    await this.#vertices.store(this.#pauses);
    await insert(this.#table, this.#edges, this.#pauses);
    this.inserted += this.#edges.length;
    this.#edges = [];
  }
}
