// Makes random tables for random statements, both in a database and as plain arrays. Rows are
// inserted into and deleted from both, and the database is compacted.

import type { ColumnDefinition, Database, EdgeInput, PropertyValue, Table } from '../../src/engine/index.ts';
import type { Random } from '../support/random.ts';
import type { NaiveRow, NaiveTable } from './naive-expressions.ts';
import { pick, TEXTS } from './random-expressions.ts';

const BUILT_IN = [
  { name: 'weight', type: 'REAL' },
  { name: 'mean_dist_m', type: 'REAL' },
  { name: 'formation', type: 'TEXT' },
] as const;

const END = { name: 'end_ts', type: 'INTEGER' } as const;

/** Returns user columns of every type, each with or without a default. */
function userColumns(random: Random): ColumnDefinition[] {
  const withDefault = (name: string, type: ColumnDefinition['type'], value: PropertyValue) =>
    random.below(2) === 0 ? { name, type, default: value } : { name, type };
  return [
    withDefault('n', 'INTEGER', random.below(9) - 3),
    withDefault('big', 'INTEGER', -2),
    withDefault('score', 'REAL', 1.25),
    withDefault('place', 'TEXT', pick(random, TEXTS)),
    withDefault('ok', 'BOOLEAN', random.below(2) === 0),
    withDefault('open', 'BOOLEAN', true),
  ];
}

/** A table in a database, with a naive copy of it. */
export class DoubleTable {
  readonly table: Table;
  naive: NaiveTable;
  readonly #roles: readonly string[];

  constructor(table: Table, columns: readonly ColumnDefinition[]) {
    this.table = table;
    this.#roles = table.roles.names;
    const { name, bucketSeconds } = table;
    const intervals = table.columns.end !== undefined;
    const ends = intervals ? [END] : [];
    const roles = this.#roles;
    this.naive = { name, bucketSeconds, columns: [...BUILT_IN, ...ends, ...columns], roles, rows: [], intervals };
  }

  /** Records that the table has got a text index. */
  searchedBy(search: NonNullable<NaiveTable['search']>): this {
    this.naive = { ...this.naive, search };
    return this;
  }

  async insert(given: readonly EdgeInput[]): Promise<void> {
    const edges = this.naive.intervals ? given : given.map(withoutEnd);
    if (edges.length === 0) return;
    const bulk = this.table.bulk();
    for (const edge of edges) bulk.add(edge);
    const { firstId } = await bulk.commit();
    this.naive.rows.push(...edges.map((edge, index) => this.#rowOf(edge, firstId + index)));
  }

  #rowOf(edge: EdgeInput, id: number): NaiveRow {
    const given = edge.properties ?? {};
    const row: Record<string, unknown> = {
      id,
      event_ts: edge.event_ts,
      members: setOf([...(edge.members as number[]), ...(Object.values(edge.roles ?? {}).flat() as number[])]),
    };
    if (this.#roles.length > 0)
      row.roles = Object.fromEntries(this.#roles.map((role) => [role, setOf((edge.roles?.[role] ?? []) as number[])]));
    for (const { name, type: _, ...more } of this.naive.columns as readonly ColumnDefinition[])
      row[name] = given[name] === undefined ? (more.default ?? null) : given[name];
    return row as NaiveRow;
  }

  /** Removes every edge that has this time and these members. */
  async delete(eventTs: number, members: readonly number[]): Promise<void> {
    await this.table.delete(eventTs, members);
    const set = [...members].sort((a, b) => a - b).join();
    const isOther = (row: NaiveRow) => row.event_ts !== eventTs || row.members.join() !== set;
    this.naive.rows = this.naive.rows.filter(isOther);
  }

  async deleteSome(random: Random, share: number): Promise<void> {
    for (const { event_ts, members } of [...this.naive.rows])
      if (random.chance(share)) await this.delete(event_ts, members);
  }
}

function setOf(members: readonly number[]): number[] {
  return [...new Set(members)].sort((a, b) => a - b);
}

/** The roles of the tables in worlds with roles. */
export const ROLES: readonly string[] = ['src', 'Dst'];

export async function makeTables(database: Database, random: Random, roles: readonly string[]): Promise<DoubleTable[]> {
  const tables: DoubleTable[] = [];
  const intervals = random.below(4) > 0;
  for (const name of ['Contact', 'Trip']) {
    const columns = userColumns(random);
    const bucketSeconds = pick(random, [10, 10, 7, 1, 100]);
    tables.push(
      new DoubleTable(await database.createTable({ name, bucketSeconds, columns, roles, intervals }), columns),
    );
  }
  return tables;
}

/**
 * Returns edges, some with equal times or repeated member sets. Any property may be missing or
 * null.
 */
export function randomEdges(random: Random, count: number, roles: readonly string[]): EdgeInput[] {
  const edges: EdgeInput[] = [];
  for (let i = 0; i < count; i++) {
    const event_ts = i > 0 && random.below(8) === 0 ? pick(random, edges).event_ts : random.below(70) - 25;
    const same = edges.find((edge) => edge.event_ts === event_ts);
    const isEqual = same !== undefined && random.below(2) === 0;
    const edge = isEqual ? same : edgeOf(random, roles);
    edges.push({ ...edge, event_ts, properties: properties(random, event_ts) });
  }
  return edges;
}

function edgeOf(random: Random, roles: readonly string[]): EdgeInput {
  const edge = { event_ts: 0, members: members(random) };
  if (roles.length === 0 || random.below(5) === 0) return edge;
  const list = () => [...edge.members.filter(() => random.below(2) === 0), ...(random.below(5) === 0 ? [4] : [])];
  return { ...edge, roles: Object.fromEntries(roles.map((role) => [role, list()])) };
}

function members(random: Random): number[] {
  return Array.from({ length: 1 + random.below(4) }, () => random.below(9) - 3);
}

function withoutEnd({ properties, ...edge }: EdgeInput): EdgeInput {
  return { ...edge, properties: { ...properties, end_ts: undefined } };
}

function properties(random: Random, eventTs: number): Record<string, PropertyValue | undefined> {
  const maybe = (value: PropertyValue): PropertyValue | undefined =>
    random.below(4) === 0 ? undefined : random.below(4) === 0 ? null : value;
  return {
    end_ts: maybe(eventTs + pick(random, [0, 1, 3, 10, 40, 1000])),
    weight: maybe(random.below(40) / 4 - 3),
    mean_dist_m: maybe(random.below(5)),
    formation: maybe(pick(random, TEXTS)),
    n: maybe(random.below(14) - 4),
    big: maybe(pick(random, [0, 1, 2 ** 40, -(2 ** 45), 1000, 2 ** 53 - 1])),
    score: maybe(pick(random, [0.5, -0.25, 2, 3.75, 0, -0, 5])),
    place: maybe(pick(random, TEXTS)),
    ok: maybe(random.below(2) === 0),
    open: maybe(random.below(2) === 0),
  };
}
