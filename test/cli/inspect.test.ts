import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { inspectCommand } from '../../src/cli/inspect/command.ts';
import { type Database, openDatabase } from '../../src/engine/index.ts';
import { TestWorld } from './support.ts';

const home = new TestWorld();
let world: TestWorld;
let database: Database;
let manifest: string;
let segment: string;
let log: string;

/**
 * Writes 300 compacted edges in `calls`, then two inserts and a delete in the log. The database
 * stays open, because inspection must work while it is in use.
 */
beforeAll(async () => {
  const dir = home.path('db');
  database = await openDatabase({ dir });
  const table = await database.createTable({
    name: 'calls',
    bucketSeconds: 60,
    columns: [{ name: 'place', type: 'TEXT' }],
  });
  const bulk = table.bulk();
  for (let i = 0; i < 300; i++) bulk.add({ event_ts: i * 10, members: [i, i + 1], properties: { place: `p${i % 3}` } });
  await bulk.commit();
  await database.compact({ table: 'calls' });
  await table.insert({ event_ts: 5, members: [1, 2] });
  await table.insert({ event_ts: 6, members: [1, 2], properties: { weight: 2 } });
  await table.delete(5, [1, 2]);
  manifest = join(dir, 'manifest');
  segment = join(dir, 'tables', '2', readdirSync(join(dir, 'tables', '2'))[0]!);
  log = join(dir, 'log', readdirSync(join(dir, 'log')).find((name) => name.startsWith('log-0'))!);
});
afterAll(async () => {
  await database.close();
  home.remove();
  world.remove();
});
beforeEach(() => {
  world?.remove();
  world = new TestWorld();
});

function inspect(paths: string[], flags: { limit?: string; rows?: string; deep?: boolean } = {}) {
  const exitCode = inspectCommand(paths, { ...flags, json: true }, world);
  const reports = world.out.split('\n').filter((line) => line !== '');
  const text = new TestWorld();
  inspectCommand(paths, flags, text);
  text.remove();
  return { exitCode, report: reports.length > 0 ? JSON.parse(reports[0]!) : undefined, text: text.out };
}

test('inspect shows the frames of a log file with LSNs and their runs by table', () => {
  const { exitCode, report, text } = inspect([log]);
  expect(exitCode).toBe(0);
  expect(report).toMatchObject({
    kind: 'log',
    version: 2,
    file_bytes: report.bytes,
    sequence: 1,
    epoch: 1,
    first_lsn: 1,
    last_lsn: 305,
    operations: 305,
    problems: [],
  });
  expect(report.shown.map((frame: { operations: number }) => frame.operations)).toEqual([1, 1, 300, 1, 1, 1]);
  expect(report.shown[2].runs).toMatchObject([{ kind: 'insert', table: 2, operations: 300 }]);
  expect(report.shown[5].runs).toMatchObject([{ kind: 'tombstone', table: 2, operations: 1 }]);
  expect(report.shown[1].runs[0].change).toMatchObject({ op: 'create_table', table: { name: 'calls' } });
  expect(text).toMatch(/insert 300 calls/);
});

test('inspect shows only the first frames of a long log and counts the rest', () => {
  const { report, text } = inspect([log], { limit: '2' });
  expect(report.shown.length).toBe(2);
  expect(report.frames).toBe(6);
  expect(text).toMatch(/4 more frames/);
});

test('inspect shows the tables, columns and segments of a manifest', () => {
  const { exitCode, report, text } = inspect([manifest]);
  expect(exitCode).toBe(0);
  expect(report.document.tables.map((table: { definition: { name: string } }) => table.definition.name)).toEqual([
    'hyperedges',
    'calls',
  ]);
  expect(text).toMatch(/table calls \(number 2\), buckets of 60 s/);
  expect(text).toMatch(/place TEXT/);
});

test('inspect shows the header of a segment, its sections with checksums, and its first and last rows', () => {
  const { exitCode, report, text } = inspect([segment], { rows: '2' });
  expect(exitCode).toBe(0);
  expect(report.header).toMatchObject({
    rows: 300,
    incidences: 600,
    nodes: 301,
    bucket_seconds: 60,
    table: 2,
    time_max: 2990,
    crc_ok: true,
  });
  expect(report.sections.every((section: { crc_ok: boolean }) => section.crc_ok)).toBe(true);
  expect(report.first_rows.map((row: { event_ts: number }) => row.event_ts)).toEqual([0, 10]);
  expect(report.last_rows[1]).toEqual({
    id: 300,
    event_ts: 2990,
    members: [299, 300],
    weight: null,
    mean_dist_m: null,
    formation: null,
    place: 'p2',
  });
  expect(text).toMatch(/postings .* ok/);
  expect(text).toMatch(/column +place +TEXT/);
});

test('inspect shows a data directory in use in one overview', () => {
  const { exitCode, report, text } = inspect([home.path('db')], { deep: true });
  expect(exitCode).toBe(0);
  expect(report.tables).toMatchObject([
    { name: 'calls', rows: 300, pending: 3, segments: [{ rows: 300, time_min: 0, time_max: 2990 }] },
    { name: 'hyperedges', rows: 0, pending: 0, segments: [] },
  ]);
  expect(report.logs).toMatchObject([{ operations: 305, unfinished_at: null }]);
  expect(JSON.parse(report.lock).pid).toBe(process.pid);
  expect(text).toMatch(/300 rows in 1 segments/);
});

/** Returns the path of a copy of the file with one byte changed. */
function damaged(path: string, name: string, offset: number): string {
  const bytes = readFileSync(path);
  bytes[offset]! ^= 0xff;
  return world.file(name, bytes);
}

test('inspect reports the offset of a damaged frame in the middle of a log and lists the frames after it', () => {
  const { report: whole } = inspect([log]);
  world.out = '';
  const offset: number = whole.shown[3].offset;
  const path = damaged(log, 'log-0000000000000001', offset + 45);
  const { exitCode, report, text } = inspect([path]);
  expect(exitCode).toBe(1);
  expect(report.problems).toMatchObject([{ file: path, offset }]);
  expect(report.shown.map((frame: { state: string }) => frame.state)).toEqual([
    'ok',
    'ok',
    'ok',
    'damaged',
    'out of sequence',
    'ok',
  ]);
  expect(text).toMatch(`PROBLEM ${path} at offset ${offset}`);
});

test('inspect does not report a torn write at the end of the newest log file as corruption', () => {
  const { report: whole } = inspect([log]);
  world.out = '';
  const last = whole.shown.at(-1).offset;
  const path = damaged(log, 'log-0000000000000001', last + 45);
  const { exitCode, report, text } = inspect([path]);
  expect(exitCode).toBe(0);
  expect(report).toMatchObject({ unfinished_at: last, last_lsn: 304, problems: [] });
  expect(text).toMatch(/replay ends there/);
});

test.each([
  ['log', 'log-0000000000000001', 3],
  ['log', 'log-0000000000000001', 100],
  ['segment', 'seg-000000000001.hgs', 2],
  ['segment', 'seg-000000000001.hgs', 60],
  ['segment', 'seg-000000000001.hgs', 2000],
  ['manifest', 'manifest', 4],
  ['manifest', 'manifest', 90],
])('inspect reports a damaged %s %s (byte %i) by file name', (kind, name, offset) => {
  const path = damaged({ log, segment, manifest }[kind]!, name, offset);
  const { exitCode, report } = inspect([path]);
  expect(exitCode).toBe(1);
  expect(report.kind).toBe(kind);
  expect(report.problems[0].file).toBe(path);
});

test('inspect reports damage in each section of a segment separately', () => {
  const { report: whole } = inspect([segment]);
  for (const [index, section] of whole.sections.entries()) {
    if (section.bytes === 0) continue;
    world.out = '';
    const { exitCode, report } = inspect([damaged(segment, 'seg-000000000001.hgs', section.offset)]);
    expect(exitCode).toBe(1);
    const wrong = report.sections.flatMap((one: { crc_ok: boolean }, at: number) => (one.crc_ok ? [] : [at]));
    expect(wrong).toEqual([index]);
  }
});

test('inspect reports a damaged or missing segment of a directory and shows the rest', () => {
  cpSync(home.path('db'), world.path('copy'), { recursive: true, filter: (path) => !path.endsWith('.socket') });
  const copy = world.path(`copy/tables/2/${segment.split('/').at(-1)}`);
  writeFileSync(copy, readFileSync(copy).subarray(0, 500));
  const { exitCode, report } = inspect([world.path('copy')]);
  expect(exitCode).toBe(1);
  expect(report.problems).toMatchObject([{ file: copy, offset: 500 }]);
  expect(report.logs.length).toBe(1);
});

test('inspect never crashes on arbitrary bytes under any name', () => {
  const bytes = readFileSync(segment);
  for (const name of ['log-0000000000000001', 'seg-000000000001.hgs', 'manifest']) {
    for (const length of [0, 1, 20, 127, 128, 200, 4096]) {
      const { exitCode } = inspect([world.file(name, bytes.subarray(0, length))]);
      expect(exitCode).toBe(1);
    }
  }
});

test('inspect refuses a file that does not belong to a database, and a missing path', () => {
  expect(inspectCommand([world.file('letter.txt', 'Dear all'), world.path('gone')], {}, world)).toBe(1);
  expect(world.err).toMatch(/letter\.txt is not a file of a database/);
  expect(world.err).toMatch(/There is nothing at .*gone/);
  expect(inspectCommand([], {}, world)).toBe(2);
});

test('inspect tells node tables and named tables of a manifest', async () => {
  const dir = world.path('nodes');
  const own = await openDatabase({ dir });
  await own.nodes.createTable({ name: 'Person', key: { name: 'name', type: 'TEXT' } });
  await own.createTable({ name: 'knows', memberTables: ['Person'] });
  await own.table('knows').insert({ event_ts: 1, members: ['Ada', 'Grace'] });
  await own.compact({});
  await own.close();
  const { exitCode, text } = inspect([join(dir, 'manifest')]);
  expect(exitCode).toBe(0);
  expect(text).toContain('\nnode table Person (number 2)');
  expect(text).toContain('\n  key name\n');
  expect(text).toContain('\n  members are nodes of Person (numbers 2)\n');
});
