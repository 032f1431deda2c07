// Runs a statement on named tables and compares its answer with the naive evaluator and, where
// DuckDB is installed, with its rows, for the same statement over the plain tables.

import { expect } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { HedgerowError } from '../../src/errors.ts';
import { valueAt } from '../../src/query/executor/values/vector.ts';
import type { MatchNode } from '../../src/query/parser/ast.ts';
import { parseStatement } from '../../src/query/parser/parser.ts';
import { Statements } from '../../src/query/statements.ts';
import { WrittenRead } from '../../src/query/written-read.ts';
import { nodeFs } from '../../src/storage/index.ts';
import type { DuckDb } from '../support/duckdb.ts';
import { type Judgement, judge, loadTables } from './duckdb-judge.ts';
import { type Answer, planOf } from './execute.ts';
import { type NaiveResult, naiveMatch } from './naive.ts';
import { Refusal } from './naive-values.ts';
import { type NamedStatement, plainValue } from './named-random.ts';
import type { NamedState } from './named-random-world.ts';
import type { RandomStatement } from './random-statements.ts';
import { expectSameRows } from './same-rows.ts';

export function statementsOf(database: Database): Statements {
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

interface Expected {
  /** The rows, or the refusal. */
  readonly naive: NaiveResult | Refusal | string;
  /** The rows of DuckDB, if it was asked, or why it has none. */
  readonly judged: Judgement | undefined;
}

/** Counts of outcomes, with which a test checks its own coverage. */
export class NamedChecks {
  /** `counted`: answers that were planned as counts of edges by node. */
  readonly tally = { rows: 0, empty: 0, refused: 0, byValue: 0, written: 0, counted: 0, byDuckDb: 0, outOfRange: 0 };
  readonly strategies = new Map<string, number>();
  readonly #duckdb: DuckDb | undefined;
  /** What is expected of each statement, until the tables change. */
  #expected = new Map<NamedStatement, Expected>();

  constructor(duckdb: DuckDb | undefined) {
    this.#duckdb = duckdb;
  }

  /** Checks all statements in one state; `seed` is named in the message of a difference. */
  async inState(statements: readonly NamedStatement[], state: NamedState, seed: number): Promise<void> {
    if (state.isChanged) {
      this.#expected = new Map();
      if (this.#duckdb !== undefined) await loadTables(this.#duckdb, state.tables);
    }
    const service = statementsOf(state.database);
    for (const [place, statement] of statements.entries()) {
      try {
        await this.#check(service, statement, state);
      } catch (error) {
        const { named, plain } = statement;
        const what = `seed ${seed}, statement ${place}, ${state.state}: ${named.text}  ${JSON.stringify(named.parameters)}`;
        const without = `plain: ${plain.text}  ${JSON.stringify(plain.parameters)}`;
        (error as Error).message = `${what}\n${without}\n${(error as Error).message}`;
        throw error;
      }
    }
    service.close();
  }

  async #check(service: Statements, statement: NamedStatement, { database, tables }: NamedState): Promise<void> {
    const { tally } = this;
    const { naive, judged } = await this.#expectedOf(statement, tables);
    const answer = this.#run(service, statement.named);
    if (typeof naive === 'string' || naive instanceof Refusal) {
      // Whether an out-of-range value is reached depends on which conditions were tested before.
      const byValue = naive instanceof Refusal && naive.byValue;
      tally[byValue ? 'byValue' : 'refused']++;
      if (!byValue) expect(typeof answer === 'string' ? 'refused' : answer.rows).toBe('refused');
      return;
    }
    tally[naive.entries.length > 0 ? 'rows' : 'empty']++;
    if (typeof answer === 'string') throw new Error(`refused: ${answer}`);
    expectSameRows(answer, { ...naive, columns: answer.columns });
    const { text, parameters } = statement.named;
    const plan = planOf(database, parseStatement(text) as MatchNode, text, parameters);
    if (plan.nodeCounts !== undefined) tally.counted++;
    if (judged === undefined) return;
    tally[typeof judged === 'string' ? 'outOfRange' : 'byDuckDb']++;
    if (typeof judged !== 'string') expectSameRows(answer, { ...judged, columns: answer.columns });
  }

  async #expectedOf(statement: NamedStatement, tables: NamedState['tables']): Promise<Expected> {
    const known = this.#expected.get(statement);
    if (known !== undefined) return known;
    const { text, parameters } = statement.plain;
    const naive = naiveOf(statement.plain, tables);
    const isJudged = this.#duckdb !== undefined && typeof naive !== 'string' && !(naive instanceof Refusal);
    const node = () => parseStatement(text) as MatchNode;
    const judged = isJudged ? await judge(this.#duckdb!, node(), tables, parameters) : undefined;
    const expected = { naive, judged };
    this.#expected.set(statement, expected);
    return expected;
  }

  /** Returns the rows with integers in place of keys, or the refusal. */
  #run(service: Statements, { text, parameters }: RandomStatement): Answer | string {
    try {
      const result = service.read(service.prepare(text), parameters, 's', undefined);
      if (result === undefined || result instanceof WrittenRead) throw new Error('not a read');
      const { columns, forms } = result;
      const rows: string[] = [];
      const shown: string[] = [];
      for (const chunk of result.steps) {
        for (let row = 0; row < (chunk?.count ?? 0); row++) {
          const values = columns.map((name, place) => [name, valueAt(chunk!.items[place]!, row)] as const);
          shown.push(JSON.stringify(Object.fromEntries(values)));
          const plain = values.map(([name, value], place) => [name, plainValue(value, forms[place]!)]);
          rows.push(JSON.stringify(Object.fromEntries(plain)));
        }
      }
      const strategy = result.plan()?.strategy ?? 'none';
      this.strategies.set(strategy, (this.strategies.get(strategy) ?? 0) + 1);
      this.#compareWritten(service, { text, parameters }, shown);
      return { columns, rows, plan: null };
    } catch (error) {
      if (error instanceof HedgerowError && error.status >= 400 && error.status < 500)
        return `${error.code} ${error.message}`;
      throw error;
    }
  }

  /** If the core writes the rows itself, its text must be that of the executor. */
  #compareWritten(service: Statements, { text, parameters }: RandomStatement, rows: readonly string[]): void {
    const written = service.read(service.prepare(text), parameters, 's', 'ndjson');
    if (!(written instanceof WrittenRead)) {
      written?.close();
      return;
    }
    let lines = '';
    for (let slice = written.next(); slice !== null; slice = written.next()) lines += Buffer.from(slice).toString();
    expect(lines).toBe(rows.map((row) => `${row}\n`).join(''));
    this.tally.written++;
  }
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
