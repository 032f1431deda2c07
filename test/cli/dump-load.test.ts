import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { dumpCommand } from '../../src/cli/dump/command.ts';
import { importCommand } from '../../src/cli/import/command.ts';
import { loadCommand } from '../../src/cli/load/command.ts';
import { openDatabase } from '../../src/engine/index.ts';
import { startServer, type TestServer } from '../http/support.ts';
import { Random } from '../support/random.ts';
import { multiset, randomTable } from './round-trip.ts';
import { edgeLines, lookInto, TestWorld } from './support.ts';

const CLOSE = {
  id: 'rule:close',
  if: [{ pred: 'member', args: ['?E', '?A'] }, { pred: 'member', args: ['?E', '?B'] }, { compare: ['?A', '<', '?B'] }],
  then: { pred: 'close', args: ['?A', '?B'], confidence: 0.9 },
};
const FAR = {
  id: 'rule:far',
  name: 'Far apart',
  priority: 5,
  enabled: false,
  if: [{ pred: 'hyperedge', args: ['?E'] }, { not: { pred: 'close', args: ['?E', '?E'] } }],
  then: { pred: 'far', args: ['?E'] },
};
const BANK = {
  id: 'bank',
  name: 'Bank transfers',
  backend: { type: 'duckdb', path: 'bank.duckdb' },
  nodes: [{ label: 'Account', table: 'accounts', id_column: 'id' }],
  edges: [
    {
      label: 'Transfer',
      shape: 'row',
      table: 'transfers',
      ts_column: 'ts',
      row_member_columns: { src: 'from_id', dst: 'to_id' },
      members: [
        { name: 'src', node_label: 'Account', role: 'src' },
        { name: 'dst', node_label: 'Account', role: 'dst' },
      ],
    },
  ],
};

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

async function start(): Promise<TestServer> {
  const server = await startServer();
  servers.push(server);
  return server;
}

async function post(server: TestServer, path: string, body: object): Promise<void> {
  const answer = await fetch(server.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.ok, await answer.text()).toBe(true);
}

async function documents(server: TestServer, path: string): Promise<unknown> {
  return (await fetch(server.url + path)).json();
}

test('a whole database is the same after a dump and a load', async () => {
  const from = await start();
  const random = new Random(7);
  for (let at = 0; at < 4; at++) await randomTable(from.database, random, `t${at}`);
  await from.database.createTable({
    name: 'rides',
    memberTables: ['cars', 'people'],
    bucketSeconds: 77,
    compactThreshold: 5000,
    columns: [{ name: 'speed', type: 'REAL' }],
  });
  await from.database.table().insert({ event_ts: 3, members: [1, 2] });
  await from.database.createIndex('rides', 'speed');
  for (const rule of [CLOSE, FAR]) await post(from, '/v1/rules', rule);
  await post(from, '/v1/virtual/graphs', BANK);
  expect(await dumpCommand('dump', { url: from.url }, world), world.err).toBe(0);
  expect(world.out).toMatch(/6 tables with \d+ edges, 1 indexes, 2 rules, 1 virtual graphs/);

  // Loads the dump into a directory, dumps that directory again, and loads the second dump into a
  // server.
  expect(await loadCommand('dump', { data: 'db' }, world), world.err).toBe(0);
  expect(await dumpCommand('again', { data: 'db' }, world), world.err).toBe(0);
  const to = await start();
  expect(await loadCommand('again', { url: to.url }, world), world.err).toBe(0);
  for (const table of from.database.tables()) {
    const loaded = to.database.table(table.name);
    expect(multiset(loaded), table.name).toEqual(multiset(table));
    expect({ ...loaded.item(), created_at: 0 }).toEqual({ ...table.item(), created_at: 0 });
  }
  expect(to.database.indexes()).toMatchObject([{ table: 'rides', column: 'speed' }]);
  for (const path of ['/v1/rules', '/v1/rules/rule:close', '/v1/rules/rule:far', '/v1/virtual/graphs/bank'])
    expect(await documents(to, path), path).toEqual(await documents(from, path));
  // No progress files or rejects are left.
  expect(readdirSync(world.cwd).sort()).toEqual(['again', 'db', 'dump']);
});

test('the primary table keeps its name in a new directory', async () => {
  const database = await openDatabase({ dir: world.path('db'), primaryTable: 'mine' });
  await database.table().insert({ event_ts: 1, members: [1] });
  await database.close();
  world.environment.HEDGEROW_PRIMARY_TABLE = 'mine';
  expect(await dumpCommand('dump', { data: 'db' }, world), world.err).toBe(0);
  world.environment = {};
  expect(await loadCommand('dump', { data: 'new' }, world), world.err).toBe(0);
  const loaded = await openDatabase({ dir: world.path('new'), primaryTable: 'mine' });
  expect(loaded.tables().map((table) => [table.name, table.rowCount])).toEqual([['mine', 1]]);
  await loaded.close();
});

test('existing rows are not loaded twice, and an interrupted load is resumed', async () => {
  world.file('edges.ndjson', edgeLines(50));
  expect(await importCommand(['edges.ndjson'], { data: 'db' }, world)).toBe(0);
  expect(await importCommand(['edges.ndjson'], { data: 'db', table: 'u', createTable: true }, world)).toBe(0);
  expect(await dumpCommand('dump', { data: 'db', format: 'ndjson' }, world), world.err).toBe(0);
  expect(await loadCommand('dump', { data: 'new' }, world), world.err).toBe(0);
  expect(await loadCommand('dump', { data: 'new' }, world)).toBe(1);
  expect(world.err).toMatch(/holds 50 edges.*--resume/);
  await lookInto(world.path('new'), (database) => database.dropTable('u'));
  expect(await loadCommand('dump', { data: 'new', resume: true }, world), world.err).toBe(0);
  await lookInto(world.path('new'), (database) => {
    expect(database.tables().map((table) => table.rowCount)).toEqual([50, 50]);
  });
});

test('an incomplete dump is reported, and nothing is created', async () => {
  expect(await loadCommand('nowhere', { data: 'new' }, world)).toBe(1);
  expect(world.err).toMatch(/holds no complete dump/);
  world.file('edges.ndjson', edgeLines(5));
  expect(await importCommand(['edges.ndjson'], { data: 'db' }, world)).toBe(0);
  expect(await dumpCommand('dump', { data: 'db' }, world)).toBe(0);
  expect(await dumpCommand('dump', { data: 'db' }, world)).toBe(1);
  expect(world.err).toMatch(/dump is not empty/);
  rmSync(world.path('dump/tables/hyperedges.parquet'));
  expect(await loadCommand('dump', { data: 'new' }, world)).toBe(1);
  expect(world.err).toMatch(/incomplete: there is no .*hyperedges\.parquet/);
  for (const text of [
    '{',
    '{}',
    '{"format":"hedgerow-dump","version":1,"edges":"parquet","tables":[{"name":"../x"}],"indexes":[],"rules":[],"virtual_graphs":[]}',
  ]) {
    writeFileSync(world.path('dump/hedgerow-dump.json'), text);
    expect(await loadCommand('dump', { data: 'new' }, world)).toBe(1);
  }
  expect(await dumpCommand('other', { data: 'db', format: 'csv' }, world)).toBe(2);
  expect(existsSync(world.path('new'))).toBe(false);
});
