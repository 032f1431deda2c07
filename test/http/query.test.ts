// Tests statements over HTTP: results, roles, sessions, retries and streams.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, send, startServer, type TestRole, type TestServer } from './support.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startServer({ auth: true });
  await run('CREATE HYPEREDGE TABLE visits (person) PROPERTIES (place TEXT, n INTEGER) BUCKET_SECONDS 60');
});

afterAll(() => server.close());

interface Options {
  role?: TestRole;
  parameters?: Record<string, unknown>;
  headers?: Record<string, string>;
}

function run(query: string, { role = 'admin', parameters, headers = {} }: Options = {}): Promise<Answer> {
  const key = server.keys[role];
  return send(server, 'POST', '/v1/query', { query, parameters }, { 'x-api-key': key, ...headers });
}

const session = (name: string) => ({ 'x-session-id': name });

async function count(table: string, headers: Record<string, string> = {}): Promise<number> {
  const { json } = await run(`MATCH (e:${table}) RETURN count(*) AS n`, { headers });
  return json.rows[0].n;
}

describe('a statement', () => {
  test('answers with columns, rows, their number and a plan', async () => {
    await run("INSERT INTO visits (event_ts, members, place) VALUES (1, [3, 1], 'hall'), (70, [1, 2], null)");
    const { status, json, headers } = await run(
      'MATCH (v:visits) WHERE $node IN v.members RETURN v.event_ts, v.place',
      {
        parameters: { node: 3 },
      },
    );
    expect(status).toBe(200);
    expect(json.columns).toEqual(['event_ts', 'place']);
    expect(json.rows).toEqual([{ event_ts: 1, place: 'hall' }]);
    expect(json.num_tuples).toBe(1);
    expect(json.query_plan).toMatchObject({
      strategy: 'FMI_LOOKUP',
      buckets_scanned: 1,
      total_buckets: 2,
      speedup_factor: 2,
    });
    expect(Number(headers.get('x-hedgerow-lsn'))).toBeGreaterThan(0);
  });

  test('returns one row per line when NDJSON is requested', async () => {
    const headers = { accept: 'application/x-ndjson' };
    const { text } = await run('MATCH (v:visits) RETURN v.event_ts ORDER BY v.event_ts', { headers });
    expect(text).toBe('{"event_ts":1}\n{"event_ts":70}\n');
  });

  test.each([
    ['MATCH (v:visits) RETRUN v', 400, 'syntax_error'],
    ['MATCH (v:visit) RETURN v', 404, 'table_not_found'],
    ['MATCH (v:visits) RETURN v.plcae', 400, 'unknown_column'],
    ['MATCH (v:visits) WHERE v.place > 3 RETURN v', 400, 'invalid_statement'],
    ['MATCH (v:visits) WHERE v.n = $missing RETURN v', 400, 'invalid_statement'],
    ['CREATE HYPEREDGE TABLE visits (x)', 409, 'table_exists'],
    ["COPY visits TO 'x.csv'", 403, 'forbidden'],
    ['', 400, 'syntax_error'],
  ])('answers with the reason when it cannot be run: %s', async (query, status, code) => {
    const { json, ...answer } = await run(query);
    expect([answer.status, json.code]).toEqual([status, code]);
    expect(json.detail.length).toBeGreaterThan(10);
    if (code === 'syntax_error') expect([json.line, json.column]).toEqual([expect.any(Number), expect.any(Number)]);
  });

  test('must be a string, and its parameters must be an object', async () => {
    for (const body of [{}, { query: 5 }, { query: 'SHOW TABLES', parameters: [] }, []]) {
      const answer = await send(server, 'POST', '/v1/query', body, { 'x-api-key': server.keys.admin });
      expect(answer.status).toBe(400);
    }
  });

  test('streams a large result completely', async () => {
    const rows = Array.from({ length: 5000 }, (_, i) => `(${i}, [${i % 50}, ${1000 + i}], '${'x'.repeat(20)}')`);
    await run('CREATE HYPEREDGE TABLE large (node) PROPERTIES (word TEXT)');
    await run(`INSERT INTO large (event_ts, members, word) VALUES ${rows.join()}`);
    const { json } = await run('MATCH (e:large) RETURN *');
    expect(json.num_tuples).toBe(5000);
    expect(json.rows.length).toBe(5000);
    expect(json.rows.at(-1)).toMatchObject({ event_ts: 4999, members: [49, 5999] });
  });
});

test('a row that cannot be computed after thousands of others gives 400, not a broken answer', async () => {
  await run('CREATE HYPEREDGE TABLE numbers (node) PROPERTIES (n INTEGER)');
  const values = Array.from({ length: 20_000 }, (_, n) => `(${n}, [1], ${n})`);
  await run(`INSERT INTO numbers (event_ts, members, n) VALUES ${values}`);
  for (const accept of ['application/json', 'application/x-ndjson']) {
    const good = await run('MATCH (a:numbers) RETURN a.n * 450000000000 AS v', { headers: { accept } });
    expect(good.status).toBe(200);
    const { status, json } = await run('MATCH (a:numbers) RETURN a.n * 450387000000 AS v', { headers: { accept } });
    expect([status, json.code]).toEqual([400, 'invalid_statement']);
  }
});

describe('the role that a statement needs', () => {
  const cases: [string, TestRole][] = [
    ['MATCH (v:visits) RETURN count(*)', 'readonly'],
    ['SHOW TABLES', 'readonly'],
    ['EXPLAIN DROP HYPEREDGE TABLE visits', 'readonly'],
    ['INSERT INTO visits (event_ts, members) VALUES (500, [9])', 'readwrite'],
    ['UPDATE visits SET n = 1 WHERE event_ts = 500', 'readwrite'],
    ['DELETE FROM visits WHERE event_ts = 500', 'readwrite'],
    ['COMPACT visits', 'readwrite'],
    ['ALTER TABLE visits ADD COLUMN extra REAL', 'admin'],
    ['CREATE INDEX ON visits (n)', 'admin'],
  ];
  test.each(cases)('depends on the kind of the statement: %s needs %s', async (query, role) => {
    const below: Record<TestRole, TestRole | undefined> = {
      readonly: undefined,
      readwrite: 'readonly',
      admin: 'readwrite',
    };
    const less = below[role];
    if (less !== undefined) {
      const refused = await run(query, { role: less });
      expect(refused.status).toBe(403);
      expect(refused.json.detail).toContain(role);
    }
    expect((await run(query, { role })).status).toBe(200);
  });

  test('is checked before names are looked up, and in batches too', async () => {
    expect((await run('DELETE FROM nowhere', { role: 'readonly' })).status).toBe(403);
    const operations = [{ type: 'query', cypher: 'ALTER TABLE visits DROP COLUMN place' }];
    const answer = await send(server, 'POST', '/v1/batch', { operations }, { 'x-api-key': server.keys.admin });
    expect(answer.json).toMatchObject({ committed: false, ops_success: 0 });
    expect((await run('MATCH (v:visits) RETURN v.place LIMIT 1')).status).toBe(200);
  });
});

describe('a transaction', () => {
  test('is seen only by its session until it is committed', async () => {
    await run('CREATE HYPEREDGE TABLE held (node)');
    const [a, b] = [session('a'), session('b')];
    expect((await run('BEGIN', { headers: a })).json.rows[0]).toMatchObject({ status: 'open' });
    await run('INSERT INTO held (event_ts, members) VALUES (1, [1])', { headers: a });
    expect([await count('held', a), await count('held', b), await count('held')]).toEqual([1, 0, 0]);
    expect((await run('COMMIT', { headers: a })).status).toBe(200);
    expect(await count('held', b)).toBe(1);
  });

  test('belongs to its key: another key may use the same session name', async () => {
    await run('BEGIN', { headers: session('same') });
    await run('INSERT INTO held (event_ts, members) VALUES (2, [2])', { headers: session('same') });
    const other = await run('COMMIT', { role: 'readwrite', headers: session('same') });
    expect(other.status).toBe(400);
    expect((await run('ROLLBACK', { headers: session('same') })).status).toBe(200);
    expect(await count('held')).toBe(1);
  });

  test('conflicts with a transaction that committed first', async () => {
    for (const name of ['x', 'y']) {
      await run('BEGIN', { headers: session(name) });
      await run('DELETE FROM held WHERE event_ts = 1', { headers: session(name) });
    }
    expect((await run('COMMIT', { headers: session('x') })).status).toBe(200);
    const late = await run('COMMIT', { headers: session('y') });
    expect([late.status, late.json.code]).toEqual([409, 'conflict']);
    expect((await run('ROLLBACK', { headers: session('y') })).status).toBe(400);
  });
});

test('statements in a batch see the earlier writes of the batch, and the batch commits all or nothing', async () => {
  const post = (operations: unknown[]) =>
    send(server, 'POST', '/v1/batch', { operations }, { 'x-api-key': server.keys.readwrite });
  await run('CREATE HYPEREDGE TABLE batched (node) PROPERTIES (n INTEGER)');
  const edge = { type: 'insert', table: 'batched', event_ts: 5, members: [9] };
  const done = await post([
    edge,
    { type: 'query', cypher: 'UPDATE batched SET n = $n WHERE 9 IN members', parameters: { n: 4 } },
    { type: 'query', cypher: 'MATCH (b:batched) RETURN b.id, b.n' },
    { type: 'delete', table: 'batched', event_ts: 6, members: [1] },
  ]);
  expect(done.json).toMatchObject({ committed: true, ops_success: 4 });
  expect(done.json.results[2].rows).toEqual([{ id: done.json.results[0].id, n: 4 }]);
  const failed = await post([edge, { type: 'query', cypher: 'MATCH (b:nowhere) RETURN b' }]);
  expect(failed.json).toMatchObject({ committed: false, ops_success: 1 });
  expect(await count('batched')).toBe(1);
});

test('a retried write is not executed twice, and a retried read is executed again', async () => {
  const headers = { 'idempotency-key': 'once' };
  const insert = 'INSERT INTO batched (event_ts, members) VALUES (77, [7])';
  const first = await run(insert, { headers });
  const second = await run(insert, { headers });
  expect(second.text).toBe(first.text);
  expect(second.headers.get('idempotent-replayed')).toBe('true');
  const before = await count('batched', { 'idempotency-key': 'read' });
  await run('INSERT INTO batched (event_ts, members) VALUES (78, [7])');
  expect(await count('batched', { 'idempotency-key': 'read' })).toBe(before + 1);
});

test('a statement that exceeds the deadline is answered with 504', async () => {
  const hurried = await startServer({ queryTimeoutMs: 1 });
  try {
    const bulk = hurried.database.table().bulk();
    for (let i = 0; i < 3000; i++) bulk.add({ event_ts: i, members: [i % 3] });
    await bulk.commit();
    const query = 'MATCH (a:hyperedges), (b:hyperedges) WHERE a.id + b.id = 7 RETURN count(*)';
    const answer = await send(hurried, 'POST', '/v1/query', { query });
    expect([answer.status, answer.json.code]).toEqual([504, 'timeout']);
    expect((await send(hurried, 'GET', '/health/live')).status).toBe(200);
  } finally {
    await hurried.close();
  }
});
