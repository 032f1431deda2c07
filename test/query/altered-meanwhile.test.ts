// Tests UPDATE and DELETE on a table whose columns or name change while the statement searches for
// rows. The statement then starts its search again.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/engine/index.ts';
import { valueAt } from '../../src/query/executor/values/vector.ts';
import type { StatementResult } from '../../src/query/result.ts';
import { Statements } from '../../src/query/statements.ts';
import type { RunSteps } from '../../src/schedule/scheduler.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';
import { runDoor } from './door.ts';

const ROWS = 2000;

let dir: string;
let database: Database;
let statements: Statements;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hedgerow-altered-'));
  database = await openDatabase({ dir });
  let us = 0;
  statements = new Statements({
    database,
    now: () => 1e12,
    // Each look at the clock takes so long that every step of a change is a turn of its own.
    nowUs: () => (us += 3000),
    newId: () => 't',
    transactionIdleSeconds: 30,
    copyRoot: undefined,
    fs: nodeFs,
  });
  await run('CREATE HYPEREDGE TABLE T (node) PROPERTIES (n INTEGER, other TEXT)');
  const bulk = database.table('T').bulk();
  for (let i = 0; i < ROWS; i++) bulk.add({ event_ts: i, members: [i % 10], properties: { n: i, other: `o${i}` } });
  await bulk.commit();
});

afterEach(async () => {
  statements.close();
  await database.close();
  await rm(dir, { recursive: true, force: true });
});

const atOnce: RunSteps = async (step) => {
  while (step());
};

async function run(text: string, slices = atOnce, session = 's') {
  return (await runDoor(statements, text, {}, session, slices)).rows;
}

/** Runs `meanwhile` after step number `after`: once, or in every attempt if `again`. */
function interrupted(meanwhile: (time: number) => Promise<unknown>, { after = 1, again = false } = {}): RunSteps {
  let times = 0;
  return async (step) => {
    for (let steps = 0; step(); steps++) {
      if (steps === after - 1 && (again || times === 0)) await meanwhile(++times);
    }
    if (times === 0) throw new Error(`the statement had fewer than ${after} steps`);
  };
}

const UPDATE = 'UPDATE T SET n = n + 1';
const DELETE = 'DELETE FROM T WHERE n >= 200';

const PLACES = [1, 2, 5, 9];
const cases = [
  'ALTER TABLE T DROP COLUMN other',
  'ALTER TABLE T RENAME COLUMN other TO another',
  "ALTER TABLE T ADD COLUMN more TEXT DEFAULT 'x'",
].flatMap((alter) => PLACES.map((after) => [alter, after] as const));

test.each(cases)('UPDATE succeeds if %s runs after its step %i', async (alter, after) => {
  const slices = interrupted(() => run(alter), { after });
  expect(await run(UPDATE, slices)).toMatchObject([{ operation: 'UPDATE', rows_affected: ROWS }]);
  const before = (ROWS * (ROWS - 1)) / 2;
  const [sums] = await run('MATCH (t:T) RETURN COUNT(*) AS rows, SUM(t.n) AS sum');
  expect(sums).toEqual({ rows: ROWS, sum: before + ROWS });
  // Everything the UPDATE does not name is unchanged, under its new name.
  const [row] = await run('MATCH (t:T) WHERE t.event_ts = 7 RETURN t');
  const { id, event_ts, members, weight, mean_dist_m, formation, ...own } = row.t;
  const kept = { n: 8, other: 'o7' };
  if (alter.includes('DROP')) expect(own).toEqual({ n: 8 });
  else if (alter.includes('ADD')) expect(own).toEqual({ ...kept, more: 'x' });
  else expect(own).toEqual({ n: 8, another: 'o7' });
});

test.each(cases)('DELETE succeeds if %s runs after its step %i', async (alter, after) => {
  const slices = interrupted(() => run(alter), { after });
  expect(await run(DELETE, slices)).toMatchObject([{ operation: 'DELETE', rows_affected: ROWS - 200 }]);
  expect(await run('MATCH (t:T) RETURN COUNT(*) AS rows')).toEqual([{ rows: 200 }]);
});

/** Statements that read the column `n` of the table U some steps after they have begun. */
const TWO_TABLES = [
  'MATCH (t:T), (u:U) WHERE t.n = u.n RETURN COUNT(*) AS rows',
  'MATCH (t:T) WHERE EXISTS ((u:U) WHERE u.n = t.n) RETURN COUNT(*) AS rows',
  'MATCH (t:T) WHERE NOT EXISTS ((u:U) WHERE u.n = -1) RETURN COUNT(*) AS rows',
];

test.each(TWO_TABLES)(
  'a MATCH reads the columns of its snapshot, even if they are dropped meanwhile: %s',
  async (text) => {
    await run('CREATE HYPEREDGE TABLE U (node) PROPERTIES (n INTEGER)');
    for (let after = 0; after < 12; after++) {
      const bulk = database.table('U').bulk();
      for (let i = 0; i < ROWS; i++) bulk.add({ event_ts: i, members: [i % 10], properties: { n: i } });
      await bulk.commit();
      const result = statements.read(statements.prepare(text), {}, 's', undefined)! as StatementResult;
      let value: unknown;
      for (let steps = 0; ; steps++) {
        if (steps === after) await run('ALTER TABLE U DROP COLUMN n');
        const next = result.steps.next();
        if (next.done === true) {
          // The drop comes late enough for all rows to be read before, or it has no effect.
          if (steps < after) await run('ALTER TABLE U DROP COLUMN n');
          break;
        }
        if (next.value !== null) value = valueAt(next.value.items[0]!, 0);
      }
      result.close();
      expect([after, value]).toEqual([after, ROWS]);
      await run('DELETE FROM U');
      await run('ALTER TABLE U ADD COLUMN n INTEGER');
    }
  },
);

test('DELETE with EXISTS starts again if the table inside loses a column meanwhile', async () => {
  await run('CREATE HYPEREDGE TABLE U (node) PROPERTIES (n INTEGER, spare TEXT)');
  await run("INSERT INTO U (event_ts, members, n, spare) VALUES (1, [1], 7, 'a'), (2, [2], 8, 'b')");
  for (const after of [1, 2, 3]) {
    const slices = interrupted(
      () => run(`ALTER TABLE U ${after % 2 ? 'DROP COLUMN spare' : 'ADD COLUMN spare TEXT'}`),
      { after },
    );
    const rows = await run(`DELETE FROM T WHERE n < ${100 * after} AND NOT EXISTS ((u:U) WHERE u.n = n)`, slices);
    expect(rows).toMatchObject([{ rows_affected: after === 1 ? 98 : 100 }]);
  }
  const slices = interrupted(() => run('ALTER TABLE U DROP COLUMN n'));
  expect(await run('DELETE FROM T WHERE EXISTS ((u:U) WHERE u.n + 1000 = n)', slices)).toMatchObject([
    { rows_affected: 2 },
  ]);
});

test.each([
  ['ALTER TABLE T DROP COLUMN n', 'unknown_column', /"?n"?/],
  ['ALTER TABLE T RENAME COLUMN n TO m', 'unknown_column', /"?n"?/],
  ['ALTER TABLE T RENAME TO T2', 'table_not_found', /T/],
  ['DROP HYPEREDGE TABLE T', 'table_not_found', /T/],
])('UPDATE is refused if %s meanwhile removes a name that it uses: %s', async (alter, code, message) => {
  for (const after of [1, 9]) {
    const error = await run(
      UPDATE,
      interrupted(() => run(alter).catch(() => undefined), { after }),
    ).catch((thrown) => thrown);
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
  }
});

test('UPDATE during endless changes of the table ends with a conflict, and changes nothing', async () => {
  const toggle = (time: number) =>
    run(`ALTER TABLE T RENAME COLUMN ${time % 2 ? 'other TO another' : 'another TO other'}`);
  const error = await run(UPDATE, interrupted(toggle, { after: 9, again: true })).catch((thrown) => thrown);
  expect(error).toMatchObject({ code: 'conflict', status: 409, message: expect.stringContaining('altered') });
  const [sums] = await run('MATCH (t:T) RETURN SUM(t.n) AS sum');
  expect(sums).toEqual({ sum: (ROWS * (ROWS - 1)) / 2 });
});

test('an UPDATE in a transaction fails with a conflict, and the transaction stays open', async () => {
  await run('BEGIN', atOnce, 'other');
  const slices = interrupted(() => run('ALTER TABLE T DROP COLUMN other'), { after: 9 });
  await expect(run(UPDATE, slices, 'other')).rejects.toMatchObject({ code: 'conflict' });
  await expect(run('UPDATE T SET nothing = 1', atOnce, 'other')).rejects.toMatchObject({ code: 'unknown_column' });
  await run('ROLLBACK', atOnce, 'other');
});

test('an error that is not caused by a change of the table is reported unchanged', async () => {
  await expect(run("UPDATE T SET n = 'x'")).rejects.toMatchObject({ status: 400 });
  const overflow = `UPDATE T SET n = ${Number.MAX_SAFE_INTEGER} * 2`;
  await expect(
    run(
      overflow,
      interrupted(async () => undefined),
    ),
  ).rejects.toMatchObject({ status: 400 });
});

test('a long MATCH that was bound ahead while a column changed is bound again', async () => {
  const conditions = Array.from({ length: 2000 }, (_, index) => `e.n = ${index % 5}`).join(' OR ');
  const text = `MATCH (e:T) WHERE ${conditions} RETURN count(*) AS c, min(e.other) AS o`;
  const prepared = statements.prepare(text);
  const parameters = {};
  let steps = 0;
  await statements.bindAhead(prepared, parameters, async (step) => {
    while (step()) {
      steps++;
      if (steps !== 3) continue;
      await run('ALTER TABLE T DROP COLUMN other');
      await run('ALTER TABLE T ADD COLUMN other INTEGER');
    }
  });
  // 250 conditions are bound in a step.
  expect(steps).toBe(9);
  const result = await statements.execute(prepared, { parameters, session: 's', slices: atOnce });
  expect(result.columnTypes).toEqual(['INTEGER', 'INTEGER']);
  result.close();
});
