// Random named tables: node tables with odd keys, hyperedge tables of one kind and of several, with
// roles and intervals, in a database and as plain arrays. In the plain tables the members are small
// integers, each of which stands for one key. So the naive evaluator and DuckDB, which know nothing
// of names, judge statements with keys.

import type { ColumnDefinition, Database, EdgeInput, PropertyValue, Table } from '../../src/engine/index.ts';
import type { Random } from '../support/random.ts';
import { openSim, rowsOf, simDisk } from '../support/sim-engine.ts';
import type { NaiveRow, NaiveTable } from './naive-expressions.ts';
import { ROLES, randomEdges } from './random-tables.ts';

/** The nodes with odd keys. Persons have texts as keys, things integers. */
const ODD_KEYS = new Map<number, string | number>([
  [-3, 'Ada'],
  [-2, 'ada'],
  [-1, 'O\'Hara \\ "q"'],
  [0, '😀é'],
  [1, '1'],
  [2, 10],
  [3, -7],
  [4, 0],
  [5, 2 ** 53 - 1],
]);
const LAST_ODD_PERSON = 1;
/** The other nodes: even numbers are persons. */
const FIRST_OTHER = 10;

export function isPerson(id: number): boolean {
  return id < FIRST_OTHER ? id <= LAST_ODD_PERSON : id % 2 === 0;
}

export const kindOf = (id: number): string => (isPerson(id) ? 'Person' : 'Thing');

/** Returns the key of a node, or undefined for an integer that stands for none. */
export function keyOf(id: number): string | number | undefined {
  if (id < FIRST_OTHER) return ODD_KEYS.get(id);
  return isPerson(id) ? `n/${id}` : id;
}

/** Returns the integer that stands for a key. */
export function idOf(key: string | number): number {
  for (const [id, odd] of ODD_KEYS) if (odd === key) return id;
  return typeof key === 'number' ? key : Number(key.slice(2));
}

const OWN_COLUMNS: ColumnDefinition[] = [
  { name: 'n', type: 'INTEGER' },
  { name: 'big', type: 'INTEGER' },
  { name: 'score', type: 'REAL' },
  { name: 'place', type: 'TEXT', default: 'home' },
  { name: 'ok', type: 'BOOLEAN' },
  { name: 'open', type: 'BOOLEAN' },
];
const BUILT_IN: ColumnDefinition[] = [
  { name: 'weight', type: 'REAL' },
  { name: 'mean_dist_m', type: 'REAL' },
  { name: 'formation', type: 'TEXT' },
];
const END: ColumnDefinition = { name: 'end_ts', type: 'INTEGER' };
/** Columns of the node tables besides the key. */
const ATTRIBUTES: ColumnDefinition[] = [
  { name: 'id', type: 'INTEGER' },
  { name: 'event_ts', type: 'INTEGER' },
  ...BUILT_IN,
  ...OWN_COLUMNS,
];

export const NODE_TABLES = ['Person', 'Thing'] as const;
/** The hyperedge tables with their kinds. */
export const EDGE_TABLES: Readonly<Record<string, readonly string[]>> = {
  Contact: ['Person'],
  Trip: ['Thing', 'Person'],
  Load: ['Thing'],
};

export interface NamedShape {
  readonly roles: readonly string[];
  readonly intervals: boolean;
  /** The number of nodes besides those with odd keys. */
  readonly nodes: number;
  /** The number of edges that each insertion adds to each table, at most. */
  readonly edges: number;
}

/** Chooses roles and intervals by the seed. */
export function shapeOf(seed: number, nodes = 0, edges = 20): NamedShape {
  return { roles: seed % 2 === 0 ? ROLES : [], intervals: seed % 3 !== 0, nodes, edges };
}

export interface NamedState {
  readonly database: Database;
  /**
   * The plain tables. Those of nodes have one row for each node, whose only member is the integer
   * that stands for its key, with the key in the column `name` and the integer in `num`.
   */
  readonly tables: readonly NaiveTable[];
  readonly state: string;
  readonly isChanged: boolean;
}

/** Makes random tables, and calls `visit` in every state of them. */
export async function eachNamedState(
  seed: number,
  random: Random,
  shape: NamedShape,
  visit: (state: NamedState, world: NamedTables) => Promise<void>,
): Promise<void> {
  const disk = simDisk(seed);
  const open = () => openSim(disk, { core: seed % 3 === 0 ? 'debug' : 'release' });
  let database = await open();
  const world = new NamedTables(database, random, shape);
  const { tables } = world;
  const show = (state: string, isChanged: boolean) => visit({ database, tables, state, isChanged }, world);
  await world.create();
  await world.insert(shape.edges / 2 + random.below(shape.edges));
  await show('in memory', true);
  await database.compact();
  await show('compacted', false);
  await world.insert(random.below(shape.edges));
  await world.change();
  await show('mixed', true);
  await database.close();
  database = await open();
  world.reopened(database);
  await show('reopened', false);
  for (const table of [...NODE_TABLES, ...Object.keys(EDGE_TABLES)])
    for (const column of ['n', 'score', 'weight']) if (random.below(2) === 0) await database.createIndex(table, column);
  await show('indexed', false);
  await database.close();
}

export class NamedTables {
  readonly tables: readonly NaiveTable[];
  readonly #random: Random;
  readonly #shape: NamedShape;
  #database: Database;

  constructor(database: Database, random: Random, shape: NamedShape) {
    this.#database = database;
    this.#random = random;
    this.#shape = shape;
    const { roles, intervals } = shape;
    const table = { bucketSeconds: 10, rows: [] };
    this.tables = [
      ...Object.keys(EDGE_TABLES).map((name) => ({
        ...table,
        name,
        columns: [...BUILT_IN, ...(intervals ? [END] : []), ...OWN_COLUMNS],
        roles,
        intervals,
        rows: [],
      })),
      ...NODE_TABLES.map((name) => ({
        ...table,
        name,
        columns: [
          ...BUILT_IN,
          ...OWN_COLUMNS,
          { name: 'name', type: name === 'Person' ? 'TEXT' : 'INTEGER' } as const,
          { name: 'num', type: 'INTEGER' } as const,
        ],
        intervals: false,
        rows: [],
      })),
    ];
  }

  reopened(database: Database): void {
    this.#database = database;
  }

  table(name: string): NaiveTable {
    return this.tables.find((table) => table.name === name)!;
  }

  chance(one: number): boolean {
    return this.#random.below(one) === 0;
  }

  copy(): NaiveRow[][] {
    return this.tables.map(({ rows }) => [...rows]);
  }

  restore(copies: readonly NaiveRow[][]): void {
    for (const [place, rows] of copies.entries()) this.tables[place]!.rows = rows;
  }

  /**
   * Gives new rows of a plain table the ids that the database gave them, in the order of insertion.
   */
  numberRows(name: string): void {
    if (EDGE_TABLES[name] === undefined) return;
    const known = this.table(name).rows;
    const ids = rowsOf(this.#database.table(name)).map(({ id }) => id as number);
    const missing = ids.filter((id) => !known.some((row) => row.id === id)).sort((a, b) => a - b);
    const extra = known.filter(({ id }) => !ids.includes(id));
    if (missing.length !== extra.length) return;
    this.table(name).rows = known.map((row) => (extra.includes(row) ? { ...row, id: missing.shift()! } : row));
  }

  async create(): Promise<void> {
    const { nodes } = this.#database;
    const { roles, intervals } = this.#shape;
    const columns = ATTRIBUTES;
    const kinds = {
      Person: await nodes.createTable({ name: 'Person', key: { name: 'name', type: 'TEXT' }, columns }),
      Thing: await nodes.createTable({ name: 'Thing', key: { name: 'name', type: 'INTEGER' }, columns }),
    };
    for (const [name, memberTables] of Object.entries(EDGE_TABLES))
      await this.#database.createTable({
        name,
        memberTables: [...memberTables],
        columns: OWN_COLUMNS,
        bucketSeconds: 10,
        roles: [...roles],
        intervals,
      });
    const others = Array.from({ length: this.#shape.nodes }, (_, place) => FIRST_OTHER + place);
    for (const id of [...ODD_KEYS.keys(), ...others].sort(() => this.#random.below(3) - 1))
      await this.#node(kinds[kindOf(id) as 'Person'], id);
  }

  async #node(table: Table, id: number): Promise<void> {
    const [edge] = randomEdges(this.#random, 1, []);
    const own = this.table(table.name).rows.length + 1;
    const { end_ts: _, ...properties } = edge!.properties!;
    const given = { ...properties, name: keyOf(id)!, id: own, event_ts: edge!.event_ts };
    const transaction = this.#database.begin();
    transaction.insertNode(table, given as Record<string, PropertyValue>);
    await transaction.commit();
    this.addNode(table.name, id, given);
  }

  /** Adds a row to a plain table of nodes. Columns that are missing have their defaults. */
  addNode(table: string, id: number, given: Readonly<Record<string, unknown>>): void {
    const row = { id: given.id ?? null, event_ts: given.event_ts ?? null, members: [id] };
    this.table(table).rows.push(this.#row(table, row, { ...given, name: keyOf(id), num: id }));
  }

  /** Adds a row to a plain table of edges. */
  addEdge(table: string, id: number, { event_ts, members, roles = {}, properties = {} }: EdgeInput): void {
    const ids = members as readonly number[];
    const of = (role: string) => setOf((roles[role] ?? []) as readonly number[]);
    const all = setOf([...ids, ...this.#shape.roles.flatMap(of)]);
    const shown =
      this.#shape.roles.length === 0
        ? {}
        : { roles: Object.fromEntries(this.#shape.roles.map((role) => [role, of(role)])) };
    this.table(table).rows.push(this.#row(table, { id, event_ts, members: all, ...shown }, properties));
  }

  #row(table: string, row: Record<string, unknown>, given: Readonly<Record<string, unknown>>): NaiveRow {
    for (const { name, default: value = null } of this.table(table).columns as readonly ColumnDefinition[])
      row[name] = given[name] === undefined ? value : given[name];
    return row as NaiveRow;
  }

  /** Returns random edges of a table, whose members are the integers that stand for keys. */
  edges(name: string, count: number): EdgeInput[] {
    return randomEdges(this.#random, count, this.#shape.roles).map(({ members, roles, properties, ...edge }) => ({
      ...edge,
      members: this.#ids(members, name),
      ...(roles && {
        roles: Object.fromEntries(Object.entries(roles).map(([role, ids]) => [role, this.#ids(ids, name)])),
      }),
      properties: this.#shape.intervals ? properties : { ...properties, end_ts: undefined },
    }));
  }

  /** Replaces some members by other nodes, and all those of a kind that the table does not have. */
  #ids(members: EdgeInput['members'], name: string): number[] {
    const kinds = EDGE_TABLES[name]!;
    return setOf(
      (members as number[]).map((id) => {
        for (let other = this.#other(id); ; other = this.#other(this.#random.below(9) - 3))
          if (kinds.includes(kindOf(other))) return other;
      }),
    );
  }

  #other(id: number): number {
    const { nodes } = this.#shape;
    return nodes > 0 && this.#random.below(3) > 0 ? FIRST_OTHER + this.#random.below(nodes) : id;
  }

  async insert(count: number): Promise<void> {
    for (const name of Object.keys(EDGE_TABLES)) {
      const bulk = this.#database.table(name).bulk();
      const edges = this.edges(name, 1 + Math.floor(count));
      for (const { members, roles, ...edge } of edges)
        bulk.add({
          ...edge,
          members: (members as number[]).map(reference),
          ...(roles && {
            roles: Object.fromEntries(
              Object.entries(roles).map(([role, ids]) => [role, (ids as number[]).map(reference)]),
            ),
          }),
        });
      const { firstId } = await bulk.commit();
      for (const [index, edge] of edges.entries()) this.addEdge(name, firstId + index, edge);
    }
  }

  /** Changes some attributes of nodes, and deletes some edges. */
  async change(): Promise<void> {
    const transaction = this.#database.begin();
    for (const name of NODE_TABLES) {
      const table = this.#database.nodes.table(name);
      const { rows } = this.table(name);
      for (const [place, row] of rows.entries()) {
        if (this.#random.below(2) === 0) continue;
        const n = this.#random.below(9);
        const number = this.#database.nodes.find(table, row.name as string | number);
        const { members: _, num: __, ...properties } = { num: 0, ...row, n };
        const input = { event_ts: number, members: [number], properties } as unknown as EdgeInput;
        transaction.updateRow(table, { eventTs: number, id: number }, input);
        rows[place] = { ...row, n };
      }
    }
    for (const name of Object.keys(EDGE_TABLES)) {
      const { rows } = this.table(name);
      for (let place = rows.length - 1; place >= 0; place--) {
        if (this.#random.below(6) > 0) continue;
        const [{ event_ts, id }] = rows.splice(place, 1) as [NaiveRow];
        transaction.deleteRow(this.#database.table(name), { eventTs: event_ts, id });
      }
    }
    await transaction.commit();
  }
}

/** Whether a node is a member of an edge. */
export function isUsed(tables: readonly NaiveTable[], id: number): boolean {
  return tables.some(
    ({ name, rows }) => EDGE_TABLES[name] !== undefined && rows.some((row) => row.members.includes(id)),
  );
}

export function setOf(ids: readonly number[]): number[] {
  return [...new Set(ids)].sort((a, b) => a - b);
}

function reference(id: number): { kind: string; key: string | number } {
  return { kind: kindOf(id), key: keyOf(id)! };
}
