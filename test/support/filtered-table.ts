// Makes a table with columns of every kind, its model, and random filters, for tests of filtered
// scans and indexes.

import { expect } from 'vitest';
import type { Database, Scan, Snapshot, Table } from '../../src/engine/index.ts';
import type { EdgeInput, RangeCondition, ScanRequest } from '../../src/engine/types.ts';
import { type NaiveRequest, NaiveTable, select, textOf } from '../model/naive-table.ts';
import type { Random } from './random.ts';
import { drain } from './sim-engine.ts';

export const MAX = Number.MAX_SAFE_INTEGER;
const COLUMNS = [
  { name: 'Speed', type: 'REAL' },
  { name: 'Count', type: 'INTEGER', default: 7 },
  { name: 'note', type: 'TEXT' },
  { name: 'open', type: 'BOOLEAN' },
] as const;
const NOTES = ['', 'a', 'ab', 'é', '日本'];
const REALS = [0, -0, 0.5, -0.5, 1 / 3, 1e300, -1e300, 5e-324, 1, 2, 3];
const INTEGERS = [0, 1, -1, MAX, -MAX, MAX - 1, 7, 7, 8];

export function randomEdge(random: Random): EdgeInput {
  const pick = <T>(values: readonly T[]): T => values[random.below(values.length)]!;
  const properties: Record<string, number | string | null> = {};
  if (random.chance(0.7)) properties.weight = random.chance(0.2) ? null : pick(REALS);
  if (random.chance(0.5)) properties.speed = random.below(1000) / 8;
  if (random.chance(0.8)) properties.note = random.chance(0.2) ? null : pick(NOTES);
  if (random.chance(0.5)) properties.COUNT = random.chance(0.2) ? null : pick(INTEGERS);
  return { event_ts: random.below(300), members: [random.below(6), 50], properties };
}

function randomRequest(random: Random, noteId: number): NaiveRequest {
  const pick = <T>(values: readonly T[]): T => values[random.below(values.length)]!;
  const condition = (): RangeCondition => {
    const column = pick(['weight', 'SPEED', 'count', 'mean_dist_m', 'Id']);
    const ids = Array.from({ length: 10 }, () => random.below(400) / pick([1, 1, 2]));
    const bounds = column === 'count' ? INTEGERS : column === 'Id' ? ids : [...REALS, 10, 20, 40, 80];
    const made: RangeCondition = { column };
    if (random.chance(0.7)) made.low = pick(bounds);
    if (random.chance(0.7)) made.high = pick([...bounds, 2 ** 53, Infinity]);
    if (random.chance(0.3)) made.lowInclusive = random.chance(0.5);
    if (random.chance(0.3)) made.highInclusive = random.chance(0.5);
    return made;
  };
  const request: NaiveRequest = { where: Array.from({ length: 1 + random.below(2) }, condition) };
  if (random.chance(0.4)) request.texts = [{ column: noteId, name: 'note', text: pick([...NOTES, 'else']) }];
  if (request.texts !== undefined && random.chance(0.6)) request.where = undefined;
  if (random.chance(0.4)) request.startTs = random.below(300);
  if (random.chance(0.4)) request.endTs = (request.startTs ?? 0) + random.below(150);
  if (random.chance(0.3)) request.nodes = random.chance(0.5) ? [random.below(6)] : [random.below(6), 50];
  if (random.chance(0.4)) request.limit = 1 + random.below(12);
  if (random.chance(0.2)) request.after = { eventTs: random.below(300), id: random.below(200) };
  return request;
}

/** A table and its model. */
export class Pair {
  readonly table: Table;
  readonly random: Random;
  readonly model: NaiveTable;

  constructor(table: Table, random: Random, model = new NaiveTable([...COLUMNS])) {
    this.table = table;
    this.random = random;
    this.model = model;
  }

  async insert(count: number): Promise<void> {
    const bulk = this.table.bulk();
    const edges = Array.from({ length: count }, () => randomEdge(this.random));
    for (const edge of edges) bulk.add(edge);
    const { firstId, lsn } = await bulk.commit();
    for (const [index, edge] of edges.entries())
      this.model.insert(this.row(firstId + index, edge), lsn - count + 1 + index);
  }

  /** Returns a row for the model, with column names as the table spells them. */
  row(id: number, edge: EdgeInput) {
    const spelled = Object.entries(edge.properties ?? {}).map(([name, value]) => [
      COLUMNS.find((column) => column.name.toLowerCase() === name.toLowerCase())?.name ?? name,
      value,
    ]);
    return this.model.rowOf(id, { ...edge, properties: Object.fromEntries(spelled) });
  }

  async remove(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const live = this.model.rows.filter(({ died }) => died === Infinity);
      const { row } = live[this.random.below(live.length)]!;
      const { lsn } = await this.table.delete(row.event_ts, row.members);
      this.model.delete(row.event_ts, row.members, lsn);
    }
  }

  /** Compares all rows with the model. */
  compareAll(lsn: number, snapshot?: Snapshot): void {
    const rows = drain(this.table.scan({ format: 'ndjson' }, snapshot));
    expect(rows).toBe(textOf(this.model.at(lsn), 'ndjson'));
  }

  /** Compares random requests with the model. Returns the strategies of the scans. */
  compare(requests: number, lsn: number, scan = (request: ScanRequest): Scan => this.table.scan(request)): Set<string> {
    const rows = this.model.at(lsn);
    const strategies = new Set<string>();
    for (let i = 0; i < requests; i++) {
      const request = randomRequest(this.random, this.table.columns.find('note')!.id);
      const wanted = select(rows, request);
      const running = scan({ ...request, format: 'ndjson' });
      const what = JSON.stringify(request);
      expect(drain(running), what).toBe(textOf(wanted.rows, 'ndjson'));
      expect([running.rows, running.hasMore], what).toEqual([wanted.rows.length, wanted.hasMore]);
      strategies.add(running.plan().strategy);
    }
    return strategies;
  }
}

export async function pairOn(database: Database, random: Random): Promise<Pair> {
  return new Pair(await database.createTable({ name: 'Tracks', bucketSeconds: 10, columns: [...COLUMNS] }), random);
}

/** Returns, by column name, the number of segments that have an index (an order) of the column. */
export function orders(table: Table): Record<string, number> {
  const found: Record<string, number> = {};
  for (const { facts } of table.version.segments) {
    for (const { id, ordered } of facts.columns) {
      const { name } = table.columns.columns.find((column) => column.id === id)!;
      if (ordered) found[name] = (found[name] ?? 0) + 1;
    }
  }
  return found;
}

/** Returns the number of segments that contain values of a column. */
export function valued(table: Table, name: string): number {
  const { id } = table.columns.find(name)!;
  return table.version.segments.filter(({ facts }) => facts.columns.some((each) => each.id === id && !each.allNull))
    .length;
}
