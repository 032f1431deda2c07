// Runs the same text repeatedly: after every kind of catalog change, with parameters of other types
// and values, inside and outside transactions.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import type { HedgerowError } from '../../src/errors.ts';
import type { Statements } from '../../src/query/statements.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import { statementsOf } from '../support/statements.ts';
import { runDoor } from './door.ts';

let database: Database;
let statements: Statements;

beforeEach(async () => {
  database = await openSim(simDisk(), { core: 'release' });
  statements = statementsOf(database);
  await run('CREATE HYPEREDGE TABLE T (x) PROPERTIES (n INTEGER, s TEXT)');
  await run(
    "INSERT INTO T (event_ts, members, n, s) VALUES (10, [1, 2], 1, 'a'), (20, [2, 3], 2, 'b'), (30, [3], 3, 'c')",
  );
});

afterEach(async () => {
  statements.close();
  await database.close();
});

const run = (text: string, parameters: Record<string, unknown> = {}, session?: string) =>
  runDoor(statements, text, parameters, session);

/** Runs the text three times, so that everything that can be cached is cached. */
async function often(text: string, parameters: Record<string, unknown> = {}): Promise<unknown[]> {
  const answers = [await run(text, parameters), await run(text, parameters), await run(text, parameters)];
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[2]).toEqual(answers[0]);
  return [...answers[0]!.rows];
}

async function refusal(text: string, parameters: Record<string, unknown> = {}, session?: string): Promise<string> {
  return run(text, parameters, session).then(
    () => 'answered',
    (error: HedgerowError) => `${error.code}: ${error.message}`,
  );
}

describe('a text that was run before the catalog changed', () => {
  it('sees an added column', async () => {
    const text = 'MATCH (a:T) WHERE a.n = 1 RETURN *';
    expect(Object.keys((await often(text))[0] as object)).not.toContain('late');
    await run("ALTER TABLE T ADD COLUMN late TEXT DEFAULT 'x'");
    expect(await often(text)).toMatchObject([{ n: 1, late: 'x' }]);
  });

  it('fails for a dropped column, and sees the type of a new column with the same name', async () => {
    const text = 'MATCH (a:T) WHERE a.n > 1 RETURN a.n ORDER BY a.n';
    expect(await often(text)).toEqual([{ n: 2 }, { n: 3 }]);
    await run('ALTER TABLE T DROP COLUMN n');
    expect(await refusal(text)).toContain('unknown_column');
    await run('ALTER TABLE T ADD COLUMN n TEXT');
    expect(await refusal(text)).toContain('invalid_statement');
  });

  it('sees a renamed column only under its new name', async () => {
    const text = 'MATCH (a:T) RETURN a.n ORDER BY a.n LIMIT 1';
    expect(await often(text)).toEqual([{ n: 1 }]);
    await run('ALTER TABLE T RENAME COLUMN n TO m');
    expect(await refusal(text)).toContain('unknown_column');
    expect(await often('MATCH (a:T) RETURN a.m ORDER BY a.m LIMIT 1')).toEqual([{ m: 1 }]);
    await run('ALTER TABLE T RENAME COLUMN s TO n');
    expect(await often(text)).toEqual([{ n: 'a' }]);
  });

  it('sees a table that was dropped and created again', async () => {
    const text = 'MATCH (a:T) RETURN a.s, bucket(a) AS b ORDER BY a.event_ts DESC LIMIT 1';
    expect(await often(text)).toEqual([{ s: 'c', b: 3 }]);
    await run('DROP HYPEREDGE TABLE T');
    expect(await refusal(text)).toContain('table_not_found');
    await run('CREATE HYPEREDGE TABLE T (x) PROPERTIES (s INTEGER) BUCKET_SECONDS 7');
    expect(await often(text)).toEqual([]);
    await run('INSERT INTO T (event_ts, members, s) VALUES (70, [1], 5)');
    expect(await often(text)).toEqual([{ s: 5, b: 10 }]);
  });

  it('sees the new names of tables', async () => {
    await run('CREATE HYPEREDGE TABLE U (x)');
    await run('INSERT INTO U (event_ts, members) VALUES (99, [1])');
    const text = 'MATCH (a:T) RETURN a.event_ts ORDER BY a.event_ts DESC LIMIT 1';
    expect(await often(text)).toEqual([{ event_ts: 30 }]);
    await run('ALTER TABLE T RENAME TO V');
    expect(await refusal(text)).toContain('table_not_found');
    await run('ALTER TABLE U RENAME TO T');
    expect(await often(text)).toEqual([{ event_ts: 99 }]);
  });

  it('uses an index only while it exists', async () => {
    const text = 'EXPLAIN MATCH (a:T) WHERE a.n = 2 RETURN a.id';
    await database.compact();
    expect(await often(text)).toMatchObject([{ strategy: 'FULL_SCAN' }]);
    await run('CREATE INDEX ON T (n)');
    expect(await often(text)).toMatchObject([{ strategy: 'PSI_RANGE' }]);
    await run('DROP INDEX ON T (n)');
    expect(await often(text)).toEqual((await run(`${text};`)).rows);
  });

  it('writes with the new columns if it is a statement that writes', async () => {
    const insert = 'INSERT INTO T (event_ts, members, n) VALUES ($t, [7], $n)';
    const update = 'UPDATE T SET n = n + $by WHERE 7 IN members';
    const remove = 'DELETE FROM T WHERE n = $n AND 7 IN members';
    for (let t = 1; t <= 3; t++) await run(insert, { t, n: 0 });
    for (let by = 1; by <= 3; by++) await run(update, { by });
    for (let i = 0; i < 3; i++) expect((await run(remove, { n: 5 })).rows).toMatchObject([{ rows_affected: 0 }]);
    await run('ALTER TABLE T DROP COLUMN n');
    for (const [text, parameters] of [
      [insert, { t: 1, n: 0 }],
      [update, { by: 1 }],
      [remove, { n: 6 }],
    ] as const)
      expect(await refusal(text, parameters)).toContain('unknown_column');
    await run('ALTER TABLE T ADD COLUMN n REAL DEFAULT 0.5');
    await run(insert, { t: 4, n: 1.5 });
    expect((await run(update, { by: 0.25 })).rows).toMatchObject([{ rows_affected: 4 }]);
    expect((await run(remove, { n: 0.75 })).rows).toMatchObject([{ rows_affected: 3 }]);
    expect(await often('MATCH (a:T) WHERE 7 IN a.members RETURN a.n')).toEqual([{ n: 1.75 }]);
  });

  it('sees the change in a transaction that began before it', async () => {
    const text = 'MATCH (a:T) RETURN a.n ORDER BY a.n LIMIT 1';
    await run('BEGIN', {}, 'mine');
    for (let i = 0; i < 3; i++) expect((await run(text, {}, 'mine')).rows).toEqual([{ n: 1 }]);
    await run('ALTER TABLE T RENAME COLUMN n TO m');
    expect(await refusal(text, {}, 'mine')).toContain('unknown_column');
    await run('ALTER TABLE T RENAME COLUMN m TO n');
    expect((await run(text, {}, 'mine')).rows).toEqual([{ n: 1 }]);
  });

  it('is not affected by changes in another database', async () => {
    const other = await openSim(simDisk(2), { core: 'release' });
    const others = statementsOf(other);
    await runDoor(others, 'CREATE HYPEREDGE TABLE T (x) PROPERTIES (n TEXT, s INTEGER)');
    const text = 'MATCH (a:T) WHERE a.n = $n RETURN a.s';
    expect(await often(text, { n: 1 })).toEqual([{ s: 'a' }]);
    expect((await runDoor(others, text, { n: 'x' })).rows).toEqual([]);
    await expect(runDoor(others, text, { n: 1 })).rejects.toMatchObject({ code: 'invalid_statement' });
    others.close();
    await other.close();
  });
});

describe('the same text with other parameters', () => {
  it('is bound for their types', async () => {
    const text = 'MATCH (a:T) WHERE a.n < $x RETURN a.n ORDER BY a.n';
    expect(await often(text, { x: 2 })).toEqual([{ n: 1 }]);
    expect(await often(text, { x: 2.5 })).toEqual([{ n: 1 }, { n: 2 }]);
    expect(await often(text, { x: null })).toEqual([]);
    for (const x of ['2', true, [2], {}, [1, 'x']]) expect(await refusal(text, { x })).toContain('invalid_statement');
    expect(await refusal(text)).toContain('parameter $x is missing');
    expect(await often(text, { x: 2 })).toEqual([{ n: 1 }]);
  });

  it('accepts lists of one type, an empty list, and null for a list', async () => {
    const text = 'MATCH (a:T) WHERE a.n IN $l RETURN a.n ORDER BY a.n';
    expect(await often(text, { l: [1, 3] })).toEqual([{ n: 1 }, { n: 3 }]);
    expect(await often(text, { l: null })).toEqual([]);
    expect(await often(text, { l: [] })).toEqual([]);
    expect(await often(text, { l: [null] })).toEqual([]);
    expect(await often(text, { l: [2] })).toEqual([{ n: 2 }]);
    expect(await refusal(text, { l: ['2'] })).toContain('invalid_statement');
    expect(await refusal(text, { l: 2 })).toContain('IN takes a list');
    expect(await refusal('MATCH (a:T) MEMBERS $l RETURN a.n', { l: [] })).toContain('at least one');
  });

  it("takes '$name' as the parameter, whatever its type is", async () => {
    const text = "MATCH (a:T) WHERE a.s = '$v' RETURN a.n";
    expect(await often(text, { v: 'b' })).toEqual([{ n: 2 }]);
    expect(await often(text, { v: null })).toEqual([]);
    expect(await refusal(text, { v: 2 })).toContain('invalid_statement');
    expect(await refusal(text)).toContain('parameter $v is missing');
    expect(await often("MATCH (a:T) WHERE a.s <> '$5' RETURN a.n ORDER BY a.n LIMIT 1")).toEqual([{ n: 1 }]);
  });

  it('uses the LIMIT and SKIP of each run', async () => {
    const text = 'MATCH (a:T) RETURN a.n ORDER BY a.n SKIP $s LIMIT $l';
    expect(await often(text, { s: 0, l: 2 })).toEqual([{ n: 1 }, { n: 2 }]);
    expect(await often(text, { s: 1, l: 1 })).toEqual([{ n: 2 }]);
    expect(await often(text, { s: 9, l: 0 })).toEqual([]);
    for (const l of [-1, 1.5, '1', null, [1]]) expect(await refusal(text, { s: 0, l })).toContain('invalid_statement');
    expect(await often(text, { s: 2, l: 9 })).toEqual([{ n: 3 }]);
  });

  it('uses the nodes and the window of each run', async () => {
    const text =
      'MATCH (a:T) WHERE $node IN a.members AND a.event_ts BETWEEN $from AND $to RETURN a.event_ts ORDER BY a.event_ts';
    expect(await often(text, { node: 2, from: 0, to: 99 })).toEqual([{ event_ts: 10 }, { event_ts: 20 }]);
    expect(await often(text, { node: 3, from: 0, to: 25 })).toEqual([{ event_ts: 20 }]);
    expect(await often(text, { node: 3, from: 26, to: 25 })).toEqual([]);
    expect(await often(text, { node: null, from: 0, to: 99 })).toEqual([]);
  });
});
