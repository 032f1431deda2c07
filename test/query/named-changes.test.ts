// Runs random INSERT, UPDATE and DELETE on named tables in every state of them. The rows that a
// change finds are those of the naive evaluator and of DuckDB, and afterwards the tables are those
// that the change means; a change that is refused changes nothing.

import { afterAll, describe, expect, it } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import type { MatchNode } from '../../src/query/parser/ast.ts';
import { parseStatement } from '../../src/query/parser/parser.ts';
import type { Statements } from '../../src/query/statements.ts';
import { openDuckDb } from '../support/duckdb.ts';
import { Random } from '../support/random.ts';
import { runDoor } from './door.ts';
import { judge, loadTables } from './duckdb-judge.ts';
import { naiveMatch } from './naive.ts';
import { Refusal } from './naive-values.ts';
import { type NamedChange, NamedChanges, type Outcome } from './named-changes.ts';
import { NamedChecks, statementsOf } from './named-check.ts';
import { eachNamedState, type NamedState, type NamedTables, NODE_TABLES, shapeOf } from './named-random-world.ts';
import type { RandomStatement } from './random-statements.ts';

/** HEDGEROW_STATEMENTS=2000 is the long form. */
const CHANGES = Number(process.env.HEDGEROW_STATEMENTS ?? 160);
const FIRST_SEED = Number(process.env.HEDGEROW_SEED ?? 1);
const OF_A_STATE = 8;
const STATES = 5;

const duckdb = await openDuckDb();
afterAll(() => duckdb?.close());

const tally: Record<string, number> = { changed: 0, none: 0, refused: 0, rolledBack: 0, byDuckDb: 0, outOfRange: 0 };

/**
 * Returns the keys of the rows that a MATCH finds, or undefined if a value is out of range or the
 * random text is no statement: comparisons do not chain.
 */
async function keysOf({ text, parameters }: RandomStatement, { tables }: NamedState) {
  let node: MatchNode;
  let keys: number[];
  try {
    node = parseStatement(text) as MatchNode;
    keys = naiveMatch(node, text, tables, parameters).entries.map(({ values }) => values[0] as number);
  } catch (error) {
    if (error instanceof Refusal || error instanceof HedgerowError) return undefined;
    throw error;
  }
  if (duckdb !== undefined) {
    await loadTables(duckdb, tables);
    const judged = await judge(duckdb, node, tables, parameters);
    if (typeof judged !== 'string') {
      const others = judged.entries.map(({ values }) => values[0] as number);
      expect(others.sort((a, b) => a - b)).toEqual([...keys].sort((a, b) => a - b));
      tally.byDuckDb!++;
    }
  }
  return keys;
}

async function outcomeOf(service: Statements, { text, parameters }: RandomStatement): Promise<Outcome> {
  try {
    const { rows } = await runDoor(service, text, parameters, 's');
    return { count: rows[0].rows_affected };
  } catch (error) {
    if (error instanceof HedgerowError && error.status >= 400 && error.status < 500) return { refused: error.code };
    throw error;
  }
}

/** Checks one change, and all tables after it. */
async function check(service: Statements, state: NamedState, world: NamedTables, change: NamedChange, seed: number) {
  const { statement, found } = change;
  const keys = found === undefined ? [] : await keysOf(found.plain, state);
  if (keys === undefined) {
    tally.outOfRange!++;
    return;
  }
  const before = world.copy();
  const isRolledBack = world.chance(4);
  if (isRolledBack) await runDoor(service, 'BEGIN', {}, 's');
  const expected = change.meaning(keys);
  expect(await outcomeOf(service, statement.named)).toEqual(expected);
  tally['refused' in expected ? 'refused' : expected.count > 0 ? 'changed' : 'none']!++;
  if (isRolledBack) {
    await runDoor(service, 'ROLLBACK', {}, 's');
    world.restore(before);
    tally.rolledBack!++;
  } else world.numberRows(change.table);
  const all = (name: string) => ({ text: `MATCH (x:${name}) RETURN x`, parameters: {} });
  const reads = [...new Set([change.table, ...NODE_TABLES])].map((name) => ({ named: all(name), plain: all(name) }));
  await new NamedChecks(undefined).inState(reads, state, seed);
}

async function runWorld(seed: number): Promise<void> {
  const random = new Random(seed);
  const shape = shapeOf(seed, seed % 4 === 0 ? 20 : 0, 20);
  await eachNamedState(seed, random, shape, async (state, world) => {
    const service = statementsOf(state.database);
    const changes = new NamedChanges(random, shape, world);
    for (let place = 0; place < OF_A_STATE; place++) {
      const change = changes.next();
      try {
        await check(service, state, world, change, seed);
      } catch (error) {
        const { named, plain } = change.statement;
        (error as Error).message =
          `seed ${seed}, change ${place}, ${state.state}: ${named.text}  ${JSON.stringify(named.parameters)}\nplain: ${plain.text}\n${(error as Error).message}`;
        throw error;
      }
    }
    service.close();
  });
}

describe('random changes of named tables', () => {
  const worlds = Math.ceil(CHANGES / OF_A_STATE / STATES);
  it.each(Array.from({ length: worlds }, (_, place) => FIRST_SEED + place))(
    'do what they mean for seed %i',
    runWorld,
    300_000,
  );

  it('had changes, refusals and changes that were rolled back', () => {
    if (process.env.HEDGEROW_TALLY === '1') console.log(tally);
    expect(tally.changed).toBeGreaterThan(CHANGES * 0.3);
    for (const count of [tally.none, tally.refused, tally.rolledBack]) expect(count).toBeGreaterThan(0);
  });
});
