import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeDuckDb, makeFiles, openWorld, outcome, rowsOf, type World } from './backend-files.ts';

let world: World;
beforeAll(async () => {
  world = openWorld();
  const { root } = world;
  await makeFiles(
    [
      'CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR NOT NULL, born DATE, UNIQUE (name))',
      "INSERT INTO people VALUES (1, 'Ann', DATE '1970-01-02'), (2, 'Bob', NULL)",
      'CREATE SCHEMA shop',
      'CREATE TABLE shop.goods (code VARCHAR, kind INTEGER, PRIMARY KEY (code, kind), price DECIMAL(10,2))',
      'CREATE TABLE shop.sales (sold TIMESTAMP, code VARCHAR, kind INTEGER, FOREIGN KEY (code, kind) REFERENCES shop.goods (code, kind))',
      'CREATE VIEW adults AS SELECT id, name FROM people WHERE born IS NOT NULL',
      'CREATE TABLE "odd ""name" ("a b" INTEGER, "q""r" INTEGER, "x,y" VARCHAR)',
      'CREATE UNIQUE INDEX two ON "odd ""name" ("q""r", "a b")',
      'CREATE UNIQUE INDEX one ON "odd ""name" ("x,y")',
      'CREATE UNIQUE INDEX made ON "odd ""name" (lower("x,y"))',
      'CREATE INDEX plain ON people (born)',
    ],
    join(root, 'world.duckdb'),
  );
  const rows = "SELECT i AS id, 'n' || i AS name, i / 4 AS part FROM range(100) r(i)";
  await makeFiles([
    `COPY (${rows}) TO '${root}/facts.parquet'`,
    `COPY (${rows}) TO '${root}/facts.csv'`,
    `COPY (${rows}) TO '${root}/facts.csv.gz'`,
    `COPY (${rows}) TO '${root}/facts.json'`,
    `COPY (${rows}) TO '${root}/list.json' (ARRAY true)`,
  ]);
});
afterAll(() => world.close());

describeDuckDb('a DuckDB database', () => {
  it('shows its tables, views and keys', async () => {
    const session = world.backends.open({ type: 'duckdb', path: 'world.duckdb' });
    expect(session.dialect).toBe('duckdb');
    const schema = await session.schema();
    expect(schema.tables.map(({ name, path, row_count }) => [name, path, row_count])).toEqual([
      ['adults', ['adults'], 1],
      ['odd "name', ['odd "name'], 0],
      ['people', ['people'], 2],
      ['shop.goods', ['shop', 'goods'], 0],
      ['shop.sales', ['shop', 'sales'], 0],
    ]);
    expect(schema.tables[2]!.columns).toEqual([
      { name: 'id', type: 'INTEGER', kind: 'integer' },
      { name: 'name', type: 'VARCHAR', kind: 'text' },
      { name: 'born', type: 'DATE', kind: 'date' },
    ]);
    expect(schema.keys).toEqual([
      { table: 'people', columns: ['id'] },
      { table: 'people', columns: ['name'] },
      { table: 'shop.goods', columns: ['code', 'kind'] },
      { table: 'odd "name', columns: ['x,y'] },
      { table: 'odd "name', columns: ['q"r', 'a b'] },
    ]);
    expect(schema.foreignKeys).toEqual([
      {
        table: 'shop.sales',
        columns: ['code', 'kind'],
        references: { table: 'shop.goods', columns: ['code', 'kind'] },
      },
    ]);
  });

  it('does not count the rows of its views when counts are not requested', async () => {
    const session = world.backends.open({ type: 'duckdb', path: 'world.duckdb' });
    const { tables } = await session.schema({ counts: false });
    expect(tables.map(({ name, row_count }) => [name, row_count]).slice(0, 3)).toEqual([
      ['adults', null],
      ['odd "name', 0],
      ['people', 2],
    ]);
    expect(await session.schema({ counts: true })).toEqual(await session.schema());
  });

  it('answers queries with bound parameters', async () => {
    const session = world.backends.open({ type: 'duckdb', path: 'world.duckdb' });
    const sql = 'SELECT "name" FROM "people" WHERE "id" = CAST($1 AS BIGINT) AND "name" <> CAST($2 AS VARCHAR)';
    expect(await rowsOf(session, sql, [1, "'; DROP TABLE people; --"])).toEqual([['Ann']]);
    expect(
      await rowsOf(session, 'SELECT CAST($1 AS DOUBLE), CAST($2 AS BOOLEAN), CAST($3 AS VARCHAR)', [0.5, true, 'a\0b']),
    ).toEqual([[0.5, true, 'a\0b']]);
  });
});

describeDuckDb('files of rows', () => {
  it.each([
    ['parquet', 'facts.parquet', 'facts'],
    ['csv', 'facts.csv', 'facts'],
    ['csv', 'facts.csv.gz', 'facts'],
    ['json', 'facts.json', 'facts'],
    ['json', 'list.json', 'list'],
    ['csv', 'fac*.csv', 'fac'],
  ] as const)('are one table: %s %s', async (type, path, table) => {
    const session = world.backends.open({ type, path });
    const schema = await session.schema();
    expect(schema.tables.map(({ name, row_count }) => [name, row_count])).toEqual([[table, 100]]);
    expect(schema.tables[0]!.columns.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
      'id integer',
      'name text',
      'part real',
    ]);
    expect(await rowsOf(session, `SELECT id, name, part FROM "${table}" WHERE id BETWEEN 5 AND 6 ORDER BY id`)).toEqual(
      [
        [5, 'n5', 1.25],
        [6, 'n6', 1.5],
      ],
    );
  });

  it('are read again at once after they change', async () => {
    writeFileSync(join(world.root, 'moving.csv'), 'a\n1\n');
    const session = world.backends.open({ type: 'csv', path: 'moving.csv' });
    const before = await session.fingerprint();
    expect(await rowsOf(session, 'SELECT a FROM moving')).toEqual([[1]]);
    expect(await session.fingerprint()).toBe(before);
    writeFileSync(join(world.root, 'moving.csv'), 'a\ntwo\nthree\n');
    expect(await session.fingerprint()).not.toBe(before);
    expect(await rowsOf(session, 'SELECT a FROM moving')).toEqual([['two'], ['three']]);
  });

  it('are named in the error when they are missing or broken', async () => {
    const missing = world.backends.open({ type: 'parquet', path: 'not/there.parquet' });
    expect(await outcome(rowsOf(missing, 'SELECT 1'))).toMatch(
      /^backend_failed: The file not\/there\.parquet is not there/,
    );
    writeFileSync(join(world.root, 'broken.parquet'), 'PAR1 nothing');
    const broken = await outcome(world.backends.open({ type: 'parquet', path: 'broken.parquet' }).schema());
    expect(broken).toMatch(/^backend_failed: broken\.parquet \(parquet\): /);
    expect(broken).not.toContain(world.root);
    writeFileSync(join(world.root, 'text.duckdb'), 'no database at all, but long enough to be looked at'.repeat(1000));
    const text = await outcome(world.backends.open({ type: 'duckdb', path: 'text.duckdb' }).schema());
    expect(text).toMatch(/^backend_failed: text\.duckdb \(duckdb\): /);
    expect(text).not.toContain(world.root);
    const unknown = world.backends.open({ type: 'csv', path: 'facts.csv' });
    expect(await outcome(rowsOf(unknown, 'SELECT 1 FROM nowhere'))).toMatch(
      /^backend_failed: facts\.csv \(csv\): .*nowhere/,
    );
  });
});

describeDuckDb('a database that another program writes', () => {
  it('is reported as locked until the program has ended, and then is read together with its log', async () => {
    const file = join(world.root, 'busy.duckdb');
    const script = `const { DuckDBInstance } = await import('@duckdb/node-api');
      const connection = await (await DuckDBInstance.create(process.argv[1])).connect();
      for (const sql of ['CREATE TABLE t AS SELECT 1 AS a', 'CHECKPOINT', 'INSERT INTO t VALUES (2)']) await connection.run(sql);
      // Without a reference the connection may be collected, which closes the file.
      globalThis.held = connection;
      process.stdout.write('written');
      setInterval(() => globalThis.held, 1000);`;
    const writer = spawn(process.execPath, ['--input-type=module', '-e', script, file], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const session = world.backends.open({ type: 'duckdb', path: 'busy.duckdb' });
    try {
      await once(writer.stdout, 'data');
      const answer = await outcome(rowsOf(session, 'SELECT a FROM t'));
      expect(answer).toMatch(/^backend_failed: busy\.duckdb \(duckdb\): .*lock/i);
      expect(answer).not.toContain(world.root);
      expect(answer).not.toContain(process.execPath);
    } finally {
      writer.kill('SIGKILL');
      await once(writer, 'exit');
    }
    const before = [readFileSync(file), readFileSync(`${file}.wal`)];
    expect(await rowsOf(session, 'SELECT a FROM t ORDER BY a')).toEqual([[1], [2]]);
    expect([readFileSync(file), readFileSync(`${file}.wal`)]).toEqual(before);
  });
});
