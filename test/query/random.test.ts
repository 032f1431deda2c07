// Random statements over random tables: the answers of every state of a table (in memory, compacted, half and half, indexed) and of a naive evaluator are the same.

import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { HedgerowError } from '../../src/errors.ts';
import type { MatchNode } from '../../src/query/parser/ast.ts';
import { parseStatement } from '../../src/query/parser/parser.ts';
import { Random } from '../support/random.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import { type Answer, executor } from './execute.ts';
import { type NaiveEntry, type NaiveResult, naiveMatch } from './naive.ts';
import { Refusal } from './naive-values.ts';
import { type RandomStatement, randomStatement } from './random-statements.ts';
import { type DoubleTable, makeTables, randomEdges } from './random-tables.ts';

/** HEDGEROW_STATEMENTS=5000 is the long form. */
const STATEMENTS = Number(process.env.HEDGEROW_STATEMENTS ?? 400);
const FIRST_SEED = Number(process.env.HEDGEROW_SEED ?? 1);
const STATEMENTS_OF_A_WORLD = 25;

type Outcome<T> = { readonly value: T } | { readonly refused: string; readonly byValue: boolean };

function attemptNaive(statement: RandomStatement, tables: readonly DoubleTable[]): Outcome<NaiveResult> {
  try {
    const node = parseStatement(statement.text) as MatchNode;
    return {
      value: naiveMatch(
        node,
        statement.text,
        tables.map((table) => table.naive),
        statement.parameters,
      ),
    };
  } catch (error) {
    if (error instanceof HedgerowError) return { refused: error.code, byValue: false };
    if (error instanceof Refusal) return { refused: error.code, byValue: error.byValue };
    throw error;
  }
}

async function attempt(database: Database, { text, parameters }: RandomStatement): Promise<Outcome<Answer>> {
  try {
    return { value: await executor(database)(text, parameters) };
  } catch (error) {
    if (error instanceof HedgerowError && error.status >= 400 && error.status < 500)
      return { refused: error.code, byValue: false };
    throw error;
  }
}

/** What is compared of a value: lists in one order (COLLECT promises none), sums that were rounded on another way. */
function plain(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? value + 0 : Number(value.toPrecision(12));
  if (Array.isArray(value)) return value.map(plain).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}

function lineOf(columns: readonly string[], values: readonly unknown[]): string {
  return JSON.stringify(columns.map((column, place) => [column, plain(values[place])]));
}

/** Every row must be one that may stand at its place: of the entries that are tied there, each used once. */
function expectSame(answer: Answer, naive: NaiveResult): void {
  expect(answer.columns).toEqual(naive.columns);
  const { entries, tied, skip, limit } = naive;
  const given = answer.rows.map((row) => {
    const value = JSON.parse(row) as Record<string, unknown>;
    expect(Object.keys(value).sort()).toEqual([...naive.columns].sort());
    return lineOf(
      naive.columns,
      naive.columns.map((column) => value[column]),
    );
  });
  expect(given.length).toBe(Math.max(0, Math.min(limit, entries.length - skip)));
  for (let at = 0; at < entries.length; ) {
    let end = at + 1;
    while (end < entries.length && tied(entries[at]!, entries[end]!)) end++;
    const rows = given.slice(Math.max(0, at - skip), Math.max(0, end - skip));
    expectAmong(rows, entries.slice(at, end), naive.columns);
    at = end;
  }
}

function expectAmong(rows: readonly string[], entries: readonly NaiveEntry[], columns: readonly string[]): void {
  const open = entries.map((entry) => lineOf(columns, entry.values)).sort();
  if (rows.length === open.length) {
    expect([...rows].sort()).toEqual(open);
    return;
  }
  for (const row of rows) {
    const place = open.indexOf(row);
    expect(place, `${row} is none of ${open.join(' ')}`).toBeGreaterThanOrEqual(0);
    open.splice(place, 1);
  }
}

/** How often each kind of end came, so that the test can see that it tests. */
const tally = { rows: 0, empty: 0, refused: 0, byValue: 0 };

async function check(
  database: Database,
  tables: readonly DoubleTable[],
  statement: RandomStatement,
  state: string,
): Promise<void> {
  const naive = attemptNaive(statement, tables);
  const answer = await attempt(database, statement);
  const what = `${state}: ${statement.text}  ${JSON.stringify(statement.parameters)}`;
  try {
    if ('refused' in naive) {
      // Whether a value out of range is met depends on what else was tested before.
      tally[naive.byValue ? 'byValue' : 'refused']++;
      if (!naive.byValue) expect('refused' in answer ? answer.refused : 'rows').toBe(naive.refused);
      return;
    }
    expect('refused' in answer ? answer.refused : 'rows').toBe('rows');
    tally[naive.value.entries.length > 0 ? 'rows' : 'empty']++;
    if ('value' in answer) expectSame(answer.value, naive.value);
  } catch (error) {
    (error as Error).message = `${what}\n${(error as Error).message}`;
    throw error;
  }
}

async function indexAll(database: Database, random: Random): Promise<void> {
  for (const table of ['Contact', 'Trip'])
    for (const column of ['n', 'score', 'weight', 'big'])
      if (random.below(4) > 0) await database.createIndex(table, column);
}

async function runWorld(seed: number): Promise<void> {
  const random = new Random(seed);
  const database = await openSim(simDisk(seed), {
    core: seed % 4 === 0 ? 'debug' : seed % 4 === 1 ? 'plain' : 'release',
  });
  const tables = await makeTables(database, random);
  const statements = Array.from({ length: STATEMENTS_OF_A_WORLD }, () => randomStatement(random));
  const all = async (state: string) => {
    for (const [place, statement] of statements.entries())
      await check(database, tables, statement, `seed ${seed}, statement ${place}, ${state}`);
  };
  for (const table of tables)
    await table.insert(randomEdges(random, random.below(6) === 0 ? 0 : 10 + random.below(20)));
  for (const table of tables) await table.deleteSome(random, 0.1);
  await all('in memory');
  await database.compact();
  await all('compacted');
  for (const table of tables) await table.insert(randomEdges(random, random.below(20)));
  for (const table of tables) await table.deleteSome(random, 0.2);
  await all('half and half');
  await indexAll(database, random);
  await all('indexed');
  for (const table of tables) await table.insert(randomEdges(random, random.below(10)));
  for (const table of tables) await table.deleteSome(random, 0.1);
  await all('indexed, with rows in memory');
}

describe('random statements', () => {
  const worlds = Math.ceil(STATEMENTS / STATEMENTS_OF_A_WORLD);
  it.each(Array.from({ length: worlds }, (_, place) => FIRST_SEED + place))(
    'of seed %i agree with the naive evaluator',
    runWorld,
    120_000,
  );

  it('gave rows, nothing and refusals', () => {
    if (worlds < 10) return;
    expect(tally.rows).toBeGreaterThan(5 * STATEMENTS * 0.4);
    expect(tally.refused).toBeGreaterThan(0);
    expect(tally.empty).toBeGreaterThan(0);
  });
});
