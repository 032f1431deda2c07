// Dumps and loads node tables, from and into servers and directories.

import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { dumpCommand } from '../../src/cli/dump/command.ts';
import { loadCommand } from '../../src/cli/load/command.ts';
import { send, startServer, type TestServer } from '../http/support.ts';
import { TestWorld } from './support.ts';

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

async function filled(): Promise<TestServer> {
  const server = await start();
  await send(server, 'POST', '/v1/node-tables', {
    name: 'Person',
    key: { name: 'name', type: 'TEXT' },
    columns: [
      { name: 'born', type: 'INTEGER' },
      { name: 'city', type: 'TEXT', default: 'Rome "é"' },
    ],
  });
  await send(server, 'POST', '/v1/node-tables', { name: 'Room', key: { name: 'id', type: 'INTEGER' } });
  await send(server, 'POST', '/v1/node-tables', { name: 'Empty', key: { name: 'k', type: 'TEXT' } });
  await send(server, 'POST', '/v1/tables', { name: 'strict', member_tables: ['Person', 'Room'], create_nodes: false });
  const people = Array.from({ length: 2500 }, (_, born) => `{"name":"p${born}\\ud83e\\udd94","born":${born}}`).join(
    '\n',
  );
  const headers = { 'content-type': 'application/x-ndjson' };
  await send(server, 'POST', '/v1/nodes/Person', people, headers);
  for (const name of ['a/b', '"', '__proto__', 'No city'])
    await send(server, 'POST', '/v1/nodes/Person', { name, born: -1 });
  await send(server, 'PATCH', '/v1/nodes/Person/No%20city', { city: null, born: null });
  for (const id of [0, -5, 2 ** 53 - 1]) await send(server, 'POST', '/v1/nodes/Room', { id });
  return server;
}

async function contentOf(server: TestServer): Promise<unknown> {
  const tables = (await send(server, 'GET', '/v1/node-tables?defaults=true')).json;
  const nodes: Record<string, unknown> = {};
  for (const table of tables) {
    delete table.created_at;
    nodes[table.name] = (await send(server, 'GET', `/v1/nodes/${table.name}`)).json.nodes;
  }
  const { created_at: _, ...strict } = (await send(server, 'GET', '/v1/tables/strict')).json;
  return { tables, nodes, strict };
}

test.each(['parquet', 'ndjson', 'statements'])('node tables survive a dump as %s', async (format) => {
  const server = await filled();
  const before = await contentOf(server);
  expect(await dumpCommand('dump', { url: server.url, format }, world)).toBe(0);
  expect(world.out).toContain('3 node tables with 2507 nodes');
  const lines = gunzipSync(readFileSync(`${world.cwd}/dump/nodes/Room.ndjson.gz`)).toString();
  expect(lines).toBe('{"id":-5}\n{"id":0}\n{"id":9007199254740991}\n');
  expect(readFileSync(`${world.cwd}/dump/schema.hql`, 'utf8')).toContain(
    'CREATE NODE TABLE `Person` (`name` TEXT) PROPERTIES (`born` INTEGER, `city` TEXT DEFAULT \'Rome "é"\');',
  );
  const other = await start();
  expect(await loadCommand('dump', { url: other.url }, world), world.err).toBe(0);
  expect(await contentOf(other)).toEqual(before);
  // A second load refuses, and one that goes on changes nothing.
  expect(await loadCommand('dump', { url: other.url }, world)).toBe(1);
  expect(world.err).toContain('already exists and holds');
  expect(await loadCommand('dump', { url: other.url, resume: true }, world), world.err).toBe(0);
  expect(await contentOf(other)).toEqual(before);
  // Through a directory.
  expect(await loadCommand('dump', { data: 'copy' }, world), world.err).toBe(0);
  expect(await dumpCommand('again', { data: 'copy', format }, world), world.err).toBe(0);
  for (const name of ['Person', 'Room', 'Empty']) {
    const textOf = (dir: string) => gunzipSync(readFileSync(`${world.cwd}/${dir}/nodes/${name}.ndjson.gz`)).toString();
    expect(textOf('again')).toBe(textOf('dump'));
  }
});

test('a dump of a version without node tables is loaded', async () => {
  const server = await start();
  await send(server, 'POST', '/v1/hyperedges', { event_ts: 1, members: [1] });
  expect(await dumpCommand('dump', { url: server.url }, world)).toBe(0);
  const path = `${world.cwd}/dump/hedgerow-dump.json`;
  const { node_tables: _, ...older } = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify(older));
  const other = await start();
  expect(await loadCommand('dump', { url: other.url }, world), world.err).toBe(0);
  expect((await send(other, 'GET', '/v1/tables/hyperedges')).json.row_count).toBe(1);
});

function byText(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

test.each(['parquet', 'ndjson', 'statements'])('edges between named nodes survive a dump as %s', async (format) => {
  const from = await filled();
  await send(from, 'POST', '/v1/tables', { name: 'talks', member_tables: ['Person'], roles: ['by', 'to'] });
  const keys = ["it's", '$name', '$', '\\u0041', '[1]', '\u{1f994}'];
  for (const [at, key] of keys.entries()) {
    const talk = { table: 'talks', event_ts: at, roles: { by: [key], to: ['Ada', key] } };
    const said = await send(from, 'POST', '/v1/hyperedges', talk);
    expect(said.status, JSON.stringify(said.json)).toBe(201);
    const member = { kind: 'Person', key: 'No city' };
    const strict = { table: 'strict', event_ts: at, members: [member, { kind: 'Room', key: -5 }] };
    expect((await send(from, 'POST', '/v1/hyperedges', strict)).status).toBe(201);
  }
  const edgesOf = async (server: TestServer) => {
    const tables = [];
    for (const table of ['talks', 'strict']) {
      const query = `MATCH (e:${table}) RETURN * ORDER BY id`;
      const { rows } = (await send(server, 'POST', '/v1/query', { query })).json;
      // Members come in the order in which their nodes were made, which a load changes.
      for (const row of rows) for (const list of Object.values(row)) if (Array.isArray(list)) list.sort(byText);
      tables.push(rows);
    }
    return tables;
  };
  const before = await edgesOf(from);
  expect(before.map((rows) => rows.length)).toEqual([keys.length, keys.length]);
  expect(await dumpCommand('dump', { url: from.url, format }, world), world.err).toBe(0);
  const to = await start();
  expect(await loadCommand('dump', { url: to.url }, world), world.err).toBe(0);
  expect(await edgesOf(to)).toEqual(before);
});
