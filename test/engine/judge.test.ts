// Tests that rows are judged from their texts in steps that read one text of 64 KB at most.

import { expect, test } from 'vitest';
import type { Table } from '../../src/engine/table/table.ts';
import { Judge, ROWS_A_STEP } from '../../src/engine/texts/judge.ts';
import { analyzerOf, parseSearch } from '../../src/text/index.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';

const COLUMNS = ['a', 'b', 'c'];
const ROWS = 100;
const long = 'budget zurich '.repeat(4600).slice(0, 64_000).trim();
/** The first rows; the others have "plan" twice, or other words. */
const TEXTS = [
  { a: 'plan' },
  { a: long, b: long, c: `plan ${long}` },
  { c: 'budget' },
  { a: long, b: 'plan', c: null },
  { b: long },
  { a: null, b: null, c: null },
];
const MATCHING = [0, 1, 3, ...Array.from({ length: 47 }, (_, i) => 7 + 2 * i)];

async function opened() {
  const database = await openSim(simDisk(), { core: 'release' });
  await database.createTable({ name: 'notes', columns: COLUMNS.map((name) => ({ name, type: 'TEXT' as const })) });
  const bulk = database.table('notes').bulk();
  for (let i = 0; i < ROWS; i++)
    bulk.add({ event_ts: i, members: [1], properties: TEXTS[i] ?? { b: i % 2 === 1 ? 'plan plan' : 'none' } });
  await bulk.commit();
  const table = database.table('notes');
  const { memtable } = table.version.memtables.find((held) => held.memtable.rows === ROWS)!;
  return { database, table, recordsOf: (rows: Uint32Array) => memtable.recordsOf(rows) };
}

function judgeOf(table: Table): Judge {
  const columns = COLUMNS.map((name) => table.columns.find(name)!.id);
  const parts = parseSearch('plan', analyzerOf('none'));
  const statistics = { rows: ROWS, averageLength: 10, weights: Float64Array.of(1) };
  return new Judge(table.columns, { columns, language: 'none', parts }, statistics);
}

/** Judges rows in steps: those that match, their scores, and how many each step judged. */
function judgeAll(judge: Judge, all: Uint32Array, recordsOf: (rows: Uint32Array) => Uint8Array) {
  const kept: number[] = [];
  const scores: number[] = [];
  const steps: number[] = [];
  for (let rows = all; rows.length > 0; ) {
    const some = judge.some(rows, recordsOf);
    kept.push(...some.kept);
    scores.push(...some.scores);
    steps.push(some.judged);
    rows = rows.subarray(some.judged);
  }
  return { kept, scores, steps };
}

const allRows = () => Uint32Array.from({ length: ROWS }, (_, row) => row);

test('a row of three long texts is read in three steps', async () => {
  const { database, table, recordsOf } = await opened();
  const { kept, scores, steps } = judgeAll(judgeOf(table), allRows(), recordsOf);
  expect(kept).toEqual(MATCHING);
  expect(scores).toHaveLength(MATCHING.length);
  expect(new Set(scores.slice(3)).size).toBe(1);
  expect(scores[1]).toBeLessThan(scores[2]!);
  // The first row, two texts of the second, its third.
  expect(steps.slice(0, 3)).toEqual([1, 0, 1]);
  expect(Math.max(...steps)).toBeLessThanOrEqual(ROWS_A_STEP);
  await database.close();
});

test('a row whose reading was given up is read from its first text', async () => {
  const { database, table, recordsOf } = await opened();
  const judge = judgeOf(table);
  const expected = judgeAll(judgeOf(table), allRows(), recordsOf);
  for (const givenUp of [1, 3]) {
    expect(judge.some(Uint32Array.of(givenUp), recordsOf).judged).toBe(0);
    expect(judgeAll(judge, allRows(), recordsOf)).toMatchObject({ kept: expected.kept, scores: expected.scores });
  }
  await database.close();
});
