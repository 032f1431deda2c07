// Makes random tables and random questions about them. Each question exists as a wish (its meaning)
// and as a text that expresses the wish.

import type { Database, EdgeInput, Table } from '../../src/engine/index.ts';
import type { PropertyValue } from '../../src/engine/types.ts';
import { type Retrieval, type RetrieveOptions, retrieve } from '../../src/rag/retrieval/retrieve.ts';
import { finish } from '../../src/schedule/steps.ts';
import type { Random } from '../support/random.ts';
import type { Op, Wish } from './naive-retrieval.ts';

/**
 * The least time in the tables. It is large enough for questions to contain times as epoch seconds.
 */
export const FIRST_TS = 1_000_000_000;
const NODES = 9;
const WORDS = ['escort', 'patrol', 'harbour', 'storm'];
const TEXTS = ['escort', 'Escort', 'patrol', 'harbour patrol', 'Storm over the harbour', 'line abreast', ''];
const WEIGHTS = [0, -0, 0.5, 1, 2, 3, 100, -1, 1e300, 5e-324, null];

export const COLUMNS = [
  { name: 'speed', type: 'REAL' },
  { name: 'count', type: 'INTEGER', default: 7 },
  { name: 'note', type: 'TEXT' },
  { name: 'kind', type: 'TEXT', default: 'patrol' },
  { name: 'open', type: 'BOOLEAN' },
] as const;

export function pick<T>(random: Random, values: readonly T[]): T {
  return values[random.below(values.length)]!;
}

export function randomEdge(random: Random, seconds: number): EdgeInput {
  const properties: Record<string, PropertyValue> = {};
  if (random.chance(0.6)) properties.weight = pick(random, WEIGHTS);
  if (random.chance(0.5)) properties.formation = pick(random, TEXTS);
  if (random.chance(0.5)) properties.speed = random.below(10) / 2;
  if (random.chance(0.5)) properties.count = random.below(10);
  if (random.chance(0.5)) properties.note = pick(random, TEXTS);
  if (random.chance(0.3)) properties.kind = pick(random, [...TEXTS, null]);
  if (random.chance(0.5)) properties.open = random.chance(0.5);
  const members = Array.from({ length: 1 + random.below(4) }, () => random.below(NODES));
  return { event_ts: FIRST_TS + random.below(seconds), members, properties };
}

export async function insert(table: Table, edges: readonly EdgeInput[]): Promise<void> {
  const bulk = table.bulk();
  for (const edge of edges) bulk.add(edge);
  await bulk.commit();
}

/**
 * Calls `visit` with a table in each state: in the log, in segments, in both, with an index, and
 * reopened. `reopen` returns the reopened database.
 */
export async function eachState(
  random: Random,
  rows: number,
  opened: Database,
  reopen: (database: Database) => Promise<Database>,
  visit: (state: string, table: Table) => void,
): Promise<void> {
  const seconds = random.chance(0.3) ? 3 : rows * 2;
  const more = (count: number) => Array.from({ length: count }, () => randomEdge(random, seconds));
  await opened.createTable({ name: 'Trips', columns: [...COLUMNS], bucketSeconds: 1 + random.below(50) });
  const table = () => database.table('Trips');
  let database = opened;
  await insert(table(), more(rows));
  visit('in the log', table());
  await database.compact();
  visit('compacted', table());
  const some = more(Math.ceil(rows / 10));
  await insert(table(), some);
  for (const { event_ts, members } of some.slice(0, 5)) await table().delete(event_ts, members);
  visit('half and half', table());
  await database.createIndex('Trips', pick(random, ['weight', 'speed', 'count']));
  visit('indexed', table());
  database = await reopen(database);
  visit('opened again', table());
  await database.close();
}

export function randomWish(random: Random, seconds: number): Wish {
  const wish: Wish = { nodes: [], filters: [], top: null, order: 'score', keywords: [] };
  if (random.chance(0.4)) wish.startTs = FIRST_TS + random.below(seconds);
  if (random.chance(0.4)) wish.endTs = (wish.startTs ?? FIRST_TS) + random.below(seconds);
  const nodes = random.chance(0.5) ? random.below(3) : random.below(7);
  wish.nodes = [...new Set(Array.from({ length: nodes }, () => random.below(NODES + 1)))];
  const filters = random.chance(0.6) ? 0 : 1 + random.below(2);
  wish.filters = Array.from({ length: filters }, () => randomFilter(random));
  if (random.chance(0.2)) wish.top = 1 + random.below(12);
  if (random.chance(0.2)) wish.order = pick(random, ['newest', 'oldest']);
  if (random.chance(0.4)) wish.keywords = WORDS.filter(() => random.chance(0.4));
  return wish;
}

function randomFilter(random: Random): Wish['filters'][number] {
  const column = pick(random, ['weight', 'speed', 'count', 'note', 'kind', 'formation', 'open']);
  if (column === 'open') return { column, op: pick(random, ['=', '!=']), value: random.chance(0.5) };
  if (column === 'weight' || column === 'speed' || column === 'count')
    return {
      column,
      op: pick<Op>(random, ['=', '!=', '<', '<=', '>', '>=']),
      value: random.below(8) / (column === 'count' ? 1 : 2),
    };
  return {
    column,
    op: pick(random, ['=', '!=']),
    value: pick(
      random,
      TEXTS.filter((text) => text !== ''),
    ),
  };
}

/** Returns a text that expresses the wish. */
export function textOf({ startTs, endTs, nodes, filters, top, order, keywords }: Wish): string {
  const parts = [
    ...(order === 'score' ? [] : [order]),
    ...keywords,
    ...(nodes.length === 0 ? [] : [`nodes ${nodes.join(', ')}`]),
    ...filters.map(
      ({ column, op, value }) => `and ${column} ${op} ${typeof value === 'string' ? `"${value}"` : value}`,
    ),
    ...(startTs === undefined ? [] : [`since ${startTs}`]),
    ...(endTs === undefined ? [] : [`until ${endTs}`]),
    ...(top === null ? [] : [`top ${top}`]),
  ];
  return parts.join(' ');
}

/** Retrieves edges, running all steps at once. */
export function retrieved(table: Table, text: string, options: Partial<RetrieveOptions> & { topK: number }): Retrieval {
  return finish(retrieve(table, text, { nowMs: (FIRST_TS + 500) * 1000, ...options }));
}
