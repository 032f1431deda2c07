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

  test('treats null as a missing value and ignores unknown fields', async () => {
    const answer = await insert({ event_ts: 1, members: [1], weight: null, table: null, properties: null, other: {} });
    expect(answer.status).toBe(201);
    expect(answer.json.weight).toBeNull();
    expect(answer.json.other).toBeUndefined();
  });

  test('accepts user columns in properties and at top level, in any letter case', async () => {
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

  test('reports every wrong field', async () => {
    const answer = await insert({ event_ts: 'x', members: [null, 1, 2.5] });
    expect(answer.json.errors.map((error: { loc: unknown }) => error.loc)).toEqual([
      ['body', 'event_ts'],
      ['body', 'members', 0],
      ['body', 'members', 2],
    ]);
    expect(answer.json.detail).toContain('members[2]');
  });

  test.each([
    [{ members: [] }, 'empty_members', [['event_ts'], ['members']]],
    [{ event_ts: 1, members: [], weight: 'x' }, 'empty_members', [['members'], ['weight']]],
    [
      { event_ts: '1', members: [], formation: 5, properties: { nope: 1, no: 2 } },
      'empty_members',
      [['event_ts'], ['members'], ['formation'], ['properties', 'nope'], ['properties', 'no']],
    ],
    [{ members: [1], properties: { nope: 1 } }, 'invalid_input', [['event_ts'], ['properties', 'nope']]],
    [
      { event_ts: 1, members: [1], properties: { nope: 1, no: 2 } },
      'unknown_column',
      [
        ['properties', 'nope'],
        ['properties', 'no'],
      ],
    ],
  ])('reports every wrong field, even with empty members or unknown columns: %j', async (body, code, places) => {
    for (const [method, wanted] of [
      ['POST', places],
      ['DELETE', places.filter(([field]) => field === 'event_ts' || field === 'members')],
    ] as const) {
      if (wanted.length === 0) continue;
      const { status, json } = await send(server, method, '/v1/hyperedges', body);
      expect(status).toBe(400);
      if (method === 'POST') expect(json.code).toBe(code);
      expect(json.errors.map(({ loc }: { loc: unknown }) => loc)).toEqual(wanted.map((place) => ['body', ...place]));
      for (const place of wanted) expect(json.detail).toContain(place.at(-1));
    }
    const line = await send(server, 'POST', '/v1/hyperedges', `\n${JSON.stringify(body)}`, NDJSON);
    expect(line.json.errors.map(({ loc }: { loc: unknown }) => loc)).toEqual(
      places.map((place) => ['body', 2, ...place]),
    );
  });

  test('reports at most 20 wrong fields', async () => {
    const properties = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`c${i}`, 1]));
    const { json } = await insert({ event_ts: 'x', members: [], properties });
    expect(json.errors).toHaveLength(20);
  });

  test('skips a byte order mark at the beginning', async () => {
    const edge = '{"event_ts":7001,"members":[1],"formation":"\ufeff"}';
    expect((await insert(`\ufeff${edge}`)).status).toBe(201);
    expect((await insert(`\ufeff\ufeff${edge}`)).json.code).toBe('invalid_json');
    expect((await insert('\ufeff')).json).toMatchObject({
      code: 'invalid_json',
      detail: expect.stringContaining('empty'),
    });
    const query = await send(server, 'POST', '/v1/query', '\ufeff{"query":"SHOW TABLES"}');
    expect(query.status).toBe(200);
    const { json } = await send(server, 'GET', '/v1/hyperedges?start_ts=7001&end_ts=7001');
    expect(json.hyperedges.map(({ formation }: { formation: string }) => formation)).toEqual(['\ufeff']);
  });

  test('refuses more distinct members than the limit', async () => {
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
      headers: { 'content-type': 'application/json' },
      body: Buffer.from('{"event_ts":1,"members":[1],"formation":"\xff"}', 'latin1'),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: 'invalid_json',
      detail: expect.stringContaining('line 1'),
      line: 1,
    });
  });

  test('reports the line of the first byte that is not UTF-8', async () => {
    for (const newlines of [0, 1, 999, 100_000]) {
      const text = `{"event_ts":1,${'\n'.repeat(newlines)}"formation":"\xc3\xa9 \xe9","members":[1],\n\n"x":"\xff"}`;
      const body = Buffer.from(text, 'latin1');
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`${server.url}/v1/hyperedges`, { method: 'POST', body, headers });
      const line = newlines + 1;
      expect(await response.json()).toMatchObject({
        status: 400,
        line,
        detail: expect.stringContaining(`line ${line}`),
      });
    }
  });
});

describe('delete', () => {
  test('removes every live edge with this time and member set', async () => {
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
  test('reports the line of a byte that is not UTF-8 unless an earlier line is wrong', async () => {
    const bytes = (text: string) => send(server, 'POST', '/v1/hyperedges', Buffer.from(text, 'latin1'), NDJSON);
    const good = '{"event_ts":1,"members":[1],"formation":"\xc3\xa9"}\n';
    const bad = '{"event_ts":1,"members":[1],"formation":"\xe9"}\n';
    const before = server.database.lastLsn;
    for (const place of [0, 1, 250]) {
      const { status, json } = await bytes(`${good.repeat(place)}${bad}${good}${bad}`);
      const line = place + 1;
      expect([status, json.code, json.line]).toEqual([400, 'invalid_json', line]);
      expect(json.detail).toMatch(new RegExp(`^Line ${line}: .*UTF-8`));
      expect(json.errors[0].loc).toEqual(['body', line]);
    }
    expect((await bytes(`${good}nope\n${bad}`)).json).toMatchObject({ code: 'invalid_json', line: 2 });
    // A continuation byte on the next line does not complete the character.
    expect((await bytes('{"event_ts":1,"members":[1],"formation":"\xc3\n\xa9"}')).json.line).toBe(1);
    expect(server.database.lastLsn).toBe(before);
  });

  test('skips a byte order mark before the first line', async () => {
    const line = '{"event_ts":7002,"members":[1]}';
    const answer = await send(server, 'POST', '/v1/hyperedges', `\ufeff${line}\n${line}`, NDJSON);
    expect(answer.json).toMatchObject({ inserted: 2 });
    const later = await send(server, 'POST', '/v1/hyperedges', `${line}\n\ufeff${line}`, NDJSON);
    expect(later.json).toMatchObject({ code: 'invalid_json', line: 2 });
    expect((await send(server, 'POST', '/v1/hyperedges', '\ufeff\n', NDJSON)).json.detail).toContain('no edge');
  });

  test('refuses a line longer than 8 MB, but accepts a hundred lines of 100 KB', async () => {
    const line = (letters: number) => JSON.stringify({ event_ts: 7003, members: [1], x: 'y'.repeat(letters) });
    const answer = await send(server, 'POST', '/v1/hyperedges', `${line(9)}\n${line(9 * 2 ** 20)}`, NDJSON);
    expect(answer.json).toMatchObject({ status: 400, code: 'invalid_json', line: 2 });
    expect(answer.json.detail).toContain('longer than 8 MB');
    const plain = JSON.stringify({ event_ts: 7003, members: [1] }).padEnd(100_000);
    const taken = await send(server, 'POST', '/v1/hyperedges', Array(100).fill(plain).join('\n'), NDJSON);
    expect(taken.json).toMatchObject({ inserted: 100 });
  });

  const bulk = (body: string, query = '') => send(server, 'POST', `/v1/hyperedges${query}`, body, NDJSON);

  test('inserts every line and returns the first and the last id', async () => {
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
  ])('inserts nothing when any line is bad: %j', async (body, line, code) => {
    const before = server.database.lastLsn;
    const answer = await bulk(body);
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ line, code });
    expect(answer.json.detail).toMatch(new RegExp(`^Line ${line}: `));
    expect(server.database.lastLsn).toBe(before);
  });

  test('answers 404 with the line number for an unknown table', async () => {
    const answer = await bulk('{"event_ts":1,"members":[1],"table":"nope"}');
    expect(answer.status).toBe(404);
    expect(answer.json).toMatchObject({ code: 'table_not_found', line: 1 });
    expect((await bulk('{"event_ts":1,"members":[1]}', '?table=nope')).status).toBe(404);
  });

  test('inserts each line into the table that the line names, and the whole body atomically', async () => {
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

  test('has the rule of a single insert: the query string names the table unless the edge does', async () => {
    const edge = { event_ts: 1, members: [1] };
    await send(server, 'POST', '/v1/tables', { name: 'here' });
    await send(server, 'POST', '/v1/tables', { name: 'there' });
    expect((await send(server, 'POST', '/v1/hyperedges?table=here', edge)).json.table).toBe('here');
    expect((await send(server, 'POST', '/v1/hyperedges?table=here', { ...edge, table: 'there' })).json.table).toBe(
      'there',
    );
    expect((await send(server, 'POST', '/v1/hyperedges?table=nope', edge)).status).toBe(404);
  });

  test('refuses a body that contains no edge', async () => {
    expect((await bulk('\n \n')).status).toBe(400);
    expect((await bulk('')).status).toBe(400);
  });
});
