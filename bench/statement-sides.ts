// The sides of the part `statements`: Hedgerow, DuckDB and SQLite with the same rows. Each executes
// a text with parameters and returns rows as arrays.

import Sqlite from 'better-sqlite3';
import { type ColumnDefinition, openDatabase } from 'hedgerow';
import { type Vector, valueAt } from '../dist/query/executor/values/vector.js';
import { Statements } from '../dist/query/statements.js';
import { nodeFs } from '../dist/storage/node-fs.js';
import { randomFrom } from '../test/core/support/random.ts';
import { type DuckStatement, openDuckDb } from '../test/support/duckdb.ts';
import type { Edge } from './dataset.ts';
import type { Hedgerow } from './stores.ts';

export type Parameters = Readonly<Record<string, number | string>>;
export type Rows = readonly (readonly unknown[])[];

/** A store that executes statements in its own language. */
export interface StatementSide {
  readonly name: 'Hedgerow' | 'DuckDB' | 'SQLite';
  /** Reads all rows; prepares each text once. */
  rows(text: string, parameters: Parameters): Promise<Rows>;
  close(): Promise<void>;
}

/** The columns of an edge in addition to time and members. */
interface Extras {
  /** Multiples of 0.25 below 25, whose sums are exact in any order. */
  weight: number;
  kind: string;
  score: number;
}

export const KINDS = ['answer', 'bounty', 'close', 'comment', 'edit', 'question', 'tag', 'vote'];

/**
 * Generates the columns from a seed, so that they are the same for every store without being
 * stored.
 */
function* extrasOf(edges: readonly Edge[]): Generator<Extras> {
  const random = randomFrom(61);
  for (let i = 0; i < edges.length; i++)
    yield { weight: random.below(100) / 4, kind: KINDS[random.below(KINDS.length)]!, score: random.below(1000) };
}

function* withExtras(edges: readonly Edge[]): Generator<[id: number, edge: Edge, extras: Extras]> {
  let id = 1;
  for (const extras of extrasOf(edges)) {
    yield [id, edges[id - 1]!, extras];
    id++;
  }
}

function* memberships(edges: readonly Edge[]): Generator<[node: number, id: number, ts: number]> {
  for (const [index, { event_ts, members }] of edges.entries())
    for (const node of members) yield [node, index + 1, event_ts];
}

const BATCH = 50_000;
/** One day, in seconds. */
export const BUCKET_SECONDS = 86_400;

/** Fills a directory with the compacted table `Post`. */
export async function loadHedgerow(dir: string, edges: readonly Edge[]): Promise<void> {
  const database = await openDatabase({ dir });
  const columns: ColumnDefinition[] = [
    { name: 'kind', type: 'TEXT' },
    { name: 'score', type: 'INTEGER' },
  ];
  const table = await database.createTable({ name: 'Post', bucketSeconds: BUCKET_SECONDS, columns });
  let bulk = table.bulk();
  for (const [id, { event_ts, members }, { weight, kind, score }] of withExtras(edges)) {
    bulk.add({ event_ts, members, properties: { weight, kind, score } });
    if (id % BATCH !== 0 && id !== edges.length) continue;
    await bulk.commit();
    bulk = table.bulk();
  }
  await database.compact();
  await database.close();
}

export async function openHedgerow(dir: string): Promise<HedgerowSide> {
  return new HedgerowSide(await openDatabase({ dir }));
}

/** Runs statements in this process. */
export class HedgerowSide implements StatementSide {
  readonly name = 'Hedgerow';
  readonly #database: Hedgerow;
  readonly #statements: Statements;

  constructor(database: Hedgerow) {
    this.#database = database;
    this.#statements = new Statements({
      database,
      now: () => Date.now(),
      nowUs: () => performance.now() * 1000,
      newId: () => 'bench',
      transactionIdleSeconds: 30,
      copyRoot: undefined,
      fs: nodeFs,
    });
  }

  async rows(text: string, parameters: Parameters): Promise<Rows> {
    const { steps } = await this.#execute(text, parameters);
    const rows: unknown[][] = [];
    for (const chunk of steps)
      if (chunk !== null)
        pushRows(
          rows,
          chunk.items.map((vector) => columnOf(vector, chunk.count)),
          chunk.count,
        );
    return rows;
  }

  /** Runs a statement up to the plan and its snapshot; reads no row. */
  async plan(text: string, parameters: Parameters): Promise<void> {
    (await this.#execute(text, parameters)).close();
  }

  #execute(text: string, parameters: Parameters) {
    return this.#statements.execute(this.#statements.prepare(text), { parameters, session: 'bench', slices: runAll });
  }

  async close(): Promise<void> {
    this.#statements.close();
    await this.#database.close();
  }
}

type Column = ArrayLike<unknown>;

/** Returns the values of a column; numbers without nulls are not copied. */
function columnOf(vector: Vector, count: number): Column {
  if (vector.kind === 'number' && vector.nulls === undefined) return vector.values;
  return Array.from({ length: count }, (_, index) => valueAt(vector, index));
}

/**
 * Adds the rows of a chunk. There is one case per number of columns, because filling an array
 * element by element costs twice as much.
 */
function pushRows(rows: unknown[][], columns: readonly Column[], count: number): void {
  const [a, b, c, d] = columns as [Column, Column, Column, Column];
  switch (columns.length) {
    case 1:
      for (let i = 0; i < count; i++) rows.push([a[i]]);
      return;
    case 2:
      for (let i = 0; i < count; i++) rows.push([a[i], b[i]]);
      return;
    case 3:
      for (let i = 0; i < count; i++) rows.push([a[i], b[i], c[i]]);
      return;
    case 4:
      for (let i = 0; i < count; i++) rows.push([a[i], b[i], c[i], d[i]]);
      return;
    default:
      throw new Error(`no statement here returns ${columns.length} columns`);
  }
}

async function runAll(step: () => boolean): Promise<void> {
  while (step());
}

/**
 * Creates tables `e` and `m` in memory, in time order. Ids, times and nodes are 32-bit integers,
 * the smallest type that can hold them. Returns undefined if DuckDB is not installed.
 */
export async function openDuckSide(edges: readonly Edge[]): Promise<StatementSide | undefined> {
  const database = await openDuckDb();
  if (database === undefined) return undefined;
  const columns = { id: 'INTEGER', ts: 'INTEGER', weight: 'DOUBLE', kind: 'VARCHAR', score: 'INTEGER' } as const;
  await database.createTable('e', columns, duckEdges(edges));
  await database.createTable('m', { node: 'INTEGER', eid: 'INTEGER', ts: 'INTEGER' }, memberships(edges));
  const statements = new Map<string, DuckStatement>();
  return {
    name: 'DuckDB',
    async rows(text, parameters) {
      let statement = statements.get(text);
      if (statement === undefined) {
        statement = await database.prepare(text);
        statements.set(text, statement);
      }
      return statement.rows(parameters);
    },
    close: async () => database.close(),
  };
}

function* duckEdges(edges: readonly Edge[]): Generator<unknown[]> {
  for (const [id, { event_ts }, { weight, kind, score }] of withExtras(edges))
    yield [id, event_ts, weight, kind, score];
}

const SQLITE_SCHEMA = `
  create table e(id integer primary key, ts integer not null, weight real, kind text, score integer);
  create table m(node integer not null, ts integer not null, eid integer not null, primary key(node, ts, eid)) without rowid;
  create index e_ts on e(ts);
  create index m_eid on m(eid, node);
  create index m_ts on m(ts, eid, node);
`;

/**
 * Creates tables `e` and `m` in memory, with an index for each access path that the statements use.
 */
export function openSqliteSide(edges: readonly Edge[]): StatementSide {
  const database = new Sqlite(':memory:');
  database.exec(SQLITE_SCHEMA);
  const insertEdge = database.prepare('insert into e(id, ts, weight, kind, score) values (?, ?, ?, ?, ?)');
  const insertMember = database.prepare('insert into m(node, eid, ts) values (?, ?, ?)');
  database.transaction(() => {
    for (const row of duckEdges(edges)) insertEdge.run(...row);
    for (const row of memberships(edges)) insertMember.run(...row);
  })();
  database.exec('analyze');
  const statements = new Map<string, Sqlite.Statement<unknown[], unknown>>();
  return {
    name: 'SQLite',
    async rows(text, parameters) {
      let statement = statements.get(text);
      if (statement === undefined) {
        statement = database.prepare<unknown[], unknown>(text).raw(true);
        statements.set(text, statement);
      }
      return statement.all(parameters) as unknown[][];
    },
    close: async () => void database.close(),
  };
}
