import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DuckDbHost } from '../../src/virtual/backends/duckdb-host.ts';
import { findFiles } from '../../src/virtual/backends/files.ts';
import { describeDuckDb, makeFiles, openWorld, outcome, rowsOf, type World } from './backend-files.ts';

let world: World;
beforeAll(async () => {
  world = openWorld();
  const { root, outside } = world;
  writeFileSync(join(outside, 'secret.csv'), 'a\nsecret\n');
  writeFileSync(join(root, 'own.csv'), 'a\n1\n');
  writeFileSync(join(root, 'other.csv'), 'a\nother\n');
  mkdirSync(join(root, 'folder'));
  symlinkSync(outside, join(root, 'folder', 'link'));
  const statements = [
    'CREATE TABLE own AS SELECT 1 AS a',
    `CREATE VIEW peek AS SELECT * FROM read_csv('${outside}/secret.csv')`,
    `CREATE MACRO peek_macro() AS TABLE SELECT * FROM read_text('${outside}/secret.csv')`,
    `CREATE MACRO json_serialize_sql(x) AS '{"error":false,"statements":[{}]}'`,
    'CREATE SEQUENCE numbers',
  ];
  await makeFiles(statements, join(root, 'own.duckdb'));
  await makeFiles([
    `COPY (SELECT 'secret' AS a) TO '${outside}/secret.parquet'`,
    `COPY (SELECT 1 AS a) TO '${outside}/secret.json'`,
  ]);
  await makeFiles(['CREATE TABLE secret AS SELECT 2 AS a'], join(outside, 'secret.duckdb'));
});
afterAll(() => world.close());

/** Statements that try to read other files. ROOT and OUT stand for the two folders. */
const READS = [
  "SELECT * FROM read_csv('OUT/secret.csv')",
  "SELECT * FROM read_csv_auto('OUT/secret.csv')",
  "SELECT * FROM read_csv('ROOT/other.csv')",
  "SELECT * FROM read_csv('ROOT/own.csv/../other.csv')",
  "SELECT * FROM read_csv('ROOT/*.csv')",
  "SELECT * FROM read_csv(['ROOT/own.csv', 'OUT/secret.csv'])",
  "SELECT * FROM read_text('OUT/secret.csv')",
  "SELECT * FROM read_text('/etc/passwd')",
  "SELECT * FROM read_text('/proc/self/environ')",
  "SELECT * FROM read_text('ROOT/folder/link/secret.csv')",
  "SELECT * FROM read_blob('OUT/secret.duckdb')",
  "SELECT * FROM read_json('OUT/secret.json')",
  "SELECT * FROM read_ndjson('OUT/secret.json')",
  "SELECT * FROM read_json_objects('OUT/secret.json')",
  "SELECT * FROM read_parquet('OUT/secret.parquet')",
  "SELECT * FROM parquet_scan('OUT/secret.parquet')",
  "SELECT * FROM parquet_metadata('OUT/secret.parquet')",
  "SELECT * FROM parquet_schema('OUT/secret.parquet')",
  "SELECT * FROM parquet_kv_metadata('OUT/secret.parquet')",
  "SELECT * FROM parquet_file_metadata('OUT/secret.parquet')",
  "SELECT * FROM read_duckdb('OUT/secret.duckdb')",
  "SELECT * FROM sniff_csv('OUT/secret.csv')",
  "SELECT * FROM glob('OUT/*')",
  "SELECT * FROM glob('/etc/*')",
  "SELECT * FROM 'OUT/secret.csv'",
  "SELECT * FROM 'OUT/secret.parquet'",
  "SELECT * FROM 'OUT/secret.duckdb'",
  'SELECT * FROM "OUT/secret.json"',
  "SELECT * FROM read_csv('/dev/stdin')",
  "SELECT * FROM read_csv('http://127.0.0.1:1/a.csv')",
  "SELECT * FROM read_parquet('s3://bucket/a.parquet')",
  "SELECT (SELECT content FROM read_text('OUT/secret.csv'))",
  "SELECT 1 WHERE EXISTS (SELECT 1 FROM read_text('OUT/secret.csv'))",
  "WITH x AS (SELECT * FROM read_text('OUT/secret.csv')) SELECT * FROM x",
  "SELECT 1 UNION ALL SELECT size FROM read_text('OUT/secret.csv')",
  "SELECT * FROM query('SELECT * FROM read_text(''OUT/secret.csv'')')",
  "SELECT * FROM query_table('OUT/secret.csv')",
  "SELECT * FROM json_execute_serialized_sql(json_serialize_sql('SELECT * FROM read_text(''OUT/secret.csv'')'))",
];

const STATE = [
  'SELECT * FROM duckdb_settings()',
  'SELECT * FROM duckdb_secrets()',
  'SELECT * FROM duckdb_databases()',
  'SELECT * FROM duckdb_extensions()',
  'SELECT * FROM duckdb_databases',
  'SELECT * FROM pragma_database_list',
  'SELECT * FROM pg_catalog.pg_settings',
  'SELECT * FROM information_schema.tables',
  'SELECT * FROM sqlite_master',
  "SELECT current_setting('home_directory')",
  "SELECT getenv('HOME')",
  "SELECT getvariable('x')",
  "SELECT write_log('x')",
  'SELECT sleep_ms(100000)',
  "SELECT nextval('numbers')",
  'SELECT setseed(0.5)',
  "SELECT * FROM enable_logging(storage = 'file', storage_path = 'OUT/log')",
  "SELECT * FROM enable_profiling(save_location = 'OUT/profile.json')",
  'SELECT * FROM disable_logging()',
  'SELECT * FROM truncate_duckdb_logs()',
  'SELECT * FROM force_checkpoint()',
  'SELECT * FROM checkpoint()',
  "SELECT * FROM which_secret('s3://x', 's3')",
  'SELECT * FROM duckdb_temporary_files()',
];

const STATEMENTS = [
  "COPY (SELECT 1) TO 'OUT/new.csv'",
  "COPY (SELECT 1) TO 'ROOT/own.csv'",
  "COPY (SELECT 1) TO 'ROOT/own.csv' (USE_TMP_FILE false)",
  "COPY (SELECT 1) TO 'ROOT/own.duckdb' (USE_TMP_FILE false, FORMAT csv)",
  "COPY own FROM 'OUT/secret.csv'",
  "ATTACH 'OUT/secret.duckdb' AS s",
  "ATTACH ':memory:' AS m",
  "ATTACH 'ROOT/own.duckdb' AS again (READ_WRITE)",
  'DETACH own',
  'USE system',
  'INSTALL httpfs',
  "INSTALL 'OUT/evil.duckdb_extension'",
  'FORCE INSTALL spatial FROM community',
  'LOAD httpfs',
  "LOAD 'OUT/evil.duckdb_extension'",
  'UPDATE EXTENSIONS',
  'SET enable_external_access = true',
  'SET lock_configuration = false',
  'SET GLOBAL threads = 64',
  "SET memory_limit = '100GB'",
  "SET allowed_directories = ['/']",
  "SET allowed_paths = ['OUT/secret.csv']",
  "SET temp_directory = 'OUT'",
  "SET VARIABLE x = 'y'",
  "SET search_path = 'system'",
  'RESET enable_external_access',
  'RESET ALL',
  'PRAGMA version',
  'PRAGMA database_list',
  "PRAGMA enable_profiling = 'json'",
  "PRAGMA profiling_output = 'OUT/profile.json'",
  "PRAGMA import_database('OUT')",
  "EXPORT DATABASE 'OUT/dump'",
  "IMPORT DATABASE 'OUT/dump'",
  "CREATE SECRET s (TYPE s3, KEY_ID 'k', SECRET 's')",
  "CREATE PERSISTENT SECRET s (TYPE http, BEARER_TOKEN 't')",
  'CREATE TABLE new_table (a INTEGER)',
  'CREATE TEMP TABLE new_table AS SELECT 1',
  'CREATE OR REPLACE VIEW own AS SELECT 2',
  "CREATE MACRO m() AS TABLE SELECT * FROM read_text('OUT/secret.csv')",
  'INSERT INTO own VALUES (7)',
  'UPDATE own SET a = 7',
  'DELETE FROM own',
  'DROP TABLE own',
  'DROP VIEW own',
  'ALTER TABLE own ADD COLUMN b INTEGER',
  'CHECKPOINT',
  'FORCE CHECKPOINT',
  'VACUUM',
  'ANALYZE',
  'BEGIN TRANSACTION',
  'COMMIT',
  'CALL pragma_version()',
  'CALL enable_logging()',
  'EXPLAIN SELECT 1',
  "EXPLAIN ANALYZE COPY (SELECT 1) TO 'OUT/new.csv' (USE_TMP_FILE false)",
  "PREPARE p AS COPY (SELECT 1) TO 'OUT/new.csv'",
  'EXECUTE p',
  'DEALLOCATE p',
  'SHOW TABLES',
  'DESCRIBE own',
  'SUMMARIZE own',
  'VALUES (1)',
  'FROM own',
  'SELECT 1; SELECT 2',
  "SELECT 1; COPY (SELECT 1) TO 'OUT/new.csv' (USE_TMP_FILE false)",
  "SELECT 1; ; ATTACH 'OUT/secret.duckdb'",
  'SELECT 1 -- \n; DROP TABLE own',
  '/* SELECT */ DROP TABLE own',
  'WITH x AS (INSERT INTO own VALUES (1) RETURNING *) SELECT * FROM x',
  "WITH x AS (SELECT 1) COPY (SELECT 1) TO 'OUT/new.csv'",
  'WITH x AS (SELECT 1) DELETE FROM own',
  'SELECT * FROM (SHOW TABLES)',
  'SELECT * FROM (DESCRIBE own)',
  'SELECT * INTO new_table FROM own',
  '',
  ' ; ',
  'SELECT',
];

const placed = (sql: string) => sql.replaceAll('ROOT', world.root).replaceAll('OUT', world.outside);
const BACKENDS = [
  { type: 'duckdb', path: 'own.duckdb' },
  { type: 'csv', path: 'own.csv' },
] as const;

/** Returns the current contents of all files that a statement could have changed. */
function disk(): unknown {
  const of = (folder: string) =>
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => [name, readFileSync(join(folder, name)).toString('base64')]);
  return [of(world.root), of(world.outside)];
}

describe.each(BACKENDS)('the sandbox of $type', (backend) => {
  it('refuses everything except a plain SELECT from its own tables', async () => {
    const before = disk();
    const session = world.backends.open(backend);
    expect(await rowsOf(session, 'SELECT a FROM own')).toEqual([[1]]);
    const corpus = [...READS, ...STATE, ...STATEMENTS];
    expect(corpus.length).toBeGreaterThan(120);
    for (const sql of corpus) {
      const answer = await outcome(rowsOf(session, placed(sql)));
      expect(answer, sql).toMatch(/^(invalid_statement|backend_failed): /);
      expect(answer, sql).not.toContain(world.outside);
    }
    expect(await rowsOf(session, 'SELECT a FROM own')).toEqual([[1]]);
    expect(disk()).toEqual(before);
  });

  it('does not read other files even when a statement bypasses the guard', async () => {
    const before = disk();
    const host = new DuckDbHost();
    const opened =
      backend.type === 'duckdb'
        ? ({ kind: 'database', log: undefined } as const)
        : ({ kind: 'files', format: 'csv', table: 'own', bytes: 4 } as const);
    const { files } = await findFiles(world.root, backend);
    const source = { key: backend.type, files, opened };
    const past = async (sql: string) => {
      for await (const _ of host.run({ source, sql: placed(sql), parameters: [], ours: true }, {}));
    };
    try {
      expect(await outcome(past('SELECT a FROM own'))).toBe('ok');
      for (const sql of READS) expect(await outcome(past(sql)), sql).toMatch(/^no code: /);
      for (const sql of STATEMENTS.filter((text) => /^(COPY|ATTACH|SET|LOAD|INSTALL)/.test(text))) {
        expect(await outcome(past(sql)), sql).toMatch(/^no code: /);
      }
    } finally {
      await host.close();
    }
    expect(disk()).toEqual(before);
  });
});

describeDuckDb('a malicious database file', () => {
  it('cannot read other files by its views and macros, and cannot turn off the guard', async () => {
    const session = world.backends.open(BACKENDS[0]);
    expect(await outcome(rowsOf(session, 'SELECT * FROM peek'))).toMatch(/^backend_failed: /);
    expect(await outcome(rowsOf(session, 'SELECT * FROM peek_macro()'))).toMatch(/^invalid_statement: /);
    const schema = await session.schema();
    expect(schema.tables.map(({ name, row_count }) => [name, row_count])).toEqual([
      ['own', 1],
      ['peek', null],
    ]);
  });
});
