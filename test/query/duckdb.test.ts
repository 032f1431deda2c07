// A second reference: where DuckDB is installed, it runs the same random statements and golden
// reads as SQL. Its rows must be the same.

import { afterAll, describe, expect, it } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import type { MatchNode } from '../../src/query/parser/ast.ts';
import { parseStatement } from '../../src/query/parser/parser.ts';
import { DUCKDB_MISSING, type DuckDb, openDuckDb } from '../support/duckdb.ts';
import { simDisk } from '../support/sim-engine.ts';
import { type Judgement, judge, loadTables } from './duckdb-judge.ts';
import { type Answer, type Execute, executor } from './execute.ts';
import { type GoldenCase, goldenNames, readGolden } from './golden-file.ts';
import { openGoldenWorld } from './golden-world.ts';
import type { RandomStatement } from './random-statements.ts';
import { eachState, STATEMENTS_OF_A_WORLD } from './random-world.ts';
import { expectSameRows } from './same-rows.ts';

/** HEDGEROW_STATEMENTS=20000 is the long form. */
const STATEMENTS = Number(process.env.HEDGEROW_STATEMENTS ?? 250);
const FIRST_SEED = Number(process.env.HEDGEROW_SEED ?? 1);
/**
 * Names of golden files with statements that read rows. The other files show refusals and plans.
 */
const READS = /^(0[1-9]|10|27)-/;

const installed = await openDuckDb();
if (installed === undefined) console.log(`skipped, DuckDB as a second judge: ${DUCKDB_MISSING}`);

/** Counts of outcomes: the answers that DuckDB judged, and those that it could not judge. */
const tally = { rows: 0, empty: 0, refused: 0, outOfRange: 0 };

async function attempt(execute: Execute, { text, parameters }: RandomStatement): Promise<Answer | undefined> {
  try {
    return await execute(text, parameters);
  } catch (error) {
    if (error instanceof HedgerowError && error.status >= 400 && error.status < 500) return undefined;
    throw error;
  }
}

/**
 * Compares one answer with the rows that `wanted` returns. Refusals are checked by the naive
 * evaluator instead.
 */
async function check(
  execute: Execute,
  statement: RandomStatement,
  wanted: () => Promise<Judgement>,
  what: string,
): Promise<void> {
  try {
    const answer = await attempt(execute, statement);
    if (answer === undefined) {
      tally.refused++;
      return;
    }
    const result = await wanted();
    if (typeof result === 'string') {
      tally.outOfRange++;
      return;
    }
    tally[result.entries.length > 0 ? 'rows' : 'empty']++;
    expectSameRows(answer, { ...result, columns: answer.columns });
  } catch (error) {
    (error as Error).message =
      `${what}: ${statement.text}  ${JSON.stringify(statement.parameters)}\n${(error as Error).message}`;
    throw error;
  }
}

async function runWorld(seed: number, duckdb: DuckDb): Promise<void> {
  let known = new Map<RandomStatement, Promise<Judgement>>();
  await eachState(seed, async ({ database, tables, statements, state, isChanged }) => {
    const naive = tables.map((table) => table.naive);
    if (isChanged) {
      await loadTables(duckdb, naive);
      known = new Map();
    }
    const wanted = (statement: RandomStatement) => {
      const before = known.get(statement) ?? judge(duckdb, parse(statement.text), naive, statement.parameters);
      known.set(statement, before);
      return before;
    };
    for (const [place, statement] of statements.entries())
      await check(executor(database), statement, () => wanted(statement), `seed ${seed}, statement ${place}, ${state}`);
  });
}

function parse(text: string): MatchNode {
  return parseStatement(text) as MatchNode;
}

/**
 * EXPLAIN and similar statements do not read rows. A text that is not a statement is refused, which
 * needs no reference.
 */
function isMatch({ text }: GoldenCase): boolean {
  return /^\s*MATCH\b/i.test(text);
}

async function runGolden(name: string, duckdb: DuckDb): Promise<void> {
  const file = readGolden(name);
  const { database, tables } = await openGoldenWorld(file, simDisk());
  await loadTables(duckdb, tables);
  for (const one of file.parts) {
    if (typeof one === 'string' || !isMatch(one)) continue;
    await check(executor(database), one, () => judge(duckdb, parse(one.text), tables, one.parameters), name);
  }
  await database.close();
}

describe.skipIf(installed === undefined)('DuckDB as a second judge', () => {
  const worlds = Math.ceil(STATEMENTS / STATEMENTS_OF_A_WORLD);
  afterAll(() => {
    installed!.close();
    const { rows, empty, refused, outOfRange } = tally;
    console.log(
      `DuckDB judged ${rows + empty} answers, ${empty} of them empty. It could not: ${outOfRange} that overflow its 64 bits; not asked: ${refused} that are refused`,
    );
  });

  it.each(goldenNames().filter((name) => READS.test(name)))('agrees with the golden statements of %s', (name) =>
    runGolden(name, installed!),
  );

  it('has judged most golden statements', () => {
    expect(tally.rows + tally.empty).toBeGreaterThan(250);
    expect(tally.outOfRange).toBe(0);
  });

  it.each(Array.from({ length: worlds }, (_, place) => FIRST_SEED + place))(
    'agrees with random statements from seed %i',
    (seed) => runWorld(seed, installed!),
    120_000,
  );

  it('has judged most random statements, and many of these return rows', () => {
    if (worlds < 10) return;
    const { rows, empty, refused, outOfRange } = tally;
    expect(rows).toBeGreaterThan((rows + empty + refused) * 0.4);
    expect(outOfRange).toBeLessThan((rows + empty) / 50);
  });
});
