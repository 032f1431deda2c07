// Tests the index routes: bodies, statuses, roles, the audit log, and replayed answers.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { drain } from '../support/sim-engine.ts';
import {
  type Answer,
  manyEdges,
  NDJSON,
  Recorder,
  send,
  startServer,
  type TestRole,
  type TestServer,
} from './support.ts';

let server: TestServer;
const recorder = new Recorder();

beforeAll(async () => {
  server = await startServer({ auth: true, observer: recorder });
  const columns = [
    { name: 'Speed', type: 'INTEGER' },
    { name: 'note', type: 'TEXT' },
  ];
  expect((await as('admin', 'POST', '/v1/tables', { name: 'Tracks', columns })).status).toBe(201);
});
afterAll(() => server.close());

function as(
  role: TestRole,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return send(server, method, path, body, { 'x-api-key': server.keys[role], ...headers });
}

const list = async (query = '') => (await as('readonly', 'GET', `/v1/indexes${query}`)).json;

/** Returns the table and the column of every index. */
async function names(query = ''): Promise<string[]> {
  return (await list(query)).map((item: { table: string; column: string }) => `${item.table}.${item.column}`);
}

test('an index is created on existing rows, listed and dropped, with names spelled as in the table', async () => {
  await as('readwrite', 'POST', '/v1/hyperedges?table=tracks', manyEdges(500), NDJSON);
  expect(await list()).toEqual([]);
  const created = await as('admin', 'POST', '/v1/indexes', { table: 'TRACKS', column: 'speed' });
  expect(created.status).toBe(201);
  expect(created.json).toEqual({ table: 'Tracks', column: 'Speed', created_at: expect.any(Number) });
  expect(Math.abs(created.json.created_at - Date.now() / 1000)).toBeLessThan(3600);
  expect(await list()).toEqual([created.json]);
  expect(await list('?table=tracks')).toEqual([created.json]);
  expect(await list('?table=hyperedges')).toEqual([]);
  const table = server.database.table('tracks');
  const scan = table.scan({ format: 'json', where: [{ column: 'speed', low: 1 }] });
  expect(drain(scan)).toBe('');
  const dropped = await as('admin', 'DELETE', '/v1/indexes/tracks/SPEED');
  expect(dropped.status).toBe(200);
  expect(dropped.json).toEqual({ table: 'Tracks', column: 'Speed', dropped: true });
  expect(await list()).toEqual([]);
});

test('the primary table is used when the request names no table', async () => {
  const created = await as('admin', 'POST', '/v1/indexes', { column: 'weight', table: null });
  expect(created.json).toMatchObject({ table: 'hyperedges', column: 'weight' });
  expect(await names()).toEqual(['hyperedges.weight']);
  expect((await as('admin', 'DELETE', '/v1/indexes/hyperedges/weight')).status).toBe(200);
});

test('invalid requests are refused with advice', async () => {
  await as('admin', 'POST', '/v1/indexes', { table: 'Tracks', column: 'Speed' });
  const refused: [body: unknown, status: number, code: string, detail: RegExp][] = [
    [{ table: 'Tracks', column: 'SPEED' }, 409, 'index_exists', /Speed/],
    [{ table: 'nowhere', column: 'weight' }, 404, 'table_not_found', /nowhere/],
    [{ table: 'Tracks', column: 'nope' }, 400, 'unknown_column', /weight, mean_dist_m, Speed/],
    [{ table: 'Tracks', column: 'event_ts' }, 400, 'unknown_column', /weight, mean_dist_m, Speed/],
    [{ table: 'Tracks', column: 'note' }, 400, 'invalid_input', /weight, mean_dist_m, Speed/],
    [{ table: 'Tracks', column: 'formation' }, 400, 'invalid_input', /TEXT/],
    [{ table: 'Tracks' }, 400, 'invalid_input', /column/],
    [{ table: 'Tracks', column: 7 }, 400, 'invalid_input', /column/],
    [{ table: ['Tracks'], column: 'Speed' }, 400, 'invalid_input', /table/],
    ['{', 400, 'invalid_json', /./],
  ];
  for (const [body, status, code, detail] of refused) {
    const answer = await as('admin', 'POST', '/v1/indexes', body);
    expect([answer.status, answer.json.code], JSON.stringify(body)).toEqual([status, code]);
    expect(answer.json.detail).toMatch(detail);
  }
  for (const path of ['Tracks/weight', 'Tracks/note', 'Tracks/nope']) {
    const answer = await as('admin', 'DELETE', `/v1/indexes/${path}`);
    expect([answer.status, answer.json.code], path).toEqual([404, 'index_not_found']);
  }
  expect((await as('admin', 'DELETE', '/v1/indexes/nowhere/weight')).json.code).toBe('table_not_found');
  expect((await as('readonly', 'GET', '/v1/indexes?table=nowhere')).json.code).toBe('table_not_found');
  expect(await names()).toEqual(['Tracks.Speed']);
  expect((await as('admin', 'DELETE', '/v1/indexes/Tracks/Speed')).status).toBe(200);
});

test('reading indexes needs a key of any role, and changing them needs an admin key', async () => {
  expect((await send(server, 'GET', '/v1/indexes')).status).toBe(401);
  for (const role of ['readonly', 'readwrite'] as const) {
    expect((await as(role, 'GET', '/v1/indexes')).status).toBe(200);
    expect((await as(role, 'POST', '/v1/indexes', { column: 'weight' })).status).toBe(403);
    expect((await as(role, 'DELETE', '/v1/indexes/hyperedges/weight')).status).toBe(403);
  }
  expect(await list()).toEqual([]);
});

test('the audit log has a line for each change, with its table', async () => {
  recorder.audits.length = 0;
  await as('admin', 'POST', '/v1/indexes', { table: 'tracks', column: 'weight' });
  await as('admin', 'POST', '/v1/indexes', { table: 'tracks', column: 'weight' });
  await as('admin', 'DELETE', '/v1/indexes/TRACKS/WEIGHT');
  const changes = recorder.audits.filter(({ event }) => event.startsWith('index.'));
  expect(changes).toEqual([
    expect.objectContaining({ event: 'index.created', table: 'Tracks', status: 201, role: 'admin' }),
    expect.objectContaining({ event: 'index.dropped', table: 'Tracks', status: 200, role: 'admin' }),
  ]);
});

test('a repeated creation or drop with the same Idempotency-Key gets its first answer', async () => {
  const create = () =>
    as('admin', 'POST', '/v1/indexes', { table: 'tracks', column: 'speed' }, { 'idempotency-key': 'make' });
  const first = await create();
  const again = await create();
  expect([first.status, again.status]).toEqual([201, 201]);
  expect(again.text).toBe(first.text);
  const drop = () => as('admin', 'DELETE', '/v1/indexes/tracks/speed', undefined, { 'idempotency-key': 'unmake' });
  const dropped = await drop();
  const droppedAgain = await drop();
  expect([dropped.status, droppedAgain.status]).toEqual([200, 200]);
  expect(droppedAgain.text).toBe(dropped.text);
  expect(await list()).toEqual([]);
});

test('a cached list is valid until an index is created or dropped', async () => {
  const first = await as('readonly', 'GET', '/v1/indexes');
  const held = { 'if-none-match': first.headers.get('etag')! };
  expect(held['if-none-match']).toMatch(/"/);
  expect((await as('readonly', 'GET', '/v1/indexes', undefined, held)).status).toBe(304);
  await as('admin', 'POST', '/v1/indexes', { column: 'weight' });
  const changed = await as('readonly', 'GET', '/v1/indexes', undefined, held);
  expect([changed.status, changed.json.length]).toEqual([200, 1]);
});

test('a text index is made, listed, used and dropped', async () => {
  await as('admin', 'POST', '/v1/tables', { name: 'notes', columns: [{ name: 'body', type: 'TEXT' }] });
  const text = 'The travel budgets were planned.';
  await as('readwrite', 'POST', '/v1/hyperedges', { table: 'notes', event_ts: 1, members: [1], body: text });
  const query = "MATCH (n:notes) WHERE search(n, 'budget') RETURN n.event_ts, score(n) AS score";
  const missing = await as('readonly', 'POST', '/v1/query', { query });
  expect([missing.status, missing.json.detail]).toEqual([400, expect.stringContaining('CREATE TEXT INDEX ON notes')]);
  const body = { table: 'notes', kind: 'text', columns: ['BODY'], language: 'english' };
  const item = { table: 'notes', kind: 'text', columns: ['body'], language: 'english', created_at: expect.any(Number) };
  const made = await as('admin', 'POST', '/v1/indexes', body, { 'idempotency-key': 'make text' });
  expect([made.status, made.json]).toEqual([201, item]);
  const again = await as('admin', 'POST', '/v1/indexes', body, { 'idempotency-key': 'make text' });
  expect([again.status, again.text]).toEqual([201, made.text]);
  expect((await as('readonly', 'GET', '/v1/indexes?table=notes')).json).toEqual([item]);
  const shown = await as('readonly', 'POST', '/v1/query', { query: 'SHOW INDEXES ON notes' });
  expect(shown.json.rows).toEqual([{ ...item, column: null }]);
  const found = await as('readonly', 'POST', '/v1/query', { query });
  expect(found.json.rows).toEqual([{ event_ts: 1, score: expect.any(Number) }]);
  for (const [wrong, status, detail] of [
    [{ ...body, columns: undefined }, 400, 'columns'],
    [{ ...body, table: 'tracks', columns: [] }, 400, 'at least one'],
    [{ ...body, column: 'body' }, 400, 'column'],
    [{ ...body, columns: ['weight'] }, 409, 'text index already'],
    [{ ...body, table: 'tracks', columns: ['weight'] }, 400, 'REAL'],
    [{ ...body, table: 'tracks', columns: ['nothing'] }, 400, 'nothing'],
    [{ ...body, table: 'tracks', language: 'latin' }, 400, 'language must be one of none, english'],
    [{ ...body, kind: 'txt' }, 400, 'kind must be text, or left out'],
    [{ ...body, columns: 'body' }, 400, 'columns must be an array of names'],
    [{ table: 'tracks', column: 'speed', language: 'english' }, 400, 'kind'],
  ] as const) {
    const refused = await as('admin', 'POST', '/v1/indexes', wrong);
    expect([refused.status, refused.json.detail], JSON.stringify(wrong)).toEqual([
      status,
      expect.stringContaining(detail),
    ]);
  }
  for (const key of ['', 'again'])
    expect(
      (await as('admin', 'DELETE', '/v1/indexes/notes/text', undefined, { 'idempotency-key': 'drop' })).json,
      key,
    ).toEqual({ table: 'notes', kind: 'text', dropped: true });
  expect((await as('admin', 'DELETE', '/v1/indexes/notes/text')).json.code).toBe('index_not_found');
  expect((await as('readonly', 'POST', '/v1/query', { query })).status).toBe(400);
  // A column may be called text.
  await as('admin', 'POST', '/v1/tables', { name: 'odd', columns: [{ name: 'text', type: 'REAL' }] });
  await as('admin', 'POST', '/v1/indexes', { table: 'odd', column: 'text' });
  const dropped = await as('admin', 'DELETE', '/v1/indexes/odd/text');
  expect(dropped.json).toEqual({ table: 'odd', column: 'text', dropped: true });
  await as('admin', 'DELETE', '/v1/tables/notes');
  await as('admin', 'DELETE', '/v1/tables/odd');
});

test('writes and reads continue while an index is built', async () => {
  await as('admin', 'POST', '/v1/tables', { name: 'busy' });
  await as('readwrite', 'POST', '/v1/hyperedges?table=busy', manyEdges(30_000), NDJSON);
  let done = false;
  const created = as('admin', 'POST', '/v1/indexes', { table: 'busy', column: 'weight' }).finally(() => {
    done = true;
  });
  let written = 0;
  do {
    const edge = { table: 'busy', event_ts: 7, members: [5000 + written], weight: written };
    expect((await as('readwrite', 'POST', '/v1/hyperedges', edge)).status).toBe(201);
    written++;
    const read = await as('readonly', 'GET', '/v1/hyperedges?table=busy&start_ts=7&end_ts=7');
    expect(read.json.num_tuples).toBe(written + 1);
  } while (!done);
  expect((await created).status).toBe(201);
  const scan = server.database.table('busy').scan({ format: 'json', where: [{ column: 'weight', low: 0 }] });
  drain(scan);
  expect(scan.rows).toBe(written);
});
