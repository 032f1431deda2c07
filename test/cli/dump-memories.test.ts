// Tests that the links between memories survive a dump and a load, in which edges get new ids.

import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { dumpCommand } from '../../src/cli/dump/command.ts';
import { loadCommand } from '../../src/cli/load/command.ts';
import { send, startServer, type TestServer } from '../http/support.ts';
import { Random } from '../support/random.ts';
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

async function post(server: TestServer, path: string, body: object): Promise<void> {
  const answer = await send(server, 'POST', path, body);
  expect([200, 201], JSON.stringify(answer.json)).toContain(answer.status);
}
const remember = (server: TestServer, body: object) => post(server, '/v1/memory/remember', body);
const supersede = (server: TestServer, body: object) => post(server, '/v1/memory/supersede', body);
const run = (server: TestServer, query: string) => post(server, '/v1/query', { query });

/** Returns which text superseded which; null stands for a memory that is not there. */
async function links(server: TestServer, table = 'memories'): Promise<[what: string, before: string | null][]> {
  const query = `MATCH (m:${table}) RETURN m.id AS id, m.what AS what, m.supersedes AS before`;
  const { rows } = (await send(server, 'POST', '/v1/query', { query })).json as {
    rows: { id: number; what: string; before: number | null }[];
  };
  const texts = new Map(rows.map(({ id, what }) => [id, what]));
  return rows
    .filter(({ before }) => before !== null)
    .map(({ what, before }): [string, string | null] => [what, texts.get(before!) ?? null])
    .sort();
}

/** Memory 1 is deleted, so that ids move; one predecessor is deleted, too. */
async function filled(): Promise<TestServer> {
  const server = await start();
  for (const what of ['Eve', 'Ada lives in Rome', 'Bob likes tea', 'Cy is here'])
    await remember(server, { what, about: ['x'], when: 100 });
  await supersede(server, { id: 2, what: 'Ada lives in Oslo', at: 200 });
  await supersede(server, { id: 5, what: 'Ada lives in Bonn', at: 300 });
  await supersede(server, { id: 4, what: 'Cy is there', at: 150 });
  await run(server, 'DELETE FROM memories WHERE id = 1');
  await run(server, 'DELETE FROM memories WHERE id = 4');
  return server;
}

const KEPT = [
  ['Ada lives in Bonn', 'Ada lives in Oslo'],
  ['Ada lives in Oslo', 'Ada lives in Rome'],
];

test.each(['ndjson', 'parquet', 'statements'])(
  'links point to the same memories after a dump as %s',
  async (format) => {
    const from = await filled();
    expect(await dumpCommand('dump', { url: from.url, format }, world), world.err).toBe(0);
    expect(await loadCommand('dump', { data: 'db' }, world), world.err).toBe(0);
    // A link to a memory that was deleted is lost: its id may be that of another one by now.
    expect(world.err).toBe('');
    expect(await dumpCommand('again', { data: 'db', format }, world), world.err).toBe(0);
    const to = await start();
    expect(await loadCommand('again', { url: to.url }, world), world.err).toBe(0);
    expect(await links(to)).toEqual(KEPT);
    // Nothing else has changed.
    const { json } = await send(to, 'POST', '/v1/memory/history', { about: ['x'] });
    expect(
      json.memories.map((memory: { event_ts: number; end_ts: number | null }) => [memory.event_ts, memory.end_ts]),
    ).toEqual([
      [100, 200],
      [100, null],
      [150, null],
      [200, 300],
      [300, null],
    ]);
    // Going on with a load that has ended changes nothing.
    expect(await loadCommand('again', { url: to.url, resume: true }, world), world.err).toBe(0);
    expect(await links(to)).toEqual(KEPT);
  },
);

test('links survive in rows that are dumped apart, and in many tables of random chains', async () => {
  const from = await start();
  const random = new Random(5);
  for (const table of ['one', 'two']) {
    for (let n = 0; n < 30; n++) await remember(from, { table, what: `${table} ${n}`, about: ['x'], when: 1000 - n });
    for (let id = 1; id <= 40; id++)
      if (random.below(2) === 0) await supersede(from, { table, id, what: `${table} after ${id}`, at: 2000 + id });
    await run(from, `ALTER TABLE ${table} ADD COLUMN mood TEXT DEFAULT 'good'`);
    await run(from, `UPDATE ${table} SET mood = null WHERE id > 10 AND id < 35`);
    await run(from, `DELETE FROM ${table} WHERE id = 3`);
  }
  const wanted = await Promise.all(['one', 'two'].map((table) => links(from, table)));
  expect(wanted[0]!.length).toBeGreaterThan(10);
  expect(await dumpCommand('dump', { url: from.url, format: 'ndjson' }, world), world.err).toBe(0);
  const to = await start();
  expect(await loadCommand('dump', { url: to.url }, world), world.err).toBe(0);
  const kept = wanted.map((all) => all.filter(([, before]) => before !== null));
  expect(await Promise.all(['one', 'two'].map((table) => links(to, table)))).toEqual(kept);
});

test('a dump that does not say where links lead loses them, with one warning', async () => {
  const from = await filled();
  expect(await dumpCommand('dump', { url: from.url, format: 'ndjson' }, world), world.err).toBe(0);
  const { links: _, ...old } = JSON.parse(readFileSync(world.path('dump/hedgerow-dump.json'), 'utf8'));
  writeFileSync(world.path('dump/hedgerow-dump.json'), JSON.stringify(old));
  const to = await start();
  expect(await loadCommand('dump', { url: to.url }, world), world.err).toBe(0);
  expect(await links(to)).toEqual([]);
  expect(world.err.match(/supersedes/g)).toHaveLength(1);
  expect(world.err).toContain('memories');
});

test('links that are no links are refused before anything is created', async () => {
  const from = await filled();
  expect(await dumpCommand('dump', { url: from.url, format: 'ndjson' }, world), world.err).toBe(0);
  const dump = JSON.parse(readFileSync(world.path('dump/hedgerow-dump.json'), 'utf8'));
  for (const memories of [
    [[0]],
    [[9, 0]],
    [[0, -1]],
    [['0', 1]],
    {},
    [
      [1, 0],
      [1, 2],
    ],
  ]) {
    writeFileSync(world.path('dump/hedgerow-dump.json'), JSON.stringify({ ...dump, links: { memories } }));
    expect(await loadCommand('dump', { data: 'new' }, world), JSON.stringify(memories)).toBe(1);
    expect(world.err).toContain('links');
    world.err = '';
  }
});

test('a table that others have written to meanwhile is reported', async () => {
  const from = await filled();
  expect(await dumpCommand('dump', { url: from.url, format: 'ndjson' }, world), world.err).toBe(0);
  const to = await start();
  expect(await loadCommand('dump', { url: to.url }, world), world.err).toBe(0);
  await remember(to, { what: 'another', about: ['y'] });
  expect(await loadCommand('dump', { url: to.url, resume: true }, world)).toBe(1);
  expect(world.err).toContain('holds 6 memories');
  expect(await links(to)).toEqual(KEPT);
});
