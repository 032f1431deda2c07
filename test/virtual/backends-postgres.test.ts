import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBackends } from '../../src/virtual/backends/index.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import { openWorld, outcome, rowsOf, type World } from './backend-files.ts';

const SLOW = 'SELECT count(*) FROM generate_series(1, 100000000) a, generate_series(1, 100000000) b';

const server: TestPostgres | undefined = await startPostgres();
let world: World;

beforeAll(async () => {
  await server?.run(`
    CREATE TABLE people (id integer PRIMARY KEY, name text NOT NULL UNIQUE, born date);
    INSERT INTO people VALUES (1, 'Ann', '1970-01-02'), (2, 'Bob', NULL);
    CREATE SCHEMA shop;
    CREATE TABLE shop.goods (code varchar(8), kind int, price numeric(30,10), PRIMARY KEY (code, kind));
    CREATE TABLE shop.sales (sold timestamptz, code varchar(8), kind int, buyer int REFERENCES people, FOREIGN KEY (code, kind) REFERENCES shop.goods);
    CREATE TABLE shop.people (id int);
    CREATE UNIQUE INDEX sale ON shop.sales (sold, buyer); CREATE UNIQUE INDEX made ON shop.sales ((buyer + 1));
    CREATE UNIQUE INDEX few ON shop.sales (buyer) WHERE kind = 1; CREATE UNIQUE INDEX wide ON shop.sales (buyer) INCLUDE (code);
    CREATE INDEX plain ON shop.sales (kind);
    CREATE VIEW adults AS SELECT id, name FROM people WHERE born IS NOT NULL;
    CREATE MATERIALIZED VIEW kept AS SELECT * FROM people;
    CREATE TABLE parts (at timestamp, v int) PARTITION BY RANGE (at);
    CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
    INSERT INTO parts SELECT '2020-02-02', generate_series(1, 5);
    CREATE TABLE hidden (a int);
    CREATE TABLE halves (seen int, unseen int PRIMARY KEY);
    CREATE SCHEMA closed; CREATE TABLE closed.t (a int);
    CREATE SEQUENCE numbers;
    CREATE FUNCTION sneak() RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO people VALUES (9, 'Eve'); RETURN 1; END $$;
    CREATE DOMAIN amount AS numeric(10,2); CREATE TYPE mood AS ENUM ('sad', 'glad');
    CREATE TABLE odd ("a ""b" amount, m mood, j jsonb, l int[]);
    CREATE ROLE reader LOGIN PASSWORD 'reads-only-1';
    GRANT USAGE ON SCHEMA shop TO reader;
    GRANT SELECT ON people, shop.goods, shop.sales, shop.people, adults, kept, parts, odd TO reader;
    GRANT SELECT (seen) ON halves TO reader;
    GRANT INSERT ON people TO reader; GRANT USAGE ON numbers TO reader`);
  const dsns = new Map(
    server === undefined
      ? []
      : [
          ['Main', server.address],
          ['reader', readerOf(server)],
        ],
  );
  world = openWorld({ dsns });
}, 60_000);
afterAll(async () => {
  await world.close();
  await server?.stop();
});

const readerOf = ({ address }: TestPostgres) => address.replace(/\/\/.*@/, '//reader:reads-only-1@');
const open = (dsn = 'MAIN') => world.backends.open({ type: 'postgres', dsn });

describe.skipIf(server === undefined)('PostgreSQL', () => {
  it('shows only the tables and columns that the login may read', async () => {
    const schema = await open('READER').schema();
    expect(schema.tables.map(({ name, path, row_count }) => [name, path.length, row_count])).toEqual([
      ['adults', 1, 1],
      ['halves', 1, 0],
      ['kept', 1, 2],
      ['odd', 1, 0],
      ['parts', 1, 5],
      ['people', 1, 2],
      ['shop.goods', 2, 0],
      ['shop.people', 2, 0],
      ['shop.sales', 2, 0],
    ]);
    const columns = (name: string) =>
      schema.tables
        .find((table) => table.name === name)!
        .columns.map((column) => `${column.name}: ${column.type} (${column.kind})`);
    expect(columns('people')).toEqual(['id: integer (integer)', 'name: text (text)', 'born: date (date)']);
    expect(columns('shop.goods')).toEqual([
      'code: character varying(8) (text)',
      'kind: integer (integer)',
      'price: numeric(30,10) (decimal)',
    ]);
    expect(columns('odd')).toEqual([
      'a "b: amount (decimal)',
      'm: mood (other)',
      'j: jsonb (other)',
      'l: integer[] (other)',
    ]);
    expect(columns('halves')).toEqual(['seen: integer (integer)']);
    expect(schema.keys).toEqual([
      { table: 'people', columns: ['name'] },
      { table: 'people', columns: ['id'] },
      { table: 'shop.goods', columns: ['code', 'kind'] },
      { table: 'shop.sales', columns: ['sold', 'buyer'] },
    ]);
    expect(schema.foreignKeys).toEqual([
      { table: 'shop.sales', columns: ['buyer'], references: { table: 'people', columns: ['id'] } },
      {
        table: 'shop.sales',
        columns: ['code', 'kind'],
        references: { table: 'shop.goods', columns: ['code', 'kind'] },
      },
    ]);
  });

  it('binds parameters and keeps every digit', async () => {
    const sql = 'SELECT name FROM people WHERE id = CAST($1 AS bigint) AND name <> CAST($2 AS text)';
    expect(await rowsOf(open(), sql, [1, "'; DROP TABLE people; --"])).toEqual([['Ann']]);
    const values = `SELECT 9007199254740993::int8, -5::int8, 12345678901234567890.123456789::numeric, 1.5::float8, 'NaN'::float8,
      'Infinity'::float4, true, NULL::int, DATE '2020-02-29', TIMESTAMP '2020-02-29 12:00:00.123456', TIMESTAMPTZ '2020-02-29 12:00:00+02',
      TIME '01:02:03', INTERVAL '1 month 2 days', '\\x00ff'::bytea, '{"a": 1}'::jsonb, '00000000-0000-0000-0000-000000000001'::uuid,
      ARRAY['a,b', 'c"d\\', NULL, '', 'NULL'], ARRAY[1, NULL, 9007199254740993]::int8[], ARRAY[0.1, 'NaN']::float8[],
      '{{1,2},{3,4}}'::int[], '{}'::text[], ARRAY[true, false], ARRAY[1.10]::numeric[]`;
    expect(await rowsOf(open(), values)).toEqual([
      [
        9007199254740993n,
        -5,
        '12345678901234567890.123456789',
        1.5,
        'NaN',
        'Infinity',
        true,
        null,
        '2020-02-29',
        '2020-02-29 12:00:00.123456',
        '2020-02-29 10:00:00+00',
        '01:02:03',
        '1 mon 2 days',
        '\\x00ff',
        '{"a": 1}',
        '00000000-0000-0000-0000-000000000001',
        ['a,b', 'c"d\\', null, '', 'NULL'],
        [1, null, '9007199254740993'],
        [0.1, 'NaN'],
        '{{1,2},{3,4}}',
        [],
        ['true', 'false'],
        ['1.10'],
      ],
    ]);
  });

  it('streams rows in batches, and stops when reading stops', async () => {
    let taken = 0;
    const endless = 'SELECT generate_series(1, 1000000000)';
    for await (const batch of open().query({ sql: endless, parameters: [] }, {})) {
      taken += batch.length;
      if (taken >= 10_000) break;
    }
    expect(taken).toBe(10_000);
    const all = await rowsOf(open(), 'SELECT a FROM generate_series(1, 100000) a');
    expect(all.every(([value], index) => value === index + 1)).toBe(true);
    expect(all.length).toBe(100_000);
    expect(await rowsOf(open(), 'SELECT 1 WHERE false')).toEqual([]);
  });

  it('changes nothing even if a SELECT calls functions that write', async () => {
    const before = await server!.run('SELECT (SELECT count(*) FROM people), (SELECT last_value FROM numbers)');
    const refused = [
      'SELECT sneak()',
      "SELECT nextval('numbers')",
      "SELECT setval('numbers', 9)",
      "WITH x AS (INSERT INTO people VALUES (8, 'Mallory') RETURNING id) SELECT * FROM x",
      'WITH x AS (DELETE FROM people RETURNING id) SELECT * FROM x',
      'SELECT * INTO copy FROM people',
      'SELECT * INTO TEMP copy FROM people',
      'SELECT * FROM people FOR UPDATE',
      'SELECT 1; DELETE FROM people',
      "SELECT 1; COMMIT; INSERT INTO people VALUES (8, 'Mallory')",
      "SELECT set_config('transaction_read_only', 'off', false), sneak()",
      "INSERT INTO people VALUES (8, 'Mallory')",
      'DROP TABLE people',
      'COPY people TO STDOUT',
      "COPY people TO PROGRAM 'true'",
      'SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE',
      'SET transaction_read_only = off',
      'COMMIT',
      'DO $$ BEGIN PERFORM sneak(); END $$',
      'CALL x()',
      'EXPLAIN ANALYZE SELECT sneak()',
      'LISTEN x',
      'VALUES (1)',
      'TABLE people',
      '',
      ';',
    ];
    for (const sql of refused) {
      for (const dsn of ['MAIN', 'READER']) {
        expect(await outcome(rowsOf(open(dsn), sql)), sql).toMatch(/^(invalid_statement|backend_failed): /);
      }
    }
    expect(await server!.run('SELECT (SELECT count(*) FROM people), (SELECT last_value FROM numbers)')).toEqual(before);
    // PostgreSQL 15 allows this statement in a read-only transaction.
    await rowsOf(open(), 'SELECT lo_create(0)');
    expect(await server!.run('SELECT count(*)::int FROM pg_largeobject_metadata')).toEqual([[0]]);
  });

  it('ends a statement, also on the server, at its deadline or when its caller aborts', async () => {
    expect(await outcome(rowsOf(open(), SLOW, [], { deadlineMs: 300 }))).toMatch(/^timeout: /);
    const controller = new AbortController();
    const left = outcome(rowsOf(open(), SLOW, [], { signal: controller.signal }));
    setTimeout(() => controller.abort(new Error('the connection is gone')), 200);
    expect(await left).toBe('no code: the connection is gone');
    const busy = () =>
      server!.run(
        "SELECT count(*)::int FROM pg_stat_activity WHERE query LIKE '%100000000%' AND state = 'active' AND pid <> pg_backend_pid()",
      );
    await expect.poll(busy, { timeout: 10_000 }).toEqual([[0]]);
    expect(await rowsOf(open(), 'SELECT 1')).toEqual([[1]]);
  });

  it('reports a NUL character, an unknown database name, and the error message of the server', async () => {
    expect(await outcome(rowsOf(open(), 'SELECT CAST($1 AS text)', ['a\0b']))).toMatch(/^invalid_input: .*NUL/);
    expect(await outcome((async () => open('other'))())).toMatch(
      /^backend_failed: .*no database other: set its connection string/,
    );
    expect(await outcome(rowsOf(open(), 'SELECT x FROM nowhere'))).toBe(
      'backend_failed: The database MAIN (host 127.0.0.1) answered: relation "nowhere" does not exist (42P01).',
    );
    expect(await outcome(rowsOf(open('READER'), 'SELECT a FROM hidden'))).toMatch(
      /^backend_failed: .*permission denied.*42501/,
    );
  });

  it('answers more queries at the same time than it has connections', async () => {
    const many = Array.from({ length: 20 }, (_, index) =>
      rowsOf(open(), 'SELECT CAST($1 AS int), pg_sleep(0.02)', [index]),
    );
    expect((await Promise.all(many)).map(([row]) => row![0])).toEqual(Array.from({ length: 20 }, (_, index) => index));
  });

  it('fails with 502, without address or password, when it cannot be reached', async () => {
    const { host, port, password } = server!;
    const addresses: [string, string, RegExp][] = [
      ['closed', `postgres://u:${password}@${host}:1/x`, /cannot be reached \(ECONNREFUSED\)/],
      ['password', `postgres://hedgerow:wrong-one@${host}:${port}/postgres`, /refused the login/],
      ['database', `postgres://hedgerow:${password}@${host}:${port}/missing`, /is not there/],
      ['written', `postgres://u:${password}@[broken:${port}/x`, /cannot be read/],
    ];
    const backends = openBackends({
      root: world.root,
      dsns: new Map(addresses.map(([name, address]) => [name, address])),
    });
    try {
      for (const [dsn, , reason] of addresses) {
        const answer = await outcome(
          rowsOf(backends.open({ type: 'postgres', dsn }), 'SELECT 1', [], { deadlineMs: 5000 }),
        );
        expect(answer).toMatch(/^backend_failed: The database /);
        expect(answer).toMatch(reason);
        expect(answer).not.toMatch(new RegExp(`${password}|wrong-one|hedgerow:|:${port}`));
      }
    } finally {
      await backends.close();
    }
  });

  it('fails with 502 when the server is killed, and answers again once it is restarted', async () => {
    await rowsOf(open(), 'SELECT 1');
    const running = outcome(rowsOf(open(), SLOW, [], { deadlineMs: 20_000 }));
    await new Promise((resolve) => setTimeout(resolve, 200));
    await server!.kill();
    expect(await running).toMatch(/^backend_failed: The database MAIN \(host 127\.0\.0\.1\) cannot be reached/);
    expect(await outcome(rowsOf(open(), 'SELECT 1'))).toMatch(/^backend_failed: .*cannot be reached/);
    expect(await outcome(open().schema())).toMatch(/^backend_failed: .*cannot be reached/);
    await server!.start();
    expect(await rowsOf(open(), 'SELECT count(*) FROM people')).toEqual([[2]]);
    // This time no statement is running, so the service has not noticed that its connections are
    // dead.
    await server!.kill();
    await server!.start();
    expect(await rowsOf(open(), 'SELECT count(*) FROM people')).toEqual([[2]]);
  });
});
