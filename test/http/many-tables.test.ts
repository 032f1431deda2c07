// Tests answers that list more tables than fit in one chunk.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { send, startServer, type TestServer } from './support.ts';

const TABLES = 600;

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  const names = Array.from({ length: TABLES }, (_, index) => `t${index}`);
  await Promise.all(names.map((name) => server.database.createTable({ name })));
  await server.database.table('t7').insert({ event_ts: 1, members: [1, 2] });
});
afterAll(() => server.close());

test('GET /v1/tables lists all tables in chunks, with an ETag of their state', async () => {
  const answer = await send(server, 'GET', '/v1/tables');
  expect(answer.status).toBe(200);
  expect(answer.json).toEqual(server.database.tables().map((table) => table.item()));
  expect(answer.json).toHaveLength(TABLES + 1);
  const tag = answer.headers.get('etag')!;
  expect((await send(server, 'GET', '/v1/tables', undefined, { 'if-none-match': tag })).status).toBe(304);
  await server.database.table('t8').insert({ event_ts: 1, members: [3] });
  const changed = await send(server, 'GET', '/v1/tables?defaults=true', undefined, { 'if-none-match': tag });
  expect(changed.status).toBe(200);
  expect(changed.json).toEqual(server.database.tables().map((table) => table.item(true)));
});

test('SHOW TABLES returns the same list as GET /v1/tables', async () => {
  const { json } = await send(server, 'POST', '/v1/query', { query: 'SHOW TABLES' });
  expect(json.num_tuples).toBe(TABLES + 1);
  expect(json.rows).toEqual(server.database.tables().map((table) => table.item()));
});

test('health and metrics count all tables', async () => {
  const { json } = await send(server, 'GET', '/health');
  expect(json).toMatchObject({ tables: TABLES + 1, total_records: 2, node_count: 3, node_count_exact: true });
  expect((await send(server, 'GET', '/v1/wal')).json).toEqual(server.database.wal());
  expect(server.database.statistics.figures()).toEqual(await server.database.statistics.gatherFigures());
});

test('the sorted list of tables reflects new, dropped and renamed tables', async () => {
  const { database } = server;
  const names = () => database.tables().map(({ name }) => name);
  const before = database.tables();
  expect(database.tables()).toBe(before);
  await database.dropTable('t5');
  await database.createTable({ name: 'another' });
  await database.alterTable('t6', { kind: 'renameTable', to: 'zz' });
  expect(names()).not.toContain('t5');
  expect(names()[0]).toBe('another');
  expect(names().at(-1)).toBe('zz');
  expect([...names()].sort()).toEqual(names());
});
