import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { manyEdges, NDJSON, send, startServer, type TestServer } from './support.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  // The edge at time i (0 to 2999) has the members i % 100 and 1000 + i.
  await send(server, 'POST', '/v1/hyperedges', manyEdges(3000), NDJSON);
  await send(server, 'POST', '/v1/hyperedges', { event_ts: -5, members: [-3, 7], formation: 'é' });
});
afterAll(() => server.close());

const get = (path: string, headers: Record<string, string> = {}) => send(server, 'GET', path, undefined, headers);
const times = (rows: { event_ts: number }[]) => rows.map((row) => row.event_ts);

describe('range', () => {
  test('returns the rows of the window and their envelope', async () => {
    const answer = await get('/v1/hyperedges?start_ts=10&end_ts=12');
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      table: 'hyperedges',
      hyperedges: [10, 11, 12].map((i) => ({
        id: i + 1,
        event_ts: i,
        members: [i, 1000 + i],
        weight: null,
        mean_dist_m: null,
        formation: null,
      })),
      num_tuples: 3,
      query_plan: {
        strategy: 'TPI_BUCKET_PUSHDOWN',
        buckets_scanned: expect.any(Number),
        total_buckets: expect.any(Number),
        speedup_factor: expect.any(Number),
        elapsed_us: expect.any(Number),
      },
      next_cursor: null,
    });
    expect(answer.headers.get('x-hedgerow-lsn')).toBe(String(server.database.lastLsn));
    expect(answer.headers.get('content-length')).toBe(String(answer.text.length));
  });

  test('returns rows with negative times and with text, and an empty result', async () => {
    const negative = await get('/v1/hyperedges?start_ts=-9007199254740991&end_ts=-1');
    expect(negative.json.hyperedges).toMatchObject([{ event_ts: -5, members: [-3, 7], formation: 'é' }]);
    expect((await get('/v1/hyperedges?start_ts=5&end_ts=4')).json).toMatchObject({ hyperedges: [], num_tuples: 0 });
    expect((await get('/v1/hyperedges?start_ts=99999&end_ts=999999')).json.hyperedges).toEqual([]);
  });

  test('decodes names and values, and ignores unknown parameters', async () => {
    const answer = await get('/v1/hyperedges?%73tart_ts=%31&end_ts=1&table=Hyper%65dges&x=y&&z');
    expect(answer.status).toBe(200);
    expect(answer.json.table).toBe('hyperedges');
    expect(times(answer.json.hyperedges)).toEqual([1]);
  });

  test('streams a result larger than one slice', async () => {
    const answer = await get('/v1/hyperedges?start_ts=0&end_ts=3000');
    expect(answer.headers.get('transfer-encoding')).toBe('chunked');
    expect(answer.json.num_tuples).toBe(3000);
    expect(times(answer.json.hyperedges)).toEqual(Array.from({ length: 3000 }, (_, i) => i));
  });

  test.each([
    ['start_ts=1', 'end_ts'],
    ['end_ts=1', 'start_ts'],
    ['', 'start_ts'],
    ['start_ts=&end_ts=1', 'start_ts'],
    ['start_ts=1.0&end_ts=1', 'start_ts'],
    ['start_ts=1e3&end_ts=1', 'start_ts'],
    ['start_ts=0x1&end_ts=1', 'start_ts'],
    ['start_ts=%201&end_ts=1', 'start_ts'],
    ['start_ts=-&end_ts=1', 'start_ts'],
    ['start_ts=9007199254740992&end_ts=1', 'start_ts'],
    ['start_ts=1&end_ts=2&limit=0', 'limit'],
    ['start_ts=1&end_ts=2&limit=-1', 'limit'],
    ['start_ts=1&end_ts=2&limit=x', 'limit'],
    ['start_ts=1&end_ts=2&start_ts=3', 'start_ts'],
  ])('refuses ?%s', async (query, field) => {
    const answer = await get(`/v1/hyperedges?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.json.code).toBe('invalid_input');
    expect(answer.json.errors[0].loc).toEqual(['query', field]);
  });

  test('refuses broken percent-encoding and an unknown table', async () => {
    expect((await get('/v1/hyperedges?start_ts=%zz&end_ts=1')).status).toBe(400);
    expect((await get('/v1/hyperedges?start_ts=1&end_ts=1&table=nope')).status).toBe(404);
  });
});

describe('node lookup', () => {
  test('returns the edges of a node and their envelope', async () => {
    const answer = await get('/v1/hyperedges/node/42');
    expect(answer.json).toMatchObject({ table: 'hyperedges', node_id: 42, num_tuples: 30, next_cursor: null });
    expect(times(answer.json.hyperedges)).toEqual(Array.from({ length: 30 }, (_, i) => 42 + 100 * i));
    expect(answer.json.query_plan.strategy).toBe('FMI_LOOKUP');
  });

  test('accepts a window, a limit and negative nodes', async () => {
    const answer = await get('/v1/hyperedges/node/42?start_ts=142&end_ts=900&limit=2');
    expect(times(answer.json.hyperedges)).toEqual([142, 242]);
    expect(answer.json.next_cursor).toEqual(expect.any(String));
    expect(times((await get('/v1/hyperedges/node/-3')).json.hyperedges)).toEqual([-5]);
    expect((await get('/v1/hyperedges/node/%2D3')).json.node_id).toBe(-3);
    expect((await get('/v1/hyperedges/node/123456789')).json.hyperedges).toEqual([]);
  });

  test.each(['x', '1.5', '9007199254740992', '-'])('refuses node %s', async (node) => {
    const answer = await get(`/v1/hyperedges/node/${node}`);
    expect(answer.status).toBe(400);
    expect(answer.json.errors[0].loc).toEqual(['path', 'node_id']);
  });
});

describe('cursors', () => {
  test.each([
    ['in the log', false],
    ['in segments', true],
  ])('keep the columns of the first page when the table is altered, for rows %s', async (_where, compacts) => {
    const statement = async (query: string) => {
      const { status, json } = await send(server, 'POST', '/v1/query', { query });
      expect([query, status]).toEqual([query, 200]);
      return json;
    };
    const compact = async () => compacts && (await statement('COMPACT Altered'));
    await statement('CREATE HYPEREDGE TABLE Altered (node) PROPERTIES (a INTEGER, b TEXT, c REAL)');
    const values = Array.from({ length: 40 }, (_, i) => `(${i}, [7, ${i + 10}], ${i}, 'b${i}', ${i}.5)`);
    await statement(`INSERT INTO Altered (event_ts, members, a, b, c) VALUES ${values}`);
    await compact();
    const row = (i: number) => ({ a: i, b: `b${i}`, c: i + 0.5 });
    const own = ({ id, event_ts, members, weight, mean_dist_m, formation, ...rest }: Record<string, unknown>) => rest;
    for (const path of [
      '/v1/hyperedges?table=Altered&start_ts=0&end_ts=50&limit=4',
      '/v1/hyperedges/node/7?table=Altered&limit=4',
    ]) {
      const pages = [(await get(path)).json];
      let shown = await own((await get(`${path}&cursor=${pages[0].next_cursor}`)).json.hyperedges[0]);
      expect(shown).toEqual(row(4));
      for (const alter of [
        'DROP COLUMN a',
        'RENAME COLUMN b TO z',
        "ADD COLUMN d TEXT DEFAULT 'new'",
        'ADD COLUMN b REAL',
      ]) {
        await statement(`ALTER TABLE Altered ${alter}`);
        await statement('INSERT INTO Altered (event_ts, members) VALUES (60, [7])');
        await compact();
        pages.push((await get(`${path}&cursor=${pages.at(-1)!.next_cursor}`)).json);
      }
      const rest = await get(`${path}&cursor=${pages.at(-1)!.next_cursor}`, { accept: 'application/x-ndjson' });
      const lines = rest.text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      const rows = [...pages.flatMap(({ hyperedges }) => hyperedges), ...lines];
      expect(rows.map(own)).toEqual(Array.from({ length: 24 }, (_, i) => row(i)));
      // Without a cursor, the current columns apply.
      shown = own((await get(path)).json.hyperedges[3]);
      expect(shown).toEqual({ z: 'b3', c: 3.5, d: 'new', b: null });
      for (const undo of ['DROP COLUMN b', 'DROP COLUMN d', 'RENAME COLUMN z TO b', 'ADD COLUMN a INTEGER'])
        await statement(`ALTER TABLE Altered ${undo}`);
      await statement('UPDATE Altered SET a = event_ts WHERE event_ts < 50');
      await statement('ALTER TABLE Altered ADD COLUMN copy REAL');
      await statement('UPDATE Altered SET copy = c');
      await statement('ALTER TABLE Altered DROP COLUMN c');
      await statement('ALTER TABLE Altered RENAME COLUMN copy TO c');
    }
    await statement('DROP HYPEREDGE TABLE Altered');
  });

  test('page through one snapshot while rows are inserted and deleted', async () => {
    const base = '/v1/hyperedges?start_ts=100&end_ts=109';
    const first = await get(`${base}&limit=4`);
    expect(times(first.json.hyperedges)).toEqual([100, 101, 102, 103]);
    await send(server, 'POST', '/v1/hyperedges', { event_ts: 104, members: [5] });
    await send(server, 'DELETE', '/v1/hyperedges', { event_ts: 108, members: [8, 1108] });
    await send(server, 'POST', '/v1/hyperedges/compact', {});
    const second = await get(`${base}&limit=4&cursor=${first.json.next_cursor}`);
    expect(times(second.json.hyperedges)).toEqual([104, 105, 106, 107]);
    expect(second.headers.get('x-hedgerow-lsn')).toBe(first.headers.get('x-hedgerow-lsn'));
    const last = await get(`${base}&limit=4&cursor=${second.json.next_cursor}`);
    expect(times(last.json.hyperedges)).toEqual([108, 109]);
    expect(last.json.next_cursor).toBeNull();
    // An earlier page can be requested again.
    const again = await get(`${base}&limit=4&cursor=${first.json.next_cursor}`);
    expect(again.json.hyperedges).toEqual(second.json.hyperedges);
    expect(times((await get(`${base}`)).json.hyperedges)).toEqual([100, 101, 102, 103, 104, 104, 105, 106, 107, 109]);
  });

  test('are not returned when the rows end exactly at the limit', async () => {
    const answer = await get('/v1/hyperedges?start_ts=200&end_ts=203&limit=4');
    expect(answer.json).toMatchObject({ num_tuples: 4, next_cursor: null });
  });

  test('return the remaining rows without a limit, and as NDJSON too', async () => {
    const first = await get('/v1/hyperedges/node/7?start_ts=0&end_ts=3000&limit=10');
    const rest = await get(`/v1/hyperedges/node/7?start_ts=0&end_ts=3000&cursor=${first.json.next_cursor}`, {
      accept: 'application/x-ndjson',
    });
    expect(rest.text.trimEnd().split('\n')).toHaveLength(20);
  });

  test('are refused when they belong to another request, are forged or have expired', async () => {
    const { next_cursor: cursor } = (await get('/v1/hyperedges?start_ts=0&end_ts=50&limit=2')).json;
    const forged = Buffer.from(
      Buffer.from(cursor, 'base64url')
        .toString()
        .replace(/^(\d+)\.\d+/, '$1.40'),
    ).toString('base64url');
    for (const path of [
      `/v1/hyperedges?start_ts=0&end_ts=51&limit=2&cursor=${cursor}`,
      `/v1/hyperedges/node/1?start_ts=0&end_ts=50&limit=2&cursor=${cursor}`,
      `/v1/hyperedges?start_ts=0&end_ts=50&limit=2&cursor=${forged}`,
      '/v1/hyperedges?start_ts=0&end_ts=50&limit=2&cursor=',
      '/v1/hyperedges?start_ts=0&end_ts=50&limit=2&cursor=abc',
      `/v1/hyperedges?start_ts=0&end_ts=50&limit=2&cursor=${'x'.repeat(2000)}`,
    ]) {
      const answer = await get(path);
      expect(answer.status).toBe(400);
      expect(answer.json.code).toBe('invalid_cursor');
      expect(answer.json.detail).toContain('without a cursor');
    }
  });

  test('do not outlive their table', async () => {
    const create = () => send(server, 'POST', '/v1/tables', { name: 'short' });
    await create();
    await send(server, 'POST', '/v1/hyperedges?table=short', manyEdges(10), NDJSON);
    const base = '/v1/hyperedges?table=short&start_ts=0&end_ts=50&limit=2';
    const { next_cursor: cursor } = (await get(base)).json;
    await send(server, 'DELETE', '/v1/tables/short');
    expect((await get(`${base}&cursor=${cursor}`)).status).toBe(404);
    await create();
    expect((await get(`${base}&cursor=${cursor}`)).json.code).toBe('invalid_cursor');
  });
});

describe('NDJSON', () => {
  const accept = { accept: 'application/x-ndjson' };
  const rowsOf = (text: string) =>
    text === ''
      ? []
      : text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line));

  test('returns one row per line', async () => {
    const answer = await get('/v1/hyperedges?start_ts=10&end_ts=12', accept);
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
    expect(times(rowsOf(answer.text))).toEqual([10, 11, 12]);
    expect(answer.text.endsWith('\n')).toBe(true);
    expect(answer.headers.get('x-next-cursor')).toBeNull();
    expect((await get('/v1/hyperedges?start_ts=5&end_ts=4', accept)).text).toBe('');
  });

  test('streams large results', async () => {
    const answer = await get('/v1/hyperedges?start_ts=300&end_ts=2900', accept);
    expect(times(rowsOf(answer.text))).toEqual(Array.from({ length: 2601 }, (_, i) => 300 + i));
  });

  test('returns the cursor in a header, even when the rows exceed the memory limit', async () => {
    await send(server, 'POST', '/v1/tables', { name: 'wide' });
    await send(server, 'POST', '/v1/hyperedges?table=wide', manyEdges(30_000), NDJSON);
    for (const limit of [5, 2000, 20_000]) {
      const base = `/v1/hyperedges?table=wide&start_ts=0&end_ts=100000&limit=${limit}`;
      const answer = await get(base, accept);
      expect(rowsOf(answer.text)).toHaveLength(limit);
      const cursor = answer.headers.get('x-next-cursor');
      const next = await get(`${base}&cursor=${cursor}`);
      expect(next.json.hyperedges[0].event_ts).toBe(limit);
    }
  });

  test('is returned when the client names it first', async () => {
    const type = async (value: string) =>
      (await get('/v1/hyperedges?start_ts=1&end_ts=2', { accept: value })).headers.get('content-type');
    expect(await type('application/json, application/x-ndjson')).toBe('application/json');
    expect(await type('APPLICATION/X-NDJSON;q=1, */*')).toBe('application/x-ndjson');
    expect(await type('text/html')).toBe('application/json');
  });
});
