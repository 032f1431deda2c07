// Tests GET of one edge by its id, and the refusal of SQL statements that begin with SELECT.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HedgerowClient } from '../../src/client/index.ts';
import { type Answer, send, startServer, type TestServer } from './support.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await post('/v1/query', {
    query: 'CREATE HYPEREDGE TABLE v (p) PROPERTIES (n INTEGER, note TEXT) BUCKET_SECONDS 60',
  });
  const lines = Array.from({ length: 3000 }, (_, n) =>
    JSON.stringify({ event_ts: 5000 - n, members: [n % 9, 10], n, note: n % 2 ? 'x"\n' : null }),
  );
  await send(server, 'POST', '/v1/hyperedges?table=v', `${lines.join('\n')}\n`, {
    'content-type': 'application/x-ndjson',
  });
  await post('/v1/hyperedges/compact', { table: 'v' });
  await post('/v1/hyperedges', { table: 'v', event_ts: 1_714_644_000, members: [1], weight: 0.5 });
  await post('/v1/hyperedges', { event_ts: 7, members: [1, 2] });
});
afterAll(() => server.close());

/** Properties with the column `__proto__`. */
const own = (value: string) => JSON.parse(`{"__proto__":"${value}"}`) as object;

const post = (path: string, body: unknown): Promise<Answer> => send(server, 'POST', path, body);
const get = (path: string, headers?: Record<string, string>): Promise<Answer> =>
  send(server, 'GET', path, undefined, headers);

describe('GET /v1/hyperedges/{id}', () => {
  test('returns the same row as a range query, for rows in memory and for compacted rows', async () => {
    const all = (await get('/v1/hyperedges?table=v&start_ts=0&end_ts=9000000000')).json.hyperedges;
    expect(all).toHaveLength(3001);
    for (const edge of [all[0], all[1], all[1500], all[2999], all[3000]]) {
      const { status, json, headers } = await get(`/v1/hyperedges/${edge.id}?table=V`);
      expect([status, json]).toEqual([200, edge]);
      expect(Number(headers.get('x-hedgerow-lsn'))).toBeGreaterThan(0);
    }
    const [primary] = (await get('/v1/hyperedges?start_ts=7&end_ts=7')).json.hyperedges;
    expect((await get(`/v1/hyperedges/${primary.id}`)).json).toEqual(primary);
    const client = new HedgerowClient({ url: server.url });
    expect(await client.hyperedges.get(all[7].id, { table: 'v' })).toEqual(all[7]);
    await expect(client.hyperedges.get(-1, { table: 'v' })).rejects.toMatchObject({ code: 'edge_not_found' });
  });

  test('formats times as requested, with a different ETag for each format', async () => {
    const [edge] = (await get('/v1/hyperedges?table=v&start_ts=2024-05-02&end_ts=2024-05-03')).json.hyperedges;
    const plain = await get(`/v1/hyperedges/${edge.id}?table=v`);
    const iso = await get(`/v1/hyperedges/${edge.id}?table=v&times=iso`);
    expect(iso.json).toEqual({ ...edge, event_ts: '2024-05-02T10:00:00Z' });
    expect(Object.keys(iso.json)).toEqual(Object.keys(edge));
    const held = (tag: string, times: string) =>
      get(`/v1/hyperedges/${edge.id}?table=v&times=${times}`, { 'if-none-match': tag });
    expect((await held(plain.headers.get('etag')!, 'epoch')).status).toBe(304);
    expect((await held(plain.headers.get('etag')!, 'iso')).status).toBe(200);
    expect((await held(iso.headers.get('etag')!, 'iso')).status).toBe(304);
  });

  test('returns a column that is called __proto__, as all other answers do', async () => {
    await post('/v1/query', { query: 'CREATE HYPEREDGE TABLE p (m) PROPERTIES (`__proto__` TEXT)' });
    const inserted = (await post('/v1/hyperedges', { table: 'p', event_ts: 1, members: [1], properties: own('a') }))
      .json;
    const row = JSON.parse('{"id":1,"event_ts":1,"members":[1],"weight":null,"__proto__":"a"}');
    const fieldOf = (edge: object) => Object.getOwnPropertyDescriptor(edge, '__proto__')?.value;
    expect(fieldOf(row)).toBe('a');
    expect(fieldOf(inserted)).toBe('a');
    expect(fieldOf((await get('/v1/hyperedges/1?table=p')).json)).toBe('a');
    expect(fieldOf((await get('/v1/hyperedges?table=p&start_ts=0&end_ts=2')).json.hyperedges[0])).toBe('a');
    for (const query of ['MATCH (e:p) RETURN e LIMIT 1', 'MATCH (e:p) RETURN e, e.id + 0 LIMIT 1'])
      expect(fieldOf((await post('/v1/query', { query })).json.rows[0].e)).toBe('a');
    await post('/v1/query', { query: "UPDATE p SET `__proto__` = 'b' WHERE id = 1" });
    expect(fieldOf((await get('/v1/hyperedges/1?table=p')).json)).toBe('b');
    const [answer] = (await post('/v1/batch', { operations: [{ type: 'query', cypher: 'MATCH (e:p) RETURN e' }] })).json
      .results;
    expect(fieldOf(answer.rows[0].e)).toBe('b');
  });

  test('ignores an open transaction, and answers 404 after the edge is deleted', async () => {
    const { id } = (await post('/v1/hyperedges', { table: 'v', event_ts: 99, members: [77] })).json;
    await post('/v1/query', { query: 'BEGIN' });
    await post('/v1/query', { query: `DELETE FROM v WHERE id = ${id}` });
    expect((await get(`/v1/hyperedges/${id}?table=v`)).json.members).toEqual([77]);
    await post('/v1/query', { query: 'COMMIT' });
    const { status, json } = await get(`/v1/hyperedges/${id}?table=v`);
    expect([status, json.code]).toEqual([404, 'edge_not_found']);
    expect(json.detail).toContain(`no edge ${id}`);
  });

  test.each([
    ['/v1/hyperedges/0?table=v', 404, 'edge_not_found'],
    ['/v1/hyperedges/-5?table=v', 404, 'edge_not_found'],
    ['/v1/hyperedges/9007199254740991', 404, 'edge_not_found'],
    ['/v1/hyperedges/1?table=nowhere', 404, 'table_not_found'],
    ['/v1/hyperedges/9007199254740993?table=v', 400, 'invalid_input'],
    ['/v1/hyperedges/1.0?table=v', 400, 'invalid_input'],
    ['/v1/hyperedges/node', 400, 'invalid_input'],
    ['/v1/hyperedges/%00', 400, 'invalid_input'],
    ['/v1/hyperedges/1?table=v&table=v', 400, 'invalid_input'],
    ['/v1/hyperedges/1?table=v&times=unix', 400, 'invalid_input'],
    ['/v1/hyperedges/1?table=%60v', 404, 'table_not_found'],
    ['/v1/hyperedges/compact', 405, 'method_not_allowed'],
    ['/v1/hyperedges/1/2/3', 404, 'route_not_found'],
  ])('answers %s with %d %s', async (path, status, code) => {
    const answer = await get(path);
    expect([answer.status, answer.json.code]).toEqual([status, code]);
  });
});

describe('a SELECT', () => {
  test.each([
    ['SELECT * FROM v', 'MATCH (e:v)', 10],
    ['  select count(*) from v where event_ts > 5 group by n', 'MATCH (e:v)', 1],
    ['SELECT "e".id\nFROM `v` AS e', 'MATCH (e:v)', 10],
    ['select 1', 'MATCH (e:hyperedges)', 0],
    [`select ${'x'.repeat(100_000)} from v`, 'MATCH (e:hyperedges)', 0],
    ['EXPLAIN SELECT * FROM v', 'MATCH (e:v)', 10],
  ])('is refused with an example that runs: %.60s', async (query, start, rows) => {
    const { status, json } = await post('/v1/query', { query });
    expect([status, json.code, json.expected]).toEqual([400, 'syntax_error', ['MATCH']]);
    const example = /MATCH \(e:.*?(LIMIT 10|AS n)/.exec(json.detail)![0];
    expect(example.startsWith(start)).toBe(true);
    const ran = await post('/v1/query', { query: example.replace(/WHERE .* RETURN/, 'RETURN') });
    expect(ran.status).toBe(200);
    expect((await post('/v1/query', { query: example })).status).toBe(200);
    if (rows > 0) expect(ran.json.num_tuples).toBe(rows);
  });

  test('is a whole word: SELECTED is refused with a list of the words that begin statements', async () => {
    const { json } = await post('/v1/query', { query: 'SELECTED' });
    expect(json.expected).toContain('MATCH');
    expect(json.expected.length).toBeGreaterThan(5);
  });
});
