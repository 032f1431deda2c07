import { existsSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { importCommand } from '../../src/cli/import/command.ts';
import { openDatabase } from '../../src/engine/index.ts';
import { edgeLines, gzip, lookInto, rowsOf, stream, TestWorld } from './support.ts';

let world: TestWorld;

beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

function importInto(paths: string[], flags: Record<string, string | boolean> = {}): Promise<number> {
  return importCommand(paths, { data: 'db', ...flags }, world);
}

test('plain files, gzipped files and stdin give the same rows, regardless of file names', async () => {
  const text = edgeLines(2500);
  world.file('plain.gz', text);
  world.file('packed.ndjson', gzip(text));
  world.stdin = stream([gzip(text).subarray(0, 1), gzip(text).subarray(1)]);
  for (const [index, path] of ['plain.gz', 'packed.ndjson', '-'].entries()) {
    const flags = { data: `db${index}`, batch: '700' };
    expect(await importCommand([path], flags, world), world.err).toBe(0);
    const rows = await lookInto(world.path(`db${index}`), (database) => rowsOf(database.table()));
    expect(rows.length).toBe(2500);
    expect(rows[42]).toMatchObject({ id: 43, event_ts: 42, members: [42, 1042], weight: null });
  }
  expect(world.out.split('\n')[0]).toMatch(
    /^plain\.gz -> hyperedges: inserted 2500, rejected 0, [\d.]+ s, \d+ rows\/s$/,
  );
  expect(world.err).toBe('');
});

const BAD_LINES: [string, RegExp][] = [
  ['{"event_ts":1,"members":[1]', /^Not valid JSON/],
  ['[1]', /must be a JSON object, not an array/],
  ['{"members":[1]}', /event_ts is missing/],
  ['{"event_ts":1.5,"members":[1]}', /event_ts must be an integer/],
  ['{"event_ts":1,"members":[]}', /members must hold at least one node id/],
  ['{"event_ts":1,"members":[1,"2"]}', /members\[1\] must be an integer/],
  [`{"event_ts":1,"members":[${Array.from({ length: 65 }, (_, i) => i)}]}`, /65 distinct node ids; at most 64/],
  ['{"event_ts":1,"members":[1],"weight":"heavy"}', /weight must be a finite number/],
  ['{"event_ts":1,"members":[1],"properties":{"nowhere":1}}', /nowhere is not a column of table/],
  ['{"event_ts":1,"members":[1],"table":"nowhere"}', /no table "nowhere"/],
];

test('--on-error skip rejects each kind of bad line with number, reason and text, and imports the rest', async () => {
  const good = edgeLines(30).split('\n');
  const lines = BAD_LINES.flatMap(([bad], index) => [good[index * 3]!, '', bad, good[index * 3 + 1]!]);
  world.file('mixed.ndjson', lines.join('\r\n'));
  expect(await importInto(['mixed.ndjson'], { onError: 'skip', batch: '7' }), world.err).toBe(0);
  const rejects = world.objects('mixed.ndjson.rejects.ndjson');
  expect(rejects.map((reject) => reject.line)).toEqual(BAD_LINES.map((_, index) => index * 4 + 3));
  for (const [index, [text, reason]] of BAD_LINES.entries()) {
    expect(rejects[index].reason).toMatch(reason);
    expect(rejects[index].text).toBe(`${text}\r`);
    expect(rejects[index].file).toBe(world.path('mixed.ndjson'));
  }
  expect(world.out).toMatch(/inserted 20, rejected 10,/);
  expect(world.err).toMatch(/10 bad lines are in .*mixed\.ndjson\.rejects\.ndjson/);
});

test('a line that is not UTF-8 is a bad line', async () => {
  const bytes = Buffer.concat([
    Buffer.from('{"event_ts":1,"members":[1],"formation":"'),
    Buffer.from([0xff]),
    Buffer.from('"}\n'),
  ]);
  world.file('latin1.ndjson', Buffer.concat([bytes, Buffer.from('{"event_ts":2,"members":[1]}\n')]));
  expect(await importInto(['latin1.ndjson'], { onError: 'skip', rejects: 'aside' })).toBe(0);
  expect(world.objects('aside')[0]).toMatchObject({ line: 1, reason: 'The line is not valid UTF-8.' });
});

test('--on-error stop ends the import at the first bad line, reports this line and keeps those before', async () => {
  world.file('stops.ndjson', `${edgeLines(25)}nonsense\n${edgeLines(30, 100)}also nonsense\n`);
  expect(await importInto(['stops.ndjson'], { batch: '10' })).toBe(1);
  expect(world.err).toMatch(/line 26 of .*stops\.ndjson: Not valid JSON/);
  expect(world.out).toMatch(/inserted 25, rejected 1,/);
  expect(world.objects('stops.ndjson.rejects.ndjson').map((reject) => reject.line)).toEqual([26]);
  await lookInto(world.path('db'), (database) => expect(database.table().rowCount).toBe(25));
});

test('lines may name other tables, and a batch over several tables is one commit', async () => {
  await lookInto(world.path('db'), (database) =>
    database.createTable({ name: 'other', columns: [{ name: 'place', type: 'TEXT' }] }),
  );
  world.file(
    'two.ndjson',
    '{"event_ts":1,"members":[1]}\n{"event_ts":2,"members":[2],"table":"OTHER","place":"hall"}\n{"event_ts":3,"members":[3],"table":"other","properties":{"place":"yard"},"weight":2}\n',
  );
  expect(await importInto(['two.ndjson']), world.err).toBe(0);
  expect(world.out).toMatch(/inserted 3,/);
  await lookInto(world.path('db'), (database) => {
    expect(rowsOf(database.table()).map((row) => row.event_ts)).toEqual([1]);
    expect(rowsOf(database.table('other'))).toMatchObject([
      { event_ts: 2, place: 'hall', weight: null },
      { event_ts: 3, place: 'yard', weight: 2 },
    ]);
  });
});

test('--create-table creates the table, and --compact leaves no rows in the log', async () => {
  world.file('edges.ndjson', edgeLines(500));
  expect(await importInto(['edges.ndjson'], { table: 'calls' })).toBe(1);
  expect(world.err).toMatch(/no table calls .*--create-table/);
  const flags = { table: 'calls', createTable: true, bucketSeconds: '60', compact: true };
  expect(await importInto(['edges.ndjson'], flags)).toBe(0);
  await lookInto(world.path('db'), (database) => {
    expect(database.table('calls').bucketSeconds).toBe(60);
    expect(database.table('calls').pending).toBe(0);
    expect(database.table('calls').rowCount).toBe(500);
  });
});

test('the member limit comes from the flag or, without the flag, from the environment', async () => {
  world.file('wide.ndjson', `{"event_ts":1,"members":[${Array.from({ length: 70 }, (_, i) => i)}]}\n`);
  expect(await importInto(['wide.ndjson'])).toBe(1);
  world.environment.HEDGEROW_MAX_MEMBERS = '69';
  expect(await importInto(['wide.ndjson'])).toBe(1);
  expect(await importInto(['wide.ndjson'], { maxMembers: '70' })).toBe(0);
  world.environment.HEDGEROW_MAX_MEMBERS = '256';
  world.err = '';
  expect(await importInto(['wide.ndjson'])).toBe(1);
  expect(world.err).toMatch(/HEDGEROW_MAX_MEMBERS is "256"/);
});

test('a truncated input fails, but its complete lines are kept', async () => {
  const packed = gzip(edgeLines(10_000));
  world.file('torn.gz', packed.subarray(0, packed.length - 2000));
  expect(await importInto(['torn.gz'], { batch: '1000' })).toBe(1);
  expect(world.err).toMatch(/torn\.gz is not whole gzip/);
  const inserted = Number(/inserted (\d+)/.exec(world.out)![1]);
  expect(inserted).toBeGreaterThan(1000);
  await lookInto(world.path('db'), (database) => expect(database.table().rowCount).toBe(inserted));
});

test('an interrupt ends the import after the current batch', async () => {
  world.stdin = (async function* () {
    for (let i = 0; ; i++) {
      if (i === 20) world.interrupt!();
      yield Buffer.from(edgeLines(100, i * 100));
    }
  })();
  expect(await importInto(['-'], { batch: '100' })).toBe(1);
  expect(world.err).toMatch(/interrupted/);
  const inserted = Number(/inserted (\d+)/.exec(world.out)![1]);
  expect(inserted).toBeGreaterThanOrEqual(1900);
  await lookInto(world.path('db'), (database) => expect(database.table().rowCount).toBe(inserted));
});

test('a directory open in another process is refused with advice', async () => {
  const database = await openDatabase({ dir: world.path('db') });
  world.file('edges.ndjson', edgeLines(1));
  expect(await importInto(['edges.ndjson'])).toBe(1);
  expect(world.err).toMatch(/already open .* --url/);
  await database.close();
});

test.each<[string, string[], Record<string, string | boolean>]>([
  ['no file', [], {}],
  ['stdin twice', ['-', '-'], {}],
  ['two targets', ['-'], { url: 'http://127.0.0.1:1' }],
  ['an unknown mode', ['-'], { onError: 'maybe' }],
  ['a batch of 0 rows', ['-'], { batch: '0' }],
  ['a reject file that is the input', ['a.ndjson'], { rejects: './a.ndjson' }],
  ['bucket seconds without a new table', ['-'], { bucketSeconds: '5' }],
  ['a table name with a blank', ['-'], { table: 'a b' }],
])('a wrong call exits with 2 and touches nothing: %s', async (_name, paths, flags) => {
  world.file('a.ndjson', 'keep me');
  expect(await importInto(paths, flags)).toBe(2);
  expect(readFileSync(world.path('a.ndjson'), 'utf8')).toBe('keep me');
  expect(existsSync(world.path('db'))).toBe(false);
});

test('a missing file fails before anything is opened', async () => {
  world.file('here.ndjson', edgeLines(3));
  expect(await importInto(['here.ndjson', 'gone.ndjson'])).toBe(1);
  expect(world.err).toMatch(/There is no file .*gone\.ndjson/);
  expect(existsSync(world.path('db'))).toBe(false);
});
