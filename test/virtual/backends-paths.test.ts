import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hasWildcard, nameTest, tableNameOf } from '../../src/virtual/backends/glob.ts';
import type { FileBackend } from '../../src/virtual/spec/spec.ts';
import { describeDuckDb, makeFiles, openWorld, outcome, rowsOf, type World } from './backend-files.ts';

let world: World;
let socket: Server;
beforeAll(async () => {
  world = openWorld();
  const { root, outside } = world;
  mkdirSync(join(root, 'in', 'deep', 'er'), { recursive: true });
  mkdirSync(join(root, 'in', 'folder.csv'));
  mkdirSync(join(outside, 'more'));
  const csv = 'a\n1\n';
  for (const name of ['a.csv', 'in/b.csv', 'in/deep/c.csv', 'in/deep/er/d.csv', 'in/.hidden.csv'])
    writeFileSync(join(root, name), csv);
  writeFileSync(join(outside, 'x.csv'), 'a\nsecret\n');
  writeFileSync(join(outside, 'more', 'y.csv'), 'a\nsecret\n');
  symlinkSync(join(outside, 'x.csv'), join(root, 'link.csv'));
  symlinkSync(outside, join(root, 'way'));
  symlinkSync('../outside', join(root, 'relative'));
  symlinkSync(join(root, 'link.csv'), join(root, 'twice.csv'));
  symlinkSync('circle.csv', join(root, 'circle.csv'));
  symlinkSync('nowhere.csv', join(root, 'dangling.csv'));
  symlinkSync('in/b.csv', join(root, 'inner.csv'));
  // The next three links have targets inside the root. The second leads through the parent folder
  // of the root, and the third to a folder that does not exist.
  symlinkSync('in', join(root, 'here'));
  symlinkSync(`../${basename(root)}`, join(root, 'near'));
  symlinkSync('not/yet', join(root, 'round'));
  // Links whose targets are outside the root, exist or do not, or are special files.
  symlinkSync('/', join(root, 'slash'));
  symlinkSync(join(outside, 'absent.csv'), join(root, 'lost.csv'));
  symlinkSync(join(outside, 'more'), join(root, 'mixed.csv'));
  symlinkSync('way', join(root, 'again'));
  symlinkSync('/root-of-nothing/x', join(root, 'gone'));
  symlinkSync('/dev/zero', join(root, 'zero.csv'));
  symlinkSync('/proc/self/environ', join(root, 'environ.csv'));
  mkdirSync(join(root, 'mixed'));
  writeFileSync(join(root, 'mixed', 'good.csv'), csv);
  symlinkSync(join(outside, 'x.csv'), join(root, 'mixed', 'zz.csv'));
  execFileSync('mkfifo', [join(root, 'pipe.csv')]);
  socket = createServer();
  await new Promise<void>((resolve) => socket.listen(join(root, 'socket.csv'), resolve));
  await makeFiles(['CREATE TABLE t AS SELECT 1 AS a'], join(outside, 'x.duckdb'));
  await makeFiles(['CREATE TABLE t AS SELECT 1 AS a'], join(root, 'own.duckdb'));
  symlinkSync(join(outside, 'x.duckdb'), join(root, 'link.duckdb'));
});
afterAll(async () => {
  await new Promise((resolve) => socket.close(resolve));
  await world.close();
});

const csv = (path: string): FileBackend => ({ type: 'csv', path });
const REFUSED: FileBackend[] = [
  ...[
    '../outside/x.csv',
    'in/../../outside/x.csv',
    'in/../a.csv',
    './../outside/x.csv',
    'in//..//..//outside/x.csv',
    '..',
    '.',
    './',
    '/',
    '/etc/passwd',
    '//etc/passwd',
    '/etc/../etc/passwd',
    'OUT/x.csv',
    'ROOT/../outside/x.csv',
    'ROOT',
    'ROOT/',
    'ROOTx/a.csv',
    '..\\outside\\x.csv',
    'in\\b.csv',
    'C:\\x.csv',
    'C:/x.csv',
    '~/x.csv',
    '~root/x.csv',
    'file:///etc/passwd',
    'file:a.csv',
    'http://127.0.0.1:1/a.csv',
    'https://example.org/a.csv',
    's3://bucket/a.csv',
    'a.csv\0',
    'a.csv\0.parquet',
    'a\n.csv',
    'a\u0085.csv',
    'a\u2028.csv',
    '%2e%2e/outside/x.csv',
    '..%2foutside%2fx.csv',
    '',
    ' ',
    'in/',
    'a.csv/',
    'x'.repeat(256),
    `${'y/'.repeat(600)}a.csv`,
    '{a,b}.csv',
    '../*/x.csv',
    '*/../../outside/x.csv',
    '/**/*.csv',
    'in/*/../../../outside/x.csv',
    // Paths through links, and paths to things that are not files:
    'link.csv',
    'twice.csv',
    'way/x.csv',
    'way/more/y.csv',
    'relative/x.csv',
    'way/*.csv',
    '*/x.csv',
    '*/*/y.csv',
    'w?y/x.csv',
    '[w]ay/x.csv',
    'mixed/*.csv',
    'slash/etc/passwd',
    'slash/etc/pass*',
    // The next 11 paths are similar, but lead to files that do not exist. The error is the same, so
    // that it does not reveal which files exist outside the root.
    'way/absent.csv',
    'way/x.csv/absent.csv',
    'way/more/absent.csv',
    'way/absent/absent.csv',
    'way/absent*.csv',
    'way/absent/*.csv',
    'way/**/absent.csv',
    '*/absent.csv',
    '*/*/absent.csv',
    'w?y/absent.csv',
    'relative/absent.csv',
    // Links to links, links to `/` and to nothing, special files, and folders:
    'again/x.csv',
    'again/absent.csv',
    'slash/etc/absent',
    'slash/etc/absent*',
    'slash/proc/1/root/absent',
    'gone/absent.csv',
    'gone/*.csv',
    'lost.csv',
    'l?st.csv',
    'mixed.csv',
    'm*.csv',
    'link.csv/absent.csv',
    'circle.csv',
    'zero.csv',
    'environ.csv',
    'pipe.csv',
    'p*.csv',
    'socket.csv',
    'in',
    'in/folder.csv',
  ].map(csv),
  { type: 'duckdb', path: 'link.duckdb' },
  { type: 'duckdb', path: 'way/absent.duckdb' },
  { type: 'duckdb', path: '*.duckdb' },
  { type: 'duckdb', path: 'in' },
  { type: 'duckdb', path: 'pipe.csv' },
  { type: 'duckdb', path: ':memory:' },
  { type: 'duckdb', path: 'md:cloud' },
  { type: 'parquet', path: 'zero.csv' },
  { type: 'json', path: 'environ.csv' },
];

describeDuckDb('paths', () => {
  it(`are refused if they leave the root or do not name a file (${REFUSED.length})`, async () => {
    expect(REFUSED.length).toBeGreaterThan(60);
    for (const { type, path } of REFUSED) {
      const asked = path.replaceAll('ROOT', world.root).replaceAll('OUT', world.outside);
      const session = world.backends.open({ type, path: asked });
      for (const work of [() => rowsOf(session, 'SELECT 1'), () => session.schema(), () => session.fingerprint()]) {
        const answer = await outcome(work());
        expect(answer, `${type} ${path}`).toMatch(/^invalid_input: backend\.path /);
        expect(answer, `${type} ${path}`).not.toContain(world.outside);
      }
    }
  });

  it.each([
    'nothing.csv',
    'in/nothing.csv',
    'a.csv/b.csv',
    'dangling.csv',
    'here/nothing.csv',
    'here/no*.csv',
    'near/nothing.csv',
    'round/a.csv',
    'no*.csv',
    'in/*.parquet',
    'in/[c-z]*.csv',
    '%61.csv',
  ])('are reported as missing if no file is there: %s', async (path) => {
    const answer = await outcome(rowsOf(world.backends.open(csv(path)), 'SELECT 1'));
    expect(answer).toBe(
      `backend_failed: The file ${path} is not there: put it below the folder for virtual graphs, or change backend.path of the graph.`,
    );
  });

  it.each([
    ['a.csv', 'a', 1],
    ['./a.csv', 'a', 1],
    ['in/b.csv', 'b', 1],
    ['inner.csv', 'inner', 1],
    ['here/b.csv', 'b', 1],
    ['here/*.csv', 'here', 1],
    ['near/in/b.csv', 'b', 1],
    ['ROOT/in/b.csv', 'b', 1],
    ['in/*.csv', 'in', 1],
    ['in/deep/*.csv', 'deep', 1],
    ['in/**/*.csv', 'in', 3],
    ['in/**', 'in', 3],
    ['in/d*/c.csv', 'c', 1],
    ['in/d*/**/*.csv', 'in', 2],
    ['in/?.csv', 'in', 1],
    ['in/[a-c].csv', 'in', 1],
    ['in/b*.csv', 'b', 1],
  ])('give one table: %s gives %s with %i rows', async (path, table, rows) => {
    const session = world.backends.open(csv(path.replaceAll('ROOT', world.root)));
    const { tables } = await session.schema();
    expect(tables.map(({ name, row_count }) => [name, row_count])).toEqual([[table, rows]]);
    expect(await rowsOf(session, `SELECT a FROM "${table}"`)).toHaveLength(rows);
  });

  it('get a new fingerprint when a file that matches their wildcard is added or changed', async () => {
    mkdirSync(join(world.root, 'prints'));
    const session = world.backends.open(csv('prints/*.csv'));
    const seen = new Set<string>();
    for (const [name, text] of [
      ['a', 'x\n1\n'],
      ['b', 'x\n2\n'],
      ['a', 'x\n33\n'],
    ] as const) {
      writeFileSync(join(world.root, 'prints', `${name}.csv`), text);
      seen.add(await session.fingerprint());
    }
    expect(seen.size).toBe(3);
    expect(await rowsOf(session, 'SELECT x FROM prints ORDER BY x')).toEqual([[2], [33]]);
  });
});

describeDuckDb('patterns', () => {
  it.each([
    ['*.csv', 'a.csv', true],
    ['*.csv', '.a.csv', false],
    ['.*.csv', '.a.csv', true],
    ['*.csv', 'a.csv.gz', false],
    ['a*b*c', 'aXbYbZc', true],
    ['a*b*c', 'aXbYbZ', false],
    ['?', 'ä', true],
    ['?', '🦔', true],
    ['??', 'a', false],
    ['[a-c]x', 'bx', true],
    ['[a-c]x', 'dx', false],
    ['[!a-c]x', 'dx', true],
    ['[]]', ']', true],
    ['[-a]', '-', true],
    ['a[1', 'a[1', true],
    ['(.+)', 'aa', false],
  ])('are compared with names: %s matches %s: %s', (pattern, name, expected) => {
    expect(nameTest(pattern)(name)).toBe(expected);
    expect(hasWildcard('plain.csv')).toBe(false);
  });

  it('match or fail without delay even if they have many stars', () => {
    expect(nameTest(`${'*a'.repeat(120)}b`)('a'.repeat(255))).toBe(false);
  });

  it.each([
    ['x/my.data.csv', 'my.data'],
    ['x/data.csv.gz', 'data'],
    ['x/data.parquet', 'data'],
    ['x/plain', 'plain'],
    ['x/.csv', '.csv'],
    ['x/part-*.parquet', 'part-'],
    ['x/*.parquet', 'x'],
    ['x/*/*.parquet', 'x'],
    ['*.parquet', 'root'],
    ['**/*.parquet', 'root'],
    ['x/*/same.parquet', 'same'],
  ])('give the name of the table: %s gives %s', (path, table) => {
    expect(tableNameOf(path, 'root')).toBe(table);
  });
});
