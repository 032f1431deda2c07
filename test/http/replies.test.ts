import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { EntityTags } from '../../src/http/entity-tag.ts';
import {
  type Answer,
  manyEdges,
  NDJSON,
  openSocket,
  Recorder,
  raw,
  send,
  startServer,
  type TestServer,
} from './support.ts';

const RANGE = '/v1/hyperedges?start_ts=0&end_ts=100000';
const AS_NDJSON = { accept: 'application/x-ndjson' };
const insert = (server: TestServer, eventTs: number, table = 'hyperedges') =>
  send(server, 'POST', '/v1/hyperedges', { event_ts: eventTs, members: [1], table });
const lsnOf = ({ headers }: Answer) => Number(headers.get('x-hedgerow-lsn') ?? Number.NaN);
const tagOf = ({ headers }: Answer) => headers.get('etag');

describe('X-Hedgerow-LSN', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.close());

  test('is the LSN of the write or of the snapshot that was read', async () => {
    const first = await insert(server, 1);
    const second = await insert(server, 2);
    expect(lsnOf(second)).toBeGreaterThan(lsnOf(first));
    expect(lsnOf(await send(server, 'GET', RANGE))).toBe(lsnOf(second));
    expect(lsnOf(await send(server, 'GET', RANGE, undefined, AS_NDJSON))).toBe(lsnOf(second));
    expect(lsnOf(await send(server, 'GET', '/v1/hyperedges/node/1'))).toBe(lsnOf(second));
    const removed = await send(server, 'DELETE', '/v1/hyperedges', { event_ts: 1, members: [1] });
    expect(lsnOf(removed)).toBeGreaterThan(lsnOf(second));
    const operations = [{ type: 'insert', event_ts: 3, members: [1] }];
    expect(lsnOf(await send(server, 'POST', '/v1/batch', { operations }))).toBeGreaterThan(lsnOf(removed));
  });

  test('is also on errors of data routes, but not on other routes', async () => {
    expect(lsnOf(await send(server, 'GET', '/v1/hyperedges'))).toBe(server.database.lastLsn);
    for (const path of ['/v1/tables', '/health', '/health/live', '/v1/wal', '/nope']) {
      expect(lsnOf(await send(server, 'GET', path))).toBeNaN();
    }
  });
});

describe('X-Min-LSN', () => {
  let server: TestServer;
  afterEach(() => server.close());
  const read = (lsn: string, path = RANGE) => send(server, 'GET', path, undefined, { 'x-min-lsn': lsn });

  test('changes nothing when it is already visible', async () => {
    server = await startServer();
    const lsn = lsnOf(await insert(server, 1));
    for (const text of ['0', String(lsn)]) expect((await read(text)).json.num_tuples).toBe(1);
    expect((await read(String(lsn), '/v1/tables')).status).toBe(200);
  });

  test('delays a read until the LSN becomes visible', async () => {
    server = await startServer();
    const lsn = lsnOf(await insert(server, 1));
    const waiting = [
      read(String(lsn + 1)),
      read(String(lsn + 1), '/v1/hyperedges/node/1'),
      send(server, 'GET', RANGE, undefined, { 'x-min-lsn': String(lsn + 1), ...AS_NDJSON }),
      read(String(lsn + 1), '/v1/tables/hyperedges'),
    ];
    await insert(server, 2);
    const [range, node, ndjson, table] = await Promise.all(waiting);
    expect([range!.json.num_tuples, node!.json.num_tuples]).toEqual([2, 2]);
    expect(ndjson!.text.trim().split('\n')).toHaveLength(2);
    expect(table!.json.row_count).toBe(2);
    expect(lsnOf(range!)).toBe(lsn + 1);
  });

  test('is answered with 503 and Retry-After, or with 504 after an earlier deadline, when it stays invisible', async () => {
    server = await startServer({ queryTimeoutMs: 50 });
    const late = await read('1000000');
    expect([late.status, late.json.code]).toEqual([504, 'timeout']);
    await server.close();
    server = await startServer();
    // The waits of the engine itself are tested elsewhere. Here a wait of 5,000 ms, as the service
    // requests it, times out immediately.
    server.database.whenVisible = async (_lsn, timeoutMs) => timeoutMs !== 5000;
    const answer = await read('1000000');
    expect([answer.status, answer.json.code, answer.headers.get('retry-after')]).toEqual([503, 'lsn_timeout', '1']);
    expect(answer.json.detail).toContain('1000000');
    expect(server.errors).toEqual([]);
  });

  test('is answered with 400 when it is not an LSN, but only after the checks of key and role', async () => {
    server = await startServer({ auth: true });
    const key = { 'x-api-key': server.keys.readonly };
    for (const text of ['-1', '1.5', 'x', '0x10', '9007199254740992', '1 2', '+1']) {
      const answer = await send(server, 'GET', RANGE, undefined, { 'x-min-lsn': text, ...key });
      expect([text, answer.status, answer.json.code]).toEqual([text, 400, 'invalid_lsn']);
      expect((await send(server, 'GET', RANGE, undefined, { 'x-min-lsn': text })).status).toBe(401);
    }
  });

  test('is ignored by writes and probes', async () => {
    server = await startServer();
    const headers = { 'x-min-lsn': 'x' };
    expect((await send(server, 'POST', '/v1/hyperedges', { event_ts: 1, members: [1] }, headers)).status).toBe(201);
    expect((await send(server, 'GET', '/health/live', undefined, headers)).status).toBe(200);
  });

  test('does no harm when the client disconnects during the wait', async () => {
    const observer = new Recorder();
    server = await startServer({ observer });
    await raw(server, [`GET ${RANGE} HTTP/1.1\r\nHost: x\r\nX-Min-LSN: 999\r\n\r\n`], 50);
    await until(() => observer.requests.some(({ status }) => status === 499));
    for (let i = 0; i < 3; i++) await insert(server, i);
    expect((await read('1')).json.num_tuples).toBe(3);
    expect(server.errors).toEqual([]);
  });
});

describe('ETag', () => {
  let server: TestServer;
  afterEach(() => server.close());
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    send(server, method, path, undefined, headers);
  const PATHS = [RANGE, '/v1/hyperedges/node/1', '/v1/tables', '/v1/tables/hyperedges'];

  test('is weak, stays the same while nothing changes, and leads to 304 without a body', async () => {
    server = await startServer({ auth: true, qpm: 1000, cors: ['https://a.example'] });
    const key = { 'x-api-key': server.keys.admin, origin: 'https://a.example' };
    await send(server, 'POST', '/v1/hyperedges', { event_ts: 5, members: [1] }, key);
    for (const path of PATHS) {
      const first = await get(path, key);
      const tag = tagOf(first);
      expect(tag).toMatch(/^W\/"[\w.-]+"$/);
      const again = await get(path, { ...key, 'if-none-match': tag! });
      expect([path, again.status, again.text]).toEqual([path, 304, '']);
      const names = [...again.headers.keys()].filter((name) => name !== 'date');
      const missing = [...first.headers.keys()].filter((name) => !names.includes(name));
      expect(
        missing.filter((name) => !['content-length', 'date', 'content-encoding', 'transfer-encoding'].includes(name)),
      ).toEqual([]);
      for (const name of ['etag', 'vary', 'x-hedgerow-lsn', 'content-type', 'access-control-allow-origin']) {
        expect([name, again.headers.get(name)]).toEqual([name, first.headers.get(name)]);
      }
      expect(again.headers.get('x-ratelimit-remaining')).not.toBeNull();
      expect((await get(path, { ...key, 'if-none-match': tag! }, 'HEAD')).status).toBe(304);
    }
    // The connection stays usable after an answer without a body.
    const text = await raw(server, [
      `GET /v1/tables HTTP/1.1\r\nHost: x\r\nX-API-Key: ${server.keys.admin}\r\nIf-None-Match: *\r\n\r\nGET /health/live HTTP/1.1\r\nHost: x\r\n\r\n`,
    ]);
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1])).toEqual(['304', '200']);
  });

  test('is matched in lists, with * and when written as a strong tag', async () => {
    server = await startServer();
    await insert(server, 5);
    const tag = tagOf(await get(RANGE))!;
    for (const header of [tag, tag.slice(2), `"x", ${tag}`, `W/"y",${tag} , "z"`, '*', `"a,b", ${tag}`]) {
      expect([header, (await get(RANGE, { 'if-none-match': header })).status]).toEqual([header, 304]);
    }
    for (const header of [
      '"x"',
      tag.slice(0, -2),
      `W/"${tag.slice(3, -2)}"`,
      tag.replaceAll('"', ''),
      'W/""',
      '"*"',
      '',
    ]) {
      expect([header, (await get(RANGE, { 'if-none-match': header })).status]).toEqual([header, 200]);
    }
  });

  test('changes with every change of its own table, and with no change of another table', async () => {
    server = await startServer();
    await insert(server, 5);
    await send(server, 'POST', '/v1/tables', { name: 'other' });
    const tagsNow = async () => [
      tagOf(await get(RANGE)),
      tagOf(await get(`${RANGE}&table=other`)),
      tagOf(await get('/v1/tables')),
    ];
    const changes: [change: () => Promise<unknown>, changed: boolean[]][] = [
      [() => insert(server, 6), [true, false, true]],
      [() => insert(server, 6, 'other'), [false, true, true]],
      [() => send(server, 'DELETE', '/v1/hyperedges', { event_ts: 6, members: [1] }), [true, false, true]],
      [
        () => send(server, 'POST', '/v1/batch', { operations: [{ type: 'insert', event_ts: 7, members: [2] }] }),
        [true, false, true],
      ],
      [() => send(server, 'POST', '/v1/hyperedges', manyEdges(3), NDJSON), [true, false, true]],
      [() => send(server, 'POST', '/v1/autocompact', { threshold: 5, table: 'other' }), [false, true, true]],
      [() => send(server, 'POST', '/v1/tables', { name: 'third' }), [false, false, true]],
      [() => send(server, 'DELETE', '/v1/tables/third'), [false, false, true]],
      [() => send(server, 'POST', '/v1/hyperedges/compact', {}), [false, false, false]],
      [() => send(server, 'POST', '/v1/hyperedges/compact', { ttl_seconds: 1, table: 'other' }), [false, true, true]],
    ];
    for (const [index, [change, expected]] of changes.entries()) {
      const before = await tagsNow();
      await change();
      const after = await tagsNow();
      expect([index, after.map((tag, i) => tag !== before[i])]).toEqual([index, expected]);
    }
  });

  test('is not reused for a new table with the name of a dropped table', async () => {
    server = await startServer();
    const tags = new Set<string | null>();
    for (let i = 0; i < 3; i++) {
      await send(server, 'POST', '/v1/tables', { name: 'again' });
      tags.add(tagOf(await get('/v1/tables/again')));
      await send(server, 'DELETE', '/v1/tables/again');
    }
    expect(tags.size).toBe(3);
  });

  test('differs between the formats of an answer and between services', async () => {
    server = await startServer();
    const json = tagOf(await get(RANGE));
    const ndjson = tagOf(await get(RANGE, AS_NDJSON));
    expect(ndjson).not.toBe(json);
    expect((await get(RANGE, { ...AS_NDJSON, 'if-none-match': json! })).status).toBe(200);
    const same = await get(RANGE, { ...AS_NDJSON, 'if-none-match': ndjson! });
    expect([same.status, same.headers.get('content-type')]).toEqual([304, 'application/x-ndjson']);
    const other = await startServer();
    try {
      expect(tagOf(await send(other, 'GET', RANGE))).not.toBe(json);
    } finally {
      await other.close();
    }
  });

  test('is absent when the answer contains a cursor or continues from a cursor', async () => {
    server = await startServer();
    await send(server, 'POST', '/v1/hyperedges', manyEdges(10), NDJSON);
    const page = await get(`${RANGE}&limit=6`);
    expect([page.json.next_cursor === null, tagOf(page)]).toEqual([false, null]);
    const last = await get(`${RANGE}&limit=6&cursor=${page.json.next_cursor}`);
    expect([last.json.next_cursor, tagOf(last)]).toEqual([null, null]);
    const ndjson = await get(`${RANGE}&limit=6`, AS_NDJSON);
    expect([ndjson.headers.get('x-next-cursor') === null, tagOf(ndjson)]).toEqual([false, null]);
    expect(tagOf(await get(`${RANGE}&limit=10`))).not.toBeNull();
    expect(tagOf(await get(`${RANGE}&limit=10`, AS_NDJSON))).not.toBeNull();
  });

  test('is present on streams without a limit', async () => {
    server = await startServer();
    await send(server, 'POST', '/v1/hyperedges', manyEdges(5000), NDJSON);
    const all = await get(RANGE);
    expect(all.headers.get('transfer-encoding')).toBe('chunked');
    expect((await get(RANGE, { 'if-none-match': tagOf(all)! })).status).toBe(304);
    expect(tagOf(await get(`${RANGE}&limit=4000`))).toBeNull();
  });

  test('does not bypass other checks: wrong input and missing tables answer as usual', async () => {
    server = await startServer();
    const any = { 'if-none-match': '*' };
    expect((await get('/v1/hyperedges', any)).status).toBe(400);
    expect((await get(`${RANGE}&table=nope`, any)).status).toBe(404);
    expect((await get('/v1/tables/nope', any)).status).toBe(404);
    expect((await get('/v1/wal', any)).status).toBe(200);
  });

  test('matches only whole tags, whatever they contain', () => {
    const tags = new EntityTags('b');
    expect(tags.textOf('7.1')).toBe('W/"b-7.1"');
    expect(tags.matches('W/"b-7"', 7)).toBe(true);
    expect(tags.matches('"b-71"', 7)).toBe(false);
    expect(tags.matches('b-7', 7)).toBe(false);
  });
});

describe('the observer', () => {
  const observer = new Recorder();
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ observer });
    await send(server, 'POST', '/v1/hyperedges', manyEdges(5000), NDJSON);
  });
  afterAll(() => server.close());
  afterEach(() => {
    observer.requests.length = 0;
    observer.queries.length = 0;
  });

  test('receives every answer with its route template and status', async () => {
    observer.requests.length = 0;
    await send(server, 'GET', '/v1/tables/hyperedges');
    await send(server, 'HEAD', '/v1/tables/hyperedges');
    await send(server, 'GET', '/v1/tables/nope');
    await send(server, 'POST', '/v1/hyperedges', { event_ts: 1, members: [1] });
    await send(server, 'GET', `/made/up/${'x'.repeat(50)}`);
    await send(server, 'PUT', '/v1/tables');
    await send(server, 'OPTIONS', '/v1/tables');
    await send(server, 'GET', '/health/live');
    await send(server, 'GET', RANGE);
    await send(server, 'GET', '/v1/tables', undefined, { 'if-none-match': '*' });
    expect(observer.requests.map(({ route, status }) => `${route} ${status}`)).toEqual([
      'GET /v1/tables/{name} 200',
      'GET /v1/tables/{name} 200',
      'GET /v1/tables/{name} 404',
      'POST /v1/hyperedges 201',
      '* unmatched 404',
      '* unmatched 405',
      'OPTIONS * 200',
      'GET /health/live 200',
      'GET /v1/hyperedges 200',
      'GET /v1/tables 304',
    ]);
    for (const { durationUs } of observer.requests) expect(durationUs).toBeGreaterThan(0);
  });

  test('receives every finished read of rows with strategy, table and number of rows', async () => {
    const withId = (id: string, more = {}) => ({ 'x-request-id': id, ...more });
    await send(server, 'GET', '/v1/hyperedges?start_ts=5&end_ts=7', undefined, withId('a'));
    await send(server, 'GET', '/v1/hyperedges/node/17', undefined, withId('b'));
    await send(server, 'GET', RANGE, undefined, withId('c'));
    await send(server, 'GET', RANGE, undefined, withId('d', AS_NDJSON));
    await send(server, 'GET', `${RANGE}&limit=2000`, undefined, withId('e', AS_NDJSON));
    const table = 'hyperedges';
    const all = expect.any(Number);
    expect(observer.queries).toEqual([
      { strategy: 'TPI_BUCKET_PUSHDOWN', table, records: 3, requestId: 'a' },
      { strategy: 'FMI_LOOKUP', table, records: 50, requestId: 'b' },
      { strategy: 'TPI_BUCKET_PUSHDOWN', table, records: all, requestId: 'c' },
      { strategy: 'TPI_BUCKET_PUSHDOWN', table, records: all, requestId: 'd' },
      { strategy: 'TPI_BUCKET_PUSHDOWN', table, records: 2000, requestId: 'e' },
    ]);
    expect(observer.queries[2]!.records).toBeGreaterThanOrEqual(5000);
    expect(observer.queries[3]!.records).toBe(observer.queries[2]!.records);
  });

  test('receives no read that failed, was not executed or whose client disconnected', async () => {
    await send(server, 'GET', `${RANGE}&limit=0`);
    await send(server, 'GET', RANGE, undefined, { 'if-none-match': '*' });
    await send(server, 'HEAD', RANGE);
    await send(server, 'POST', '/v1/hyperedges', manyEdges(100_000, 10_000), NDJSON);
    const socket = await openSocket(server);
    socket.pause();
    socket.write(`GET /v1/hyperedges?start_ts=0&end_ts=1000000 HTTP/1.1\r\nHost: x\r\n\r\n`);
    await until(() => server.database.table().version.references > 1);
    socket.destroy();
    await until(() => observer.requests.some(({ status }) => status === 499));
    expect(observer.queries).toEqual([]);
    expect(observer.requests.filter(({ status }) => status === 499)).toHaveLength(1);
  });
});

describe('the deadline of a query', () => {
  test('ends the counting of rows for a limited NDJSON answer with 504, and leaves nothing pinned', async () => {
    const server = await startServer({ queryTimeoutMs: 1 });
    try {
      await send(server, 'POST', '/v1/hyperedges', manyEdges(60_000), NDJSON);
      const answer = await send(server, 'GET', `${RANGE}&limit=60000`, undefined, AS_NDJSON);
      expect([answer.status, answer.json.code]).toEqual([504, 'timeout']);
      expect(server.database.table().version.references).toBe(1);
      // Without a limit the rows are streamed at once and not counted, so this request succeeds.
      expect((await send(server, 'GET', RANGE, undefined, AS_NDJSON)).status).toBe(200);
      expect(server.errors).toEqual([]);
    } finally {
      await server.close();
    }
  });

  test('does not exist when it is set to 0', async () => {
    const server = await startServer({ queryTimeoutMs: 0 });
    try {
      await send(server, 'POST', '/v1/hyperedges', manyEdges(20_000), NDJSON);
      expect((await send(server, 'GET', `${RANGE}&limit=20000`, undefined, AS_NDJSON)).status).toBe(200);
    } finally {
      await server.close();
    }
  });
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}
