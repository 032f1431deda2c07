// Generates random statements with search() and score(), and tables of texts for them, in every
// state of a table.

import type { Database, EdgeInput } from '../../src/engine/index.ts';
import { Random } from '../support/random.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import { randomExists, withExists } from './random-exists.ts';
import { condition, expression, indexable, pick, type Shape } from './random-expressions.ts';
import type { RandomStatement } from './random-statements.ts';
import { type DoubleTable, makeTables, randomEdges } from './random-tables.ts';

export const SEARCHES_OF_A_WORLD = 20;

const WORDS = ['plan', 'the', 'budget', 'plans', 'a', 'travel', 'Planned', 'trip', 'budgets', 'x9'];
const STEMS: Readonly<Record<string, string>> = { plans: 'plan', planned: 'plan', budgets: 'budget' };

function word(random: Random): string {
  return WORDS[Math.min(random.below(WORDS.length), random.below(WORDS.length))]!;
}

function wordsOf(random: Random): string | null {
  if (random.below(6) === 0) return null;
  return Array.from({ length: random.below(7) }, () => word(random)).join(pick(random, [' ', ', ', '. ']));
}

function queryOf(random: Random): string {
  const part = (sign: string): string => {
    const dice = random.below(8);
    if (dice === 0) return `${sign}"${word(random)} ${word(random)}"`;
    return dice < 3 ? `${sign}${word(random).slice(0, 1 + random.below(4))}*` : `${sign}${word(random)}`;
  };
  const more = Array.from({ length: random.below(3) }, () => part(pick(random, ['', '', '+', '-'])));
  return [part(''), ...more].join(' ');
}

/** Returns the words of a search: a literal or a parameter. */
function given(shape: Shape): string {
  const { random, parameters } = shape;
  // Seldom no text, which must be refused.
  const query = random.below(60) === 0 ? pick(random, [7, null]) : queryOf(random);
  if (typeof query === 'string' && random.below(2) === 0) return `'${query}'`;
  const name = `q${Object.keys(parameters).length}`;
  parameters[name] = query;
  return `$${name}`;
}

function searchOf(shape: Shape, alias: string): string {
  return `${pick(shape.random, ['search', 'SEARCH'])}(${alias}, ${given(shape)})`;
}

/** Returns a statement in which at least one alias is searched. */
export function randomSearchStatement(random: Random, roles: readonly string[]): RandomStatement {
  const aliases = ['a', 'b'].slice(0, pick(random, [1, 1, 1, 2]));
  const shape: Shape = { random, aliases, roles, parameters: {}, loose: random.below(3) === 0 };
  const patterns = aliases.map((alias) => `(${alias}:${pick(random, ['Contact', 'Contact', 'Trip'])})`);
  const parts = [`MATCH ${patterns.join(', ')}`, `WHERE ${conditionsOf(shape).join(' AND ')}`];
  const isGrouped = random.below(4) === 0;
  parts.push(`RETURN ${isGrouped ? groupedItems(shape) : items(shape)}`);
  if (!isGrouped && random.below(3) > 0) parts.push(`ORDER BY ${orderOf(shape)}`);
  if (random.below(4) === 0) parts.push(`SKIP ${random.below(4)}`);
  if (random.below(2) === 0) parts.push(`LIMIT ${random.below(9)}`);
  return { text: parts.join(' '), parameters: shape.parameters };
}

function conditionsOf(shape: Shape): string[] {
  const { random, aliases } = shape;
  const conditions: string[] = [];
  for (const [place, alias] of aliases.entries()) {
    if (place > 0) conditions.push(indexable(shape));
    if (place > 0 && random.below(3) === 0) continue;
    const search = searchOf(shape, alias);
    const dice = random.below(12);
    if (dice < 7) conditions.push(search);
    else if (dice < 8) conditions.push(`NOT ${search}`);
    else if (dice < 10) conditions.push(`(${search} OR ${indexable(shape)})`);
    else if (dice < 11) conditions.push(`(${condition(shape, 1)} OR NOT ${search})`);
    else conditions.push(`(${search} AND ${indexable(shape)} OR ${condition(shape, 1)})`);
  }
  for (let count = pick(random, [0, 0, 0, 1, 1, 2]); count > 0; count--) conditions.push(indexable(shape));
  if (random.below(6) === 0) conditions.push(`(${condition(shape, 2)})`);
  // A second search of an alias: its score is refused.
  if (random.below(12) === 0) conditions.push(searchOf(shape, aliases[0]!));
  if (random.below(8) === 0) conditions.push(`score(${aliases[0]}) ${pick(random, ['>', '<='])} 0.7`);
  if (random.below(8) === 0) {
    const link = indexable({ ...shape, aliases: [aliases[0]!, 'u'] });
    conditions.push(`${pick(random, ['', 'NOT '])}EXISTS ((u:Trip) WHERE ${searchOf(shape, 'u')} AND ${link})`);
  } else if (random.below(10) === 0) conditions.push(randomExists(withExists(shape)));
  return random.below(3) === 0 ? conditions.reverse() : conditions;
}

function items(shape: Shape): string {
  const { random, aliases } = shape;
  const alias = () => pick(random, aliases);
  const texts = Array.from({ length: 1 + random.below(3) }, (_, place) => {
    const item = pick<() => string>(random, [
      () => `score(${aliases[0]})`,
      () => `score(${alias()})`,
      () => `score(${alias()}) * 2 + ${random.below(3)}`,
      () => `${alias()}.place`,
      () => `${alias()}.event_ts`,
      () => alias(),
      () => expression(shape, pick(random, ['integer', 'text', 'boolean']), 1),
    ])();
    return `${item} AS r${place}`;
  });
  const ids = aliases.map((each) => `${each}.id AS ${each}_id`);
  return `${random.below(6) === 0 ? 'DISTINCT ' : ''}${[...ids, ...texts].join(', ')}`;
}

function groupedItems(shape: Shape): string {
  const { random, aliases } = shape;
  const keys = random.below(2) === 0 ? [] : [`${pick(random, aliases)}.${pick(random, ['place', 'ok', 'event_ts'])}`];
  const aggregates = Array.from({ length: 1 + random.below(2) }, (_, place) => {
    const alias = pick(random, aliases);
    const call = [`count(*)`, `max(score(${alias}))`, `sum(score(${alias}))`, `min(${alias}.event_ts)`];
    return `${pick(random, call)} AS r${place}`;
  });
  return [...keys, ...aggregates].join(', ');
}

function orderOf(shape: Shape): string {
  const { random, aliases } = shape;
  const ids = aliases.map((alias) => `${alias}.id`);
  const orders = [
    () => `score(${aliases[0]}) DESC`,
    () => `score(${aliases[0]}) DESC, ${ids.join(', ')}`,
    () => `score(${aliases[0]})`,
    () => `score(${aliases.at(-1)}) DESC, ${aliases[0]}.event_ts DESC`,
    () => `${aliases[0]}.event_ts DESC, ${aliases[0]}.id DESC`,
    () => `${expression(shape, 'integer', 1)}, score(${aliases[0]}) DESC`,
  ];
  return pick(random, orders)();
}

/** Returns random edges whose texts consist of words. */
function wordyEdges(random: Random, count: number): EdgeInput[] {
  return randomEdges(random, count, []).map((edge) => ({
    ...edge,
    properties: { ...edge.properties, place: wordsOf(random), formation: wordsOf(random) },
  }));
}

export interface SearchState {
  readonly database: Database;
  readonly tables: readonly DoubleTable[];
  readonly statements: readonly RandomStatement[];
  readonly state: string;
}

/** Makes tables with text indexes and statements for them, and calls `visit` in every state. */
export async function eachSearchState(seed: number, visit: (state: SearchState) => Promise<void>): Promise<void> {
  const random = new Random(seed);
  const core = (['release', 'plain', 'debug'] as const)[seed % 3]!;
  const memtableLimits = { rows: 8 + random.below(40), smallRows: 4 };
  const database = await openSim(simDisk(seed), { core, memtableLimits, textPieceRows: 1 + random.below(20) });
  const made = await makeTables(database, random, []);
  const statements = Array.from({ length: SEARCHES_OF_A_WORLD }, () => randomSearchStatement(random, []));
  const insert = async (most: number): Promise<void> => {
    for (const table of made) {
      await table.insert(wordyEdges(random, random.below(most)));
      await table.deleteSome(random, 0.15);
    }
  };
  if (random.below(2) === 0) await insert(30);
  const columns = pick(random, [['place', 'formation'], ['formation', 'place'], ['place']]);
  const language = pick(random, ['none', 'english'] as const);
  const termOf = (term: string): string => (language === 'none' ? term : (STEMS[term] ?? term));
  for (const { table } of made) await database.textIndexes.create(table.name, { columns, language });
  const tables = made.map((table) => table.searchedBy({ columns, termOf }));
  const show = (state: string) => visit({ database, tables, statements, state });
  await insert(40);
  await show('in memory');
  await database.compact();
  await show('compacted');
  await insert(25);
  await show('half and half');
  for (const name of ['n', 'weight']) await database.createIndex('Contact', name);
  await insert(10);
  await show('indexed, with rows in memory');
  await database.close();
}
