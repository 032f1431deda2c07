import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { send, startServer, type TestServer } from './support.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const get = (path: string) => send(server, 'GET', path);
const post = (path: string, body?: unknown) => send(server, 'POST', path, body);

describe('health', () => {
  test('is answered with 200 only at /health/live while the database is being opened; other routes answer 503', async () => {
    const starting = await startServer({ open: false });
    expect((await send(starting, 'GET', '/health/live')).json).toEqual({ status: 'live' });
    for (const path of ['/health/ready', '/health', '/v1/tables', '/v1/hyperedges?start_ts=1&end_ts=2']) {
      const answer = await send(starting, 'GET', path);
      expect(answer.status).toBe(503);
      expect(answer.json.code).toBe('starting');
      expect(answer.headers.get('retry-after')).toBe('1');
    }
    expect((await send(starting, 'GET', '/v1/nope')).status).toBe(404);
    starting.service.open({ database: starting.database });
    expect((await send(starting, 'GET', '/health/ready')).json).toEqual({ status: 'ready' });
    await starting.close();
  });

  test('is returned with statistics by GET /health', async () => {
    await post('/v1/hyperedges', { event_ts: 1, members: [1, 2] });
    const answer = await get('/health');
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      status: 'ok',
      version: '1.2.3',
      db_dir: server.database.dir,
      total_records: 1,
      bucket_count: 1,
      bucket_seconds: 10,
      node_count: 2,
      wal_pending: 1,
      durability: 'fsync',
      auth_disabled: true,
    });
    expect(answer.json.uptime_seconds).toBeGreaterThan(0);
  });
});

describe('tables', () => {
  test('are created, read, listed and dropped', async () => {
    const created = await post('/v1/tables', {
      name: 'Meetings',
      member_tables: ['Person', 'Room'],
      bucket_seconds: 3600,
      compact_threshold: 5,
      columns: [{ name: 'topic', type: 'TEXT', default: null }],
    });
    expect(created.status).toBe(201);
    expect(created.json).toEqual({
      name: 'Meetings',
      member_tables: ['Person', 'Room'],
      nodes: 'numbers',
      roles: [],
      intervals: false,
      bucket_seconds: 3600,
      compact_threshold: 5,
      row_count: 0,
      columns: [{ name: 'topic', type: 'TEXT' }],
      created_at: expect.any(Number),
      primary: false,
    });
    expect((await get('/v1/tables/MEETINGS')).json).toEqual(created.json);
    expect((await get('/v1/tables')).json.map((table: { name: string }) => table.name)).toEqual([
      'Meetings',
      'hyperedges',
    ]);
    expect((await get('/v1/tables/hyperedges')).json.primary).toBe(true);
    const again = await post('/v1/tables', { name: 'meetings' });
    expect([again.status, again.json.code]).toEqual([409, 'table_exists']);
    const dropped = await send(server, 'DELETE', '/v1/tables/meetings');
    expect([dropped.status, dropped.json]).toEqual([200, { name: 'Meetings', dropped: true }]);
    expect((await get('/v1/tables/Meetings')).status).toBe(404);
    expect((await send(server, 'DELETE', '/v1/tables/Meetings')).status).toBe(404);
  });

  test('cannot be dropped if they are primary', async () => {
    const answer = await send(server, 'DELETE', '/v1/tables/hyperedges');
    expect([answer.status, answer.json.code]).toEqual([409, 'primary_table']);
  });

  test('have defaults, and null counts as missing', async () => {
    const answer = await post('/v1/tables', { name: 'plain', member_tables: null, bucket_seconds: null });
    expect(answer.json).toMatchObject({ bucket_seconds: 10, compact_threshold: 0, member_tables: [], columns: [] });
  });

  test.each([
    [{}, ['body', 'name']],
    [{ name: 5 }, ['body', 'name']],
    [{ name: '1a' }, ['body', 'name']],
    [{ name: 'a-b' }, ['body', 'name']],
    [{ name: 'a'.repeat(65) }, ['body', 'name']],
    [{ name: 'a', bucket_seconds: 0 }, ['body', 'bucket_seconds']],
    [{ name: 'a', bucket_seconds: 1.5 }, ['body', 'bucket_seconds']],
    [{ name: 'a', compact_threshold: -1 }, ['body', 'compact_threshold']],
    [{ name: 'a', member_tables: ['x', 5] }, ['body', 'member_tables', 1]],
    [{ name: 'a', columns: [{ name: 'c' }] }, ['body', 'columns', 0, 'type']],
    [[], ['body']],
  ])('are not created from %j', async (body, loc) => {
    const answer = await post('/v1/tables', body);
    expect(answer.status).toBe(400);
    expect(answer.json.errors[0].loc).toEqual(loc);
  });
});

describe('the routes of compaction', () => {
  test('return figures, for one table or for all', async () => {
    await post('/v1/tables', { name: 'packed' });
    await post('/v1/hyperedges', { table: 'packed', event_ts: 1, members: [1] });
    const one = await post('/v1/hyperedges/compact', { table: 'PACKED' });
    expect(one.status).toBe(200);
    expect(one.json).toEqual({
      compacted: true,
      table: 'packed',
      tables: ['packed'],
      ttl_seconds: null,
      wal_pending_before: 1,
      wal_pending_after: 0,
      buckets_dropped: 0,
      edges_dropped: 0,
      tombstones_reconciled: 0,
      elapsed_ms: expect.any(Number),
    });
    const all = await post('/v1/hyperedges/compact');
    expect(all.json).toMatchObject({ compacted: true, table: null });
    expect(all.json.tables).toContain('hyperedges');
    const aged = await post('/v1/hyperedges/compact', { table: 'packed', ttl_seconds: 60 });
    expect(aged.json).toMatchObject({ ttl_seconds: 60, edges_dropped: 1, buckets_dropped: 1 });
  });

  test.each([[{ ttl_seconds: 0 }], [{ ttl_seconds: 'x' }], [{ table: 5 }], ['nope']])('refuse %j', async (body) => {
    expect((await post('/v1/hyperedges/compact', body)).status).toBe(400);
  });

  test('answer 404 for an unknown table', async () => {
    expect((await post('/v1/hyperedges/compact', { table: 'nope' })).status).toBe(404);
    expect((await post('/v1/autocompact', { threshold: 1, table: 'nope' })).status).toBe(404);
  });

  test('set the threshold of one table or of all, at POST /v1/autocompact', async () => {
    const one = await post('/v1/autocompact', { threshold: 100, table: 'packed' });
    expect([one.status, one.json]).toEqual([200, { threshold: 100, table: 'packed', applied: true }]);
    const all = await post('/v1/autocompact', { threshold: 7 });
    expect(all.json).toEqual({ threshold: 7, table: null, applied: true });
    const wal = await get('/v1/wal');
    expect(wal.json).toMatchObject({ threshold: 7, tables: { packed: { pending: 0, threshold: 7 } } });
    await post('/v1/autocompact', { threshold: 0 });
    for (const body of [{}, { threshold: -1 }, { threshold: null }, { threshold: 1.5 }]) {
      expect((await post('/v1/autocompact', body)).status).toBe(400);
    }
  });

  test('return the state of the log, at GET /v1/wal', async () => {
    const before = (await get('/v1/wal')).json;
    await post('/v1/hyperedges', { event_ts: 5, members: [1] });
    const { json } = await get('/v1/wal');
    expect(json.pending).toBe(before.pending + 1);
    expect(json.last_lsn).toBeGreaterThan(before.last_lsn);
    expect(json.size_bytes).toBeGreaterThan(0);
  });
});

describe('batch', () => {
  const batch = (operations: unknown) => post('/v1/batch', { operations });

  test('commits all operations at once', async () => {
    await post('/v1/tables', { name: 'other' });
    const answer = await batch([
      { type: 'insert', event_ts: 50, members: [1, 2] },
      { type: 'insert', table: 'other', event_ts: 51, members: [1], formation: 'x' },
      { type: 'delete', event_ts: 50, members: [2, 1] },
    ]);
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      committed: true,
      ops_total: 3,
      ops_success: 3,
      results: [
        { op: 0, type: 'insert', success: true, id: expect.any(Number) },
        { op: 1, type: 'insert', success: true, id: expect.any(Number) },
        { op: 2, type: 'delete', success: true, matched: 1 },
      ],
    });
    expect(answer.headers.get('x-hedgerow-lsn')).toBe(String(server.database.lastLsn));
    expect((await get('/v1/hyperedges?table=other&start_ts=51&end_ts=51')).json.num_tuples).toBe(1);
    expect((await get('/v1/hyperedges?start_ts=50&end_ts=50')).json.num_tuples).toBe(0);
  });

  test.each([
    ['unknown type', { type: 'upsert' }, 'upsert', 'type must be'],
    ['no type', {}, null, 'type must be'],
    ['no object', 5, null, 'JSON object'],
    ['bad field', { type: 'insert', event_ts: 'x', members: [1] }, 'insert', 'event_ts'],
    ['empty members', { type: 'insert', event_ts: 1, members: [] }, 'insert', 'members must hold at least one node id'],
    ['unknown table', { type: 'delete', event_ts: 1, members: [1], table: 'nope' }, 'delete', 'nope'],
    ['statement', { type: 'query', cypher: 'MATCH' }, 'query', 'Line 1, column 6'],
  ])('applies nothing when an operation fails: %s', async (_name, operation, type, message) => {
    const before = server.database.lastLsn;
    const answer = await batch([{ type: 'insert', event_ts: 60, members: [1] }, operation, { type: 'insert' }]);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ committed: false, ops_total: 3, ops_success: 1 });
    expect(answer.json.error).toContain(message);
    expect(answer.json.results).toEqual([
      { op: 0, type: 'insert', success: true },
      { op: 1, type, success: false, error: expect.stringContaining(message) },
    ]);
    expect(server.database.lastLsn).toBe(before);
    expect((await get('/v1/hyperedges?start_ts=60&end_ts=60')).json.num_tuples).toBe(0);
  });

  test.each([[{}], [{ operations: [] }], [{ operations: {} }], [{ operations: null }], [[]]])(
    'refuses %j',
    async (body) => {
      expect((await post('/v1/batch', body)).status).toBe(400);
    },
  );
});
