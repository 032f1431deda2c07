// Tests sessions. A transaction does not expire while the rows of a result in it are still being
// sent, however idle the session seems.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/engine/index.ts';
import type { HedgerowError } from '../../src/errors.ts';
import { valueAt } from '../../src/query/executor/values/vector.ts';
import type { StatementResult } from '../../src/query/result.ts';
import { Statements } from '../../src/query/statements.ts';
import type { RunSteps } from '../../src/schedule/scheduler.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';

const ROWS = 20_000;
const IDLE_SECONDS = 30;

let dir: string;
let database: Database;
let statements: Statements;
let nowMs = 1e12;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hedgerow-sessions-'));
  database = await openDatabase({ dir });
  let lastId = 0;
  statements = new Statements({
    database,
    now: () => nowMs,
    nowUs: () => 0,
    newId: () => `t${++lastId}`,
    transactionIdleSeconds: IDLE_SECONDS,
    copyRoot: undefined,
    fs: nodeFs,
  });
  const bulk = database.table().bulk();
  for (let i = 0; i < ROWS; i++) bulk.add({ event_ts: i, members: [i % 10] });
  await bulk.commit();
});

afterAll(async () => {
  statements.close();
  await database.close();
  await rm(dir, { recursive: true, force: true });
});

const slices: RunSteps = async (step) => {
  while (step());
};

function run(text: string): Promise<StatementResult> {
  return statements.execute(statements.prepare(text), { parameters: {}, session: 's', slices });
}

/** Returns the remaining rows of a result. */
function rowsOf({ steps }: StatementResult): unknown[] {
  const rows: unknown[] = [];
  for (const chunk of steps)
    for (let row = 0; row < (chunk?.count ?? 0); row++) rows.push(chunk!.items.map((item) => valueAt(item, row)));
  return rows;
}

const MATCH = 'MATCH (e:hyperedges) RETURN e.id';
const BUSY = { code: 'conflict', message: expect.stringContaining('still') };

test('the next statement of a session is refused while a result of the session is still being read', async () => {
  await run('BEGIN');
  await run('INSERT INTO hyperedges (event_ts, members) VALUES (5, [1])');
  const result = await run(MATCH);
  result.steps.next();
  for (const text of [MATCH, 'DELETE FROM hyperedges', 'COMMIT', 'ROLLBACK'])
    await expect(run(text)).rejects.toMatchObject(BUSY);
  rowsOf(result);
  await run('ROLLBACK');
  expect(statements.sessions.size).toBe(0);
});

test.each([MATCH, `ANALYZE ${MATCH}`])(
  'a result that is closed early, or before its first row, frees its session: %s',
  async (text) => {
    await run('BEGIN');
    const begun = await run(text);
    begun.steps.next();
    begun.close();
    begun.close();
    (await run(text)).close();
    expect(rowsOf(begun)).toEqual([]);
    await run('ROLLBACK');
  },
);

test('a closed result keeps no files of replaced segments', async () => {
  await database.compact();
  const result = await run(MATCH);
  result.steps.next();
  const [segment] = database.table().version.segments;
  await run('INSERT INTO hyperedges (event_ts, members) VALUES (-5, [1])');
  await database.compact();
  expect(nodeFs.exists(segment!.path)).toBe(true);
  result.close();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(nodeFs.exists(segment!.path)).toBe(false);
});

test('a session is not idle while its rows are read, and becomes idle after the last row', async () => {
  await run('BEGIN');
  await run('INSERT INTO hyperedges (event_ts, members) VALUES (7, [1])');
  const before = rowsOf(await run(MATCH)).length;
  const result = await run(MATCH);
  result.steps.next();
  nowMs += 10 * IDLE_SECONDS * 1000;
  statements.sessions.sweep();
  // The data that the result reads must also survive a compaction.
  await database.compact();
  expect(rowsOf(result).length).toBeGreaterThan(before - ROWS);
  nowMs += (IDLE_SECONDS - 1) * 1000;
  statements.sessions.sweep();
  expect(statements.sessions.size).toBe(1);
  nowMs += 2000;
  statements.sessions.sweep();
  expect(statements.sessions.size).toBe(0);
});

test('a session can run the next statement after statements that fail or write', async () => {
  await run('BEGIN');
  await expect(run('MATCH (e:nowhere) RETURN e')).rejects.toMatchObject({ code: 'table_not_found' });
  await expect(run('COMPACT')).rejects.toMatchObject({ code: 'invalid_statement' });
  // The results of these statements are never read.
  await run('EXPLAIN MATCH (e:hyperedges) RETURN e');
  await run('SHOW TABLES');
  await run('UPDATE hyperedges SET weight = 1 WHERE event_ts = 3');
  await run('COMMIT');
});

test('no other statement of the session runs while it commits', async () => {
  await run('BEGIN');
  await run('INSERT INTO hyperedges (event_ts, members) VALUES (9, [1])');
  const commit = run('COMMIT');
  await expect(run('INSERT INTO hyperedges (event_ts, members) VALUES (10, [1])')).rejects.toMatchObject(BUSY);
  await commit;
  expect(statements.sessions.size).toBe(0);
});

test('a session that was rolled back for idleness runs no statement before BEGIN or ROLLBACK', async () => {
  const count = async () => rowsOf(await run('MATCH (e:hyperedges) RETURN COUNT(*)'))[0];
  const before = await count();
  const { lastLsn } = database;
  for (const way of ['ROLLBACK', 'BEGIN']) {
    await run('BEGIN');
    await run('INSERT INTO hyperedges (event_ts, members) VALUES (11, [1])');
    expect((await refused('BEGIN')).code).toBe('invalid_statement');
    nowMs += (IDLE_SECONDS + 1) * 1000;
    for (const text of [
      'INSERT INTO hyperedges (event_ts, members) VALUES (12, [1])',
      'UPDATE hyperedges SET weight = 2 WHERE event_ts = 3',
      'DELETE FROM hyperedges',
      MATCH,
      `EXPLAIN ${MATCH}`,
      `ANALYZE ${MATCH}`,
      'SHOW TABLES',
      'COMPACT',
      'CREATE HYPEREDGE TABLE Never (node)',
      'COMMIT',
    ]) {
      const { code, status, message } = await refused(text);
      expect([text, code, status]).toEqual([text, 'transaction_expired', 409]);
      expect(message).toMatch(/BEGIN .*ROLLBACK/);
    }
    const fast = () => statements.read(statements.prepare(MATCH), {}, 's', 'json');
    expect(fast).toThrow(expect.objectContaining({ code: 'transaction_expired' }));
    // Statements of other sessions do not end the expired state of this one.
    (await statements.execute(statements.prepare(MATCH), { parameters: {}, session: 'other', slices })).close();
    expect(statements.sessions.expired).toBe(1);
    await run(way);
    expect(statements.sessions.expired).toBe(0);
    if (way === 'BEGIN') await run('COMMIT');
    expect(await count()).toEqual(before);
  }
  expect(database.lastLsn).toBe(lastLsn);
  expect((await refused('ROLLBACK')).code).toBe('invalid_statement');
});

test('ROLLBACK after an idle rollback names the transaction that was rolled back', async () => {
  const [begun] = rowsOf(await run('BEGIN')) as [unknown[]];
  nowMs += (IDLE_SECONDS + 1) * 1000;
  const { fields } = await refused(MATCH);
  expect(fields).toEqual({ transaction_id: begun[1] });
  expect(rowsOf(await run('ROLLBACK'))).toEqual([['rolled_back', begun[1], null]]);
  await run('INSERT INTO hyperedges (event_ts, members) VALUES (13, [1])');
  await run('DELETE FROM hyperedges WHERE event_ts = 13');
});

async function refused(text: string): Promise<HedgerowError> {
  try {
    (await run(text)).close();
  } catch (error) {
    return error as HedgerowError;
  }
  throw new Error(`${text} was not refused`);
}
