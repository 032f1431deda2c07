// Tests results of virtual graphs that are stored as tables ("copies"): their contents, refusals,
// and the state after a failure.

import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rowsOf as rowsIn } from '../cli/support.ts';
import { makeFiles } from '../virtual/backend-files.ts';
import { type Answer, Recorder, send, startServer, type TestServer } from './support.ts';

const observer = new Recorder();
let server: TestServer;
let root: string;
let dir: string;
const options = () => ({ dir, virtualRoot: root, observer });

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'hedgerow-copies-root-'));
  dir = await mkdtemp(join(tmpdir(), 'hedgerow-copies-'));
  await makeFiles(
    [
      `CREATE TABLE trips (origin VARCHAR, target VARCHAR, "at" TIMESTAMP, weight INTEGER, formation VARCHAR, "Total (EUR)" DECIMAL(30,10), big BIGINT,
        ok BOOLEAN, day DATE, price DOUBLE, "id" INTEGER, "table" VARCHAR, "properties" INTEGER, "Weight " DOUBLE, "12" INTEGER, "été" INTEGER)`,
      `INSERT INTO trips VALUES
        ('a', 'b', '2024-01-01 00:00:00', 2, 'lunch', 1.5, 9007199254740993, true, '2024-01-01', 0.5, 11, 't', 1, 1.25, 12, 1),
        ('b', 'b', '2024-01-02 00:00:00', NULL, NULL, NULL, 5, NULL, NULL, 'nan', NULL, NULL, NULL, NULL, NULL, NULL),
        ('b', NULL, '2024-01-03 00:00:00', 4, 'dinner', 12345678901234567890.0123456789, 6, false, '2024-01-03', 7, 13, 'u', 2, 2.5, 14, 2),
        (NULL, NULL, '2024-01-04 00:00:00', 4, 'none', 1, 6, false, '2024-01-03', 7, 13, 'u', 2, 2.5, 14, 2)`,
      "CREATE TABLE places AS SELECT 'a' AS name",
      'CREATE TABLE guests AS SELECT r.range // 100 AS party, 1000 + r.range // 100 AS ts, r.range AS guest FROM range(350) r',
      `CREATE TABLE odd AS SELECT * FROM (VALUES (1, 'a:b'), (2, 'O''Neil, "Bob"'), (3, ' שלום 👩‍👩‍👧 '), (4, ''), (5, 'two' || chr(10) || 'lines'), (6, repeat('x', 513)), (7, 'ada')) AS v(ts, guest)`,
      `CREATE VIEW many AS SELECT r.range AS ts, r.range % 5000 AS guest, r.range AS n FROM range(25000) r`,
      `CREATE VIEW late AS SELECT r.range AS ts, r.range AS guest, CASE WHEN r.range = 199999 THEN CAST('x' || r.range AS INTEGER) ELSE 0 END AS n FROM range(200000) r`,
      `CREATE VIEW wrong AS SELECT CASE WHEN r.range = 29999 THEN 9223372036854775807 ELSE r.range END AS ts, r.range AS guest FROM range(30000) r`,
    ],
    join(root, 'all.duckdb'),
  );
  server = await startServer(options());
  const made = await send(server, 'POST', '/v1/virtual/graphs', SPEC);
  expect(made.status).toBe(201);
});
afterAll(async () => {
  await server.close();
  await rm(root, { recursive: true, force: true });
  await rm(dir, { recursive: true, force: true });
});

const guestEdge = (label: string, table: string) => ({
  label,
  shape: 'row',
  table,
  ts_column: 'ts',
  row_member_columns: { guest: 'guest' },
  members: [{ name: 'guest', node_label: 'Guest', role: 'guest' }],
});
const SPEC = {
  id: 'all',
  name: 'All',
  backend: { type: 'duckdb', path: 'all.duckdb' },
  nodes: [
    { label: 'Place', table: 'places', id_column: 'name' },
    { label: 'Guest', table: 'guests', id_column: 'guest' },
    { label: 'Person', table: 'odd', id_column: 'guest' },
  ],
  edges: [
    {
      label: 'Trip',
      shape: 'row',
      table: 'trips',
      ts_column: 'at',
      row_member_columns: { origin: 'origin', target: 'target' },
      members: [
        { name: 'origin', node_label: 'Place', role: 'src' },
        { name: 'target', node_label: 'Place', role: 'dst' },
      ],
    },
    {
      label: 'Party',
      shape: 'group',
      table: 'guests',
      ts_column: 'ts',
      group_columns: ['party'],
      member_column: 'guest',
      members: [{ name: 'guest', node_label: 'Guest', role: 'guest' }],
    },
    {
      ...guestEdge('Odd', 'odd'),
      row_member_columns: { who: 'guest' },
      members: [{ name: 'who', node_label: 'Person', role: 'who' }],
    },
    guestEdge('Many', 'many'),
    guestEdge('Late', 'late'),
    guestEdge('Wrong', 'wrong'),
  ],
};
const TRIPS = 'MATCH (t:Trip){origin:Place, target:Place} RETURN t';
const queryOf = (label: string) => `MATCH (t:${label}){guest:Guest} RETURN t`;

const copy = (body: object, headers: Record<string, string> = {}): Promise<Answer> =>
  send(server, 'POST', '/v1/virtual/graphs/all/materialize', body, headers);
const tableNames = () => server.database.tables().map(({ name }) => name);
const keysOf = (table: string) => rowsIn(server.database.nodes.table(table)).map((row) => Object.values(row)[0]);
const rowsOf = async (table: string) =>
  (await send(server, 'GET', `/v1/hyperedges?start_ts=-4000000000&end_ts=4000000000&table=${table}&limit=1000`)).json
    .hyperedges;

describe('a copy', () => {
  test('contains the edges, their columns, and the nodes with their names', async () => {
    const made = await copy({ query: TRIPS, table: 'Trips' });
    expect(made.status).toBe(201);
    const { sql, columns, ...told } = made.json;
    expect(told).toEqual({ table: 'Trips', node_tables: ['Place'], inserted: 3, nodes: 2, skipped: 1 });
    expect(sql).toContain('FROM "trips"');
    expect(columns).toEqual([
      { name: 'weight', type: 'REAL', property: 'weight' },
      { name: 'formation', type: 'TEXT', property: 'formation' },
      { name: 'Total_EUR', type: 'REAL', property: 'Total (EUR)' },
      { name: 'big', type: 'TEXT', property: 'big' },
      { name: 'ok', type: 'BOOLEAN', property: 'ok' },
      { name: 'day', type: 'TEXT', property: 'day' },
      { name: 'price', type: 'REAL', property: 'price' },
      { name: 'id_2', type: 'INTEGER', property: 'id' },
      { name: 'table_2', type: 'TEXT', property: 'table' },
      { name: 'properties_2', type: 'INTEGER', property: 'properties' },
      { name: 'Weight_2', type: 'REAL', property: 'Weight ' },
      { name: 'p_12', type: 'INTEGER', property: '12' },
      { name: 't', type: 'INTEGER', property: 'été' },
    ]);
    const [first, second, third] = await rowsOf('Trips');
    expect(first).toMatchObject({
      event_ts: 1704067200,
      members: ['a', 'b'],
      weight: 2,
      formation: 'lunch',
      Total_EUR: 1.5,
      big: '9007199254740993',
      ok: true,
      day: '2024-01-01',
      price: 0.5,
      id_2: 11,
      table_2: 't',
      Weight_2: 1.25,
      t: 1,
    });
    expect(second).toMatchObject({
      members: ['b'],
      weight: null,
      formation: null,
      big: '5',
      ok: null,
      price: null,
      t: null,
    });
    expect(third).toMatchObject({ members: ['b'], weight: 4, Total_EUR: Number('12345678901234567890.0123456789') });
    expect(keysOf('Place')).toEqual(['a', 'b']);
    const { json } = await send(server, 'GET', '/v1/tables/Trips');
    expect(json).toMatchObject({ row_count: 3, bucket_seconds: 10, member_tables: ['Place'], nodes: 'named' });
    expect(observer.audits.at(-1)).toMatchObject({
      event: 'table.created',
      table: 'Trips',
      statement: 'materialize all into Trips',
      status: 201,
    });
  });

  test('can be used by statements and measures', async () => {
    const asked = await send(server, 'POST', '/v1/query', {
      query: 'MATCH (e:Trips) WHERE e.ok = true RETURN e.event_ts AS ts, e.Total_EUR AS total',
    });
    expect([asked.status, asked.json.num_tuples, asked.json.columns]).toEqual([200, 1, ['ts', 'total']]);
    const measured = await send(server, 'POST', '/v1/analytics/Trips/density', {});
    expect(measured.status).toBe(200);
    const node = await send(server, 'GET', '/v1/hyperedges/node/b?table=Trips');
    expect(node.json.num_tuples).toBe(3);
  });

  test('shares the node table of a label with other copies, which keep it when one fails', async () => {
    await server.database.nodes.createTable({ name: 'guest', key: { name: 'no', type: 'INTEGER' } });
    const made = await copy({ query: queryOf('Many'), table: 'first', limit: 3 });
    expect(made.json).toMatchObject({ node_tables: ['guest'], inserted: 3, nodes: 3 });
    expect((await rowsOf('first')).map(({ members }: { members: number[] }) => members)).toEqual([[0], [1], [2]]);
    expect((await copy({ query: queryOf('Wrong'), table: 'second' })).status).toBe(500);
    expect(keysOf('guest').slice(0, 3)).toEqual([0, 1, 2]);
    expect(server.database.table('first').rowCount).toBe(3);
  });

  test('omits edges whose vertices cannot be keys, and names them exactly', async () => {
    const made = await copy({ query: 'MATCH (o:Odd){who:Person} RETURN o', table: 'odd' });
    expect(made.json).toMatchObject({ node_tables: ['Person'], inserted: 4, skipped: 3, nodes: 4 });
    expect(keysOf('Person')).toEqual(['a:b', 'O\'Neil, "Bob"', ' שלום 👩‍👩‍👧 ', 'ada']);
  });

  test('has numbers as members, and a table of its nodes, if ids are asked for', async () => {
    const made = await copy({ query: TRIPS, table: 'mapped', ids: 'map' });
    expect(made.json).toMatchObject({ nodes_table: 'mapped_nodes', ids: 'map', inserted: 3, nodes: 2, skipped: 1 });
    expect(made.json.node_tables).toBeUndefined();
    expect((await rowsOf('mapped')).map(({ members }: { members: number[] }) => members)).toEqual([[1, 2], [2], [2]]);
    const nodes = await rowsOf('mapped_nodes');
    expect(nodes.map(({ members, vertex }: { members: number[]; vertex: string }) => [...members, vertex])).toEqual([
      [1, 'place:a'],
      [2, 'place:b'],
    ]);
  });

  test('has the same ids in every copy if they are hashed', async () => {
    const made = await copy({ query: TRIPS, table: 'hashed', ids: 'hash', bucket_seconds: 60 });
    expect([made.status, made.json.ids]).toEqual([201, 'hash']);
    const idOf = (vertex: string) =>
      Number.parseInt(createHash('sha256').update(vertex).digest('hex').slice(0, 13), 16);
    const expected = [idOf('place:a'), idOf('place:b')].sort((a, b) => a - b);
    expect((await rowsOf('hashed'))[0].members).toEqual(expected);
    expect((await send(server, 'GET', '/v1/tables/hashed')).json.bucket_seconds).toBe(60);
    expect(await rowsOf('hashed_nodes')).toHaveLength(2);
  });

  test('may be limited or empty', async () => {
    expect((await copy({ query: TRIPS, table: 'one', limit: 1 })).json).toMatchObject({
      inserted: 1,
      nodes: 2,
      skipped: 0,
    });
    const none = await copy({ query: `${TRIPS} LIMIT 0`, table: 'none' });
    expect([none.status, none.json.inserted, none.json.columns.length]).toEqual([201, 0, 13]);
    expect(await rowsOf('none')).toEqual([]);
  });

  test('omits edges with more members than a table accepts', async () => {
    const made = await copy({ query: queryOf('Party'), table: 'parties' });
    expect([made.status, made.json.inserted, made.json.skipped, made.json.nodes]).toEqual([201, 1, 3, 50]);
  });

  test('is written in several commits when there are many edges', async () => {
    const made = await copy({ query: queryOf('Many'), table: 'many' });
    expect(made.json).toMatchObject({ inserted: 25_000, nodes: 5000, skipped: 0 });
    expect(server.database.table('many').rowCount).toBe(25_000);
    expect(new Set(keysOf('Guest')).size).toBe(keysOf('Guest').length);
    const [row] = (
      await send(server, 'POST', '/v1/query', { query: 'MATCH (e:many) RETURN count(*) AS n, max(e.n) AS most' })
    ).json.rows;
    expect(Object.values(row)).toEqual([25_000, 24_999]);
  });
});

describe('a copy that is refused or fails', () => {
  test.each([
    ['a table that exists', { table: 'Hyperedges' }, 409, 'table_exists'],
    ['a table whose table of nodes exists', { table: 'taken', ids: 'map' }, 409, 'table_exists'],
    ['a table that is a node table', { table: 'place' }, 409, 'table_exists'],
    ['a name with a blank', { table: 'my trips' }, 400, 'invalid_input'],
    ['a name that begins with a digit', { table: '1st' }, 400, 'invalid_input'],
    ['a name that is too long for its nodes', { table: 'x'.repeat(59), ids: 'map' }, 400, 'invalid_input'],
    ['no name', {}, 400, 'invalid_input'],
    ['unknown ids', { table: 'x', ids: 'uuid' }, 400, 'invalid_input'],
    ['buckets of nothing', { table: 'x', bucket_seconds: 0 }, 400, 'invalid_input'],
    ['a limit that is none', { table: 'x', limit: -1 }, 400, 'invalid_input'],
  ])('is not made: %s', async (_name, body, status, code) => {
    await server.database.createTable({ name: 'taken_nodes' }).catch(() => undefined);
    const before = tableNames();
    const answer = await copy({ query: TRIPS, ...body });
    expect([answer.status, answer.json.code]).toEqual([status, code]);
    expect(tableNames()).toEqual(before);
  });

  test('leaves no table behind when a row has a time that no edge can have', async () => {
    const before = tableNames();
    const query = 'MATCH (t:Wrong){guest:Guest} RETURN t';
    const answer = await copy({ query, table: 'wrong' });
    expect([answer.status, answer.json.code]).toEqual([500, 'hydration_failed']);
    expect(tableNames()).toEqual(before);
    expect((await copy({ query: TRIPS, table: 'wrong' })).status).toBe(201);
  });

  test('is refused when another copy into the same table runs at the same time', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => copy({ query: TRIPS, table: 'raced' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect(await rowsOf('raced')).toHaveLength(3);
  });
});

test('a copy whose backend fails late answers 502 and leaves no table behind', async () => {
  const before = tableNames();
  const answer = await copy({ query: queryOf('Late'), table: 'late' });
  expect([answer.status, answer.json.code]).toEqual([502, 'backend_failed']);
  expect(tableNames()).toEqual(before);
});

test('a copy with an Idempotency-Key is made once, even after a restart, and is kept with its spec', async () => {
  const headers = { 'idempotency-key': 'copy once' };
  const body = { query: TRIPS, table: 'once' };
  const first = await copy(body, headers);
  const audits = observer.audits.length;
  const again = await copy(body, headers);
  expect([first.status, again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([
    201,
    201,
    first.text,
    'true',
  ]);
  expect(observer.audits.length).toBe(audits);
  expect((await copy({ ...body, table: 'twice' }, headers)).json.code).toBe('idempotency_conflict');
  const spec = (await send(server, 'GET', '/v1/virtual/graphs/all')).json;
  const rows = await rowsOf('once');
  await server.close();
  server = await startServer(options());
  expect((await send(server, 'GET', '/v1/virtual/graphs/all')).json).toEqual(spec);
  expect(await rowsOf('once')).toEqual(rows);
  const later = await copy(body, headers);
  expect([later.status, later.text, later.headers.get('idempotent-replayed')]).toEqual([201, first.text, 'true']);
});
