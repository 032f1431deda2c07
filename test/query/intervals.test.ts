// Tests statements on tables with intervals: the plans of holds, ends as times, INSERT, UPDATE and
// DELETE, and refusals. The random statements (random.test.ts, duckdb.test.ts) compare the rows.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { send, startServer, type TestServer } from '../http/support.ts';

let server: TestServer;
// biome-ignore lint/suspicious/noExplicitAny: answers of any form
type Body = any;

beforeAll(async () => {
  server = await startServer();
  await run('CREATE HYPEREDGE TABLE jobs (person) INTERVALS PROPERTIES (title TEXT) BUCKET_SECONDS 10');
  await run('CREATE HYPEREDGE TABLE visits (person) BUCKET_SECONDS 10');
  await run(
    "INSERT INTO jobs (event_ts, members, end_ts, title) VALUES (100, [1, 2], 200, 'a'), (110, [2, 3], null, 'b'), ('1970-01-01T00:02:00Z', [1, 3], '1970-01-01T00:02:30Z', 'c')",
  );
  for (const [time, node] of [
    [105, 1],
    [125, 1],
    [160, 2],
    [200, 1],
  ])
    await run('INSERT INTO visits (event_ts, members) VALUES ($t, [$n])', { t: time, n: node });
});
afterAll(() => server.close());

async function ask(query: string, parameters = {}, more = {}): Promise<{ status: number; json: Body }> {
  return send(server, 'POST', '/v1/query', { query, parameters, ...more });
}

async function run(query: string, parameters = {}, more = {}): Promise<Body> {
  const { status, json } = await ask(query, parameters, more);
  expect(status, `${query}: ${json.detail}`).toBe(200);
  return json;
}

async function ids(where: string, parameters = {}): Promise<number[]> {
  const { rows } = await run(`MATCH (j:jobs) WHERE ${where} RETURN j.id ORDER BY j.id`, parameters);
  return rows.map(({ id }: Body) => id);
}

test('holds finds what holds at a time, given as a number, a text, a parameter or an expression', async () => {
  for (const [time, wanted] of [
    ['99', []],
    ['100', [1]],
    ['149.5', [1, 2, 3]],
    ['150', [1, 2]],
    ["'1970-01-01T00:02:29Z'", [1, 2, 3]],
    ["datetime('1970-01-01T00:03:20Z')", [2]],
    ['100 + 2 * 10', [1, 2, 3]],
    ['1e300', [2]],
    ['-1e300', []],
    ['null', []],
    ['j.event_ts', [1, 2, 3]],
    ['j.end_ts', []],
    ['j.end_ts - 1', [1, 3]],
  ] as const)
    expect(await ids(`holds(j, ${time})`), time).toEqual(wanted);
  expect(await ids('holds(j, $t)', { t: 120 })).toEqual([1, 2, 3]);
  expect(await ids('HOLDS(j, $t)', { t: '1970-01-01T00:03:00Z' })).toEqual([1, 2]);
  expect(await ids('NOT holds(j, 160)')).toEqual([3]);
  expect(await ids('holds(j, 105) AND holds(j, 190)')).toEqual([1]);
  expect(await ids('holds(j, 190) AND holds(j, 105)')).toEqual([1]);
  expect(await ids('holds(j, 190) AND holds(j, 99)')).toEqual([]);
  expect(await ids('holds(j, 140) AND 3 IN j.members')).toEqual([2, 3]);
  expect(await ids('holds(j, 195) OR j.title = "c"')).toEqual([1, 2, 3]);
});

test('holds with a constant time is answered by the index of intervals', async () => {
  const explained = async (statement: string): Promise<Body> => (await run(`EXPLAIN ${statement}`)).rows[0];
  const plain = await explained('MATCH (j:jobs) WHERE holds(j, 120) RETURN j.id');
  expect(plain).toMatchObject({ strategy: 'INTERVAL_STAB', index_type: 'INTERVAL' });
  expect(plain.plan.children[0]).toMatchObject({ operator: 'INTERVAL_STAB', at: 120, end_ts: 120 });
  expect(plain.plan.children[0].filter).toBeUndefined();
  const node = await explained('MATCH (j:jobs) WHERE holds(j, 120) AND 1 IN j.members RETURN j.id');
  expect(node).toMatchObject({ strategy: 'FMI_LOOKUP' });
  const counted = await run('MATCH (j:jobs) WHERE holds(j, 120) RETURN COUNT(*) AS n');
  expect([counted.rows, counted.query_plan.strategy]).toEqual([[{ n: 3 }], 'INTERVAL_STAB']);
  const written = await run('MATCH (j:jobs) WHERE holds(j, 150) RETURN j');
  expect([written.rows.length, written.query_plan.strategy]).toEqual([2, 'INTERVAL_STAB']);
  const pairs = await explained('MATCH (v:visits), (j:jobs) WHERE holds(j, v.event_ts) RETURN v.id, j.id');
  expect(pairs.strategy).toBe('TEMPORAL_JOIN');
});

test('holds and during join patterns', async () => {
  const held = await run(
    'MATCH (v:visits), (j:jobs) WHERE holds(j, v.event_ts) AND shared(v, j) >= 1 RETURN v.event_ts AS t, j.title AS job ORDER BY t, job',
  );
  expect(held.rows.map(({ t, job }: Body) => [t, job])).toEqual(
    [
      [105, 'a'],
      [125, 'a'],
      [125, 'c'],
      [160, 'a'],
      [160, 'b'],
    ].map(([t, job]) => [t, job]),
  );
  const inside = async (a: string, b: string): Promise<Body> => {
    const query = `MATCH (a:${a}), (b:${b}) WHERE during(a, b) RETURN a.id AS x, b.id AS y ORDER BY x, y`;
    return (await run(query)).rows.map(({ x, y }: Body) => `${x} in ${y}`);
  };
  expect(await inside('jobs', 'jobs')).toEqual(['1 in 1', '2 in 2', '3 in 1', '3 in 2', '3 in 3']);
  expect(await inside('visits', 'jobs')).toEqual([
    '1 in 1',
    '2 in 1',
    '2 in 2',
    '2 in 3',
    '3 in 1',
    '3 in 2',
    '4 in 1',
    '4 in 2',
  ]);
  expect(await inside('visits', 'visits')).toEqual(['1 in 1', '2 in 2', '3 in 3', '4 in 4']);
  expect(await inside('jobs', 'visits')).toEqual([]);
});

test('an end is a time: its type, texts that are compared with it, and how it is written', async () => {
  const typed = await run(
    'MATCH (j:jobs) RETURN j.end_ts, MAX(j.end_ts) AS last, AVG(j.end_ts) AS mean, COLLECT(j.end_ts) AS l',
  );
  expect(typed.column_types).toEqual(['TIME', 'TIME', 'TIME', 'LIST']);
  expect(await ids("j.end_ts > '1970-01-01T00:02:40Z'")).toEqual([1]);
  expect(await ids("j.end_ts IN ['1970-01-01T00:02:30Z']")).toEqual([3]);
  expect(await ids('j.end_ts IS NULL')).toEqual([2]);
  expect(await ids("date(j.end_ts) = '1970-01-01'")).toEqual([1, 3]);
  const whole = await run('MATCH (j:jobs) RETURN j, j.end_ts ORDER BY j.id', {}, { times: 'iso' });
  expect(whole.rows.map(({ end_ts, j }: Body) => [end_ts, j.end_ts, j.event_ts])).toEqual([
    ['1970-01-01T00:03:20Z', '1970-01-01T00:03:20Z', '1970-01-01T00:01:40Z'],
    [null, null, '1970-01-01T00:01:50Z'],
    ['1970-01-01T00:02:30Z', '1970-01-01T00:02:30Z', '1970-01-01T00:02:00Z'],
  ]);
  const all = await run('MATCH (j:jobs) RETURN *');
  expect(all.columns).toEqual(['id', 'event_ts', 'members', 'weight', 'mean_dist_m', 'formation', 'end_ts', 'title']);
  expect(all.column_types[6]).toBe('TIME');
});

test('INSERT and UPDATE check the end; UPDATE and DELETE may say which edges hold', async () => {
  const refused = async (query: string): Promise<string> => {
    const { status, json } = await ask(query);
    expect(status, query).toBe(400);
    return json.detail;
  };
  expect(await refused('INSERT INTO jobs (event_ts, members, end_ts) VALUES (10, [1], 9)')).toContain(
    'before event_ts',
  );
  expect(await refused("INSERT INTO jobs (event_ts, members, end_ts) VALUES (10, [1], 'soon')")).toContain('soon');
  expect(await refused('INSERT INTO jobs (event_ts, members, end_ts) VALUES (10, [1], 10.5)')).toContain('integer');
  expect(await refused('UPDATE jobs SET end_ts = 50 WHERE id = 1')).toContain('before event_ts');
  expect(await refused('UPDATE jobs SET event_ts = 300 WHERE id = 1')).toContain('before event_ts');
  expect(await refused('UPDATE jobs SET event_ts = end_ts + 1')).toContain('before event_ts');
  expect(await ids('holds(j, 150)')).toEqual([1, 2]);
  await run("UPDATE jobs SET end_ts = '1970-01-01T00:08:20Z' WHERE holds(jobs, 210)");
  expect((await run('MATCH (j:jobs) WHERE j.id = 2 RETURN j.end_ts')).rows).toEqual([{ end_ts: 500 }]);
  await run('UPDATE jobs SET end_ts = null WHERE id = 2');
  await run('INSERT INTO jobs (event_ts, members) VALUES (1000, [9])');
  await run('DELETE FROM jobs WHERE holds(jobs, 1000) AND 9 IN members');
  expect(await ids('holds(j, 1000)')).toEqual([2]);
});

test('a table without intervals, and wrong arguments, are refused with what to do', async () => {
  for (const [where, said] of [
    ['holds(v, 5)', 'INTERVALS'],
    ['holds(v, j.event_ts)', 'INTERVALS'],
    ['v.end_ts > 5', 'no column'],
    ['holds(j, true)', 'takes a time'],
    ["holds(j, 'soon')", 'soon'],
    ['holds(j, j.title)', 'takes a time'],
    ['holds(j, $t)', 'soon'],
    ['holds(j)', 'holds(alias, time)'],
    ['holds(5, j)', 'alias'],
    ['during(j, 5)', 'alias'],
    ['during(j, x)', 'not an alias'],
  ] as const) {
    const { status, json } = await ask(`MATCH (v:visits), (j:jobs) WHERE ${where} RETURN v.id, j.id`, { t: 'soon' });
    expect([where, status, json.detail]).toEqual([where, 400, expect.stringContaining(said)]);
  }
  const create = await ask('CREATE HYPEREDGE TABLE x (p) INTERVALS PROPERTIES (end_ts INTEGER)');
  expect(create.json).toMatchObject({ status: 409, code: 'column_exists' });
  expect((await ask('ALTER TABLE jobs DROP COLUMN end_ts')).status).toBe(400);
  expect((await ask('ALTER TABLE jobs RENAME COLUMN end_ts TO until')).status).toBe(400);
  await run('CREATE INDEX ON jobs (end_ts)');
  expect((await run('SHOW INDEXES')).rows).toMatchObject([{ table: 'jobs', column: 'end_ts' }]);
  expect(await ids('j.end_ts >= 150 AND holds(j, 150)')).toEqual([1]);
  await run('DROP INDEX ON jobs (end_ts)');
});
