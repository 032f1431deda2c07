import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type ChangesFlags, changesCommand } from '../../src/cli/changes/command.ts';
import { runProgram } from '../../src/cli/program.ts';
import { type Database, openDatabase } from '../../src/engine/index.ts';
import { type World as Service, startWorld } from '../service/worlds.ts';
import { TestWorld } from './support.ts';

let world: TestWorld;
let service: Service;

beforeAll(async () => {
  service = await startWorld();
  await fill(service.database);
});
afterAll(() => service.close());
beforeEach(() => {
  world = new TestWorld();
  world.environment = { HEDGEROW_MEMORY_BUDGET_MB: '64' };
});
afterEach(() => world.remove());

async function fill(database: Database): Promise<void> {
  const trips = await database.createTable({ name: 'trips', columns: [{ name: 'place', type: 'TEXT' }] });
  const bulk = trips.bulk();
  for (const [i, place] of ['東京', 'a "b"', null, 'x\ny'].entries())
    bulk.add({ event_ts: i, members: [i, 9], properties: { place } });
  await bulk.commit();
  await database.table().insert({ event_ts: 7, members: [7] });
  await trips.delete(0, [0, 9]);
}

async function makeDirectory(): Promise<void> {
  const history = { seconds: 3600, bytes: 2 ** 26 };
  const database = await openDatabase({ dir: world.path('db'), memoryBudgetMb: 64, history });
  await fill(database);
  await database.close();
}

async function changes(flags: ChangesFlags): Promise<number> {
  world.out = '';
  world.err = '';
  return changesCommand(flags, world);
}

// biome-ignore lint/suspicious/noExplicitAny: changes have many forms.
function printed(): any[] {
  return world.out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

describe.each(['server', 'directory'])('changes of a %s', (where) => {
  const flags = (more: ChangesFlags = {}): ChangesFlags => ({
    ...(where === 'server' ? { url: service.url, apiKey: 'bootstrap' } : { data: 'db' }),
    ...more,
  });
  beforeEach(async () => {
    if (where === 'directory') await makeDirectory();
  });

  test('are printed one per line, and the command ends with the newest one', async () => {
    expect(await changes(flags()), world.err).toBe(0);
    expect(printed().map(({ op, table, id, commit_end }) => [op, table, id, commit_end])).toEqual([
      ['table_created', 'hyperedges', undefined, true],
      ['table_created', 'trips', undefined, true],
      ['insert', 'trips', 1, undefined],
      ['insert', 'trips', 2, undefined],
      ['insert', 'trips', 3, undefined],
      ['insert', 'trips', 4, true],
      ['insert', 'hyperedges', 1, true],
      ['delete', 'trips', 1, true],
    ]);
    expect(printed()[2].row).toMatchObject({ event_ts: 0, members: [0, 9], place: '東京' });
    expect(printed()[7].before).toEqual(printed()[2].row);
    expect(world.err).toBe('');
  });

  test('are selected by table, LSN and number', async () => {
    await changes(flags());
    const all = printed();
    expect(await changes(flags({ table: 'trips' }))).toBe(0);
    const trips = all.filter(({ table }) => table === 'trips');
    expect(printed().map(({ lsn }) => lsn)).toEqual(trips.map(({ lsn }) => lsn));
    expect(await changes(flags({ fromLsn: String(all[2].lsn), limit: '3' }))).toBe(0);
    expect(printed().map(({ lsn }) => lsn)).toEqual(all.slice(3, 6).map(({ lsn }) => lsn));
    expect(await changes(flags({ fromLsn: String(all.at(-1).lsn), table: 'trips' }))).toBe(0);
    expect(world.out).toBe('');
  });

  test('that are not known are refused', async () => {
    expect(await changes(flags({ fromLsn: '1000000' }))).toBe(1);
    expect(world.err).toMatch(/^hedgerow: The newest LSN is \d+, so LSN 1000000 .*Read all rows again[^\n]*\n$/);
    expect(await changes(flags({ table: 'trip' }))).toBe(1);
    expect(world.err).toMatch(/^hedgerow: .*trip[^\n]*\n$/);
    expect(world.out).toBe('');
  });
});

describe('--follow', () => {
  const argv = () => ['changes', '--follow', '--url', service.url, '--api-key', 'bootstrap'];

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ])('prints changes as they come until %s, and says how to continue', async (signal, code) => {
    const from = service.database.lastLsn;
    world.signal = signal;
    const ended = runProgram([...argv(), '--from-lsn', String(from)], '9.8.7', world);
    for (let n = 1; n <= 3; n++) {
      await service.database.table().insert({ event_ts: n, members: [n] });
      await vi.waitUntil(() => printed().length === n || world.err !== '', { timeout: 20_000 });
    }
    world.interrupt!();
    expect(await ended).toBe(code);
    const lines = printed();
    expect(lines.map(({ row }) => row.event_ts)).toEqual([1, 2, 3]);
    const { lsn } = lines[2];
    expect(world.err).toBe(`hedgerow: cancelled after LSN ${lsn}; --from-lsn ${lsn} continues after it.\n`);
  });

  test('ends with --limit', async () => {
    expect(await runProgram([...argv(), '--limit', '2'], '9.8.7', world), world.err).toBe(0);
    expect(printed().map(({ table }) => table)).toEqual(['hyperedges', 'trips']);
  });

  test('says that the connection is lost', async () => {
    const own = await startWorld();
    const ended = changes({ url: own.url, apiKey: 'bootstrap', follow: true });
    await vi.waitUntil(() => printed().length === 1 || world.err !== '', { timeout: 20_000 });
    await own.close();
    await vi.waitUntil(() => world.err !== '', { timeout: 20_000 });
    world.interrupt!();
    expect(await ended).toBe(1);
    expect(world.err.split('\n').slice(0, -1)).toEqual([
      expect.stringMatching(/^hedgerow: (The server ended|No whole answer).* Trying again\.$/),
      expect.stringMatching(/^hedgerow: cancelled after LSN \d+;/),
    ]);
  });
});

test('an unreachable server and a wrong key are reported with advice', async () => {
  expect(await changes({ url: 'http://127.0.0.1:1' })).toBe(1);
  expect(world.err).toMatch(/hedgerow serve.*--data DIR/);
  expect(await changes({ url: service.url, apiKey: 'x' })).toBe(1);
  expect(world.err).toMatch(/--api-key/);
});

test('a directory without changes, or that is open elsewhere or missing, is refused', async () => {
  const database = await openDatabase({ dir: world.path('db'), memoryBudgetMb: 64 });
  expect(await changes({ data: 'db' })).toBe(1);
  expect(world.err).toMatch(/already open .* --url/);
  await database.close();
  expect(await changes({ data: 'db' })).toBe(1);
  expect(world.err).toMatch(/HEDGEROW_CHANGES_KEEP_SECONDS/);
  expect(await changes({ data: 'gone' })).toBe(1);
  expect(world.err).toMatch(/There is no directory gone/);
});

test.each<[string, ChangesFlags]>([
  ['a directory and a URL', { data: 'db', url: 'http://127.0.0.1:1' }],
  ['a configuration for a server', { url: 'http://127.0.0.1:1', config: 'x.toml' }],
  ['an invalid URL', { url: 'nonsense' }],
  ['a directory that is followed', { data: 'db', follow: true }],
  ['an LSN that is not a number', { fromLsn: 'now' }],
  ['a limit of 0', { limit: '0' }],
])('a wrong call exits with 2: %s', async (_name, flags) => {
  expect(await changes(flags)).toBe(2);
  expect(world.out).toBe('');
});
