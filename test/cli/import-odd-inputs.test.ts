// Unusual input files that users have. Their content is imported, or refused with advice.

import { mkdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { importCommand } from '../../src/cli/import/command.ts';
import { gzip, lookInto, nodeRowsOf, rowsOf, TestWorld } from './support.ts';

let world: TestWorld;

beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

type Flags = Record<string, string | boolean>;

const PAIRS: Flags = { memberColumns: 'a,b' };
const LIST: Flags = { memberColumn: 'm' };

async function take(content: string | Buffer, flags: Flags = PAIRS, name = 'f.csv') {
  world.file(name, content);
  const code = await importCommand([name], { data: 'db', table: 't', create: true, ...flags }, world);
  const rows = await lookInto(world.path('db'), (database) => rowsOf(database.table('t')));
  return { code, rows: rows.map(({ id: _, weight: _w, mean_dist_m: _m, formation: _f, ...rest }) => rest) };
}

async function refusal(content: string | Buffer, flags: Flags = PAIRS, name = 'f.csv'): Promise<string> {
  world.file(name, content);
  expect(await importCommand([name], { data: 'db', table: 't', create: true, ...flags }, world)).not.toBe(0);
  return world.err;
}

const BASE = 'ts,a,b,x\n1,1,2,5\n2,3,4,6\n';
const WIDE = Buffer.from(BASE, 'utf16le');
const MARKED = Buffer.concat([Buffer.from([0xff, 0xfe]), WIDE]);

test.each<[string, string | Buffer, RegExp]>([
  ['a zip archive', Buffer.from('PK\x03\x04abcd'), /is a zip archive .*save the sheet as CSV/],
  ['an xz file', Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]), /packed with xz.* xz -dc/],
  ['a zstd file', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0]), /packed with zstd/],
  [
    'a file without a header',
    '1700000000,1,2,5\n1700000001,3,4,6\n',
    /no header: its first line \(1700000000, 1, 2, 5\) looks like a row/,
  ],
  ['a file of blank lines', '\n\n\n', /no header: all of its lines are blank/],
  ['an empty file', '', /no header: the file is empty/],
  [
    'a header in Latin-1',
    Buffer.from('ts,a,b,na\xefve\n1,1,2,3\n', 'latin1'),
    /first line cannot be read: .*not valid UTF-8; --encoding windows-1252/,
  ],
])('%s is refused before anything is created', async (_name, content, message) => {
  expect(await refusal(content)).toMatch(message);
  expect(world.out).toBe('');
});

test.each<[name: string, content: string | Buffer, file: string]>([
  ['UTF-16 with a byte order mark', MARKED, 'f.csv'],
  ['UTF-16 in the other byte order', Buffer.from(MARKED).swap16(), 'f.csv'],
  ['UTF-16 without a byte order mark', WIDE, 'f.csv'],
  ['UTF-16, gzipped', gzip(MARKED), 'f.csv.gz'],
  ['a file with CR alone as line end', BASE.replaceAll('\n', '\r'), 'f.csv'],
])('%s is read', async (_name, content, name) => {
  expect((await take(content, PAIRS, name)).rows).toEqual([
    { event_ts: 1, members: [1, 2], x: 5 },
    { event_ts: 2, members: [3, 4], x: 6 },
  ]);
});

test('invalid bytes in UTF-16 lose only their line, and --resume continues once the line is fixed', async () => {
  const lines = ['ts,a,b,x', ...Array.from({ length: 9 }, (_, at) => `${at},1,2,日本`)];
  const text = Buffer.from(lines.join('\n'), 'utf16le');
  const half = Buffer.from([0x41, 0xd8, 10, 0]);
  const rest = [Buffer.from('\n9,1,2,', 'utf16le'), half, Buffer.from('10,1,2,x\n', 'utf16le')];
  const stopped = await take(Buffer.concat([text, ...rest]), PAIRS);
  expect([stopped.code, stopped.rows.length]).toEqual([1, 9]);
  expect(world.err).toMatch(/line 11 of .*The line holds bytes that are not valid utf-16le/);
  const mended = Buffer.concat([text, Buffer.from('\n9,1,2,x\n10,1,2,x\n', 'utf16le')]);
  const { code, rows } = await take(mended, { ...PAIRS, resume: true });
  expect([code, rows.length]).toEqual([0, 11]);
});

describe('a bad row', () => {
  const rows = [1, 2, 4].map((event_ts) => expect.objectContaining({ event_ts }));

  test.each<[string, string | Buffer, RegExp]>([
    ['Latin-1', Buffer.from('3,1,2,Jos\xe9', 'latin1'), /^The line is not valid UTF-8; --encoding windows-1252/],
    ['an open quote', '3,5,6,"open', /^A cell in quotes does not end/],
    ['a bare quote', '3,5,6,5" disk', /^A quote is in a cell/],
    ['too few cells', '3,5,6', /has 3 cells, but the header names 4/],
    ['too many cells', '3,5,6,7,8', /has 5 cells/],
  ])('is rejected, and the others are imported: %s', async (_name, line, reason) => {
    const content = Buffer.concat([Buffer.from(BASE), Buffer.from(line), Buffer.from('\n4,7,8,9\n')]);
    const found = await take(content, { ...PAIRS, onError: 'skip' });
    expect(found).toEqual({ code: 0, rows });
    expect(world.objects('f.csv.rejects.ndjson')).toMatchObject([{ line: 4, reason: expect.stringMatching(reason) }]);
    expect(world.err).toMatch(/1 bad line is in/);
  });

  test('stops an import with --on-error stop, and --resume continues once the line is fixed', async () => {
    const found = await take(`${BASE}3,5,6,"open\n4,7,8,9\n`);
    expect(found).toMatchObject({ code: 1, rows: [{ event_ts: 1 }, { event_ts: 2 }] });
    expect(world.err).toMatch(/line 4 of .*A cell in quotes does not end\. Stopped there.*--resume/);
    const mended = await take(`${BASE}3,5,6,7\n4,7,8,9\n`, { ...PAIRS, resume: true });
    expect(mended.rows.map(({ event_ts }) => event_ts)).toEqual([1, 2, 3, 4]);
  });
});

describe('times', () => {
  test.each<[string, string, number]>([
    ['with an offset', '2024-05-01T12:00:00+02:00', 1714557600],
    ['without a zone', '2024-05-01 10:00:00', 1714557600],
    ['without a time of day', '2024-05-01', 1714521600],
    ['with an hour of one digit', '2024-03-04 8:15', 1709540100],
    ['with an hour of one digit and seconds', '2024-03-04T8:15:30Z', 1709540130],
    ['in seconds', '1714557600', 1714557600],
    ['in milliseconds', '1714557600123', 1714557600],
    ['in microseconds', '1714557600123456', 1714557600],
    ['in nanoseconds', '1714557600123456789', 1714557600],
    ['with an exponent', '1.7145576e9', 1714557600],
    ['with a first number above 12, so that it is the day', '14.03.2024', 1710374400],
    ['with a second number above 12, so that it is the day', '05/13/2024 10:00', 1715594400],
  ])('are read: %s', async (_name, time, event_ts) => {
    expect((await take(`ts,a,b\n${time},1,2\n`)).rows).toMatchObject([{ event_ts }]);
  });

  test.each<[string, string, RegExp]>([
    ['a date with the month first after one with the day first', '05/13/2024 10:00,1,2\n14.03.2024', /mdy reads it/],
    ['a date with the day first after one with the month first', '14.03.2024,1,2\n05/13/2024', /dmy reads it/],
    ['a date that can be read in two ways', '04.03.2024', /--ts-format dmy \(day first\) or mdy \(month first\)/],
    ['a day that does not exist', '2024-02-30', /takes a time such as/],
    ['a month that does not exist', '2024-13-01 00:00', /takes a time such as/],
  ])('are refused with advice: %s', async (_name, time, message) => {
    expect(await refusal(`ts,a,b\n${time},1,2\n`)).toMatch(message);
  });

  test('keep the guessed format when one of them is wrong', async () => {
    const { rows } = await take('ts,a,b\n1,1,2\n2,1,2\nsoon,1,2\n', { ...PAIRS, onError: 'skip' });
    expect(rows.map(({ event_ts }) => event_ts)).toEqual([1, 2]);
  });
});

test('words for missing values are null in numeric columns and text in text columns', async () => {
  const { rows } = await take('ts,a,b,x,word\n1,1,NULL,NA,NA\n2,1,2,NaN,b\n3,\\N,2,1.5,\n');
  expect(rows).toEqual([
    { event_ts: 1, members: [1], x: null, word: 'NA' },
    { event_ts: 2, members: [1, 2], x: null, word: 'b' },
    { event_ts: 3, members: [2], x: 1.5, word: null },
  ]);
});

test.each<[string, string, number[]]>([
  ['semicolons', '1; 2;3', [1, 2, 3]],
  ['commas in quotes', '"1, 2,3"', [1, 2, 3]],
  ['bars', '1|2|3', [1, 2, 3]],
  ['spaces', '1 2  3', [1, 2, 3]],
  ['brackets', '"[1, 2]"', [1, 2]],
  ['a repeated node', '7;7', [7]],
  ['numbers written as reals', '1.0;2.0', [1, 2]],
  ['a negative number', '-5;9007199254740991', [-5, 9007199254740991]],
])('lists of members are parsed: %s', async (_name, cell, members) => {
  expect((await take(`ts,m\n1,${cell}\n`, LIST)).rows).toEqual([{ event_ts: 1, members }]);
});

test('a name with commas and spaces is one name', async () => {
  await take('ts,m\n1,"Smith, John;Ann Lee"\n2,"Smith, John"\n', LIST);
  const names = await lookInto(world.path('db'), (database) => nodeRowsOf(database, 't_node'));
  expect(names.map(({ name }) => name)).toEqual(['Smith, John', 'Ann Lee']);
});

test('a column that changes its type stops the import with a hint, unless the sample shows the change', async () => {
  const head = 'ts,a,b,x\n';
  const lines = (count: number) => Array.from({ length: count }, (_, at) => `${at},1,2,${at}\n`).join('');
  const { code, rows } = await take(`${head}${lines(12_000)}12000,1,2,1.5\n`);
  expect([code, rows.at(-1)!.x]).toEqual([0, 1.5]);
  world.file('long.csv', `${head}${lines(40_000)}40000,1,2,1.5\n`);
  expect(await importCommand(['long.csv'], { data: 'db', table: 'u', create: true, ...PAIRS }, world)).toBe(1);
  expect(world.err).toMatch(/line 40002 .*x is "1\.5".*looked like INTEGER.*--types x=REAL/);
});

test('CSV is distinguished from NDJSON by its beginning when the file ending is unknown', async () => {
  expect((await take('ts,a,b\n1,2,3\n', PAIRS, 'f.txt')).rows).toEqual([{ event_ts: 1, members: [2, 3] }]);
  expect((await take('{"event_ts":4,"members":[5]}\n', {}, 'g.txt')).rows.at(-1)).toEqual({
    event_ts: 4,
    members: [5],
  });
});

test('gzip of several members is one file', async () => {
  const { rows } = await take(Buffer.concat([gzip('ts,a,b\n1,1,2\n'), gzip('2,3,4\n')]), PAIRS, 'f.csv.gz');
  expect(rows.map(({ event_ts }) => event_ts)).toEqual([1, 2]);
});

describe('paths that cannot be written', () => {
  test.each<[string, string, RegExp]>([
    [
      'a reject file in a missing directory',
      'no/where/r.ndjson',
      /progress file .* cannot be written \(ENOENT\)\. .*--rejects/,
    ],
    ['a reject file that is a directory', 'db', /reject file .* cannot be written \(EISDIR\)\. .*--rejects/],
  ])('are reported with advice: %s', async (_name, rejects, message) => {
    expect(await refusal(`${BASE}x,1,2,3\n`, { ...PAIRS, onError: 'skip', rejects })).toMatch(message);
  });

  test('are reported with advice: a directory in place of the progress file', async () => {
    mkdirSync(world.path('f.csv.progress.json'));
    expect(await refusal(BASE)).toMatch(/progress file .* cannot be read \(EISDIR\)\. Move it away/);
  });
});

test('a file named twice is refused', async () => {
  world.file('f.csv', BASE);
  expect(await importCommand(['f.csv', './f.csv'], { data: 'db', ...PAIRS }, world)).toBe(2);
  expect(world.err).toMatch(/f\.csv is named twice/);
});

test('control characters of a file do not reach the terminal', async () => {
  const bell = 'ts,a,b,x\u001b[2J,x\u001b[2J\n1,1,2,3,4\n';
  expect((await take(bell)).code).toBe(0);
  expect(world.err).toMatch(/Column 5 is called x\\u001b\[2J like one before it/);
  world.err = '';
  expect(await refusal(bell, { memberColumns: 'x' })).toMatch(/the columns are .*\\u001b/);
  expect(world.err).not.toContain('\u001b');
  world.out = '';
  await importCommand(['f.csv'], { data: 'db', table: 't', create: true, dryRun: true, ...PAIRS }, world);
  expect(world.out).toMatch(/\\u001b/);
  expect(world.out).not.toContain('\u001b');
});

describe('encodings of formats other than CSV', () => {
  const line = '{"event_ts":1,"members":[1,2]}\n';
  const document = JSON.stringify({
    incidences: [{ edge: 'é', node: 1 }],
    edges: [{ edge: 'é', attrs: { event_ts: 1 } }],
  });

  test('are detected if they are UTF-16', async () => {
    const bytes = Buffer.from(`\ufeff${line}`, 'utf16le');
    expect((await take(bytes, {}, 'f.ndjson')).rows).toEqual([{ event_ts: 1, members: [1, 2] }]);
  });

  test('may be named by --encoding for HIF', async () => {
    const { rows } = await take(Buffer.from(document, 'latin1'), { encoding: 'latin1' }, 'f.hif');
    expect(rows).toEqual([{ event_ts: 1, members: [1], edge: 'é' }]);
  });

  test('allow no invalid bytes: a file with such bytes is refused', async () => {
    const half = Buffer.concat([
      Buffer.from('\ufeff{"metadata":{"a":"', 'utf16le'),
      Buffer.from([0, 0xd8]),
      Buffer.from('"}', 'utf16le'),
    ]);
    expect(await refusal(half, {}, 'f.hif')).toMatch(/f\.hif holds bytes that are not valid utf-16le/);
  });

  test('cannot be named by --encoding for Parquet', async () => {
    expect(await refusal('PAR1', { encoding: 'latin1' }, 'f.parquet')).toMatch(/--encoding is for texts/);
  });
});
