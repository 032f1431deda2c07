// Random databases are the same after a dump and a load, from and into servers and directories.
// `HEDGEROW_DUMPS` sets the number of databases. The long test run uses 100.

import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { dumpCommand } from '../../src/cli/dump/command.ts';
import { loadCommand } from '../../src/cli/load/command.ts';
import { shellCommand } from '../../src/cli/shell/command.ts';
import { type Database, openDatabase } from '../../src/engine/index.ts';
import { startServer } from '../http/support.ts';
import { Random } from '../support/random.ts';
import { multiset, pick, randomTable, TABLE_NAMES } from './round-trip.ts';
import { lookInto, stream, TestWorld } from './support.ts';

const DUMPS = Number(process.env.HEDGEROW_DUMPS ?? 1);
const FIRST = Number(process.env.HEDGEROW_FIRST_DUMP ?? 0);
const FORMATS = ['parquet', 'ndjson', 'statements'] as const;

let world: TestWorld;

beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

interface Facts {
  readonly item: object;
  readonly rows: string[];
}

/**
 * Returns everything that must be equal: the tables in order, without their creation times, and the
 * indexes.
 */
function factsOf(database: Database): { tables: Facts[]; indexes: object[] } {
  return {
    tables: database.tables().map((table) => ({ item: { ...table.item(), created_at: 0 }, rows: multiset(table) })),
    indexes: database.indexes().map(({ table, column }) => ({ table, column })),
  };
}

async function fill(database: Database, random: Random): Promise<void> {
  for (let at = random.below(4); at >= 0; at--) {
    const name = random.chance(0.4) ? TABLE_NAMES[at]! : `t${at}`;
    const table = await randomTable(database, random, name, { members: 64, defaults: true });
    for (const { name: column, type } of table.item().columns)
      if (type !== 'TEXT' && type !== 'BOOLEAN' && random.chance(0.3)) await database.createIndex(name, column);
  }
  const primary = database.table();
  if (random.chance(0.5)) {
    const column = { name: 'late', type: 'TEXT', default: pick(['', "it's\n", '$name'], random) } as const;
    await primary.insert({ event_ts: 1, members: [1] });
    await database.alterTable(primary.name, { kind: 'addColumn', column });
    await primary.insert({ event_ts: 2, members: [1], properties: { late: null } });
    await primary.insert({ event_ts: 3, members: [1], properties: { late: 'x' } });
  }
  if (random.chance(0.5)) await database.setCompactThreshold(5000 + random.below(9));
}

async function inDirectory<T>(name: string, work: (database: Database) => T | Promise<T>): Promise<T> {
  const database = await openDatabase({ dir: world.path(name), memoryBudgetMb: 64, maxMembers: 255 });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Fills a database and passes its location and its contents to `work`. */
async function withFilled(
  kind: 'server' | 'directory',
  seed: number,
  work: (place: object, facts: ReturnType<typeof factsOf>) => Promise<void>,
): Promise<void> {
  const random = new Random(seed);
  if (kind === 'directory') {
    const facts = await inDirectory(`from${seed}`, async (database) => {
      await fill(database, random);
      return factsOf(database);
    });
    return work({ data: `from${seed}` }, facts);
  }
  const server = await startServer();
  try {
    await fill(server.database, random);
    await work({ url: server.url }, factsOf(server.database));
  } finally {
    await server.close();
  }
}

async function loadInto(kind: 'server' | 'directory', dump: string): Promise<ReturnType<typeof factsOf>> {
  if (kind === 'directory') {
    expect(await loadCommand(dump, { data: `to-${dump}` }, world), world.err).toBe(0);
    return inDirectory(`to-${dump}`, factsOf);
  }
  const server = await startServer();
  try {
    expect(await loadCommand(dump, { url: server.url }, world), world.err).toBe(0);
    return factsOf(server.database);
  } finally {
    await server.close();
  }
}

test(
  `${DUMPS} random databases are the same after a dump and a load in every format`,
  async () => {
    for (let seed = FIRST; seed < FIRST + DUMPS; seed++) {
      const kinds = ['server', 'directory'] as const;
      await withFilled(kinds[seed % 2]!, seed, async (place, facts) => {
        for (const [at, format] of FORMATS.entries()) {
          const dump = `dump-${seed}-${format}`;
          expect(await dumpCommand(dump, { ...place, format }, world), world.err).toBe(0);
          const to = kinds[(seed + at) % 2]!;
          expect(await loadInto(to, dump), `seed ${seed}, ${format}, ${to}`).toEqual(facts);
        }
      });
    }
    // No progress files or rejects are left.
    expect(
      readdirSync(world.cwd).filter((name) => name.endsWith('.ndjson') || name.endsWith('.progress.json')),
    ).toEqual([]);
  },
  60_000 + DUMPS * 30_000,
);

test('the statements of a dump create the same tables, edges and indexes in the shell', async () => {
  await withFilled('directory', 4, async (place, facts) => {
    expect(await dumpCommand('dump', { ...place, format: 'statements' }, world), world.err).toBe(0);
    await lookInto(world.path('hand'), () => {});
    const tables = readdirSync(world.path('dump/tables')).map((name) => `dump/tables/${name}`);
    for (const script of ['dump/schema.hql', ...tables]) {
      world.stdin = createReadStream(world.path(script));
      expect(await shellCommand({ data: 'hand', format: 'json' }, world), `${script}: ${world.err}`).toBe(0);
    }
    const made = await inDirectory('hand', factsOf);
    // Statements do not set the threshold of the primary table.
    const unthresheld = ({ tables: all, indexes }: typeof made) => ({
      indexes,
      tables: all.map(({ item, rows }) => ({ rows, item: { ...item, compact_threshold: 0 } })),
    });
    expect(unthresheld(made)).toEqual(unthresheld(facts));
  });
});

test('the statements that create tables name every option', async () => {
  await inDirectory('db', async (database) => {
    await database.createTable({
      name: 'rides',
      memberTables: ['cars', 'people'],
      bucketSeconds: 77,
      compactThreshold: 5000,
      columns: [
        { name: 'speed', type: 'REAL' },
        { name: 'where', type: 'TEXT', default: "it's" },
        { name: 'far', type: 'REAL', default: 1 },
      ],
    });
    await database.createIndex('rides', 'speed');
    await database.alterTable('hyperedges', { kind: 'addColumn', column: { name: 'n', type: 'INTEGER' } });
  });
  expect(await dumpCommand('dump', { data: 'db' }, world), world.err).toBe(0);
  const lines = readFileSync(world.path('dump/schema.hql'), 'utf8').split('\n');
  expect(lines.filter((line) => line !== '' && !line.startsWith('//'))).toEqual([
    'CREATE HYPEREDGE TABLE IF NOT EXISTS `hyperedges` () BUCKET_SECONDS 10 COMPACT_THRESHOLD 0;',
    'ALTER TABLE `hyperedges` ADD COLUMN `n` INTEGER;',
    'CREATE HYPEREDGE TABLE `rides` (`cars`, `people`) PROPERTIES (`speed` REAL) BUCKET_SECONDS 77 COMPACT_THRESHOLD 5000;',
    "ALTER TABLE `rides` ADD COLUMN `where` TEXT DEFAULT 'it\\'s';",
    'ALTER TABLE `rides` ADD COLUMN `far` REAL DEFAULT 1.0;',
    'CREATE INDEX ON `rides` (`speed`);',
  ]);
});

test('an edge that no statement can express is reported, and no dump is left', async () => {
  await inDirectory('db', async (database) => {
    const columns = Array.from({ length: 20 }, (_, at) => ({ name: `c${at}`, type: 'TEXT' as const }));
    const table = await database.createTable({ name: 'long', columns });
    const properties = Object.fromEntries(columns.map(({ name }) => [name, 'x'.repeat(60_000)]));
    await table.insert({ event_ts: 1, members: [1], properties });
  });
  expect(await dumpCommand('dump', { data: 'db', format: 'statements' }, world)).toBe(1);
  expect(world.err).toMatch(/edge 1 of long is longer than a statement.*--format ndjson/);
  expect(readdirSync(world.cwd)).toEqual(['db']);
  world.stdin = stream([]);
});
