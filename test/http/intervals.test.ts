// Tests tables with intervals over HTTP: reads at a time, and PATCH of one edge.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HedgerowApiError, HedgerowClient } from '../../src/client/index.ts';
import { type Answer, send, startServer, type TestServer } from './support.ts';

let server: TestServer;
let client: HedgerowClient;

beforeAll(async () => {
  server = await startServer();
  client = new HedgerowClient({ url: server.url });
  const made = await post('/v1/tables', {
    name: 'jobs',
    intervals: true,
    columns: [{ name: 'title', type: 'TEXT', default: 'none' }],
  });
  expect(made.json).toMatchObject({ intervals: true, columns: [{ name: 'title', type: 'TEXT' }] });
  const lines = [
    { event_ts: 100, members: [1, 2], end_ts: 200 },
    { event_ts: 110, members: [2, 3], end_ts: null },
    { event_ts: '1970-01-01T00:02:00Z', members: [1, 3], end_ts: '1970-01-01T00:02:30Z' },
    { event_ts: 120, members: [1], properties: { end_ts: 120, title: 'a "text", with }' } },
  ];
  const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const sent = await send(server, 'POST', '/v1/hyperedges?table=jobs', body, {
    'content-type': 'application/x-ndjson',
  });
  expect(sent.status).toBe(201);
});
afterAll(() => server.close());

const post = (path: string, body: unknown): Promise<Answer> => send(server, 'POST', path, body);
const get = (path: string, headers?: Record<string, string>): Promise<Answer> =>
  send(server, 'GET', path, undefined, headers);
const patch = (id: number | string, body: unknown, headers?: Record<string, string>): Promise<Answer> =>
  send(server, 'PATCH', `/v1/hyperedges/${id}`, body, headers);
const idsOf = ({ json }: Answer): number[] => json.hyperedges.map(({ id }: { id: number }) => id);

describe('at', () => {
  test('gives the edges that hold at a time, with or without a window of their beginnings', async () => {
    const ids = async (query: string): Promise<number[]> => idsOf(await get(`/v1/hyperedges?table=jobs&${query}`));
    expect(await ids('at=99')).toEqual([]);
    expect(await ids('at=100')).toEqual([1]);
    expect(await ids('at=120')).toEqual([1, 2, 3]);
    expect(await ids('at=150')).toEqual([1, 2]);
    expect(await ids('at=200')).toEqual([2]);
    expect(await ids('at=1970-01-01T00:02:29Z')).toEqual([1, 2, 3]);
    expect(await ids('at=130&start_ts=105')).toEqual([2, 3]);
    expect(await ids('at=130&end_ts=110')).toEqual([1, 2]);
    expect(idsOf(await get('/v1/hyperedges/node/3?table=jobs&at=140'))).toEqual([2, 3]);
    const { json } = await get('/v1/hyperedges?table=jobs&at=120');
    expect(json.query_plan.strategy).toBe('INTERVAL_STAB');
    expect((await get('/v1/hyperedges/node/3?table=jobs&at=140')).json.query_plan.strategy).toBe('FMI_LOOKUP');
    expect((await client.hyperedges.range({ table: 'jobs', at: 150 })).hyperedges.map(({ id }) => id)).toEqual([1, 2]);
  });

  test('goes with pages, NDJSON, HEAD, entity tags and times as texts', async () => {
    const first = await get('/v1/hyperedges?table=jobs&at=120&limit=2');
    expect(idsOf(first)).toEqual([1, 2]);
    const cursor = first.json.next_cursor as string;
    expect(idsOf(await get(`/v1/hyperedges?table=jobs&at=120&limit=2&cursor=${cursor}`))).toEqual([3]);
    expect((await get(`/v1/hyperedges?table=jobs&at=121&limit=2&cursor=${cursor}`)).status).toBe(400);
    const path = '/v1/hyperedges?table=jobs&at=120&times=iso';
    const lines = await get(path, { accept: 'application/x-ndjson' });
    const rows = lines.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(rows.map(({ end_ts }) => end_ts)).toEqual(['1970-01-01T00:03:20Z', null, '1970-01-01T00:02:30Z']);
    expect((await get(path)).json.hyperedges).toEqual(rows);
    expect(Object.keys(rows[0]!)).toEqual([
      'id',
      'event_ts',
      'members',
      'weight',
      'mean_dist_m',
      'formation',
      'end_ts',
      'title',
    ]);
    const all = (await get('/v1/hyperedges?table=jobs&start_ts=120&end_ts=120&times=iso')).json.hyperedges;
    expect(all[1]).toMatchObject({ end_ts: '1970-01-01T00:02:00Z', title: 'a "text", with }' });
    expect((await send(server, 'HEAD', path)).status).toBe(200);
    const tag = (await get(path)).headers.get('etag')!;
    expect((await get(path, { 'if-none-match': tag })).status).toBe(304);
  });

  test('is refused for a table without intervals, and if it is no time', async () => {
    const plain = await get('/v1/hyperedges?at=5');
    expect([plain.status, plain.json.code]).toEqual([400, 'invalid_input']);
    expect(plain.json.detail).toContain('INTERVALS');
    expect((await get('/v1/hyperedges/node/1?at=5')).status).toBe(400);
    for (const wrong of ['soon', '1.5', '9007199254740992', ''])
      expect((await get(`/v1/hyperedges?table=jobs&at=${wrong}`)).json.errors[0].loc).toEqual(['query', 'at']);
    expect((await get('/v1/hyperedges?table=jobs&at=1&at=2')).status).toBe(400);
    expect((await get('/v1/hyperedges?table=jobs&start_ts=1')).status).toBe(400);
  });
});

describe('an end before the beginning', () => {
  test('is refused wherever an edge is written, with both times', async () => {
    const edge = { table: 'jobs', event_ts: 10, members: [1], end_ts: 9 };
    const single = await post('/v1/hyperedges', edge);
    expect([single.status, single.json.errors]).toEqual([
      400,
      [{ loc: ['body', 'end_ts'], msg: expect.stringContaining('is 9, before event_ts, which is 10') }],
    ]);
    const lines = `${JSON.stringify({ ...edge, end_ts: 11 })}\n${JSON.stringify(edge)}\n`;
    const bulk = await send(server, 'POST', '/v1/hyperedges', lines, { 'content-type': 'application/x-ndjson' });
    expect([bulk.status, bulk.json.detail]).toEqual([400, expect.stringContaining('before event_ts')]);
    const batch = await post('/v1/batch', { operations: [{ type: 'insert', ...edge }] });
    expect(batch.json).toMatchObject({ committed: false, error: expect.stringContaining('before event_ts') });
    for (const wrong of ['later', 1.5, true, [1]]) {
      const answer = await post('/v1/hyperedges', { ...edge, end_ts: wrong });
      expect([answer.status, answer.json.errors[0].loc]).toEqual([400, ['body', 'end_ts']]);
    }
    const answer = await post('/v1/hyperedges?times=iso', { ...edge, end_ts: '1970-01-02' });
    expect(answer.json).toMatchObject({ event_ts: '1970-01-01T00:00:10Z', end_ts: '1970-01-02T00:00:00Z' });
  });
});

describe('PATCH /v1/hyperedges/{id}', () => {
  test('changes what is named; null clears, and reopens an edge', async () => {
    const { json: row } = await get('/v1/hyperedges/1?table=jobs');
    const ended = await patch(1, { table: 'jobs', end_ts: 130, weight: 0.5, properties: { title: 'x' } });
    expect(ended.json).toEqual({ table: 'jobs', ...row, end_ts: 130, weight: 0.5, title: 'x' });
    expect(Object.keys(ended.json)).toEqual(['table', ...Object.keys(row)]);
    expect(idsOf(await get('/v1/hyperedges?table=jobs&at=150'))).not.toContain(1);
    const open = await send(server, 'PATCH', '/v1/hyperedges/1?table=jobs&times=iso', { end_ts: null, title: null });
    expect(open.json).toEqual({ ...ended.json, event_ts: '1970-01-01T00:01:40Z', end_ts: null, title: null });
    expect((await get('/v1/hyperedges/1?table=jobs')).json).toEqual({ ...row, end_ts: null, weight: 0.5, title: null });
    expect(idsOf(await get('/v1/hyperedges?table=jobs&at=150'))).toContain(1);
    const texts = await patch(1, { table: 'JOBS', properties: { END_TS: '1970-01-01T00:03:20Z' } });
    expect(texts.json.end_ts).toBe(200);
    await post('/v1/hyperedges/compact', { table: 'jobs' });
    expect((await client.hyperedges.patch(1, { table: 'jobs', formation: 'f' })).formation).toBe('f');
  });

  test('refuses what is wrong, and changes nothing', async () => {
    const before = (await get('/v1/hyperedges/2?table=jobs')).json;
    const wrong: [body: object, code: string, loc: (string | number)[]][] = [
      [{}, 'invalid_input', ['body']],
      [{ properties: {} }, 'invalid_input', ['body']],
      [{ colour: 1 }, 'unknown_column', ['body', 'colour']],
      [{ properties: { colour: 1 } }, 'unknown_column', ['body', 'properties', 'colour']],
      [{ properties: [] }, 'invalid_input', ['body', 'properties']],
      [{ weight: 'heavy' }, 'invalid_input', ['body', 'weight']],
      [{ end_ts: 'later' }, 'invalid_input', ['body', 'end_ts']],
      [{ end_ts: 109 }, 'invalid_input', ['body', 'end_ts']],
      [{ event_ts: 5 }, 'invalid_input', ['body', 'event_ts']],
      [{ Members: [5] }, 'invalid_input', ['body', 'Members']],
      [{ id: 7 }, 'invalid_input', ['body', 'id']],
      [{ weight: 1, properties: { WEIGHT: 2 } }, 'invalid_input', ['body', 'properties', 'WEIGHT']],
    ];
    for (const [body, code, loc] of wrong) {
      const answer = await patch(2, { table: 'jobs', ...body });
      expect([answer.status, answer.json.code, answer.json.errors[0].loc], JSON.stringify(body)).toEqual([
        400,
        code,
        loc,
      ]);
    }
    expect((await get('/v1/hyperedges/2?table=jobs')).json).toEqual(before);
    expect((await patch(999, { table: 'jobs', weight: 1 })).json).toMatchObject({
      status: 404,
      code: 'edge_not_found',
    });
    expect((await patch(2, { table: 'nope', weight: 1 })).json).toMatchObject({ status: 404, code: 'table_not_found' });
    expect((await patch('x', { weight: 1 })).status).toBe(400);
    const failed = client.hyperedges.patch(999, { table: 'jobs', weight: 1 });
    await expect(failed).rejects.toBeInstanceOf(HedgerowApiError);
  });

  test('works for tables without intervals, where end_ts is an ordinary column or none', async () => {
    const made = await post('/v1/hyperedges', { event_ts: 10, members: [4] });
    const id = made.json.id as number;
    expect((await patch(id, { weight: 2 })).json).toEqual({ ...made.json, weight: 2 });
    expect((await patch(id, { end_ts: 20 })).json).toMatchObject({ status: 400, code: 'unknown_column' });
    await post('/v1/tables', { name: 'own', columns: [{ name: 'end_ts', type: 'TEXT' }] });
    const own = await post('/v1/hyperedges', { table: 'own', event_ts: 10, members: [4], end_ts: 'soon' });
    expect(own.json.end_ts).toBe('soon');
    const changed = await send(server, 'PATCH', `/v1/hyperedges/${own.json.id}?times=iso&table=own`, {
      end_ts: 'later',
    });
    expect(changed.json.end_ts).toBe('later');
  });

  test('is done once under an Idempotency-Key', async () => {
    const key = { 'idempotency-key': 'patch-1' };
    const first = await patch(3, { table: 'jobs', weight: 4 }, key);
    await patch(3, { table: 'jobs', weight: 5 });
    const again = await patch(3, { table: 'jobs', weight: 4 }, key);
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect((await get('/v1/hyperedges/3?table=jobs')).json.weight).toBe(5);
  });

  test('is done by each of many writers of one edge at once', async () => {
    const columns = ['weight', 'mean_dist_m', 'formation', 'title', 'end_ts'];
    const values = [1, 2, 'c', 'd', 500];
    const answers = await Promise.all(columns.map((column, i) => patch(2, { table: 'jobs', [column]: values[i] })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const { json } = await get('/v1/hyperedges/2?table=jobs');
    expect(columns.map((column) => json[column])).toEqual(values);
  });
});
