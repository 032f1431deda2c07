// Tests that commands import, export, dump and load the ends of tables with intervals.

import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { dumpCommand } from '../../src/cli/dump/command.ts';
import { exportCommand } from '../../src/cli/export/command.ts';
import { importCommand } from '../../src/cli/import/command.ts';
import { loadCommand } from '../../src/cli/load/command.ts';
import { startServer } from '../http/support.ts';
import { lookInto, rowsOf, TestWorld } from './support.ts';

let world: TestWorld;
beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

const CSV =
  'from,to,begun,left,title\n1,70,2019-03-01,2023-06-30,clerk\n2,70,2020-01-01,,driver\n3,71,1970-01-01,1970-01-01,\n';
const ENDS = [
  ['1970-01-01', '1970-01-01', null],
  ['2019-03-01', '2023-06-30', 'clerk'],
  ['2020-01-01', null, 'driver'],
].map(([begun, left, title]) => [seconds(begun!)!, seconds(left!), title]);

function seconds(date: string | null): number | null {
  return date === null ? null : Date.parse(date) / 1000;
}

async function endsIn(dir: string, name: string): Promise<unknown[]> {
  return lookInto(world.path(dir), (database) => {
    const table = database.table(name);
    expect(table.item().intervals).toBe(true);
    return rowsOf(table).map(({ event_ts, end_ts, title }) => [event_ts, end_ts, title]);
  });
}

test('a file with a column of ends makes a table with intervals, and every export reads back as one', async () => {
  world.file('x.csv', CSV);
  const flags = { data: 'db', create: true, tsColumn: 'begun', endColumn: 'left' };
  expect(await importCommand(['x.csv'], { ...flags, table: 'jobs', dryRun: true }, world), world.err).toBe(0);
  expect(world.out).toContain('end: left (');
  expect(await importCommand(['x.csv'], { ...flags, table: 'jobs' }, world), world.err).toBe(0);
  expect(await endsIn('db', 'jobs')).toEqual(ENDS);
  for (const [out, more] of [
    ['a.csv', {}],
    ['b.ndjson', {}],
    ['c.parquet', {}],
    ['d.hif', {}],
    ['e.csv', { times: 'iso' }],
    ['f.ndjson', { times: 'iso' }],
  ] as const) {
    expect(await exportCommand({ data: 'db', table: 'jobs', out, ...more }, world), world.err).toBe(0);
    const table = `from_${out.slice(0, 1)}`;
    const end = out.endsWith('.hif') ? {} : { endColumn: 'end_ts' };
    expect(await importCommand([out], { data: 'db', table, create: true, ...end }, world), world.err).toBe(0);
    expect(await endsIn('db', table), out).toEqual(ENDS);
    // A table with intervals takes the column of their name without being told.
    expect(await importCommand([out], { data: 'db', table }, world), world.err).toBe(0);
    expect(await endsIn('db', table), out).toHaveLength(6);
  }
  expect(readFileSync(world.path('e.csv'), 'utf8')).toContain('"2023-06-30T00:00:00Z"');
});

test('ends before the beginning, and tables without intervals, are told', async () => {
  world.file('x.csv', CSV);
  world.file('y.csv', 'event_ts,members,end_ts\n10,1;2,9\n');
  const flags = { data: 'db', tsColumn: 'begun', endColumn: 'left' };
  expect(
    await importCommand(
      ['x.csv'],
      { ...flags, table: 'plain', create: true, endColumn: undefined, propertyColumns: '' },
      world,
    ),
    world.err,
  ).toBe(0);
  expect(await importCommand(['x.csv'], { ...flags, table: 'plain' }, world)).toBe(1);
  expect(world.err).toContain('has no intervals');
  world.err = '';
  expect(await importCommand(['y.csv'], { data: 'db', table: 'jobs', create: true, endColumn: 'end_ts' }, world)).toBe(
    1,
  );
  expect(world.err).toContain('before event_ts');
  world.err = '';
  expect(await importCommand(['x.csv'], { ...flags, table: 'jobs', create: true, endColumn: 'leaves' }, world)).toBe(2);
  expect(world.err).toContain('--end-column');
  world.file('z.ndjson', '{"event_ts":1,"members":[1],"end_ts":2}\n');
  expect(await importCommand(['z.ndjson'], { data: 'db', table: 'n', create: true, endColumn: 'left' }, world)).toBe(2);
});

test('a dump and a load keep intervals, in both forms, also through a server', async () => {
  world.file('x.csv', CSV);
  const flags = { create: true, tsColumn: 'begun', endColumn: 'left', table: 'jobs' };
  const server = await startServer();
  try {
    expect(await importCommand(['x.csv'], { ...flags, url: server.url }, world), world.err).toBe(0);
    for (const format of ['ndjson', 'parquet'] as const) {
      const dump = `dump-${format}`;
      expect(await dumpCommand(dump, { url: server.url, format }, world), world.err).toBe(0);
      expect(await loadCommand(dump, { data: `db-${format}` }, world), world.err).toBe(0);
      expect(await endsIn(`db-${format}`, 'jobs')).toEqual(ENDS);
    }
    expect(await dumpCommand('dump.txt', { url: server.url, format: 'statements' }, world), world.err).toBe(0);
    const files = readdirSync(world.path('dump.txt'), { recursive: true, withFileTypes: true });
    const texts = files
      .filter((file) => file.isFile())
      .map((file) => readFileSync(`${file.parentPath}/${file.name}`, 'utf8'));
    const statements = texts.join('');
    expect(statements).toContain('CREATE HYPEREDGE TABLE `jobs` () INTERVALS PROPERTIES (`title` TEXT)');
    expect(statements).toContain(
      'INSERT INTO `jobs` (event_ts, members, `weight`, `mean_dist_m`, `formation`, `end_ts`,',
    );
  } finally {
    await server.close();
  }
});
