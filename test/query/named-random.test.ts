// Runs random statements on named tables. The answers must be those of the naive evaluator, and
// where DuckDB is installed its rows too, for the same statement over plain tables.

import { afterAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { HedgerowError } from '../../src/errors.ts';
import { valueAt } from '../../src/query/executor/values/vector.ts';
import type { MatchNode } from '../../src/query/parser/ast.ts';
import { parseStatement } from '../../src/query/parser/parser.ts';
import { Statements } from '../../src/query/statements.ts';
import { WrittenRead } from '../../src/query/written-read.ts';
import { nodeFs } from '../../src/storage/index.ts';
import { openDuckDb } from '../support/duckdb.ts';
import { judge, loadTables } from './duckdb-judge.ts';
import type { Answer } from './execute.ts';
import { type NaiveResult, naiveMatch } from './naive.ts';
import { Refusal } from './naive-values.ts';
import { eachNamedState, type NamedState, type NamedStatement, plainValue } from './named-random.ts';
import type { RandomStatement } from './random-statements.ts';
import { expectSameRows } from './same-rows.ts';

/** HEDGEROW_STATEMENTS=5000 is the long form. */
const STATEMENTS = Number(process.env.HEDGEROW_STATEMENTS ?? 200);
const FIRST_SEED = Number(process.env.HEDGEROW_SEED ?? 1);
const OF_A_WORLD = 25;

const duckdb = await openDuckDb();
afterAll(() => duckdb?.close());

const tally = { rows: 0, empty: 0, refused: 0, byValue: 0, written: 0, byDuckDb: 0 };

function statementsOf(database: Database): Statements {
  return new Statements({
    database,
    now: Date.now,
    nowUs: () => performance.now() * 1000,
    newId: () => 'id',
    transactionIdleSeconds: 30,
    copyRoot: undefined,
    fs: nodeFs,
  });
}

/** Returns the rows with integers in place of keys, or the code of the refusal. */
function run(statements: Statements, { text, parameters }: RandomStatement): Answer | string {
  try {
    const prepared = statements.prepare(text);
    const result = statements.read(prepared, parameters, 's', undefined);
    if (result === undefined || result instanceof WrittenRead) throw new Error('not a read');
    const { columns, forms } = result;
    const rows: string[] = [];
    const plain: string[] = [];
    for (const chunk of result.steps) {
      for (let row = 0; row < (chunk?.count ?? 0); row++) {
        const values = columns.map((name, place) => [name, valueAt(chunk!.items[place]!, row)] as const);
        plain.push(JSON.stringify(Object.fromEntries(values)));
        rows.push(
          JSON.stringify(
            Object.fromEntries(values.map(([name, value], place) => [name, plainValue(value, forms[place]!)])),
          ),
        );
      }
    }
    compareWritten(statements, text, parameters, plain);
    return { columns, rows, plan: null };
  } catch (error) {
    if (error instanceof HedgerowError && error.status >= 400 && error.status < 500) return error.code;
    throw error;
  }
}

/** If the core writes the rows itself, its text must be that of the executor. */
function compareWritten(
  statements: Statements,
  text: string,
  parameters: RandomStatement['parameters'],
  rows: readonly string[],
): void {
  const written = statements.read(statements.prepare(text), parameters, 's', 'ndjson');
  if (!(written instanceof WrittenRead)) {
    written?.close();
    return;
  }
  let lines = '';
  for (let slice = written.next(); slice !== null; slice = written.next()) lines += Buffer.from(slice).toString();
  expect(lines).toBe(rows.map((row) => `${row}\n`).join(''));
  tally.written++;
}

function naiveOf({ text, parameters }: RandomStatement, tables: NamedState['tables']): NaiveResult | Refusal | string {
  try {
    return naiveMatch(parseStatement(text) as MatchNode, text, tables, parameters);
  } catch (error) {
    if (error instanceof Refusal) return error;
    if (error instanceof HedgerowError) return error.code;
    throw error;
  }
}

async function check(statements: Statements, { named, plain }: NamedStatement, { tables }: NamedState): Promise<void> {
  const naive = naiveOf(plain, tables);
  const answer = run(statements, named);
  if (typeof naive === 'string' || naive instanceof Refusal) {
    const byValue = naive instanceof Refusal && naive.byValue;
    tally[byValue ? 'byValue' : 'refused']++;
    if (!byValue) expect(typeof answer === 'string' ? 'refused' : answer.rows).toBe('refused');
    return;
  }
  tally[naive.entries.length > 0 ? 'rows' : 'empty']++;
  if (typeof answer === 'string') throw new Error(`refused: ${answer}`);
  expectSameRows(answer, { ...naive, columns: answer.columns });
  if (duckdb === undefined) return;
  const judged = await judge(duckdb, parseStatement(plain.text) as MatchNode, tables, plain.parameters);
  if (typeof judged === 'string') return;
  expectSameRows(answer, { ...judged, columns: answer.columns });
  tally.byDuckDb++;
}

async function runWorld(seed: number): Promise<void> {
  await eachNamedState(seed, OF_A_WORLD, async (state) => {
    if (state.isChanged && duckdb !== undefined) await loadTables(duckdb, state.tables);
    const statements = statementsOf(state.database);
    for (const [place, statement] of state.statements.entries()) {
      try {
        await check(statements, statement, state);
      } catch (error) {
        const what = `seed ${seed}, statement ${place}, ${state.state}: ${statement.named.text}  ${JSON.stringify(statement.named.parameters)}\nplain: ${statement.plain.text}`;
        (error as Error).message = `${what}\n${(error as Error).message}`;
        throw error;
      }
    }
    statements.close();
  });
}

describe('random statements on named tables', () => {
  const worlds = Math.ceil(STATEMENTS / OF_A_WORLD);
  it.each(Array.from({ length: worlds }, (_, place) => FIRST_SEED + place))(
    'agree with the naive evaluator for seed %i',
    runWorld,
    120_000,
  );

  it('had rows, empty answers, refusals, and rows that the core wrote', () => {
    if (process.env.HEDGEROW_TALLY === '1') console.log(tally);
    if (worlds < 8) return;
    expect(tally.rows).toBeGreaterThan(4 * STATEMENTS * 0.3);
    for (const count of [tally.empty, tally.refused, tally.written]) expect(count).toBeGreaterThan(0);
  });
});
