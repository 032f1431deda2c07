// Tests that requests accept ISO 8601 wherever they take a time, and that answers contain it when
// the request has `times=iso`.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, send, startServer, type TestServer } from './support.ts';

const MAY = Date.parse('2024-05-02T10:00:00Z') / 1000;

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await post('/v1/query', { query: 'CREATE HYPEREDGE TABLE v (p) PROPERTIES (n INTEGER) BUCKET_SECONDS 3600' });
});
afterAll(() => server.close());

const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  send(server, 'POST', path, body, headers);
const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  send(server, 'GET', path, undefined, headers);

describe('a time in a body', () => {
  test.each([
    ['2024-05-02T10:00:00Z', MAY],
    ['2024-05-02 10:00', MAY],
    ['2024-05-02T12:00:00.75+02:00', MAY],
    ['2024-05-02', MAY - 36_000],
    ['0000-01-01', -62_167_219_200],
    ['+010000-01-01', 253_402_300_800],
    [MAY, MAY],
  ])('may be %s in an insert or a delete', async (given, seconds) => {
    const inserted = await post('/v1/hyperedges', { table: 'v', event_ts: given, members: [1, 2], n: 1 });
    expect([inserted.status, inserted.json.event_ts]).toEqual([201, seconds]);
    const lines = `${JSON.stringify({ event_ts: given, members: [1, 2] })}\n${JSON.stringify({ event_ts: seconds, members: [2] })}\n`;
    expect(
      (await post('/v1/hyperedges?table=v', lines, { 'content-type': 'application/x-ndjson' })).json.inserted,
    ).toBe(2);
    const batch = await post('/v1/batch', {
      operations: [
        { type: 'insert', table: 'v', event_ts: given, members: [1, 2] },
        { type: 'delete', table: 'v', event_ts: given, members: [2] },
        {
          type: 'query',
          cypher: 'MATCH (e:v) WHERE e.event_ts = $t RETURN COUNT(*) AS n',
          parameters: { t: String(given).replace(/^\d+$/, '2024-05-02T10:00Z') },
        },
      ],
    });
    expect(batch.json).toMatchObject({ committed: true, results: [{}, { matched: 1 }, { rows: [{ n: 3 }] }] });
    const removed = await send(server, 'DELETE', '/v1/hyperedges', { table: 'v', event_ts: given, members: [2, 1] });
    expect(removed.json).toMatchObject({ deleted: true, matched: 3, event_ts: seconds });
  });

  test.each([
    ['yesterday', 'is not a time in ISO 8601'],
    ['2024-02-30', 'a day or an hour that does not exist'],
    ['2016-12-31T23:59:60Z', 'a day or an hour that does not exist'],
    ['1714644000', 'a number in quotes'],
    ['', 'must be an integer of at most 2^53-1 (epoch seconds), or a time in ISO 8601'],
    ['2024-05-02T10:00:00 02:00', '%2B'],
    ['+999999999-01-01', 'does not exist'],
    ['\ud800', 'is not a time in ISO 8601'],
    ['2'.repeat(100_000), 'a number in quotes'],
    [`2024-05-02T00:00:00.${'0'.repeat(100_000)}`, 'is not a time in ISO 8601'],
    [1.5, 'must be an integer'],
    [true, 'must be an integer'],
    [['2024-05-02'], 'must be an integer'],
  ])('is refused with advice when it is wrong (case %#)', async (given, advice) => {
    for (const answer of [
      await post('/v1/hyperedges', { table: 'v', event_ts: given, members: [1] }),
      await post('/v1/hyperedges?table=v', JSON.stringify({ event_ts: given, members: [1] }), {
        'content-type': 'application/x-ndjson',
      }),
      await send(server, 'DELETE', '/v1/hyperedges', { table: 'v', event_ts: given, members: [1] }),
    ]) {
      expect([answer.status, answer.json.code]).toEqual([400, 'invalid_input']);
      expect(answer.json.errors[0].loc.at(-1)).toBe('event_ts');
      expect(answer.json.detail).toContain(advice);
      expect(answer.json.detail.length).toBeLessThan(500);
    }
    const batch = await post('/v1/batch', {
      operations: [{ type: 'insert', table: 'v', event_ts: given, members: [1] }],
    });
    expect(batch.json).toMatchObject({ committed: false, error: expect.stringContaining(advice) });
  });

  test('limits the rows of questions and measures', async () => {
    await post('/v1/hyperedges', { table: 'v', event_ts: '2024-06-01', members: [5, 6] });
    await post('/v1/hyperedges', { table: 'v', event_ts: '2024-06-02', members: [5, 7] });
    const degree = async (params: object) => (await post('/v1/analytics/v/node_degree', { params })).json;
    const seconds = { start_ts: Date.parse('2024-06-01') / 1000, end_ts: Date.parse('2024-06-01T23:59:59Z') / 1000 };
    const expected = await degree(seconds);
    expect(expected.result).toEqual({ 5: 1, 6: 1 });
    expect(await degree({ start_ts: '2024-06-01', end_ts: '2024-06-01T23:59:59' })).toEqual(expected);
    const refused = await post('/v1/analytics/v/node_degree', { params: { start_ts: 'june', end_ts: 1.5 } });
    expect(refused.status).toBe(400);
    expect(refused.json.errors.map(({ loc }: { loc: string[] }) => loc.at(-1))).toEqual(['start_ts', 'end_ts']);
    const asked = { query: 'what happened', table: 'v', mock: true, rules: [] };
    const cited = async (window: object) => (await post('/v1/rag/query', { ...asked, ...window })).json.all_edges;
    const edges = await cited({ time_start: seconds.start_ts, time_end: seconds.end_ts });
    expect(edges).toHaveLength(1);
    expect(await cited({ time_start: '2024-06-01', time_end: '2024-06-01T23:59:59Z' })).toEqual(edges);
    expect((await post('/v1/rag/query', { ...asked, time_start: 'june' })).status).toBe(422);
  });
});

describe('a time in a URL', () => {
  test('limits ranges and node lookups', async () => {
    await post('/v1/hyperedges', { table: 'v', event_ts: MAY, members: [8, 9] });
    for (const path of ['/v1/hyperedges?', '/v1/hyperedges/node/8?']) {
      const rows = async (from: string, to: string) =>
        (await get(`${path}table=v&start_ts=${from}&end_ts=${to}`)).json.hyperedges;
      const expected = await rows(String(MAY), String(MAY));
      expect(expected.map(({ members }: { members: number[] }) => members)).toContainEqual([8, 9]);
      expect(await rows('2024-05-02T10:00:00Z', '2024-05-02T10:00:00Z')).toEqual(expected);
      expect(await rows('2024-05-02T12:00:00%2B02:00', '2024-05-02%2010:00')).toEqual(expected);
      expect(await rows('2024-05-02', '2024-05-03')).toEqual(await rows(String(MAY - 36_000), String(MAY + 50_400)));
    }
  });

  test.each([
    ['2024-05-02T12:00:00+02:00', 'in an address write %2B'],
    ['june', 'is not a time in ISO 8601'],
    ['2024-02-30', 'does not exist'],
    ['', 'must be an integer of at most 2^53-1 (epoch seconds)'],
    ['1.5', 'a number in quotes'],
    ['9007199254740993', 'must be an integer of at most 2^53-1'],
    ['%ED%A0%80', 'percent-encoded UTF-8'],
    ['2'.repeat(1000), 'must be an integer of at most 2^53-1'],
  ])('is refused with advice when it is wrong (case %#)', async (given, advice) => {
    for (const path of ['/v1/hyperedges', '/v1/hyperedges/node/8']) {
      const { status, json } = await get(`${path}?table=v&start_ts=${given}&end_ts=5`);
      expect([status, json.code]).toEqual([400, 'invalid_input']);
      expect(json.detail).toContain(advice);
      expect(json.detail.length).toBeLessThan(500);
    }
  });
});

/** Returns the same answer with the times of edges formatted by Date. */
function withTexts(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (name, one) =>
    name === 'event_ts' && typeof one === 'number' ? iso(one) : one,
  );
}
const iso = (seconds: number) => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
/** Masks the values that differ between runs. */
const settled = ({ json }: Answer) =>
  JSON.parse(JSON.stringify(json, (name, one) => (/elapsed_us|_ms$|_at$|interaction_id|cursor/.test(name) ? 0 : one)));

describe('times=iso', () => {
  beforeAll(async () => {
    await post('/v1/query', {
      query: 'CREATE HYPEREDGE TABLE w (p) PROPERTIES (n INTEGER, note TEXT) BUCKET_SECONDS 3600',
    });
    const lines = Array.from({ length: 3000 }, (_, row) =>
      JSON.stringify({
        event_ts: (row % 2 === 0 ? MAY : -MAY) + row * 61,
        members: [row % 7, 100 + row],
        n: row,
        note: row % 3 === 0 ? '{"event_ts":5,"id":1}\n' : null,
      }),
    );
    await post('/v1/hyperedges?table=w', `${lines.join('\n')}\n`, { 'content-type': 'application/x-ndjson' });
    await post('/v1/hyperedges/compact', { table: 'w' });
    await post('/v1/hyperedges', { table: 'w', event_ts: 0, members: [3] });
  });

  const WIDE = 'table=w&start_ts=-9000000000&end_ts=9000000000';
  test.each([
    `/v1/hyperedges?${WIDE}`,
    `/v1/hyperedges?${WIDE}&limit=7`,
    `/v1/hyperedges/node/3?table=w`,
    '/v1/hyperedges?table=w&start_ts=1&end_ts=2',
  ])('formats the answer of %s, as JSON and NDJSON', async (path) => {
    const expected = settled(await get(path));
    expect(settled(await get(`${path}&times=epoch`))).toEqual(expected);
    const answer = await get(`${path}&times=iso`);
    expect(settled(answer)).toEqual(withTexts(expected));
    const accept = { accept: 'application/x-ndjson' };
    const lines = (await get(path, accept)).text
      .split('\n')
      .map((line) => (line === '' ? '' : JSON.stringify(withTexts(JSON.parse(line)))));
    expect((await get(`${path}&times=iso`, accept)).text.split('\n')).toEqual(lines);
  });

  test('may be set for only some pages of a cursor, and changes the ETag', async () => {
    const path = `/v1/hyperedges?${WIDE}&limit=10`;
    const first = await get(`${path}&times=iso`);
    const second = await get(`${path}&cursor=${first.json.next_cursor}`);
    const both = (await get(`/v1/hyperedges?${WIDE}&limit=20`)).json.hyperedges;
    expect([...first.json.hyperedges, ...(withTexts(second.json.hyperedges) as object[])]).toEqual(withTexts(both));
    const node = '/v1/hyperedges/node/100?table=w';
    const tag = (await get(node)).headers.get('etag')!;
    expect((await get(node, { 'if-none-match': tag })).status).toBe(304);
    expect((await get(`${node}&times=iso`, { 'if-none-match': tag })).status).toBe(200);
  });

  test.each([
    'w',
    '*',
    'w.event_ts AS t, w.n',
    'w AS edge, w.event_ts AS event_ts',
    'DISTINCT w.event_ts AS event_ts',
    'MIN(w.event_ts) AS first, MAX(w.event_ts) AS last, COUNT(*) AS n',
    'w.n % 3 AS k, COLLECT(w.event_ts) AS times, COLLECT(w) AS edges',
    '[w.event_ts, w.event_ts] AS pair, w.event_ts + 0 AS number',
    'w.event_ts AS t ORDER BY t DESC LIMIT 3',
    'datetime(5) AS t, datetime(w.n) AS u, w.n AS plain',
  ])('formats MATCH (w:w) RETURN %s', async (items) => {
    for (const accept of ['application/json', 'application/x-ndjson']) {
      const ask = (times: unknown) => post('/v1/query', { query: `MATCH (w:w) RETURN ${items}`, times }, { accept });
      const rowsOf = ({ text, json }: Answer) =>
        json?.rows ??
        text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line));
      const plain = await post('/v1/query', { query: `MATCH (w:w) RETURN ${items}` });
      const { columns, column_types: types } = plain.json;
      const asText = (value: unknown, type: string): unknown => {
        if (type === 'TIME') return value === null ? null : iso(value as number);
        if (type === 'LIST' && columns.length > 1)
          return (value as unknown[]).map((one) => (typeof one === 'number' ? iso(one) : withTexts(one)));
        return withTexts(value);
      };
      const expected = plain.json.rows.map((row: Record<string, unknown>) =>
        Object.fromEntries(
          Object.entries(row).map(([name, value]) => [name, asText(value, types[columns.indexOf(name)])]),
        ),
      );
      expect(rowsOf(await ask('iso'))).toEqual(expected);
      expect(rowsOf(await ask('epoch'))).toEqual(plain.json.rows);
      expect(rowsOf(await ask(null))).toEqual(plain.json.rows);
    }
  });

  test('formats a mean with its fraction of a second, and years that Date cannot represent', async () => {
    await post('/v1/query', { query: 'CREATE HYPEREDGE TABLE far (p)' });
    await post('/v1/query', { query: 'INSERT INTO far (event_ts, members) VALUES (1, [1]), (2, [1])' });
    const ask = async (query: string) => (await post('/v1/query', { query, times: 'iso' })).json.rows;
    expect(await ask('MATCH (f:far) RETURN AVG(f.event_ts) AS t')).toEqual([{ t: '1970-01-01T00:00:01.500Z' }]);
    expect(await ask('MATCH (f:far) WHERE f.event_ts > 9 RETURN AVG(f.event_ts) AS t, MIN(f.event_ts) AS u')).toEqual([
      { t: null, u: null },
    ]);
    const most = Number.MAX_SAFE_INTEGER;
    await post('/v1/query', { query: `INSERT INTO far (event_ts, members) VALUES (${most}, [2]), (-${most}, [2])` });
    const { json } = await get('/v1/hyperedges/node/2?table=far&times=iso');
    const texts = json.hyperedges.map((edge: { event_ts: string }) => edge.event_ts);
    for (const text of texts) expect(text).toMatch(/^[+-]2854\d{5}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    // The service accepts its own times again.
    const [least, greatest] = texts;
    expect(
      (await get(`/v1/hyperedges?table=far&start_ts=${least}&end_ts=${encodeURIComponent(greatest)}`)).json.num_tuples,
    ).toBe(4);
    expect(await ask(`MATCH (f:far) WHERE f.event_ts = '${greatest}' RETURN COUNT(*) AS n`)).toEqual([{ n: 1 }]);
  });

  test('formats the answers of inserts, deletes, batches, reasoning and questions', async () => {
    const edge = { table: 'v', event_ts: MAY + 7, members: [71, 72] };
    expect((await post('/v1/hyperedges?times=iso', edge)).json).toMatchObject({
      event_ts: '2024-05-02T10:00:07Z',
      members: [71, 72],
    });
    const query = { type: 'query', cypher: 'MATCH (e:v) WHERE 71 IN e.members RETURN e, e.event_ts AS t' };
    const batch = await post('/v1/batch', { operations: [query], times: 'iso' });
    expect(batch.json.results[0].rows).toMatchObject([
      { e: { event_ts: '2024-05-02T10:00:07Z' }, t: '2024-05-02T10:00:07Z' },
    ]);
    const rule = {
      id: 'rule:m',
      if: [
        { pred: 'member', args: ['?E', '?A'] },
        { pred: 'at', args: ['?E', '2024-05-02T10:00:07Z'] },
      ],
      then: { pred: 'm', args: ['?A'] },
    };
    for (const [path, more] of [
      ['/v1/reason', {}],
      ['/v1/rag/query', { mock: true }],
    ] as const) {
      const ask = async (times?: string) =>
        settled(await post(path, { query: 'nodes 71 and 72', table: 'v', rules: [rule], times, ...more }));
      const plain = await ask();
      expect(JSON.stringify(plain.proofs)).toContain(`"event_ts":${MAY + 7}`);
      expect(plain.derived_facts).toHaveLength(2);
      expect(await ask('iso')).toEqual(withTexts(plain));
    }
    const removed = await send(server, 'DELETE', '/v1/hyperedges?times=iso', edge);
    expect(removed.json).toMatchObject({ deleted: true, event_ts: '2024-05-02T10:00:07Z' });
  });

  test.each(['ISO', '', 'unix', 5, true, ['iso'], {}])(
    'is the only accepted value besides epoch: %j is refused',
    async (times) => {
      for (const answer of [
        await post('/v1/query', { query: 'SHOW TABLES', times }),
        await post('/v1/batch', { operations: [{ type: 'query', cypher: 'SHOW TABLES' }], times }),
      ])
        expect([answer.status, answer.json.errors]).toEqual([
          400,
          [{ loc: ['body', 'times'], msg: 'must be epoch or iso' }],
        ]);
      expect((await post('/v1/reason', { query: '', times })).status).toBe(422);
      if (typeof times !== 'string') return;
      for (const answer of [
        await get(`/v1/hyperedges?table=w&start_ts=1&end_ts=2&times=${times}`),
        await get(`/v1/hyperedges/node/3?table=w&times=${times}`),
        await post(`/v1/hyperedges?times=${times}`, { table: 'v', event_ts: 1, members: [1] }),
        await send(server, 'DELETE', `/v1/hyperedges?times=${times}`, { table: 'v', event_ts: 1, members: [1] }),
      ])
        expect([answer.status, answer.json.errors]).toEqual([
          400,
          [{ loc: ['query', 'times'], msg: 'must be epoch or iso' }],
        ]);
    },
  );
});
