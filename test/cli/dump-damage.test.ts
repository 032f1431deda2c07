// A dump whose files have changed since they were written is refused before anything is created. A
// load that was interrupted can be resumed, or reports why it cannot.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { dumpCommand } from '../../src/cli/dump/command.ts';
import { importCommand } from '../../src/cli/import/command.ts';
import { loadCommand } from '../../src/cli/load/command.ts';
import { startServer, type TestServer } from '../http/support.ts';
import { MAIN } from '../service/child.ts';
import { multiset } from './round-trip.ts';
import { edgeLines, lookInto, TestWorld } from './support.ts';

/** Whether the build exists and is recent enough to contain this file. */
const BUILT = existsSync(new URL('../../dist/cli/load/statements.js', import.meta.url));
const EDGES = 'dump/tables/hyperedges.parquet';

let world: TestWorld;

beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

async function dumpOf(rows: number, format: string): Promise<void> {
  world.file('edges.ndjson', edgeLines(rows));
  expect(await importCommand(['edges.ndjson'], { data: 'db' }, world), world.err).toBe(0);
  expect(await dumpCommand('dump', { data: 'db', format }, world), world.err).toBe(0);
}

type Manifest = Record<'tables' | 'files', Record<string, unknown>[]> & Record<string, unknown>;

function rewriteManifest(change: (manifest: Manifest) => void): void {
  const path = world.path('dump/hedgerow-dump.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
  change(manifest);
  writeFileSync(path, JSON.stringify(manifest));
}

describe('a dump that is damaged', () => {
  let whole: TestWorld;

  beforeAll(async () => {
    whole = new TestWorld();
    world = whole;
    await dumpOf(5, 'parquet');
  });
  afterAll(() => whole.remove());

  test.each<[string, () => void, RegExp]>([
    ['a file is cut off', () => truncateSync(world.path(EDGES), 100), /damaged: .*parquet has 100 bytes/],
    ['a file has grown', () => appendFileSync(world.path(EDGES), 'x'), /damaged: .*parquet has \d+ bytes, not/],
    [
      'a byte is changed',
      () => {
        const bytes = readFileSync(world.path(EDGES));
        bytes[bytes.length >> 1]! ^= 1;
        writeFileSync(world.path(EDGES), bytes);
      },
      /damaged: .*parquet is not what was written/,
    ],
    ['a file is missing', () => rmSync(world.path(EDGES)), /not whole: there is no .*parquet/],
    [
      'its manifest is missing',
      () => rmSync(world.path('dump/hedgerow-dump.json')),
      /no whole dump: there is no hedgerow-dump/,
    ],
    ['its manifest is cut off', () => truncateSync(world.path('dump/hedgerow-dump.json'), 90), /cannot be read/],
    [
      'a table has no file',
      () => rewriteManifest((dump) => dump.files.pop()),
      /names no file for the table hyperedges/,
    ],
    [
      'it names a file outside',
      () => rewriteManifest((dump) => Object.assign(dump.files[0]!, { path: '../edges.ndjson' })),
      /not a table with its file/,
    ],
    [
      'it names an invalid table',
      () => rewriteManifest((dump) => Object.assign(dump.tables[0]!, { name: '../x' })),
      /not a table with its file/,
    ],
    ['a later version wrote it', () => rewriteManifest((dump) => Object.assign(dump, { version: 2 })), /this version/],
  ])('is refused before anything is created: %s', async (_name, damage, message) => {
    cpSync(whole.path('dump'), world.path('dump'), { recursive: true });
    damage();
    expect(await loadCommand('dump', { data: 'new' }, world)).toBe(1);
    expect(world.err).toMatch(message);
    expect(existsSync(world.path('new'))).toBe(false);
  });
});

describe('a load', () => {
  test('creates nothing when tables exist with other definitions', async () => {
    const server = await startServer();
    try {
      await server.database.createTable({ name: 'later', columns: [{ name: 'a', type: 'TEXT', default: 'x' }] });
      await server.database.createTable({ name: 'zz', bucketSeconds: 3 });
      expect(await dumpCommand('dump', { url: server.url }, world), world.err).toBe(0);
    } finally {
      await server.close();
    }
    const to = await startServer();
    try {
      for (const [input, message] of [
        [{ name: 'zz', bucketSeconds: 4 }, /zz is there with buckets of 4 s, but has buckets of 3 s in the dump/],
        [{ name: 'later', columns: [{ name: 'a', type: 'REAL' }] }, /column a of later is REAL here, and TEXT/],
        [
          { name: 'later', columns: [{ name: 'a', type: 'TEXT' }] },
          /has no default here, and the default "x" in the dump/,
        ],
      ] as const) {
        await to.database.createTable(structuredClone(input) as never);
        world.err = '';
        expect(await loadCommand('dump', { url: to.url }, world)).toBe(1);
        expect(world.err).toMatch(message);
        expect(to.database.tables().length).toBe(2);
        await to.database.dropTable(input.name);
      }
    } finally {
      await to.close();
    }
  });

  test('is not resumed when rows exist but the progress file is missing', async () => {
    await dumpOf(40, 'ndjson');
    world.file('some.ndjson', edgeLines(10));
    expect(await importCommand(['some.ndjson'], { data: 'new' }, world), world.err).toBe(0);
    expect(await loadCommand('dump', { data: 'new', resume: true }, world)).toBe(1);
    expect(world.err).toMatch(/holds 10 of the 40 edges.*progress\.json.*is not there/);
  });

  test('reports that a server has a lower member limit', async () => {
    world.file('wide.ndjson', `{"event_ts":1,"members":[${Array.from({ length: 100 }, (_, at) => at)}]}\n`);
    expect(await importCommand(['wide.ndjson'], { data: 'db', maxMembers: '255' }, world), world.err).toBe(0);
    const server = await startServer();
    try {
      for (const format of ['ndjson', 'statements']) {
        expect(await dumpCommand(format, { data: 'db', format }, world), world.err).toBe(0);
        world.err = '';
        expect(await loadCommand(format, { url: server.url }, world)).toBe(1);
        expect(world.err).toMatch(/at most 64 are accepted/);
        for (const name of ['progress', 'rejects'])
          for (const ending of ['json', 'ndjson'])
            rmSync(world.path(`hyperedges.ndjson.gz.${name}.${ending}`), { force: true });
        expect(await loadCommand(format, { data: `new-${format}` }, world), world.err).toBe(0);
      }
    } finally {
      await server.close();
    }
  });
});

/**
 * Loads in a separate process that is killed once the table has `rows` more rows. Returns the exit
 * code, or null if the process was killed.
 */
async function loadAndKill({ url, database }: TestServer, rows: number): Promise<number | null> {
  const args = [MAIN, 'load', 'dump', '--url', url, '--resume'];
  const child = spawn(process.execPath, args, { cwd: world.cwd, stdio: ['ignore', 'ignore', 'pipe'] });
  let err = '';
  child.stderr.on('data', (piece) => (err += piece));
  const most = database.table().rowCount + rows;
  const timer = setInterval(() => {
    if (database.table().rowCount >= most) child.kill('SIGKILL');
  }, 1);
  const [code] = await once(child, 'close');
  clearInterval(timer);
  if (code !== 0) expect(code, err).toBe(null);
  return code as number | null;
}

// Parquet is tested with more rows, because import batches are larger than statements, and with
// only one kill, because `import-kill.test.ts` kills imports repeatedly.
test.skipIf(!BUILT).each([
  ['parquet', 40_000, 1],
  ['statements', 4800, 2],
])(
  'a killed load is resumed without duplicates or gaps: %s',
  async (format, rows, kills) => {
    await dumpOf(rows, format);
    const server = await startServer();
    try {
      const { database, url } = server;
      for (let kill = 0; kill < kills; kill++) expect(await loadAndKill(server, rows / 6)).toBe(null);
      expect(database.table().rowCount).toBeLessThan(rows);
      // A load without --resume does not start again.
      expect(await loadCommand('dump', { url }, world)).toBe(1);
      expect(world.err).toMatch(/--resume/);
      expect(await loadCommand('dump', { url, resume: true }, world), world.err).toBe(0);
      const expected = await lookInto(world.path('db'), (from) => multiset(from.table()));
      const found = multiset(database.table());
      expect(found.length).toBe(expected.length);
      // Finds the first difference before comparing, because an assertion on tens of thousands of
      // texts takes seconds.
      const odd = found.findIndex((row, at) => row !== expected[at]);
      expect([found[odd], odd]).toEqual([expected[odd], -1]);
    } finally {
      await server.close();
    }
    expect(readdirSync(world.cwd).filter((name) => name.includes('progress'))).toEqual([]);
  },
  180_000,
);
