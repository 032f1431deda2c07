// Tests the limits of EXISTS on memory and on compared pairs, and EXISTS in batches and repeated
// statements.

import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { MemoryPool } from '../../src/query/executor/memory.ts';
import { Statements } from '../../src/query/statements.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';
import { CopyPlace } from './copy-place.ts';

/** Pairs that a nested loop may compare in this file. */
const MOST_PAIRS = 100_000;
vi.mock('../../src/query/executor/context.ts', async (original) => ({
  ...(await original<typeof import('../../src/query/executor/context.ts')>()),
  MOST_LOOP_PAIRS: 100_000,
}));

const ROWS = 1000;
let place: CopyPlace;
beforeAll(async () => {
  place = await CopyPlace.open();
  await place.table('t');
  const edges = Array.from({ length: ROWS }, (_, row) => ({
    event_ts: row,
    members: [row % 7, 100 + (row % 11)],
    properties: { n: row, place: `place ${row} ${'x'.repeat(500)}` },
  }));
  await place.insert('t', edges);
});
afterAll(() => place.close());

function statementsOf(memory: MemoryPool): Statements {
  return new Statements({
    database: place.database,
    now: () => 0,
    nowUs: () => 0,
    newId: () => 'id',
    transactionIdleSeconds: 30,
    copyRoot: undefined,
    fs: nodeFs,
    memory,
  });
}

test('a nested loop may compare only so many pairs, however many there are', async () => {
  const count = (condition: string) =>
    place.run(`MATCH (a:t) WHERE EXISTS ((b:t) WHERE ${condition}) RETURN COUNT(*) AS c`);
  expect(ROWS * ROWS).toBeGreaterThan(MOST_PAIRS);
  // Nearly every row has a match among the first few candidates.
  expect((await count('b.n <> a.n')).rows).toEqual([{ c: ROWS }]);
  await expect(count('b.n + a.n < 0')).rejects.toMatchObject({
    code: 'query_too_large',
    message: expect.stringContaining(`more than ${MOST_PAIRS} pairs`),
  });
  await expect(place.run('DELETE FROM t WHERE EXISTS ((b:t) WHERE b.n + n < 0)')).rejects.toMatchObject({
    code: 'query_too_large',
  });
});

test('the rows inside count as memory until the statement ends', async () => {
  const memory = new MemoryPool({ statementBytes: 2 ** 19, totalBytes: 2 ** 30 });
  const statements = statementsOf(memory);
  const run = (condition: string) =>
    place.run(`MATCH (a:t) WHERE ${condition} RETURN COUNT(*) AS c`, {}, {}, statements);
  expect((await run('EXISTS ((b:t) WHERE b.n = a.n AND b.event_ts >= a.event_ts)')).rows).toEqual([{ c: ROWS }]);
  expect(memory.usedBytes).toBe(0);
  await expect(run('EXISTS ((b:t) WHERE b.place = a.place)')).rejects.toMatchObject({ code: 'query_too_large' });
  expect(memory.usedBytes).toBe(0);
  await expect(
    place.run('DELETE FROM t WHERE EXISTS ((b:t) WHERE b.place = place)', {}, {}, statements),
  ).rejects.toMatchObject({ code: 'query_too_large' });
  expect(memory.usedBytes).toBe(0);
  statements.close();
});

test('a repeated statement has the answer for its own parameters and for the newest rows', async () => {
  const statements = statementsOf(new MemoryPool({ statementBytes: 2 ** 28, totalBytes: 2 ** 30 }));
  const text =
    'MATCH (a:t) WHERE EXISTS ((b:t) WHERE b.n = a.n + $by AND b.n IN $among) OR a.n = $one RETURN a.n ORDER BY a.n';
  for (const by of [1, 2, 3, 4]) {
    const parameters = { by, among: [10, 20], one: 500 + by };
    const { rows } = await place.run(text, parameters, {}, statements);
    expect(rows).toEqual([{ n: 10 - by }, { n: 20 - by }, { n: 500 + by }]);
  }
  await place.insert('t', [{ event_ts: 5000, members: [1], properties: { n: 9 } }]);
  const { rows } = await place.run(text, { by: 1, among: [10], one: -1 }, {}, statements);
  expect(rows).toEqual([{ n: 9 }, { n: 9 }]);
  await place.run('DELETE FROM t WHERE event_ts = 5000', {}, {}, statements);
  statements.close();
});

test('a batch sees what it has changed before', async () => {
  const statements = statementsOf(new MemoryPool({ statementBytes: 2 ** 28, totalBytes: 2 ** 30 }));
  const transaction = place.database.begin();
  const slices = async (step: () => boolean): Promise<void> => {
    while (step());
  };
  const inside = (text: string) => statements.runInside(statements.prepare(text), {}, transaction, slices);
  await inside('INSERT INTO t (event_ts, members, n) VALUES (6000, [1], -1), (6001, [2], -2)');
  expect(
    await inside('UPDATE t SET n = -3 WHERE n < 0 AND EXISTS ((b:t) WHERE follows(t, b, 1) AND b.n < 0)'),
  ).toMatchObject({
    rows_affected: 1,
  });
  expect(
    await inside('DELETE FROM t WHERE NOT EXISTS ((b:t) WHERE b.n = n + 1 AND b.id <> t.id) AND n < 0'),
  ).toMatchObject({
    rows_affected: 1,
  });
  transaction.rollback();
  statements.close();
});
