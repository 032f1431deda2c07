// Tests tables with roles over HTTP: the forms in which members are given, rows, lookups by role,
// deletions, batches, and what is refused.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, NDJSON, send, startServer, type TestServer } from './support.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ maxMembers: 64 });
  await post('/v1/tables', {
    name: 'mail',
    member_tables: [],
    roles: ['sender', 'Recipient'],
    columns: [{ name: 'subject', type: 'TEXT' }],
  });
});
afterAll(() => server.close());

const post = (path: string, body: unknown, headers?: Record<string, string>): Promise<Answer> =>
  send(server, 'POST', path, body, headers);
const get = (path: string): Promise<Answer> => send(server, 'GET', path);
const insert = (body: object): Promise<Answer> => post('/v1/hyperedges', { table: 'mail', event_ts: 1, ...body });

describe('members with roles', () => {
  test.each([
    ['an object', { members: { sender: [1], recipient: [3, 2, 2] } }, [1, 2, 3], [1], [2, 3]],
    ['an object, a member twice', { members: { sender: [1], RECIPIENT: [1, 2] } }, [1, 2], [1], [1, 2]],
    [
      'a list of items',
      { members: [{ node: 4, role: 'sender' }, 7, { node: 5, role: ['recipient', 'Sender'] }, { node: 4 }] },
      [4, 5, 7],
      [4, 5],
      [5],
    ],
    ['a plain list', { members: [9, 8] }, [8, 9], [], []],
    ['a row as it is read', { members: [1, 2, 3], roles: { sender: [3], Recipient: [] } }, [1, 2, 3], [3], []],
    ['roles alone', { roles: { sender: [6] } }, [6], [6], []],
    ['null roles', { members: [{ node: 1, role: null }], roles: null }, [1], [], []],
    ['an empty list beside others', { members: { sender: [], recipient: [-0] } }, [0], [], [0]],
  ])('are accepted as %s', async (_, body, members, sender, recipient) => {
    const answer = await insert({ ...body, subject: 'x' });
    expect(answer.status).toBe(201);
    expect(Object.keys(answer.json).slice(0, 5)).toEqual(['table', 'id', 'event_ts', 'members', 'roles']);
    expect(answer.json).toMatchObject({ members, roles: { sender, Recipient: recipient }, subject: 'x' });
    const read = await get(`/v1/hyperedges/${answer.json.id}?table=mail`);
    const { table: __, ...row } = answer.json;
    expect(read.json).toEqual(row);
    expect(Object.keys(read.json)).toEqual(Object.keys(row));
  });

  test.each([
    [
      'an undeclared role',
      { members: { boss: [1] } },
      'invalid_input',
      /"boss" is no role of the table; its roles are sender, Recipient/,
    ],
    [
      'an undeclared role of an item',
      { members: [{ node: 1, role: 'boss' }] },
      'invalid_input',
      /its roles are sender, Recipient/,
    ],
    ['no member', { members: {} }, 'empty_members', /at least one/],
    ['empty lists', { members: { sender: [], recipient: [] } }, 'empty_members', /at least one/],
    ['a list that is none', { members: { sender: 1 } }, 'invalid_input', /array of node ids/],
    ['a member that is no integer', { members: { sender: [1.5] } }, 'invalid_input', /integer/],
    ['an item with key and node', { members: [{ node: 1, key: 'a' }] }, 'invalid_input', /both/],
    ['an item with a key', { members: [{ key: 'a', role: 'sender' }] }, 'invalid_input', /numbers; give `node`/],
    ['an item without node', { members: [{ role: 'sender' }] }, 'invalid_input', /no `node`/],
    ['an item with another field', { members: [{ node: 1, rolle: 'sender' }] }, 'invalid_input', /"rolle"/],
    ['a role that is no name', { members: [{ node: 1, role: 5 }] }, 'invalid_input', /name/],
    ['a nested list', { members: [[1]] }, 'invalid_input', /integer/],
    ['members that are a text', { members: 'abc' }, 'invalid_input', /members must be/],
    ['roles that are a list', { members: [1], roles: [1] }, 'invalid_input', /roles must be an object/],
    ['too many members', { members: { sender: Array.from({ length: 65 }, (_, n) => n) } }, 'too_many_members', /65/],
    [
      'very many members',
      { members: { sender: Array.from({ length: 9000 }, (_, n) => n) } },
      'too_many_members',
      /4096 or more/,
    ],
  ])('are refused with %s', async (_, body, code, message) => {
    const answer = await insert(body);
    expect([answer.status, answer.json.code]).toEqual([400, code]);
    expect(answer.json.detail).toMatch(message);
  });

  test('in a table without roles say how to declare them', async () => {
    for (const members of [{ sender: [1] }, [{ node: 1, role: 'sender' }]]) {
      const answer = await post('/v1/hyperedges', { event_ts: 1, members });
      expect(answer.status).toBe(400);
      expect(answer.json.detail).toMatch(/declared when a table is created/);
    }
    const plain = await post('/v1/hyperedges', { event_ts: 1, members: [1], roles: { sender: [1] } });
    expect(plain.status).toBe(201);
    expect(plain.json.roles).toBeUndefined();
  });
});

describe('lines and batches', () => {
  test('take every form, and answer like single inserts', async () => {
    await post('/v1/tables', { name: 'lines', roles: ['a', 'b'] });
    const lines = [
      '{"event_ts":1,"members":[1,2]}',
      '{"event_ts":2,"members":{"a":[1],"b":[2]}}',
      '{"event_ts":3,"members":[{"node":1,"role":["a","b"]},2]}',
      '{"event_ts":4,"members":[5],"roles":{"a":[5]}}',
      '{"event_ts":5,"members":[7]}',
    ];
    expect(
      (await send(server, 'POST', '/v1/hyperedges?table=lines', `${lines.join('\n')}\n`, NDJSON)).json.inserted,
    ).toBe(5);
    const batch = await post('/v1/batch', {
      operations: [
        { type: 'insert', table: 'lines', event_ts: 6, members: { b: [3, 4] } },
        { type: 'delete', table: 'lines', event_ts: 2, members: { b: [1], a: [2] } },
      ],
    });
    expect(batch.status).toBe(200);
    const roles = [
      [[], []],
      [[1], [1]],
      [[5], []],
      [[], []],
      [[], [3, 4]],
    ].map(([a, b]) => ({ a, b }));
    const range = '/v1/hyperedges?table=lines&start_ts=0&end_ts=9';
    const before = (await get(range)).json.hyperedges;
    expect(before.map((row: { roles: unknown }) => row.roles)).toEqual(roles);
    await post('/v1/hyperedges/compact', { table: 'lines' });
    expect((await get(range)).json.hyperedges).toEqual(before);
    const refused = await send(
      server,
      'POST',
      '/v1/hyperedges?table=lines',
      `${lines[0]}\n{"event_ts":2,"members":{"c":[1]}}\n`,
      NDJSON,
    );
    expect([refused.status, refused.json.line]).toEqual([400, 2]);
  });
});

describe('a lookup by role', () => {
  test('finds the rows in which the node has the role, page by page, in memory and in segments', async () => {
    await post('/v1/tables', { name: 'calls', roles: ['from', 'to'], bucket_seconds: 60 });
    const lines = Array.from({ length: 4000 }, (_, n) =>
      JSON.stringify({ event_ts: n, members: { from: [n % 5], to: [(n * 7) % 11, 20] } }),
    );
    const fill = (some: readonly string[]) =>
      send(server, 'POST', '/v1/hyperedges?table=calls', `${some.join('\n')}\n`, NDJSON);
    await fill(lines.slice(0, 3000));
    await post('/v1/hyperedges/compact', { table: 'calls' });
    await fill(lines.slice(3000));
    for (const [role, wanted] of [
      ['from', (n: number) => n % 5 === 3],
      ['TO', (n: number) => (n * 7) % 11 === 3],
    ] as const) {
      const expected = Array.from({ length: 4000 }, (_, n) => n).filter(wanted);
      const times: number[] = [];
      let cursor: string | null = null;
      do {
        const page: Answer = await get(
          `/v1/hyperedges/node/3?table=calls&limit=300&role=${role}${cursor === null ? '' : `&cursor=${cursor}`}`,
        );
        expect(page.status).toBe(200);
        expect(page.json.query_plan.strategy).toBe('FMI_LOOKUP');
        times.push(...page.json.hyperedges.map((row: { event_ts: number }) => row.event_ts));
        cursor = page.json.next_cursor;
      } while (cursor !== null);
      expect(times).toEqual(expected);
    }
    expect((await get('/v1/hyperedges/node/20?table=calls&role=from')).json.num_tuples).toBe(0);
  });

  test('binds its cursor to the role, and refuses a role that the table does not have', async () => {
    const page = await get('/v1/hyperedges/node/3?table=calls&limit=2&role=to');
    const { next_cursor: cursor } = page.json;
    expect((await get(`/v1/hyperedges/node/3?table=calls&limit=2&role=from&cursor=${cursor}`)).json.code).toBe(
      'invalid_cursor',
    );
    expect((await get(`/v1/hyperedges/node/3?table=calls&limit=2&cursor=${cursor}`)).json.code).toBe('invalid_cursor');
    expect((await get(`/v1/hyperedges/node/3?table=calls&limit=2&role=TO&cursor=${cursor}`)).status).toBe(200);
    const unknown = await get('/v1/hyperedges/node/3?table=calls&role=cc');
    expect(unknown.status).toBe(400);
    expect(unknown.json.detail).toMatch(/its roles are from, to/);
    expect((await get('/v1/hyperedges/node/3?role=to')).json.detail).toMatch(/no roles/);
    expect((await get('/v1/hyperedges/node/3?table=calls&role=to&role=to')).status).toBe(400);
  });
});

describe('deletion', () => {
  test('ignores roles, and accepts every form of members', async () => {
    const key = { table: 'mail', event_ts: 77 };
    for (const members of [{ sender: [1], recipient: [2] }, { sender: [2, 1] }, [1, 2]])
      expect((await insert({ ...key, members })).status).toBe(201);
    const remove = (members: unknown) => send(server, 'DELETE', '/v1/hyperedges', { ...key, members });
    expect((await remove({ sender: [1] })).json.matched).toBe(0);
    expect((await remove({ whatever: [2], sender: [1] })).json).toMatchObject({
      deleted: true,
      matched: 3,
      members: [1, 2],
    });
    expect((await remove({})).json.code).toBe('empty_members');
  });
});

describe('a definition', () => {
  test.each([
    ['17 roles', { roles: Array.from({ length: 17 }, (_, n) => `r${n}`) }, 'invalid_input'],
    ['a role named as a column', { roles: ['subject'], columns: [{ name: 'Subject', type: 'TEXT' }] }, 'column_exists'],
    ['a role named as a built-in field', { roles: ['Members'] }, 'column_exists'],
    ['a role twice, in other letters', { roles: ['a', 'A'] }, 'invalid_input'],
    ['a role that is no identifier', { roles: ['a b'] }, 'invalid_input'],
    [
      'a column named roles beside roles',
      { roles: ['a'], columns: [{ name: 'Roles', type: 'TEXT' }] },
      'column_exists',
    ],
  ])('is refused with %s', async (_, body, code) => {
    const answer = await post('/v1/tables', { name: 'refused', ...body });
    expect(answer.json.code).toBe(code);
  });

  test('keeps columns from taking the names of its roles', async () => {
    const add = (column: string) => post('/v1/query', { query: `ALTER TABLE mail ADD COLUMN ${column} TEXT` });
    for (const name of ['sender', 'RECIPIENT', 'roles']) expect((await add(name)).json.code).toBe('column_exists');
    const rename = await post('/v1/query', { query: 'ALTER TABLE mail RENAME COLUMN subject TO Sender' });
    expect(rename.json.code).toBe('column_exists');
    expect((await add('other')).status).toBe(200);
  });
});
