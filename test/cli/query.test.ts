import { existsSync, mkdirSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { queryCommand } from '../../src/cli/query/command.ts';
import { openDatabase } from '../../src/engine/index.ts';
import { StatementServer } from './statement-server.ts';
import { lookInto, stream, TestWorld } from './support.ts';

let world: TestWorld;
let server: StatementServer;

beforeAll(async () => {
  server = await StatementServer.start();
  await fill(server.database);
});
afterAll(() => server.close());
beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

type Flags = Parameters<typeof queryCommand>[1];

async function fill(database: Awaited<ReturnType<typeof openDatabase>>): Promise<void> {
  const table = await database.createTable({ name: 'trips', columns: [{ name: 'place', type: 'TEXT' }] });
  const bulk = table.bulk();
  const places = ['東京', 'a "b"', null, 'x\ny'];
  for (const [i, place] of places.entries())
    bulk.add({ event_ts: i, members: [i, 9], properties: { place, weight: i / 2 } });
  await bulk.commit();
}

function makeDirectory(): Promise<void> {
  return lookInto(world.path('db'), fill);
}

async function query(statement: string, flags: Flags): Promise<number> {
  world.out = '';
  world.err = '';
  return queryCommand(statement, flags, world);
}

const ALL = 'MATCH (t:trips) RETURN t.event_ts AS ts, t.place, t.members ORDER BY ts';

describe.each(['server', 'directory'])('a statement on a %s', (where) => {
  const flags = (more: Flags = {}): Flags => ({
    ...(where === 'server' ? { url: server.url } : { data: 'db' }),
    ...more,
  });
  beforeEach(async () => {
    if (where === 'directory') await makeDirectory();
  });

  test('prints rows in every format', async () => {
    expect(await query(ALL, flags()), world.err).toBe(0);
    expect(JSON.parse(world.out)).toEqual([
      { ts: 0, place: '東京', members: [0, 9] },
      { ts: 1, place: 'a "b"', members: [1, 9] },
      { ts: 2, place: null, members: [2, 9] },
      { ts: 3, place: 'x\ny', members: [3, 9] },
    ]);
    const rows = world.out;
    expect(await query(ALL, flags({ format: 'ndjson' }))).toBe(0);
    expect(`[\n${world.out.trimEnd().replaceAll('\n', ',\n')}\n]\n`).toBe(rows);
    expect(await query(ALL, flags({ format: 'csv' }))).toBe(0);
    expect(world.out).toBe('"ts","place","members"\n0,"東京",0;9\n1,"a ""b""",1;9\n2,,2;9\n3,"x\ny",3;9\n');
    expect(await query(ALL, flags({ format: 'table', times: 'epoch' }))).toBe(0);
    expect(world.out).toBe(
      [
        'ts  place     members',
        '--  --------  -------',
        ' 0  東京      [0,9]',
        ' 1  a "b"     [1,9]',
        ' 2  null      [2,9]',
        ' 3  x\\u000ay  [3,9]',
        '(4 rows)\n',
      ].join('\n'),
    );
    expect(world.err).toBe('');
  });

  test('prints times as text in tables, and in other formats when requested', async () => {
    expect(await query(`${ALL} LIMIT 2`, flags({ format: 'table' }))).toBe(0);
    expect(world.out).toBe(
      [
        'ts                    place  members',
        '--------------------  -----  -------',
        '1970-01-01T00:00:00Z  東京   [0,9]',
        '1970-01-01T00:00:01Z  a "b"  [1,9]',
        '(2 rows)\n',
      ].join('\n'),
    );
    const inEdges = 'MATCH (t:trips) RETURN t, t.event_ts + 1 AS n ORDER BY t.event_ts DESC LIMIT 1';
    const last = { event_ts: '1970-01-01T00:00:03Z', members: [3, 9], place: 'x\ny' };
    for (const format of ['json', 'ndjson']) {
      expect(await query(inEdges, flags({ format, times: 'iso' })), world.err).toBe(0);
      expect([JSON.parse(world.out)].flat()).toMatchObject([{ t: last, n: 4 }]);
    }
    expect(await query(`${ALL} LIMIT 1`, flags({ format: 'csv', times: 'iso' }))).toBe(0);
    expect(world.out).toContain('"1970-01-01T00:00:00Z","東京",0;9\n');
    expect(await query(ALL, flags({ times: 'ISO' }))).toBe(2);
    expect(world.err).toContain('--times is "ISO", but it takes one of epoch, iso');
  });

  test('prints an empty result in every format', async () => {
    const none = 'MATCH (t:trips) WHERE t.event_ts > 99 RETURN t.event_ts, t.place';
    const answers = {
      json: '[]\n',
      ndjson: '',
      csv: '"event_ts","place"\n',
      table: 'event_ts  place\n--------  -----\n(0 rows)\n',
    };
    for (const [format, expected] of Object.entries(answers)) {
      expect(await query(none, flags({ format }))).toBe(0);
      expect(world.out).toBe(expected);
    }
  });

  test('accepts values as parameters', async () => {
    const statement = 'MATCH (t:trips) WHERE t.place IN $places AND $n IN t.members RETURN t.event_ts;';
    expect(await query(statement, flags({ param: ['places=["東京","a \\"b\\""]', 'n=1'] })), world.err).toBe(0);
    expect(JSON.parse(world.out)).toEqual([{ event_ts: 1 }]);
    expect(await query(statement, flags({ param: ['n=1'] }))).toBe(1);
    expect(world.err).toMatch(/^hedgerow: .*places/);
  });

  test('may be read from stdin', async () => {
    world.stdin = stream(['MATCH (t:tri', 'ps) // all\nRETURN COUNT(*) AS n;\n']);
    expect(await query('-', flags()), world.err).toBe(0);
    expect(JSON.parse(world.out)).toEqual([{ n: 4 }]);
  });

  test('reports the position of an error and exits with 1', async () => {
    for (const format of ['json', 'ndjson']) {
      expect(await query('MATCH (t:trips)\nRETRUN t', flags({ format }))).toBe(1);
      expect(world.out).toBe('');
      expect(world.err).toMatch(
        /^hedgerow: Line 2, column 1: found "RETRUN", but expected .*\n {2}RETRUN t\n {2}\^\n$/,
      );
    }
    expect(await query('MATCH (t:trip) RETURN t', flags())).toBe(1);
    expect(world.err).toMatch(/Did you mean trips\?\n {2}MATCH \(t:trip\) RETURN t\n {11}\^\n$/);
  });

  test('stores its changes', async () => {
    const statement = 'CREATE HYPEREDGE TABLE made (ship) PROPERTIES (n INTEGER)';
    expect(await query(statement, flags()), world.err).toBe(0);
    expect(JSON.parse(world.out)).toMatchObject([{ name: 'made', row_count: 0 }]);
    expect(await query('INSERT INTO made (event_ts, members, n) VALUES (1, [2], 3)', flags()), world.err).toBe(0);
    expect(JSON.parse(world.out)).toMatchObject([{ operation: 'INSERT', rows_affected: 1 }]);
    expect(await query('MATCH (m:made) RETURN m.n', flags())).toBe(0);
    expect(JSON.parse(world.out)).toEqual([{ n: 3 }]);
  });
});

test('many rows are printed in batches, with column widths from the first batch', async () => {
  await lookInto(world.path('db'), async (database) => {
    const bulk = database.table().bulk();
    for (let i = 0; i < 5000; i++) bulk.add({ event_ts: i, members: [i] });
    await bulk.commit();
  });
  const statement = 'MATCH (e:hyperedges) RETURN e.event_ts ORDER BY e.event_ts';
  expect(await query(statement, { data: 'db', format: 'table', times: 'epoch' })).toBe(0);
  const lines = world.out.trimEnd().split('\n');
  expect(lines.length).toBe(5003);
  expect(lines[4001]).toBe('    3999');
  expect(await query(statement, { data: 'db' })).toBe(0);
  expect(JSON.parse(world.out).length).toBe(5000);
});

test('control characters in values are not printed to a terminal', async () => {
  await lookInto(world.path('db'), async (database) => {
    await database
      .table()
      .insert({ event_ts: 1, members: [1], properties: { formation: 'a\u009b2Jb\u202e\u001b[2J' } });
  });
  Object.assign(world.stdout, { isTTY: true });
  for (const format of ['table', 'json', 'ndjson', 'csv']) {
    expect(await query('MATCH (e:hyperedges) RETURN e.formation', { data: 'db', format })).toBe(0);
    expect(world.out).not.toMatch(/(?!\n)[\p{Cc}\u202e]/u);
    if (format === 'ndjson') expect(JSON.parse(world.out)).toEqual({ formation: 'a\u009b2Jb\u202e\u001b[2J' });
  }
});

test('only writes to a server have an idempotency key, and every command has its own session', async () => {
  server.requests.length = 0;
  const flags = { url: server.url };
  await query('MATCH (t:trips) RETURN COUNT(*) AS n', flags);
  await query('COMPACT trips', flags);
  await query('COMPACT trips', flags);
  expect(server.requests.map(({ key }) => typeof key)).toEqual(['undefined', 'string', 'string']);
  expect(new Set(server.requests.map(({ key }) => key)).size).toBe(3);
  expect(new Set(server.requests.map(({ session }) => session)).size).toBe(3);
});

test('an interrupt cancels the statement at a server', async () => {
  let release = () => {};
  server.hold = new Promise((resolve) => {
    release = resolve;
  });
  const gone = new Promise<void>((resolve) => {
    server.gone = resolve;
  });
  const { length } = server.requests;
  const running = query(ALL, { url: server.url });
  while (server.requests.length === length) await new Promise((resolve) => setImmediate(resolve));
  world.interrupt!();
  expect(await running).toBe(1);
  expect(world.err).toBe('hedgerow: cancelled.\n');
  await gone;
  release();
});

test('an interrupt cancels the statement in a directory', async () => {
  await lookInto(world.path('db'), async (database) => {
    const bulk = database.table().bulk();
    for (let i = 0; i < 20_000; i++) bulk.add({ event_ts: i, members: [i] });
    await bulk.commit();
  });
  const endless = 'MATCH (a:hyperedges), (b:hyperedges) WHERE a.event_ts + b.event_ts > 99999 RETURN COUNT(*)';
  const running = query(endless, { data: 'db' });
  setTimeout(() => world.interrupt?.(), 100);
  expect(await running).toBe(1);
  expect(world.err).toBe('hedgerow: cancelled.\n');
});

describe('COPY in a directory', () => {
  test('reads and writes only below HEDGEROW_COPY_ROOT', async () => {
    await makeDirectory();
    expect(await query("COPY trips TO 'out.csv'", { data: 'db' })).toBe(1);
    expect(world.err).toMatch(/HEDGEROW_COPY_ROOT/);
    mkdirSync(world.path('files'));
    world.environment.HEDGEROW_COPY_ROOT = 'files';
    expect(await query("COPY trips TO 'out.csv'", { data: 'db' }), world.err).toBe(0);
    expect(existsSync(world.path('files/out.csv'))).toBe(true);
    expect(await query("COPY trips FROM 'out.csv'", { data: 'db' }), world.err).toBe(0);
    expect(await query('MATCH (t:trips) RETURN COUNT(*) AS n', { data: 'db' })).toBe(0);
    expect(JSON.parse(world.out)).toEqual([{ n: 8 }]);
  });
});

test('an unreachable server is reported with advice', async () => {
  expect(await query(ALL, { url: 'http://127.0.0.1:1' })).toBe(1);
  expect(world.err).toMatch(/hedgerow serve.*--data DIR/);
});

test('a directory that is open elsewhere or does not exist is refused', async () => {
  expect(await query(ALL, { data: 'gone' })).toBe(1);
  expect(world.err).toMatch(/There is no directory gone/);
  expect(existsSync(world.path('gone'))).toBe(false);
  const database = await openDatabase({ dir: world.path('db') });
  expect(await query(ALL, { data: 'db' })).toBe(1);
  expect(world.err).toMatch(/already open .* --url/);
  await database.close();
});

test.each<[string, string, Flags]>([
  ['an unknown format', ALL, { data: 'db', format: 'xml' }],
  ['a directory and a URL', ALL, { data: 'db', url: 'http://127.0.0.1:1' }],
  ['a configuration for a server', ALL, { url: 'http://127.0.0.1:1', config: 'x.toml' }],
  ['an invalid URL', ALL, { url: 'nonsense' }],
  ['a parameter without a value', ALL, { data: 'db', param: ['x'] }],
  ['a parameter that is not JSON', ALL, { data: 'db', param: ['x=y'] }],
  ['an empty statement', '  ', { data: 'db' }],
  ['an empty stdin', '-', { data: 'db' }],
])('a wrong call exits with 2: %s', async (_name, statement, flags) => {
  expect(await query(statement, flags)).toBe(2);
  expect(world.out).toBe('');
});
