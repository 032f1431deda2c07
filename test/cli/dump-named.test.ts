// Tables of every shape whose members are nodes are the same, by keys, after a dump in every format
// and a load, from and into servers and directories.

import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { dumpCommand } from '../../src/cli/dump/command.ts';
import { loadCommand } from '../../src/cli/load/command.ts';
import { shellCommand } from '../../src/cli/shell/command.ts';
import type { Database } from '../../src/engine/index.ts';
import { send, startServer, type TestServer } from '../http/support.ts';
import { keyRowsOf, lookInto, nodeRowsOf, TestWorld } from './support.ts';

const FORMATS = ['parquet', 'ndjson', 'statements'] as const;
const PLACES = ['server', 'directory'] as const;
type PlaceName = (typeof PLACES)[number];

let world: TestWorld;
let servers: TestServer[];

beforeEach(() => {
  world = new TestWorld();
  servers = [];
});
afterEach(async () => {
  for (const server of servers) await server.close();
  world.remove();
});

/** Every text that a key can be and that a statement, a list or a cell could take for another. */
const KEYS = [
  ...['Ada', 'ada', 'Bob', "O'Neil", "''", 'say "hi"', '""', '`', '\\', '\\n', "\\'", 'a\\', '$name', '$1', '$'],
  ...['a;b', 'a,b', 'a|b', '[1]', '["Ada"]', '{"kind":"Person","key":"Ada"}', 'node(Person, 1)', 'Person:Ada'],
  ...['7', '-0', '007', '1e5', 'true', 'null', 'NULL', 'NaN', ' ', ' led and trailed ', '.', '..', 'a/b', '%2F'],
  ...['// no comment', '/* none */', '-- none', '#', '=1+1', '__proto__', 'constructor', '2024-01-01'],
  ...[
    'é',
    'e\u0301',
    'שלום',
    '中文',
    '🦊',
    '👩‍👩‍👧',
    '\u2028\u2029',
    '\ufeff',
    '\ufeffa',
    '\u202eabc',
    '\ufffd',
    '\u{e0001}',
  ],
  ...['x'.repeat(512), '🦔'.repeat(128)],
];
const NUMBERS = [0, 1, -1, 7, 2 ** 31, -(2 ** 32), Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];

/** More edges than two statements hold, and than a batch of rows. */
const MANY = 1300;

const SCHEMA = [
  "CREATE NODE TABLE Person (name TEXT) PROPERTIES (born INTEGER, city TEXT DEFAULT 'Rome', bio TEXT)",
  'CREATE NODE TABLE Room (id INTEGER) PROPERTIES (`where` TEXT)',
  'CREATE NODE TABLE `match` (`in` TEXT)',
  'CREATE NODE TABLE Nobody (name TEXT)',
  'CREATE HYPEREDGE TABLE plain (Person)',
  'CREATE HYPEREDGE TABLE many (Person) PROPERTIES (note TEXT)',
  'CREATE HYPEREDGE TABLE rooms (Room) BUCKET_SECONDS 77',
  'CREATE HYPEREDGE TABLE visits (Person, Room, `match`) PROPERTIES (note TEXT)',
  'CREATE HYPEREDGE TABLE mail (Person) ROLES (sender, `null`)',
  'CREATE HYPEREDGE TABLE stays (Room) ROLES (home, host) INTERVALS',
  'CREATE HYPEREDGE TABLE tenancies (Person, Room) ROLES (tenant, home) INTERVALS PROPERTIES (rent REAL)',
  'CREATE HYPEREDGE TABLE holds (Person) INTERVALS',
  'CREATE HYPEREDGE TABLE strict (Person) CREATE_NODES false',
  'CREATE HYPEREDGE TABLE notes (Person) PROPERTIES (title TEXT, body TEXT, stars INTEGER)',
  'CREATE HYPEREDGE TABLE nulls (Person, `match`) ROLES (sender)',
  "ALTER TABLE nulls ADD COLUMN kind TEXT DEFAULT 'none'",
  'CREATE HYPEREDGE TABLE emptyOne (Person)',
  'CREATE HYPEREDGE TABLE emptyTwo (Nobody, Room) ROLES (a) INTERVALS',
  'CREATE TEXT INDEX ON notes (title, body) LANGUAGE english',
  'CREATE INDEX ON notes (stars)',
  'CREATE INDEX ON Person (born)',
  // A node table with the name of a member table that is none: the members stay numbers.
  'CREATE HYPEREDGE TABLE numbers (Later, Last) ROLES (home)',
  'CREATE NODE TABLE Later (name TEXT)',
];

const person = (key: string) => ({ kind: 'Person', key });
const room = (key: number) => ({ kind: 'Room', key });
const word = (key: string) => ({ kind: 'match', key });

/** The edges of each table. */
function edges(): Record<string, object[]> {
  const pairs = KEYS.map((key, at) => [key, KEYS[(at * 7 + 1) % KEYS.length]!] as const);
  return {
    plain: [
      { event_ts: 1, members: ['Ada', 'Bob'] },
      ...pairs.map((members, at) => ({ event_ts: at, members })),
      { event_ts: -5, members: KEYS.slice(0, 64), weight: 0.5, formation: "it's" },
    ],
    many: Array.from({ length: MANY }, (_, at) => ({
      event_ts: at >> 1,
      members: [`p${at % 700}`, `q${at % 41}`],
      note: at % 3 === 0 ? null : `n${at}`,
    })),
    rooms: NUMBERS.map((number, at) => ({ event_ts: at, members: [number, NUMBERS[at >> 1]] })),
    visits: [
      ...pairs.map(([a, b], at) => ({
        event_ts: at,
        members: [person(a), room(NUMBERS[at % NUMBERS.length]!), word(b)],
        note: b,
      })),
      { event_ts: 9, members: [word('Ada'), person('Ada')] },
    ],
    mail: [
      ...pairs.map(([a, b], at) => ({ event_ts: at, members: { sender: [a], null: [b] } })),
      // Members with several roles, and without one.
      { event_ts: 5, members: [{ key: 'Ada', role: 'sender' }, { key: 'Ada', role: 'null' }, 'Bob'] },
      { event_ts: 6, members: ['Bob', 'Ada'] },
    ],
    stays: NUMBERS.map((number, at) => ({
      event_ts: at,
      end_ts: at % 2 === 0 ? null : at + 9,
      members: { home: [number], host: [7] },
    })),
    tenancies: [
      ...pairs.map(([a, b], at) => ({
        event_ts: at,
        end_ts: at % 3 === 0 ? null : at + 100,
        rent: at / 8,
        members: { tenant: [person(a), person(b)], home: [room(at)] },
      })),
      { event_ts: 2, members: [{ ...person('Ada'), role: 'tenant' }, room(5)] },
    ],
    holds: [
      { event_ts: 3, members: ['Ada'] },
      { event_ts: 3, end_ts: 3, members: ['Bob', 'Ada'] },
    ],
    strict: [
      { event_ts: 1, members: ['Ada', '__proto__'] },
      { event_ts: 2, members: ['$name'] },
    ],
    notes: [
      { event_ts: 1, members: ['Ada'], title: 'Budget', body: 'Travel costs', stars: 3 },
      { event_ts: 2, members: ['Bob'], title: null, body: "line\nline '", stars: null },
    ],
    nulls: [
      { event_ts: 1, members: { sender: [person("O'Neil")] } },
      ...pairs.map(([a, b], at) => ({
        event_ts: at,
        members: [{ ...person(a), role: 'sender' }, word(b)],
        kind: `k${at}`,
      })),
    ],
    numbers: [
      { event_ts: 1, members: { home: [1, 2] } },
      { event_ts: 2, members: [3] },
    ],
    hyperedges: [{ event_ts: 1, members: [1, -2] }],
  };
}

async function ask(server: TestServer, method: string, path: string, body: object | string): Promise<void> {
  const headers: Record<string, string> = typeof body === 'string' ? { 'content-type': 'application/x-ndjson' } : {};
  const { status, text } = await send(server, method, path, body, headers);
  expect(status, `${path}: ${text}`).toBeLessThan(300);
}

const run = (server: TestServer, query: string) => ask(server, 'POST', '/v1/query', { query });

async function start(dir?: string): Promise<TestServer> {
  const server = await startServer(dir === undefined ? {} : { dir });
  servers.push(server);
  return server;
}

async function fill(server: TestServer): Promise<void> {
  for (const statement of SCHEMA) await run(server, statement);
  const people = KEYS.filter((_, at) => at % 2 === 0).map((name, at) => ({
    name,
    born: at,
    city: `c${at}`,
    bio: name,
  }));
  await ask(server, 'POST', '/v1/nodes/Person', people.map((node) => `${JSON.stringify(node)}\n`).join(''));
  // A node without an edge, and one that has null where the default is not null.
  await ask(server, 'POST', '/v1/nodes/Person', { name: 'alone' });
  await ask(server, 'PATCH', '/v1/nodes/Person/alone', { city: null });
  await ask(server, 'POST', '/v1/nodes/Room', { id: 7, where: "it's" });
  await ask(server, 'POST', '/v1/nodes/Person', { name: '__proto__' });
  for (const [table, rows] of Object.entries(edges()))
    await ask(server, 'POST', `/v1/hyperedges?table=${table}`, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  await run(server, 'UPDATE nulls SET kind = null WHERE nulls.event_ts < 20');
}

/** Returns a text in which neither the order of fields nor that of members matters. */
function rowText(row: object): string {
  return JSON.stringify(row, (_, value: unknown) => {
    if (Array.isArray(value)) return value.map((item) => JSON.stringify(item)).sort();
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

const textsOf = (rows: readonly object[]) => rows.map(rowText).sort();

/** Returns everything that must be equal. Ids, numbers of nodes and times of creation are new. */
function factsOf(database: Database) {
  const tables = database.tables().map(({ name }) => name);
  return {
    tables: database.tables().map((table) => ({ ...table.item(true), created_at: 0 })),
    edges: tables.map((name) => [name, textsOf(keyRowsOf(database, name).map(({ id: _, ...row }) => row))]),
    nodeTables: database.nodes.tables().map((table) => ({ ...database.nodes.item(table, true), created_at: 0 })),
    nodes: database.nodes.tables().map(({ name }) => [name, textsOf(nodeRowsOf(database, name))]),
    indexes: [...database.indexes(), ...database.textIndexes.list()].map((index) => ({ ...index, created_at: 0 })),
  };
}

type Facts = ReturnType<typeof factsOf>;

/** Fills a database and returns its location and its contents. */
async function filled(kind: PlaceName): Promise<{ place: { url?: string; data?: string }; facts: Facts }> {
  const server = await start(kind === 'server' ? undefined : world.path('from'));
  await fill(server);
  const facts = factsOf(server.database);
  if (kind === 'server') return { place: { url: server.url }, facts };
  servers.pop();
  await server.close();
  return { place: { data: 'from' }, facts };
}

async function loadedInto(kind: PlaceName, dump: string): Promise<object> {
  if (kind === 'directory') {
    expect(await loadCommand(dump, { data: `to-${dump}` }, world), world.err).toBe(0);
    return lookInto(world.path(`to-${dump}`), factsOf);
  }
  const server = await start();
  expect(await loadCommand(dump, { url: server.url }, world), world.err).toBe(0);
  return factsOf(server.database);
}

test.each(FORMATS.flatMap((format) => PLACES.map((from) => [format, from] as const)))(
  'named tables of every shape survive a dump as %s of a %s',
  async (format, from) => {
    const { place, facts } = await filled(from);
    expect(await dumpCommand('dump', { ...place, format }, world), world.err).toBe(0);
    // Rows with a null where the default is not null are in a file of statements.
    expect(readdirSync(world.path('dump/tables')).includes('nulls.nulls.hql')).toBe(format !== 'statements');
    for (const to of PLACES) expect(await loadedInto(to, 'dump'), to).toEqual(facts);
    // No progress files or rejects are left.
    expect(readdirSync(world.cwd).filter((name) => name.includes('.'))).toEqual([]);
  },
);

test('the statements of a dump are the edges by keys, and its schema creates the same tables', async () => {
  const { place, facts } = await filled('directory');
  expect(await dumpCommand('dump', { ...place, format: 'statements' }, world), world.err).toBe(0);
  const rowsIn = (table: string) => readFileSync(world.path(`dump/tables/${table}.hql`), 'utf8').split('\n');
  expect(rowsIn('strict')).toEqual([
    'INSERT INTO `strict` (event_ts, members, `weight`, `mean_dist_m`, `formation`) VALUES',
    "(1, ['Ada', '__proto__'], null, null, null),",
    "(2, ['$' + 'name'], null, null, null);",
    '',
  ]);
  expect(rowsIn('visits')).toContain("(9, [node(`Person`, 'Ada'), node(`match`, 'Ada')], null, null, null, null),");
  world.stdin = createReadStream(world.path('dump/schema.hql'));
  await lookInto(world.path('hand'), () => {});
  expect(await shellCommand({ data: 'hand', format: 'json' }, world), world.err).toBe(0);
  const made = await lookInto(world.path('hand'), factsOf);
  const emptied = (tables: readonly object[]) => tables.map((table) => ({ ...table, row_count: 0 }));
  for (const part of ['tables', 'nodeTables'] as const) expect(emptied(made[part])).toEqual(emptied(facts[part]));
  expect(made.indexes).toEqual(facts.indexes);
});

test.each<[string, string[], RegExp]>([
  [
    'a table that exists with another shape',
    ['CREATE NODE TABLE Person (name TEXT)', 'CREATE HYPEREDGE TABLE calls (Person) INTERVALS'],
    /table calls already exists as \(Person\) INTERVALS, but is \(Person\) ROLES \(sender\) in the dump/,
  ],
  [
    'a table that exists with numbers as members',
    ['CREATE HYPEREDGE TABLE calls () ROLES (sender)'],
    /table calls already exists as \(\) ROLES \(sender\), but is \(Person\) ROLES \(sender\) in the dump/,
  ],
  [
    'a node table with which the members of a table would no longer be numbers',
    ['CREATE NODE TABLE Later (name TEXT)'],
    /members of numbers are numbers in the dump, but the node table Later already exists/,
  ],
])('%s is refused before anything is created', async (_, statements, message) => {
  const from = await start();
  await run(from, 'CREATE HYPEREDGE TABLE numbers (later)');
  for (const name of ['Person', 'Later', 'Other']) await run(from, `CREATE NODE TABLE ${name} (name TEXT)`);
  await run(from, 'CREATE HYPEREDGE TABLE calls (Person) ROLES (sender)');
  expect(await dumpCommand('dump', { url: from.url }, world), world.err).toBe(0);
  const to = await start();
  for (const statement of statements) await run(to, statement);
  const before = factsOf(to.database);
  expect(await loadCommand('dump', { url: to.url }, world)).toBe(1);
  expect(world.err).toMatch(message);
  expect(factsOf(to.database)).toEqual(before);
  // What matches may exist already.
  const other = await start();
  for (const statement of ['CREATE HYPEREDGE TABLE numbers (later)', 'CREATE NODE TABLE Later (name TEXT)'])
    await run(other, statement);
  expect(await loadCommand('dump', { url: other.url }, world), world.err).toBe(0);
  expect(factsOf(other.database)).toEqual(factsOf(from.database));
});
