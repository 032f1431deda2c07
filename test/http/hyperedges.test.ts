import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { manyEdges, NDJSON, send, startServer, type TestServer } from './support.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ maxMembers: 5 });
  await send(server, 'POST', '/v1/tables', {
    name: 'Visits',
    columns: [
      { name: 'room', type: 'TEXT' },
      { name: 'Floor', type: 'INTEGER' },
      { name: 'open', type: 'BOOLEAN' },
      { name: 'cost', type: 'REAL' },
    ],
  });
});
afterAll(() => server.close());

const insert = (body: unknown) => send(server, 'POST', '/v1/hyperedges', body);

describe('insert', () => {
  test('answers 201 with the stored row', async () => {
    const answer = await insert({ event_ts: -7, members: [3, 1, 3, -2], weight: 0.5, formation: 'escort "é"' });
    expect(answer.status).toBe(201);
    expect(answer.json).toEqual({
      id: answer.json.id,
      table: 'hyperedges',
      event_ts: -7,
      members: [-2, 1, 3],
      weight: 0.5,
      mean_dist_m: null,
      formation: 'escort "é"',
    });
    expect(Number(answer.headers.get('x-hedgerow-lsn'))).toBe(server.database.lastLsn);
    expect(answer.headers.get('content-type')).toBe('application/json');
  });

  test('takes null as left out and ignores unknown fields', async () => {
    const answer = await insert({ event_ts: 1, members: [1], weight: null, table: null, properties: null, other: {} });
    expect(answer.status).toBe(201);
    expect(answer.json.weight).toBeNull();
    expect(answer.json.other).toBeUndefined();
  });

  test('takes user columns in properties and at top level, whatever their case', async () => {
    const answer = await insert({
      table: 'VISITS',
      event_ts: 2,
      members: [1],
      ROOM: 'top',
      properties: { room: 'inner', floor: 3, open: true, Cost: 1.5, weight: 2 },
    });
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({ table: 'Visits', room: 'top', Floor: 3, open: true, cost: 1.5, weight: 2 });
  });

  test.each([
    ['no object', [1], 'invalid_input', ['body']],
    ['null', null, 'invalid_input', ['body']],
    ['nothing', '', 'invalid_json', ['body']],
    ['broken JSON', '{"event_ts":', 'invalid_json', ['body']],
    ['no time', { members: [1] }, 'invalid_input', ['body', 'event_ts']],
    ['text time', { event_ts: '5', members: [1] }, 'invalid_input', ['body', 'event_ts']],
    ['fraction', { event_ts: 5.5, members: [1] }, 'invalid_input', ['body', 'event_ts']],
    ['beyond 2^53-1', '{"event_ts":9007199254740993,"members":[1]}', 'invalid_input', ['body', 'event_ts']],
    ['no members', { event_ts: 1 }, 'invalid_input', ['body', 'members']],
    ['members no array', { event_ts: 1, members: 5 }, 'invalid_input', ['body', 'members']],
    ['empty members', { event_ts: 1, members: [] }, 'empty_members', ['body', 'members']],
    ['wrong member', { event_ts: 1, members: [1, '2'] }, 'invalid_input', ['body', 'members', 1]],
    ['wrong weight', { event_ts: 1, members: [1], weight: 'x' }, 'invalid_input', ['body', 'weight']],
    ['infinite weight', '{"event_ts":1,"members":[1],"weight":1e999}', 'invalid_input', ['body', 'weight']],
    ['wrong formation', { event_ts: 1, members: [1], formation: 5 }, 'invalid_input', ['body', 'formation']],
    ['long text', { event_ts: 1, members: [1], formation: 'é'.repeat(40_000) }, 'invalid_input', ['body', 'formation']],
    ['half a character', '{"event_ts":1,"members":[1],"formation":"\\ud800"}', 'invalid_input', ['body', 'formation']],
    ['table no text', { event_ts: 1, members: [1], table: 5 }, 'invalid_input', ['body', 'table']],
    ['properties no object', { event_ts: 1, members: [1], properties: 5 }, 'invalid_input', ['body', 'properties']],
    [
      'unknown column',
      { event_ts: 1, members: [1], properties: { x: 1 } },
      'unknown_column',
      ['body', 'properties', 'x'],
    ],
    [
      'wrong column type',
      { table: 'Visits', event_ts: 1, members: [1], properties: { floor: 1.5 } },
      'invalid_input',
      ['body', 'properties', 'floor'],
    ],
  ])('refuses %s', async (_name, body, code, loc) => {
    const before = server.database.lastLsn;
    const answer = await insert(body);
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ code, status: 400, detail: expect.any(String) });
    expect(answer.json.errors[0].loc).toEqual(loc);
    expect(answer.json.request_id).toBe(answer.headers.get('x-request-id'));
    expect(server.database.lastLsn).toBe(before);
  });

  test('names every wrong field', async () => {
    const answer = await insert({ event_ts: 'x', members: [null, 1, 2.5] });
    expect(answer.json.errors.map((error: { loc: unknown }) => error.loc)).toEqual([
      ['body', 'event_ts'],
      ['body', 'members', 0],
      ['body', 'members', 2],
    ]);
    expect(answer.json.detail).toContain('members[2]');
  });

  test('refuses more members than the guard, counted without repeats', async () => {
    expect((await insert({ event_ts: 1, members: [1, 2, 3, 4, 5, 1, 2] })).status).toBe(201);
    const answer = await insert({ event_ts: 1, members: [1, 2, 3, 4, 5, 6] });
    expect(answer.status).toBe(400);
    expect(answer.json.code).toBe('too_many_members');
  });

  test('answers 404 for an unknown table', async () => {
    const answer = await insert({ event_ts: 1, members: [1], table: 'nope' });
    expect(answer.status).toBe(404);
    expect(answer.json.code).toBe('table_not_found');
  });

  test('refuses bytes that are not UTF-8', async () => {
    const response = await fetch(`${server.url}/v1/hyperedges`, {
      method: 'POST',
      body: Buffer.from('{"event_ts":1,"members":[1],"formation":"\xff"}', 'latin1'),
    });
    expect(response.status).toBe(400);
    expect(((await response.json()) as { code: string }).code).toBe('invalid_json');
  });
});

describe('delete', () => {
  test('removes every live edge with the time and member set', async () => {
    await insert({ event_ts: 900, members: [1, 2] });
    await insert({ event_ts: 900, members: [2, 1] });
    const answer = await send(server, 'DELETE', '/v1/hyperedges', { event_ts: 900, members: [2, 1, 2] });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({ deleted: true, matched: 2, table: 'hyperedges', event_ts: 900, members: [1, 2] });
    expect(answer.headers.get('x-hedgerow-lsn')).toBe(String(server.database.lastLsn));
    const again = await send(server, 'DELETE', '/v1/hyperedges', { event_ts: 900, members: [1, 2] });
    expect(again.json).toMatchObject({ deleted: false, matched: 0 });
    const rows = await send(server, 'GET', '/v1/hyperedges?start_ts=900&end_ts=900');
    expect(rows.json.num_tuples).toBe(0);
  });

  test.each([
    [{ members: [1] }, 'invalid_input'],
    [{ event_ts: 1, members: [] }, 'empty_members'],
    [{ event_ts: 1, members: ['1'] }, 'invalid_input'],
    ['[]', 'invalid_input'],
  ])('refuses %j', async (body, code) => {
    const answer = await send(server, 'DELETE', '/v1/hyperedges', body);
    expect(answer.status).toBe(400);
    expect(answer.json.code).toBe(code);
  });
});

describe('bulk insert', () => {
  const bulk = (body: string, query = '') => send(server, 'POST', `/v1/hyperedges${query}`, body, NDJSON);

  test('inserts every line and names the ids', async () => {
    await send(server, 'POST', '/v1/tables', { name: 'bulk' });
    const answer = await bulk(`${manyEdges(1000)}\r\n\n`, '?table=Bulk');
    expect(answer.status).toBe(201);
    expect(answer.json).toEqual({ table: 'bulk', inserted: 1000, first_id: 1, last_id: 1000 });
    const rows = await send(server, 'GET', '/v1/hyperedges?table=bulk&start_ts=0&end_ts=2000');
    expect(rows.json.num_tuples).toBe(1000);
  });

  test.each([
    ['{"event_ts":1,"members":[1]}\n{"event_ts":2}\n', 2, 'invalid_input'],
    ['{"event_ts":1,"members":[1]}\n\nnope', 3, 'invalid_json'],
    ['{"event_ts":1,"members":[1,2,3,4,5,6]}', 1, 'too_many_members'],
    ['{"event_ts":1,"members":[1]}\n{"event_ts":1,"members":[]}', 2, 'empty_members'],
    ['5', 1, 'invalid_input'],
  ])('refuses all when a line is bad: %j', async (body, line, code) => {
    const before = server.database.lastLsn;
    const answer = await bulk(body);
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ line, code });
    expect(answer.json.detail).toMatch(new RegExp(`^Line ${line}: `));
    expect(server.database.lastLsn).toBe(before);
  });

  test('says 404 with the line for an unknown table', async () => {
    const answer = await bulk('{"event_ts":1,"members":[1],"table":"nope"}');
    expect(answer.status).toBe(404);
    expect(answer.json).toMatchObject({ code: 'table_not_found', line: 1 });
    expect((await bulk('{"event_ts":1,"members":[1]}', '?table=nope')).status).toBe(404);
  });

  test('follows the table of a line, atomically over tables', async () => {
    await send(server, 'POST', '/v1/tables', { name: 'left' });
    await send(server, 'POST', '/v1/tables', { name: 'right' });
    const lines = ['{"event_ts":1,"members":[1]}', '{"event_ts":2,"members":[1],"table":"right"}'];
    const bad = await bulk(`${lines.join('\n')}\n{}`, '?table=left');
    expect(bad.status).toBe(400);
    expect(server.database.table('right').item().row_count).toBe(0);
    const answer = await bulk(lines.join('\n'), '?table=left');
    expect(answer.json).toMatchObject({
      table: 'left',
      inserted: 2,
      tables: { left: { inserted: 1 }, right: { inserted: 1 } },
    });
    // An id given to a rolled-back edge is never used again, so the first id is not known here.
    const { left } = answer.json.tables;
    expect([answer.json.first_id, answer.json.last_id]).toEqual([left.first_id, left.last_id]);
    expect(server.database.table('right').item().row_count).toBe(1);
  });

  test('a single edge that names no table follows the address too, and its own name wins', async () => {
    const edge = { event_ts: 1, members: [1] };
    await send(server, 'POST', '/v1/tables', { name: 'here' });
    await send(server, 'POST', '/v1/tables', { name: 'there' });
    expect((await send(server, 'POST', '/v1/hyperedges?table=here', edge)).json.table).toBe('here');
    expect((await send(server, 'POST', '/v1/hyperedges?table=here', { ...edge, table: 'there' })).json.table).toBe(
      'there',
    );
    expect((await send(server, 'POST', '/v1/hyperedges?table=nope', edge)).status).toBe(404);
  });

  test('refuses a body without an edge', async () => {
    expect((await bulk('\n \n')).status).toBe(400);
    expect((await bulk('')).status).toBe(400);
  });
});
