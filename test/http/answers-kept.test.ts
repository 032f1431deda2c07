// Tests retries of writes whose stored answers are large. No write runs twice, whatever the size of
// its answer, even after a restart, a kill, compactions and a restore from backup.

import { cpSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { restore } from '../backup/support.ts';
import { type Answer, send, startServer, type TestServer } from './support.ts';

const BATCHES = 400;
/** Every answer of a batch contains ROWS rows with this text, so it is 300 KB long. */
const NOTE = 'x'.repeat(60_000);
const ROWS = 5;
const ROW = { table: 'many', event_ts: 1, members: [1], properties: { note: NOTE } };

let home: string;
let dir: string;
let server: TestServer;
let largeRow: Answer;
let first: Answer[];

const ask = (method: string, path: string, body: unknown, key?: string): Promise<Answer> =>
  send(server, method, path, body, key === undefined ? {} : { 'idempotency-key': key });

const batch = (i: number): Promise<Answer> =>
  ask(
    'POST',
    '/v1/batch',
    {
      operations: [
        { type: 'insert', table: 'many', event_ts: i, members: [i, i + 1] },
        { type: 'insert', table: 'many', event_ts: i, members: [i, i + 2] },
        { type: 'query', cypher: 'MATCH (n:notes) RETURN n.note AS note' },
      ],
    },
    `batch ${i}`,
  );

const rowsOf = async (table: string): Promise<number> =>
  (await ask('GET', `/v1/tables/${table}`, undefined)).json.row_count;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'hedgerow-answers-'));
  dir = join(home, 'db');
  server = await startServer({ dir });
  for (const name of ['many', 'notes'])
    await ask('POST', '/v1/tables', { name, columns: [{ name: 'note', type: 'TEXT' }] });
  for (let i = 0; i < ROWS; i++)
    await ask('POST', '/v1/hyperedges', { table: 'notes', event_ts: i, members: [i], properties: { note: NOTE } });
  largeRow = await ask('POST', '/v1/hyperedges', ROW, 'large row');
  first = [];
  for (let i = 0; i < BATCHES; i++) {
    first.push(await batch(i));
    if (i % 100 === 99) await ask('POST', '/v1/hyperedges/compact', {});
  }
}, 120_000);

afterAll(async () => {
  await server.close();
  rmSync(home, { recursive: true, force: true });
});

/**
 * Sends all requests again. The newest requests get their stored answers. The older requests get
 * the error `already_done` with the LSN and the ids of their first run.
 */
async function sendAllAgain(): Promise<void> {
  const { lastLsn } = server.database;
  let replayed = 0;
  for (let i = 0; i < BATCHES; i++) {
    const again = await batch(i);
    const ids = first[i]!.json.results.slice(0, 2).map(({ id }: { id: number }) => id);
    if (again.status === 200) {
      expect([again.text === first[i]!.text, again.headers.get('idempotent-replayed')]).toEqual([true, 'true']);
      replayed++;
      continue;
    }
    expect(replayed, `batch ${i}`).toBe(0);
    expect(again.json).toEqual({
      detail: expect.stringContaining('was not run again'),
      code: 'already_done',
      status: 409,
      request_id: expect.any(String),
      lsn: expect.any(Number),
      ids: [{ table: 'many', first_id: ids[0], last_id: ids[1] }],
    });
    expect(again.json.lsn).toBeGreaterThanOrEqual(Number(first[i]!.headers.get('x-hedgerow-lsn')));
    expect(again.json.lsn).toBeLessThanOrEqual(lastLsn);
  }
  expect(replayed).toBeGreaterThan(200);
  expect(replayed).toBeLessThan(BATCHES);
  expect([await rowsOf('many'), server.database.lastLsn]).toEqual([1 + 2 * BATCHES, lastLsn]);
}

test('none of 400 batches with answers of 300 KB runs twice', async () => {
  expect(new Set(first.map(({ status }) => status))).toEqual(new Set([200]));
  expect(Math.min(...first.map(({ text }) => text.length))).toBeGreaterThan(300_000);
  await sendAllAgain();
  expect(server.database.replays.figures.memoryBytes).toBeLessThan(64 * 2 ** 20 + BATCHES * 500);
}, 60_000);

test('a known key with another body is refused with idempotency_conflict', async () => {
  const other = await ask('POST', '/v1/batch', { operations: [{ type: 'nothing' }] }, 'batch 0');
  expect([other.status, other.json.code]).toEqual([409, 'idempotency_conflict']);
});

test('no batch runs twice after a restart', async () => {
  await server.close();
  server = await startServer({ dir });
  await sendAllAgain();
}, 60_000);

test('no batch runs twice after a kill', async () => {
  // A copy of the files of the running server is the state that a kill leaves.
  const killed = join(home, 'killed');
  await ask('POST', '/v1/hyperedges/compact', {});
  cpSync(dir, killed, { recursive: true, filter: (path) => !/\/lock[^/]*$/.test(path) });
  const running = server;
  server = await startServer({ dir: killed });
  try {
    await sendAllAgain();
  } finally {
    await server.close();
    server = running;
  }
}, 60_000);

test('no batch runs twice after a backup and its restore', async () => {
  const { status, json } = await ask('POST', '/v1/backup', { compact_first: true });
  expect(status).toBe(200);
  const restored = join(home, 'restored');
  await restore(json.path, restored);
  const running = server;
  server = await startServer({ dir: restored });
  try {
    await sendAllAgain();
  } finally {
    await server.close();
    server = running;
  }
}, 60_000);

test('a repeated insert still returns its id when the row is large or the answer is longer than 1 MB', async () => {
  expect(largeRow.status).toBe(201);
  expect((await ask('POST', '/v1/hyperedges', ROW, 'large row')).json).toMatchObject({
    code: 'already_done',
    ids: [{ table: 'many', first_id: largeRow.json.id, last_id: largeRow.json.id }],
  });
  const cypher = 'MATCH (n:notes) RETURN n.note AS note';
  const operations = [
    { type: 'insert', table: 'many', event_ts: 2, members: [2] },
    ...Array.from({ length: 4 }, () => ({ type: 'query', cypher })),
  ];
  const large = await ask('POST', '/v1/batch', { operations }, 'large answer');
  expect(large.text.length).toBeGreaterThan(2 ** 20);
  const again = await ask('POST', '/v1/batch', { operations }, 'large answer');
  const id = large.json.results[0].id;
  expect([again.status, again.json.code, again.json.ids]).toEqual([
    409,
    'already_done',
    [{ table: 'many', first_id: id, last_id: id }],
  ]);
}, 60_000);

test('damaged answer files do not prevent the start; only writes with unknown keys are refused', async () => {
  const damaged = join(home, 'damaged');
  await ask('POST', '/v1/hyperedges/compact', {});
  cpSync(dir, damaged, { recursive: true, filter: (path) => !/\/lock[^/]*$/.test(path) });
  const running = server;
  for (const name of readdirSync(join(damaged, 'replays'))) {
    const path = join(damaged, 'replays', name);
    await truncate(path, statSync(path).size / 2);
  }
  server = await startServer({ dir: damaged });
  try {
    const health = await ask('GET', '/health', undefined);
    expect([health.status, health.json.status]).toEqual([200, 'degraded']);
    expect(health.json.answers_damaged_until).toBeGreaterThan(Date.now() / 1000 + 23 * 3600);
    const { lastLsn } = server.database;
    const codes = new Map<string, number>();
    for (let i = 0; i < BATCHES; i++) {
      const { status, json } = await batch(i);
      const code = status === 200 ? 'replayed' : json.code;
      codes.set(code, (codes.get(code) ?? 0) + 1);
      if (code === 'answers_damaged')
        expect([status, json.detail]).toEqual([409, expect.stringContaining('without an Idempotency-Key')]);
    }
    expect([...codes.keys()].sort()).toEqual(['already_done', 'answers_damaged', 'replayed']);
    expect(server.database.lastLsn).toBe(lastLsn);
    expect((await ask('POST', '/v1/hyperedges', { table: 'many', event_ts: 1, members: [1] })).status).toBe(201);
  } finally {
    await server.close();
    server = running;
  }
}, 60_000);
