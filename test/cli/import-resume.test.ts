import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { importCommand } from '../../src/cli/import/command.ts';
import { edgeLines, lookInto, rowsOf, TestWorld } from './support.ts';

let world: TestWorld;

beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

type Flags = Record<string, string | boolean>;

const importInto = (paths: string[], flags: Flags = {}) => importCommand(paths, { data: 'db', ...flags }, world);
const times = () => lookInto(world.path('db'), (database) => rowsOf(database.table()).map(({ event_ts }) => event_ts));
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

test('--resume continues where the import stopped after a bad line was fixed', async () => {
  world.file('x.ndjson', `${edgeLines(25)}nonsense\n${edgeLines(20, 26)}`);
  expect(await importInto(['x.ndjson'], { batch: '10' })).toBe(1);
  expect(world.err).toMatch(/--resume/);
  world.err = '';
  expect(await importInto(['x.ndjson'], { batch: '10' })).toBe(1);
  expect(world.err).toMatch(/interrupted before line 26\. Go on with --resume/);
  const state = JSON.parse(readFileSync(world.path('x.ndjson.progress.json'), 'utf8'));
  expect(state).toMatchObject({ number: 3, inserted: 25, position: { line: 26 } });
  world.file('x.ndjson', edgeLines(46, 1));
  expect(await importInto(['x.ndjson'], { resume: true })).toBe(1);
  expect(world.err).toMatch(/no longer the file it was/);
  world.file('x.ndjson', `${edgeLines(46)}bad\n`);
  expect(await importInto(['x.ndjson'], { resume: true, onError: 'skip' }), world.err).toBe(0);
  expect(await times()).toEqual(upTo(46));
  expect(world.objects('x.ndjson.rejects.ndjson').map(({ line }) => line)).toEqual([47]);
  expect(existsSync(world.path('x.ndjson.progress.json'))).toBe(false);
});

test('batches that are in the table but not yet in the progress file are not written again', async () => {
  world.file('x.ndjson', `${edgeLines(95)}bad\n${edgeLines(5, 95)}nonsense\n${edgeLines(50, 100)}`);
  const flags = { batch: '10', onError: 'skip' };
  let progress = '';
  // Simulates a kill, after which the progress file lags behind the table.
  world.interrupt = undefined;
  const path = world.path('x.ndjson.progress.json');
  const first = importInto(['x.ndjson'], flags);
  while (progress === '') {
    if (existsSync(path)) progress = readFileSync(path, 'utf8');
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await first).toBe(0);
  expect(await times()).toEqual(upTo(150));
  writeFileSync(path, progress);
  expect(JSON.parse(progress).number).toBeLessThan(10);
  expect(await importInto(['x.ndjson'], { ...flags, resume: true }), world.err).toBe(0);
  expect(await times()).toEqual(upTo(150));
  expect(world.objects('x.ndjson.rejects.ndjson').map(({ line }) => line)).toEqual([96, 102]);
  // Batches that differ from those of the interrupted import are detected, not inserted.
  writeFileSync(path, progress);
  world.file('x.ndjson', readFileSync(world.path('x.ndjson'), 'utf8'));
  expect(await importInto(['x.ndjson'], { ...flags, onError: 'stop', resume: true })).toBe(1);
  expect(world.err).toMatch(/read in another way/);
  expect(await times()).toEqual(upTo(150));
});

test('an import of several files is resumed after an interrupt', async () => {
  world.file('a.ndjson', edgeLines(100));
  world.file('b.ndjson', edgeLines(100_000, 100));
  const running = importInto(['a.ndjson', 'b.ndjson'], { batch: '100' });
  const path = world.path('b.ndjson.progress.json');
  const isUnderWay = () => existsSync(path) && JSON.parse(readFileSync(path, 'utf8')).number > 3;
  while (!isUnderWay()) await new Promise((resolve) => setTimeout(resolve, 5));
  world.interrupt!();
  expect(await running).toBe(1);
  const before = (await times()).length;
  expect(before).toBeGreaterThan(500);
  expect(before).toBeLessThan(100_100);
  expect(await importInto(['a.ndjson', 'b.ndjson'], { resume: true }), world.err).toBe(0);
  expect(await times()).toEqual(upTo(100_100));
});

test.each<[string, (state: Record<string, unknown>) => unknown, Flags, RegExp]>([
  [
    'another target',
    (state) => ({ ...state, plan: 'into u at /elsewhere, as ndjson' }),
    {},
    /is about an import of .*x\.ndjson into u at \/elsewhere.*this one goes elsewhere/,
  ],
  ['other flags', (state) => state, { tsColumn: 'when' }, /other flags or another target/],
  ['another input', (state) => ({ ...state, input: '/y.ndjson' }), {}, /is about \/y\.ndjson/],
  ['a pause of a day', (state) => ({ ...state, at: 0 }), {}, /more than 23 hours ago/],
  ['an invalid progress file', () => ({}), {}, /is not a progress file/],
])('an import with %s is not resumed', async (_name, change, flags, message) => {
  world.file('x.ndjson', `${edgeLines(25)}nonsense\n`);
  expect(await importInto(['x.ndjson'])).toBe(1);
  const path = world.path('x.ndjson.progress.json');
  writeFileSync(path, JSON.stringify(change(JSON.parse(readFileSync(path, 'utf8')))));
  world.err = '';
  expect(await importInto(['x.ndjson'], { ...flags, resume: true })).toBe(1);
  expect(world.err).toMatch(message);
  expect(await times()).toEqual(upTo(25));
});

test('an import from stdin cannot be resumed', async () => {
  expect(await importInto(['-'], { resume: true })).toBe(2);
  expect(world.err).toMatch(/stdin/);
});
