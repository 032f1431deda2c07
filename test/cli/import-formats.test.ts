import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { importCommand } from '../../src/cli/import/command.ts';
import { openDatabase } from '../../src/engine/index.ts';
import { gzip, keyRowsOf, lookInto, nodeRowsOf, rowsOf, TestWorld } from './support.ts';

let world: TestWorld;

beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

type Flags = Record<string, string | boolean>;

const importInto = (paths: string[], flags: Flags = {}) =>
  importCommand(paths, { data: 'db', table: 't', create: true, ...flags }, world);
const rows = (table = 't') => lookInto(world.path('db'), (database) => rowsOf(database.table(table)));
const plain = async (table = 't') =>
  (await rows(table)).map(({ id: _, mean_dist_m: _m, formation: _f, ...rest }) => rest);

const nodes = (table: string) => lookInto(world.path('db'), (database) => nodeRowsOf(database, table));

const CALLS = `when;who;price;note
2024-05-01 12:00:00;ann,bob;1.5;first
2024-05-01T12:00:10Z;bob,cid,ann;;"two
lines"
2024-05-01T14:00:20+02:00;cid;3;
`;

describe('the import of CSV', () => {
  test('reads ISO 8601 times, a list of names, and properties with detected types', async () => {
    world.file('calls.csv', CALLS);
    const flags = { tsColumn: 'when', memberColumn: 'who' };
    expect(await importInto(['calls.csv'], flags), world.err).toBe(0);
    expect(await plain()).toEqual([
      { event_ts: 1714564800, members: [1, 2], weight: null, price: 1.5, note: 'first' },
      { event_ts: 1714564810, members: [1, 2, 3], weight: null, price: null, note: 'two\nlines' },
      { event_ts: 1714564820, members: [3], weight: null, price: 3, note: null },
    ]);
    expect(await nodes('t_node')).toEqual([{ name: 'ann' }, { name: 'bob' }, { name: 'cid' }]);
    expect(existsSync(world.path('calls.csv.progress.json'))).toBe(false);
  });

  test('gives a known name its number again in a later import', async () => {
    world.file('a.csv', 'ts,a,b\n1,ann,bob\n');
    world.file('b.csv.gz', gzip('ts,a,b\n2,dan,bob\n3,eve,\n'));
    for (const path of ['a.csv', 'b.csv.gz'])
      expect(await importInto([path], { memberColumns: 'a,b' }), world.err).toBe(0);
    expect((await plain()).map(({ members }) => members)).toEqual([[1, 2], [2, 3], [4]]);
  });

  test('reads milliseconds, several member columns, built-in columns and another delimiter', async () => {
    world.file('x.tsv', 'timestamp\tsource\ttarget\tweight\tid\n1714564800123\t5\t7\t2\t99\n');
    expect(await importInto(['x.tsv'], { memberColumns: 'source,target' }), world.err).toBe(0);
    expect(await plain()).toEqual([{ event_ts: 1714564800, members: [5, 7], weight: 2 }]);
  });

  test('rejects bad rows with line and text, and imports all others', async () => {
    world.file('x.csv', 'ts,members,n\n1,1;2,3\nx,1,2\n"2","3","a\n\n4,,1\n5,6,7,8\n6,7,8\n');
    const flags = { onError: 'skip', types: 'n=INTEGER', tsFormat: 's', memberIds: 'number' };
    world.file('y.csv', 'ts,members,n\n1,1;2,3\nx,1,2\n"2","3",a\n\n4,,1\n5,6,7,8\n6,7,8\n7,ann,1\n');
    // Most of the rows are bad, hence exit code 1.
    expect(await importInto(['y.csv'], flags), world.err).toBe(1);
    expect((await plain()).map(({ event_ts }) => event_ts)).toEqual([1, 6]);
    const rejects = world.objects('y.csv.rejects.ndjson');
    expect(rejects.map(({ line, text }) => [line, text])).toEqual([
      [3, 'x,1,2'],
      [4, '"2","3",a'],
      [6, '4,,1'],
      [7, '5,6,7,8'],
      [9, '7,ann,1'],
    ]);
    expect(rejects[0].reason).toMatch(/^ts is "x", but it takes seconds/);
    expect(rejects[1].reason).toMatch(/^n is "a", but it takes an integer/);
    expect(rejects[2].reason).toMatch(/names no node/);
    expect(rejects[3].reason).toMatch(/4 cells, but the header names 3/);
    expect(rejects[4].reason).toMatch(/nodes are integers here/);
    // An unclosed quote loses only its own line, not everything after it.
    expect(await importInto(['x.csv'], { ...flags, table: 'u' }), world.err).toBe(1);
    const unclosed = world.objects('x.csv.rejects.ndjson').find(({ line }) => line === 4);
    expect(unclosed).toMatchObject({ reason: 'A cell in quotes does not end.', text: '"2","3","a' });
    expect((await plain('u')).map(({ event_ts }) => event_ts)).toEqual([1, 6]);
  });

  test('shows the plan and writes nothing with --dry-run', async () => {
    world.file('calls.csv', CALLS);
    expect(await importInto(['calls.csv'], { tsColumn: 'when', memberColumn: 'who', dryRun: true }), world.err).toBe(0);
    expect(world.out).toMatch(/table: t at .*db, will be made/);
    expect(world.out).toMatch(/time: when \(ISO 8601\)/);
    expect(world.out).toMatch(/will be made: column price REAL/);
    expect(world.out).toMatch(
      /\{"event_ts":1714564800,"members":\["ann","bob"\],"properties":\{"price":1.5,"note":"first"\}\}/,
    );
    expect(existsSync(world.path('db'))).toBe(false);
    await (await openDatabase({ dir: world.path('db') })).close();
    world.out = '';
    expect(
      await importInto(['calls.csv'], { tsColumn: 'when', memberColumn: 'who', dryRun: true, create: false }),
    ).toBe(1);
    expect(world.out).toMatch(/there is no t at .*--create makes it/);
  });

  test('refuses a column that the table lacks when --create is missing, and leaves no progress file', async () => {
    world.file('x.csv', 'ts,members,extra\n1,1;2,x\n');
    expect(await importInto(['x.csv'], { create: false, createTable: true })).toBe(1);
    expect(world.err).toMatch(/no column extra.*--create/);
    expect(existsSync(world.path('x.csv.progress.json'))).toBe(false);
    expect(await importInto(['x.csv'], { propertyColumns: '', create: false })).toBe(0);
    expect(await importInto(['x.csv'], { tsColumn: 'extr' })).toBe(2);
    expect(world.err).toMatch(/--ts-column names "extr".*Did you mean/);
  });
});

describe('the import of HIF', () => {
  const DOCUMENT = {
    'network-type': 'undirected',
    metadata: { about: 'a, "b" ] }' },
    edges: [
      { edge: 'e1', attrs: { event_ts: 5, place: 'hall', seats: 2, tags: ['x'] } },
      { edge: 2, weight: 0.5, attrs: { event_ts: 6, seats: 1.5 } },
    ],
    incidences: [
      { edge: 'e1', node: 'ann' },
      { edge: 2, node: 'bob', weight: 2 },
      { edge: 'e1', node: 'bob', attrs: { role: ']' } },
    ],
    nodes: [{ node: 'ann', attrs: { age: 3 } }],
  };

  test('assembles edges wherever their parts are in the document', async () => {
    world.file('x.hif', JSON.stringify(DOCUMENT, null, 2));
    world.file('y.json.gz', gzip(JSON.stringify(DOCUMENT)));
    for (const path of ['x.hif', 'y.json.gz']) expect(await importInto([path], { table: path[0]! }), world.err).toBe(0);
    const expected = [
      { event_ts: 5, members: ['ann', 'bob'], weight: null, edge: 'e1', place: 'hall', seats: 2, tags: '["x"]' },
      { event_ts: 6, members: ['bob'], weight: 0.5, edge: '2', place: null, seats: 1.5, tags: null },
    ];
    for (const table of ['x', 'y']) {
      const found = await lookInto(world.path('db'), (database) => keyRowsOf(database, table));
      expect(found.map(({ id: _, mean_dist_m: _m, formation: _f, ...row }) => row)).toEqual(expected);
    }
    expect(await nodes('x_node')).toEqual([
      { node: 'ann', age: 3 },
      { node: 'bob', age: null },
    ]);
  });

  test.each<[string, unknown, RegExp]>([
    [
      'an unknown key',
      { ...DOCUMENT, incidences: [{ edge: 1, node: 2, extra: 3 }] },
      /incidences, element 1: .*"extra"/,
    ],
    ['no incidences', { edges: [] }, /no incidences/],
    ['an edge without a node', { incidences: [{ edge: 1 }] }, /has no node/],
    ['a wrong network type', { ...DOCUMENT, 'network-type': 'loose' }, /network-type.*one of/],
    ['no times', { incidences: [{ edge: 1, node: 2 }] }, /No edge of x.hif has a time/],
    ['a list', [1], /does not begin with \{/],
  ])('refuses a document with the reason: %s', async (_name, document, message) => {
    world.file('x.hif', JSON.stringify(document));
    expect(await importInto(['x.hif'])).not.toBe(0);
    expect(world.err).toMatch(message);
    expect(existsSync(world.path('db'))).toBe(false);
  });
});

test.each(['csv', 'ndjson', 'parquet', 'hif'])('bytes that are not %s are refused with a sentence', async (format) => {
  for (const text of [
    '',
    '\u0000\u0001\u0002',
    'PAR1xxxxPAR1',
    '{"incidences":[',
    '"',
    '\n\n\n',
    '{"incidences":{"a":[]}}',
  ]) {
    world.err = '';
    world.file('x', text);
    const code = await importInto(['x'], { format });
    expect([0, 1, 2]).toContain(code);
    if (code !== 0) expect(world.err, text).toMatch(/^hedgerow: .*[.?)]\n/);
  }
  world.file('x', Buffer.from([0xff, 0xfe, 0x0a, 0x80, 0x2c]));
  expect(await importInto(['x'], { format })).not.toBe(0);
});

describe('the flag --ts', () => {
  test('sets the time of all rows if there is no time column, and of rows whose time is empty', async () => {
    world.file('x.csv', 'members,n\n1;2,1\n3,2\n');
    expect(await importInto(['x.csv'], { ts: '2024-05-01' }), world.err).toBe(0);
    expect((await plain()).map(({ event_ts }) => event_ts)).toEqual([1714521600, 1714521600]);
    world.file('y.csv', 'when,members\n2024-05-02,1\n,2\n');
    expect(await importInto(['y.csv'], { ts: '7', table: 'u' }), world.err).toBe(0);
    expect((await plain('u')).map(({ event_ts, members }) => [event_ts, members])).toEqual([
      [7, [2]],
      [1714608000, [1]],
    ]);
  });

  test('is refused when it is not a time', async () => {
    world.file('x.csv', 'members\n1;2\n');
    expect(await importInto(['x.csv'], { ts: 'soon' })).toBe(2);
    expect(world.err).toMatch(/--ts is "soon", but it takes a time: .*ISO 8601/);
  });
});

test('an import that stops at a bad row creates no nodes of later rows', async () => {
  world.file('x.csv', 'ts,a,b\nsoon,ann,bob\n2,cid,dan\n');
  expect(await importInto(['x.csv'], { memberColumns: 'a,b' })).toBe(1);
  expect(await nodes('t_node')).toEqual([]);
  world.file('y.csv', 'ts,a,b,n\n1,ann,bob,1\n2,eve,cid,x\n3,dan,eve,2\n');
  const flags = { memberColumns: 'a,b', types: 'n=INTEGER' };
  expect(await importInto(['y.csv'], { ...flags, table: 'u' })).toBe(1);
  expect((await nodes('u_node')).map(({ name }) => name)).toEqual(['ann', 'bob']);
  world.file('z.csv', 'ts,a,b,n\n1,ann,bob,1\n2,eve,cid,x\n3,dan,bob,2\n');
  expect(await importInto(['z.csv'], { ...flags, table: 'v', onError: 'skip' })).toBe(0);
  expect((await nodes('v_node')).map(({ name }) => name)).toEqual(['ann', 'bob', 'dan']);
});

test('--max-rejects with --on-error stop is refused', async () => {
  world.file('x.csv', 'ts,members\n1,1\n');
  expect(await importInto(['x.csv'], { maxRejects: '3', onError: 'stop' })).toBe(2);
  expect(await importInto(['x.csv'], { maxRejects: '-1' })).toBe(2);
  expect(await importInto(['x.csv'], { maxRejects: '0' }), world.err).toBe(0);
});

test('a point that does not separate thousands makes a row bad when decimal commas are used', async () => {
  const head = 'ts;members;n\n';
  world.file('x.csv', `${head}1;1;"12,5"\n2;1;1.10\n`);
  expect(await importInto(['x.csv'], { decimal: ',', types: 'n=REAL' })).toBe(1);
  expect(world.err).toMatch(/line 3 .*n is "1\.10", but its numbers have a decimal comma; --decimal .*--types n=TEXT/);
  world.file('y.csv', `${head}1;1;12,5\n2;1;1.100\n`);
  expect(await importInto(['y.csv'], { table: 'u', dryRun: true })).toBe(0);
  expect(world.out).toMatch(/property: n REAL \(decimal comma\)/);
});

test('--ts with NDJSON is refused', async () => {
  world.file('x.ndjson', '{"members":[1]}\n');
  expect(await importInto(['x.ndjson'], { ts: '5' })).toBe(2);
  expect(world.err).toMatch(/--ts is for CSV, Parquet and HIF: each line of x\.ndjson has its event_ts/);
});
