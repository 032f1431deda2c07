// Tests that COPY over HTTP has no deadline, but ends when its client disconnects.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { statementsOf } from '../support/statements.ts';
import { openSocket, send, sleep, startServer, type TestServer } from './support.ts';

const ROWS = 60_000;

let root: string;
let server: TestServer;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'hedgerow-copy-http-'));
  const lines = Array.from({ length: ROWS }, (_, row) => `${row},"[${row % 50},${1000 + row}]",word ${row % 9}`);
  writeFileSync(join(root, 'rows.csv'), `event_ts,members,formation\n${lines.join('\n')}\n`);
  server = await startServer({ open: false, queryTimeoutMs: 1 });
  server.service.open({ database: server.database, statements: statementsOf(server.database, root) });
});

afterAll(async () => {
  await server.close();
  rmSync(root, { recursive: true });
});

const run = (query: string) => send(server, 'POST', '/v1/query', { query });
const files = () => readdirSync(root).filter((name) => name !== 'rows.csv');

test('a client that disconnects ends its COPY, which leaves no partial result', async () => {
  for (const query of ["COPY hyperedges FROM 'rows.csv'", "COPY hyperedges TO 'never.csv'"]) {
    const body = JSON.stringify({ query });
    const socket = await openSocket(server);
    socket.write(
      `POST /v1/query HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    // Waits until the COPY has begun: the server answers a request that arrives later on another
    // connection while the COPY runs.
    await send(server, 'GET', '/health/live');
    socket.destroy();
  }
  const unfinished = () => files().filter((name) => name !== 'never.csv');
  for (let tries = 0; tries < 500 && unfinished().length > 0; tries++) await sleep(20);
  expect(unfinished()).toEqual([]);
  expect(server.database.table().rowCount % ROWS).toBe(0);
  // If the first COPY ended early, the table was empty and the second wrote no rows. The second may
  // also have finished before its client disconnected.
  if (files().length > 0)
    expect([0, ROWS]).toContain(readFileSync(join(root, 'never.csv'), 'utf8').trimEnd().split('\n').length - 1);
  rmSync(join(root, 'never.csv'), { force: true });
});

test('COPY has no deadline', async () => {
  const before = server.database.table().rowCount;
  const copied = await run("COPY hyperedges FROM 'rows.csv'");
  expect([copied.status, copied.json.rows?.[0].rows_affected]).toEqual([200, ROWS]);
  expect(server.database.table().rowCount).toBe(before + ROWS);
  const written = await run("COPY hyperedges TO 'out.ndjson'");
  expect([written.status, written.json.rows?.[0].rows_affected]).toEqual([200, before + ROWS]);
  const timed = await run(
    'MATCH (a:hyperedges), (b:hyperedges) WHERE a.event_ts < 5000 AND b.event_ts < 5000 AND a.id + b.id = 7 RETURN count(*)',
  );
  expect([timed.status, timed.json.code]).toEqual([504, 'timeout']);
});

test('the refusal of a file names the setting of the copy root', async () => {
  const { status, json } = await run("COPY hyperedges FROM '../rows.csv'");
  expect([status, json.code]).toEqual([400, 'invalid_input']);
  expect(json.detail).toMatch(/below the copy root\. See the setting HEDGEROW_COPY_ROOT\.$/);
});
