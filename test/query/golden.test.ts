// Runs the golden statements (golden/*.txt): every clause, function, rule and refusal of the
// language. The answers must be the same in memory, compacted, after a restart, and from the naive
// evaluator.

import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import type { MatchNode } from '../../src/query/parser/ast.ts';
import { parseStatement } from '../../src/query/parser/parser.ts';
import { WRITE_GOLDEN } from '../support/golden.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import { type Answer, type Execute, executor } from './execute.ts';
import { errorLine, type GoldenCase, goldenNames, goldenPath, goldenText, readGolden } from './golden-file.ts';
import { openGoldenWorld } from './golden-world.ts';
import { naiveMatch } from './naive.ts';
import type { NaiveTable } from './naive-expressions.ts';
import { Refusal } from './naive-values.ts';

/** Returns the lines of the current answer to a case. */
async function answerOf(execute: Execute, { text, parameters, hasPlan }: GoldenCase): Promise<string[]> {
  try {
    const { columns, rows, plan } = await execute(text, parameters);
    for (const row of rows)
      expect(Object.keys(JSON.parse(row) as object).sort(), `${text}: ${row}`).toEqual([...columns].sort());
    return hasPlan ? [...rows, planLine(plan)] : [...rows];
  } catch (error) {
    if (!(error instanceof HedgerowError)) throw error;
    return [errorLine(error)];
  }
}

function planLine(plan: Answer['plan']): string {
  if (plan === null) return 'plan: null';
  return `plan: ${plan.strategy} ${plan.indexType} ${plan.bucketsScanned}/${plan.totalBuckets}`;
}

/** Sorts the lines if there is no ORDER BY, because then no order is promised. */
function comparable(text: string, lines: readonly string[]): readonly string[] {
  try {
    const node = parseStatement(text);
    return node.kind === 'match' && node.orderBy.length === 0 ? [...lines].sort() : lines;
  } catch {
    return lines;
  }
}

function isPlan(line: string): boolean {
  return line.startsWith('plan: ');
}

/** Returns the answer of the naive evaluator, or undefined if the statement is not a MATCH. */
function naiveAnswer({ text, parameters }: GoldenCase, tables: readonly NaiveTable[]): readonly string[] | undefined {
  try {
    const node = parseStatement(text);
    if (node.kind !== 'match') return undefined;
    const { columns, entries, skip, limit } = naiveMatch(node as MatchNode, text, tables, parameters);
    return entries
      .slice(skip, skip + limit)
      .map(({ values }) => JSON.stringify(Object.fromEntries(columns.map((column, place) => [column, values[place]]))));
  } catch (error) {
    if (error instanceof HedgerowError || error instanceof Refusal) return [`error: ${error.code}`];
    throw error;
  }
}

/**
 * Sorts keys, because JavaScript objects put numeric names first. Also sorts lists, because COLLECT
 * promises no order.
 */
function sortedKeys(line: string): string {
  if (!line.startsWith('{')) return line;
  const entries = Object.entries(JSON.parse(line) as object).map(([key, value]) => [
    key,
    Array.isArray(value) ? value.map((item) => JSON.stringify(item)).sort() : value,
  ]);
  return JSON.stringify(entries.sort());
}

const files = goldenNames()
  .map(readGolden)
  .filter(({ scripts }) => scripts.length === 0);
const cases = files.flatMap((file) => file.parts.filter((part): part is GoldenCase => typeof part !== 'string'));

describe('golden statements', () => {
  it('are more than 200', () => {
    expect(cases.length).toBeGreaterThan(200);
  });

  it.runIf(WRITE_GOLDEN).each(files)('are written for $name', async (file) => {
    const { database } = await openGoldenWorld(file, simDisk());
    const answers = new Map<GoldenCase, readonly string[]>();
    for (const part of file.parts)
      if (typeof part !== 'string') answers.set(part, await answerOf(executor(database), part));
    writeFileSync(goldenPath(file.name), goldenText(file, answers));
  });

  describe.skipIf(WRITE_GOLDEN).each(files)('golden statements in $name', (file) => {
    const own = file.parts.filter((part): part is GoldenCase => typeof part !== 'string');

    it.each(['as set up', 'compacted', 'after a restart'] as const)('have the same answers: %s', async (state) => {
      const fs = simDisk();
      let { database } = await openGoldenWorld(file, fs);
      if (state === 'compacted') await database.compact();
      if (state === 'after a restart') {
        await database.close();
        database = await openSim(fs);
      }
      for (const one of own) {
        const answer = await answerOf(executor(database), one);
        const lines = (all: readonly string[]) =>
          comparable(one.text, state === 'as set up' ? all : all.filter((line) => !isPlan(line)));
        expect(lines(answer), `${file.name}: ${one.text}`).toEqual(lines(one.answer));
      }
      await database.close();
    });

    it('have the answers of the naive evaluator', async () => {
      const { database, tables } = await openGoldenWorld(file, simDisk());
      for (const one of own) {
        const naive = naiveAnswer(one, tables);
        if (naive === undefined) continue;
        const answer = one.answer.filter((line) => !isPlan(line)).map((line) => line.replace(/^(error: \w+) .*/, '$1'));
        expect(comparable(one.text, answer.map(sortedKeys)), `${file.name}: ${one.text}`).toEqual(
          comparable(one.text, naive.map(sortedKeys)),
        );
      }
      await database.close();
    });
  });

  it('include every strategy', () => {
    const shown = new Set(cases.flatMap((one) => one.answer.filter(isPlan).map((line) => line.split(' ')[1])));
    const strategies = ['TPI_BUCKET_PUSHDOWN', 'FMI_LOOKUP', 'FMI_INTERSECT', 'PSI_RANGE', 'FULL_SCAN'];
    expect([...shown].sort()).toEqual(
      [...strategies, 'TEMPORAL_JOIN', 'MEMBER_JOIN', 'HASH_JOIN', 'NESTED_LOOP'].sort(),
    );
  });
});
