// Tests typical exports, and cases in which `random-round-trips.test.ts` once found a defect.

import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { exportCommand } from '../../src/cli/export/command.ts';
import { writeOutput } from '../../src/cli/export/output-file.ts';
import { importCommand } from '../../src/cli/import/command.ts';
import { multiset } from './round-trip.ts';
import { lookInto, rowsOf, TestWorld } from './support.ts';

let world: TestWorld;

beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

test('a table, a window of time or a statement is exported to stdout or to a file that is new', async () => {
  world.file('x.csv', 'ts,members,price\n1,1;2,1.5\n2,2;3,\n3,3;4,2\n');
  expect(await importCommand(['x.csv'], { data: 'db', table: 't', create: true }, world), world.err).toBe(0);
  world.out = '';
  const from = (flags: Record<string, string>) => exportCommand({ data: 'db', ...flags }, world);
  expect(await from({ table: 'T', start: '2', end: '1970-01-01T00:00:02Z', format: 'csv', separator: '|' })).toBe(0);
  expect(world.out).toBe('"id","event_ts","members","weight","mean_dist_m","formation","price"\n2,2,"2|3",,,,\n');
  world.out = '';
  const statement =
    'MATCH (e:t) WHERE e.price > 1 RETURN e.event_ts AS event_ts, e.members AS members, e.price AS price';
  expect(await from({ statement }), world.err).toBe(0);
  expect(world.out).toBe('{"event_ts":1,"members":[1,2],"price":1.5}\n{"event_ts":3,"members":[3,4],"price":2}\n');
  world.out = '';
  expect(await from({ table: 't', end: '1', format: 'csv', times: 'iso' }), world.err).toBe(0);
  expect(world.out).toContain('\n1,"1970-01-01T00:00:01Z",1;2,,,,1.5\n');
  world.out = '';
  expect(await from({ statement, times: 'iso' }), world.err).toBe(0);
  expect(world.out).toContain('{"event_ts":"1970-01-01T00:00:01Z","members":[1,2],"price":1.5}\n');
  expect(await from({ table: 't', times: 'iso', out: 'iso.csv' }), world.err).toBe(0);
  expect(await importCommand(['iso.csv'], { data: 'db', table: 'again', create: true }, world), world.err).toBe(0);
  expect(
    await lookInto(world.path('db'), (database) => rowsOf(database.table('again')).map((row) => row.event_ts)),
  ).toEqual([1, 2, 3]);
  for (const out of ['s.parquet', 's.hif', 's.csv']) {
    expect(await from({ statement, out }), world.err).toBe(0);
    const table = out.slice(2);
    expect(await importCommand([out], { data: 'db', table, create: true }, world), world.err).toBe(0);
    const prices = await lookInto(world.path('db'), (database) => multiset(database.table(table)));
    expect(prices.map((row) => row.replace(/\],\["(formation|mean_dist_m|weight)",null/g, ''))).toEqual([
      '[["event_ts",1],["members",[1,2]],["price",1.5]]',
      '[["event_ts",3],["members",[3,4]],["price",2]]',
    ]);
  }
  expect(await from({ statement, out: 's.csv' })).toBe(1);
  expect(world.err).toMatch(/s\.csv exists already/);
});

test.each<[Record<string, string>, number, RegExp]>([
  [{ table: 'nowhere' }, 1, /no table nowhere; there is hyperedges/],
  [{ statement: 'DELETE' }, 2, /takes a MATCH/],
  [{ statement: 'MATCH (e:hyperedges) RETURN *', table: 'x' }, 2, /excludes --table/],
  [{ format: 'xml' }, 2, /csv, ndjson, parquet, hif/],
  [{ out: 'x.doc' }, 2, /belongs to no known format/],
  [{ times: 'iso', out: 'x.parquet' }, 2, /--times iso is for csv and ndjson/],
  [{ times: 'iso', format: 'hif' }, 2, /--times iso is for csv and ndjson/],
  [{ times: 'unix' }, 2, /--times is "unix"/],
  [{ start: 'soon' }, 2, /--start is "soon"/],
  [{ statement: 'MATCH (e:hyperedges) RETURN e.nothing', out: 'x.csv' }, 1, /nothing/],
  [{ statement: 'MATCH (e:hyperedges) RETURN e.id', format: 'hif' }, 1, /must return event_ts and members/],
])('%o is refused with the reason', async (flags, code, message) => {
  world.file('x.ndjson', '{"event_ts":1,"members":[1]}\n');
  expect(await importCommand(['x.ndjson'], { data: 'db' }, world)).toBe(0);
  expect(await exportCommand({ data: 'db', ...flags }, world)).toBe(code);
  expect(world.err).toMatch(message);
});

test.each(['csv', 'ndjson', 'parquet', 'hif'])(
  'columns named like keys of JavaScript objects, and times that look like milliseconds, survive: %s',
  async (format) => {
    await lookInto(world.path('db'), () => {});
    await lookInto(world.path('db'), async (database) => {
      const columns = [
        { name: 'constructor', type: 'BOOLEAN' as const },
        { name: '__proto__', type: 'TEXT' as const },
      ];
      const bulk = (await database.createTable({ name: 'match', columns })).bulk();
      bulk.add({ event_ts: 1_700_000_000_001, members: [1], properties: { constructor: false } });
      bulk.add({ event_ts: Number.MAX_SAFE_INTEGER, members: [2], properties: { ['__proto__']: 'x' } });
      await bulk.commit();
    });
    const out = `x.${format}`;
    const window = { start: '1700000000001', end: String(Number.MAX_SAFE_INTEGER) };
    expect(await exportCommand({ data: 'db', table: 'match', ...window, out }, world), world.err).toBe(0);
    expect(await importCommand([out], { data: 'db', table: 'again', create: true }, world), world.err).toBe(0);
    await lookInto(world.path('db'), (database) => {
      const rows = rowsOf(database.table('again'));
      expect(
        rows.map((row) =>
          ['event_ts', 'constructor', '__proto__'].map((name) => new Map(Object.entries(row)).get(name)),
        ),
      ).toEqual([
        [1_700_000_000_001, false, null],
        [Number.MAX_SAFE_INTEGER, null, 'x'],
      ]);
    });
  },
);

test.each(['x.csv', 'x.csv.gz'])('an export that fails before its first byte leaves no file: %s', async (name) => {
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield* [];
    throw new Error('no rows');
  }
  await expect(writeOutput(failing(), world.path(name), world.stdout)).rejects.toThrow('no rows');
  // Whatever the failed export has left to do with files is done before these files are written.
  for (let i = 0; i < 8; i++) await writeFile(world.path('last'), '');
  expect(readdirSync(world.cwd)).toEqual(['last']);
});

test('a result without rows keeps the names of its columns', async () => {
  world.file('x.ndjson', '{"event_ts":1,"members":[1]}\n');
  expect(await importCommand(['x.ndjson'], { data: 'db' }, world)).toBe(0);
  for (const format of ['csv', 'parquet']) {
    const statement = 'MATCH (e:hyperedges) WHERE e.event_ts > 5 RETURN e.event_ts AS event_ts, e.members AS members';
    const out = `none.${format}`;
    expect(await exportCommand({ data: 'db', statement, out }, world), world.err).toBe(0);
    expect(await importCommand([out], { data: 'db', table: 'none', create: true }, world), world.err).toBe(0);
  }
  expect(readFileSync(world.path('none.csv'), 'utf8')).toBe('"event_ts","members"\n');
});

test('a Parquet column has the type of its expression', async () => {
  world.file('x.ndjson', '{"event_ts":1,"members":[1],"n":1}\n{"event_ts":2,"members":[1],"n":2}\n');
  expect(await importCommand(['x.ndjson'], { data: 'db', create: true }, world), world.err).toBe(0);
  const from = (n: string, out: string) =>
    exportCommand(
      {
        data: 'db',
        statement: `MATCH (e:hyperedges) RETURN e.event_ts AS event_ts, e.members AS members, ${n} AS n`,
        out,
      },
      world,
    );
  expect(await from('e.n + 0.5', 'half.parquet'), world.err).toBe(0);
  expect(await importCommand(['half.parquet'], { data: 'db', table: 'half', create: true }, world), world.err).toBe(0);
  expect(await from("'a'", 'text.parquet'), world.err).toBe(0);
  const halves = await lookInto(world.path('db'), (database) => rowsOf(database.table('half')).map(({ n }) => n));
  expect(halves).toEqual([1.5, 2.5]);
});

test('a time without a zone is UTC, and fractions of a second do not widen a window', async () => {
  world.file('x.ndjson', [10, 11, 12].map((time) => `{"event_ts":${time},"members":[1]}\n`).join(''));
  expect(await importCommand(['x.ndjson'], { data: 'db' }, world)).toBe(0);
  world.out = '';
  const window = { start: '1970-01-01T00:00:10.5', end: '1970-01-01 00:00:11.9' };
  expect(await exportCommand({ data: 'db', ...window, format: 'csv' }, world), world.err).toBe(0);
  expect(world.out.split('\n')[1]).toMatch(/^\d+,11,/);
  expect(world.out.split('\n').length).toBe(3);
});
