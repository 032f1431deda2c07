// Tests the members of named tables in the answers of /v1/query, /v1/batch and of one edge.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { send, startServer, type TestServer } from './support.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startServer({});
  for (const text of [
    'CREATE NODE TABLE Person (name TEXT)',
    'CREATE HYPEREDGE TABLE calls (Person)',
    "INSERT INTO calls (event_ts, members) VALUES (1, ['Ada', 'Grace'])",
  ])
    expect((await query(text)).status).toBe(200);
});

afterAll(() => server.close());

function query(text: string, more: object = {}, parameters = '') {
  return send(server, 'POST', `/v1/query${parameters}`, { query: text, ...more });
}

const KEYS = ['Ada', 'Grace'];
const NUMBERS = [1, 2];
const OBJECTS = KEYS.map((key) => ({ kind: 'Person', key }));

test('members= is a field of the body and a parameter, and the field wins', async () => {
  // The first statement is written by the core, the second by the executor.
  for (const items of ['*', 'c.members, c.event_ts + 1 AS t']) {
    const text = `MATCH (c:calls) RETURN ${items}`;
    const members = async (more: object, parameters = '') =>
      (await query(text, more, parameters)).json.rows[0].members as unknown;
    expect(await members({})).toEqual(KEYS);
    expect(await members({ members: 'numbers' })).toEqual(NUMBERS);
    expect(await members({ members: 'objects' })).toEqual(OBJECTS);
    expect(await members({}, '?members=numbers')).toEqual(NUMBERS);
    expect(await members({ members: 'objects' }, '?members=numbers')).toEqual(OBJECTS);
    expect(await members({ times: 'iso' })).toEqual(KEYS);
  }
  expect(await query('SHOW TABLES', { members: 'x' })).toMatchObject({ status: 400, json: { code: 'invalid_input' } });
  expect((await query('SHOW TABLES', {}, '?members=x')).status).toBe(400);
});

test('batches and one edge show members in the same forms', async () => {
  const operations = [{ type: 'query', cypher: 'MATCH (c:calls) RETURN c' }];
  for (const [members, shown] of [
    [undefined, KEYS],
    ['numbers', NUMBERS],
    ['objects', OBJECTS],
  ] as const) {
    const batch = await send(server, 'POST', '/v1/batch', { operations, members });
    expect(batch.json.results[0].rows[0].c.members).toEqual(shown);
    const edge = await send(
      server,
      'GET',
      `/v1/hyperedges/1?table=calls${members === undefined ? '' : `&members=${members}`}`,
    );
    expect(edge.json.members).toEqual(shown);
  }
});

test('unknown nodes, nodes in use and known keys have their codes', async () => {
  await query('CREATE HYPEREDGE TABLE strict (Person) CREATE_NODES false');
  for (const [text, status, code] of [
    ["INSERT INTO strict (event_ts, members) VALUES (1, ['Nobody'])", 400, 'unknown_node'],
    ["DELETE FROM Person WHERE name = 'Ada'", 409, 'node_in_use'],
    ["INSERT INTO Person (name) VALUES ('Ada')", 409, 'node_exists'],
    ['DROP NODE TABLE Person', 409, 'table_in_use'],
  ] as const)
    expect(await query(text), text).toMatchObject({ status, json: { code } });
  expect((await query('SHOW NODE TABLES')).json).toMatchObject({
    columns: ['name', 'key', 'columns', 'row_count', 'created_at'],
    rows: [{ name: 'Person', key: { name: 'name', type: 'TEXT' }, row_count: 2 }],
  });
});
