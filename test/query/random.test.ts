// Runs random statements on random tables. The answers in every state of a table (in memory,
// compacted, half and half, indexed) must equal those of a naive evaluator.

import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { HedgerowError } from '../../src/errors.ts';
import type { MatchNode } from '../../src/query/parser/ast.ts';
import { parseStatement } from '../../src/query/parser/parser.ts';
import { type Answer, executor } from './execute.ts';
import { type NaiveResult, naiveMatch } from './naive.ts';
import { Refusal } from './naive-values.ts';
import type { RandomStatement } from './random-statements.ts';
import type { DoubleTable } from './random-tables.ts';
import { eachState, STATEMENTS_OF_A_WORLD } from './random-world.ts';
import { expectSameRows } from './same-rows.ts';

/** HEDGEROW_STATEMENTS=5000 is the long form. */
const STATEMENTS = Number(process.env.HEDGEROW_STATEMENTS ?? 250);
const FIRST_SEED = Number(process.env.HEDGEROW_SEED ?? 1);

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

/** Counts of outcomes, with which the test checks its own coverage. */
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
      // Whether an out-of-range value is reached depends on which conditions were tested before.
      tally[naive.byValue ? 'byValue' : 'refused']++;
      if (!naive.byValue) expect('refused' in answer ? answer.refused : 'rows').toBe(naive.refused);
      return;
    }
    expect('refused' in answer ? answer.refused : 'rows').toBe('rows');
    tally[naive.value.entries.length > 0 ? 'rows' : 'empty']++;
    if ('value' in answer) expectSameRows(answer.value, naive.value);
  } catch (error) {
    (error as Error).message = `${what}\n${(error as Error).message}`;
    throw error;
  }
}

async function runWorld(seed: number): Promise<void> {
  await eachState(seed, async ({ database, tables, statements, state }) => {
    for (const [place, statement] of statements.entries())
      await check(database, tables, statement, `seed ${seed}, statement ${place}, ${state}`);
  });
}

describe('random statements', () => {
  const worlds = Math.ceil(STATEMENTS / STATEMENTS_OF_A_WORLD);
  it.each(Array.from({ length: worlds }, (_, place) => FIRST_SEED + place))(
    'agree with the naive evaluator for seed %i',
    runWorld,
    120_000,
  );

  it('had rows, empty answers and refusals', () => {
    if (worlds < 10) return;
    expect(tally.rows).toBeGreaterThan(5 * STATEMENTS * 0.4);
    expect(tally.refused).toBeGreaterThan(0);
    expect(tally.empty).toBeGreaterThan(0);
  });
});
