// Runs random statements with search() and score() on random tables of texts. The answers in every
// state of a table (in memory, compacted, half and half, with other indexes) must equal those of a
// naive evaluator. HEDGEROW_SEARCH_STATEMENTS=5000 is the long form.

import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { HedgerowError } from '../../src/errors.ts';
import type { MatchNode } from '../../src/query/parser/ast.ts';
import { parseStatement } from '../../src/query/parser/parser.ts';
import { Statements } from '../../src/query/statements.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';
import { runDoor } from './door.ts';
import type { Answer } from './execute.ts';
import { type NaiveResult, naiveMatch } from './naive.ts';
import { Refusal } from './naive-values.ts';
import { eachSearchState, SEARCHES_OF_A_WORLD } from './random-search.ts';
import type { RandomStatement } from './random-statements.ts';
import type { DoubleTable } from './random-tables.ts';
import { expectSameRows } from './same-rows.ts';

const STATEMENTS = Number(process.env.HEDGEROW_SEARCH_STATEMENTS ?? 240);
const FIRST_SEED = Number(process.env.HEDGEROW_SEED ?? 1);

/** A refusal for the value of a row: whether it is reached depends on the order of evaluation. */
const BY_VALUE = 'refused by value';

function naiveOf({ text, parameters }: RandomStatement, tables: readonly DoubleTable[]): NaiveResult | string {
  try {
    const node = parseStatement(text) as MatchNode;
    const naive = tables.map((table) => table.naive);
    return naiveMatch(node, text, naive, parameters);
  } catch (error) {
    if (error instanceof HedgerowError) return error.code;
    if (error instanceof Refusal) return error.byValue ? BY_VALUE : error.code;
    throw error;
  }
}

/** Statements that find rows by the index, within OR and NOT, after so many letters were read. */
function statementsOf(database: Database, readLetters?: number): Statements {
  let us = 0;
  return new Statements({
    database,
    ...(readLetters === undefined ? {} : { readLetters }),
    now: () => 1e12,
    nowUs: () => (us += 40),
    newId: () => 't',
    transactionIdleSeconds: 30,
    copyRoot: undefined,
    fs: nodeFs,
  });
}

async function answerOf(statements: Statements, { text, parameters }: RandomStatement): Promise<Answer | string> {
  try {
    const { columns, rows } = await runDoor(statements, text, parameters);
    return { columns, rows: rows.map((row) => JSON.stringify(row)), plan: null };
  } catch (error) {
    if (error instanceof HedgerowError && error.status >= 400 && error.status < 500) return error.code;
    throw error;
  }
}

/** Counts of outcomes, with which the test checks its own coverage. */
const tally = { rows: 0, empty: 0, refused: 0 };

async function check(
  statements: Statements,
  tables: readonly DoubleTable[],
  statement: RandomStatement,
  state: string,
): Promise<void> {
  const wanted = naiveOf(statement, tables);
  const answer = await answerOf(statements, statement);
  try {
    if (wanted === BY_VALUE) return;
    if (typeof wanted === 'string' || typeof answer === 'string') {
      tally.refused++;
      expect(typeof answer === 'string' ? answer : 'rows').toBe(typeof wanted === 'string' ? wanted : 'rows');
      return;
    }
    tally[wanted.entries.length > 0 ? 'rows' : 'empty']++;
    expectSameRows(answer, wanted);
  } catch (error) {
    const what = `${state}: ${statement.text}  ${JSON.stringify(statement.parameters)}`;
    (error as Error).message = `${what}\n${(error as Error).message}`;
    throw error;
  }
}

describe('random statements with searches', () => {
  const worlds = Math.ceil(STATEMENTS / SEARCHES_OF_A_WORLD);
  it.each(Array.from({ length: worlds }, (_, place) => FIRST_SEED + place))(
    'agree with the naive evaluator for seed %i',
    async (seed) => {
      await eachSearchState(seed, async ({ database, tables, statements, state }) => {
        // The second reads hardly any text.
        for (const run of [statementsOf(database), statementsOf(database, 1)])
          for (const [place, statement] of statements.entries())
            await check(run, tables, statement, `seed ${seed}, statement ${place}, ${state}`);
      });
    },
    120_000,
  );

  it('had rows, empty answers and refusals', () => {
    if (worlds < 10) return;
    expect(tally.rows).toBeGreaterThan(8 * STATEMENTS * 0.3);
    expect(tally.refused).toBeGreaterThan(0);
    expect(tally.empty).toBeGreaterThan(0);
  });
});
