// Checks that the column types declared in an answer match the values in it, for every kind of
// statement.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ParameterValues } from '../../src/query/binder/parameters.ts';
import { type Answer, send, startServer, type TestServer } from '../http/support.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startServer();
  await run(
    'CREATE HYPEREDGE TABLE visits (person) PROPERTIES (place TEXT, n INTEGER, score REAL, open BOOLEAN) BUCKET_SECONDS 60',
  );
  await run(
    "INSERT INTO visits (event_ts, members, place, n, score, open) VALUES (1, [3, 1], 'hall', 5, 0.5, true), (70, [1, 2], 'yard', 6, 1.5, false), (95, [2], null, null, null, null)",
  );
});
afterAll(() => server.close());

function run(query: string, parameters: ParameterValues = {}): Promise<Answer> {
  return send(server, 'POST', '/v1/query', { query, parameters });
}

async function typesOf(query: string, parameters: ParameterValues = {}): Promise<string[]> {
  const { status, json, text } = await run(query, parameters);
  expect(status, text).toBe(200);
  expect(Object.keys(json).slice(0, 3)).toEqual(['columns', 'column_types', 'rows']);
  expect(json.column_types).toHaveLength(json.columns.length);
  for (const row of json.rows) checkRow(row, json.columns, json.column_types);
  return json.column_types;
}

/** Checks that each value has the type that its column declares, or is null. */
function checkRow(row: Record<string, unknown>, columns: readonly string[], types: readonly string[]): void {
  expect(Object.keys(row)).toEqual(columns);
  for (const [place, name] of columns.entries()) {
    const value = row[name];
    if (value !== null) expect([name, value, fits(value, types[place]!)]).toEqual([name, value, true]);
  }
}

function fits(value: unknown, type: string): boolean {
  switch (type) {
    case 'INTEGER':
      return Number.isSafeInteger(value);
    case 'REAL':
    case 'TIME':
      return typeof value === 'number';
    case 'TEXT':
      return typeof value === 'string';
    case 'BOOLEAN':
      return typeof value === 'boolean';
    case 'NODES':
      return Array.isArray(value) && value.every(Number.isSafeInteger);
    case 'EDGE':
      return typeof value === 'object' && value !== null && 'event_ts' in value && 'members' in value;
    case 'LIST':
      return typeof value === 'object';
    default:
      return false;
  }
}

const EVERY = ['INTEGER', 'TIME', 'NODES', 'REAL', 'REAL', 'TEXT', 'TEXT', 'INTEGER', 'REAL', 'BOOLEAN'];

describe('the column types of MATCH', () => {
  test.each([
    ['v', ['EDGE']],
    ['v AS edge', ['EDGE']],
    ['*', EVERY],
    ['v.event_ts AS `when`, v.members AS who', ['TIME', 'NODES']],
    ['v.n + 1, v.n * 0.5, v.n > 3, -v.n', ['INTEGER', 'REAL', 'BOOLEAN', 'INTEGER']],
    ["v.place + '!', size(v.members), bucket(v), null AS nothing", ['TEXT', 'INTEGER', 'INTEGER', 'NULL']],
    ['v.event_ts + 5 AS later, v.event_ts - 3 AS before', ['INTEGER', 'INTEGER']],
    ['[v.event_ts, 1] AS pair, [1, 2] AS two', ['LIST', 'LIST']],
    ['DISTINCT v.event_ts, v.open', ['TIME', 'BOOLEAN']],
    [
      'MIN(v.event_ts) AS first, MAX(v.event_ts) AS last, AVG(v.event_ts) AS mean, SUM(v.event_ts) AS total, COUNT(v.event_ts) AS n',
      ['TIME', 'TIME', 'TIME', 'INTEGER', 'INTEGER'],
    ],
    ['MAX(v.event_ts) - MIN(v.event_ts) AS seconds', ['INTEGER']],
    ['COLLECT(v) AS edges, COLLECT(v.event_ts) AS times, COLLECT(v.members) AS who', ['LIST', 'LIST', 'LIST']],
    ['v.members AS who, v.event_ts AS t, COUNT(*) AS n', ['NODES', 'TIME', 'INTEGER']],
    ['COUNT(*) AS n, v.place AS place, MIN(v.event_ts) AS t', ['INTEGER', 'TEXT', 'TIME']],
    ['v.open, MAX(v.score), AVG(v.n), SUM(v.score), MIN(v.place)', ['BOOLEAN', 'REAL', 'REAL', 'REAL', 'TEXT']],
    ['v AS row, COUNT(*) AS n', ['EDGE', 'INTEGER']],
  ])('match the values for RETURN %s', async (items, types) => {
    expect(await typesOf(`MATCH (v:visits) RETURN ${items}`)).toEqual(types);
    expect(await typesOf(`MATCH (v:visits) WHERE v.event_ts > 1000 RETURN ${items}`)).toEqual(types);
  });

  test('match the values of joins and of parameters, whose types are known only from the request', async () => {
    expect(await typesOf('MATCH (a:visits), (b:visits) WHERE overlaps(a, b, 5) RETURN *')).toEqual([
      ...EVERY,
      ...EVERY,
    ]);
    const query = 'MATCH (v:visits) RETURN $x AS x, MAX(v.event_ts) AS t';
    for (let round = 0; round < 3; round++) {
      expect(await typesOf(query, { x: 1 })).toEqual(['INTEGER', 'TIME']);
      expect(await typesOf(query, { x: 'one' })).toEqual(['TEXT', 'TIME']);
      expect(await typesOf(query, { x: [1] })).toEqual(['LIST', 'TIME']);
      expect(await typesOf(query, { x: null })).toEqual(['NULL', 'TIME']);
    }
  });

  test('precede the rows of a streamed answer', async () => {
    const values = Array.from({ length: 5000 }, (_, index) => `(${index}, [${index}, 1])`).join(', ');
    await run('CREATE HYPEREDGE TABLE many (x)');
    await run(`INSERT INTO many (event_ts, members) VALUES ${values}`);
    for (const items of ['m', 'm.event_ts, m.members']) {
      const { text, json } = await run(`MATCH (m:many) RETURN ${items}`);
      expect(text.length).toBeGreaterThan(64 * 1024);
      expect(json.rows).toHaveLength(5000);
      expect(json.column_types).toEqual(items === 'm' ? ['EDGE'] : ['TIME', 'NODES']);
    }
  });
});

describe('the column types of other statements', () => {
  test.each([
    'CREATE HYPEREDGE TABLE other (x) PROPERTIES (n INTEGER)',
    'SHOW TABLES',
    'SHOW INDEXES',
    'CREATE INDEX ON other (n)',
    'SHOW INDEXES ON other',
    'DROP INDEX ON other (n)',
    'ALTER TABLE other ADD COLUMN m TEXT',
    'INSERT INTO other (event_ts, members) VALUES (1, [1])',
    'UPDATE other SET n = 1',
    'DELETE FROM other WHERE event_ts = 5',
    'EXPLAIN MATCH (o:other) RETURN o',
    'ANALYZE MATCH (o:other) RETURN o',
    'EXPLAIN INSERT INTO other (event_ts, members) VALUES (1, [1])',
    'EXPLAIN UPDATE other SET n = 1',
    'EXPLAIN DROP HYPEREDGE TABLE other',
    'EXPLAIN COMPACT other',
    'COMPACT other',
    'COMPACT',
    'COMPACT other TTL 5',
    'BEGIN',
    'ROLLBACK',
    'BEGIN',
    'COMMIT',
    'DROP HYPEREDGE TABLE other',
    'DROP HYPEREDGE TABLE IF EXISTS other',
  ])('match the values of %s', async (statement) => {
    expect((await typesOf(statement)).length).toBeGreaterThan(0);
  });
});
