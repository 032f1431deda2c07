// Tests the limits on the memory of questions: the length of the text of their edges, and the
// number of questions that run at the same time.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { ReasoningRoom } from '../../src/rag/room.ts';
import { send, startServer, type TestServer } from './support.ts';

const ROWS = 200;

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  const lines = Array.from({ length: ROWS }, (_, row) =>
    JSON.stringify({ event_ts: row, members: [1, row + 2], formation: 'z'.repeat(60_000) + row }),
  );
  const answer = await send(server, 'POST', '/v1/hyperedges', lines.join('\n'), {
    'content-type': 'application/x-ndjson',
  });
  expect(answer.json.inserted).toBe(ROWS);
});
afterAll(() => server.close());

test('questions about edges with long texts are answered up to a limit, and beyond it are refused with advice', async () => {
  const few = await send(server, 'POST', '/v1/reason', { query: '', top_k: 100, rules: [] });
  expect([few.status, few.json.all_edges.length]).toEqual([200, 100]);
  for (const [path, body] of [
    ['/v1/reason', { query: '', top_k: 10_000, rules: [] }],
    ['/v1/reason', { query: 'node 1', top_k: 150, rules: [] }],
    ['/v1/rag/query', { query: 'node 1', top_k: 200, mode: 'symbolic', rules: [] }],
  ] as const) {
    const { json } = await send(server, 'POST', path, body);
    expect([path, json.status, json.code]).toEqual([path, 422, 'query_too_large']);
    expect(json.detail).toMatch(/8 million letters.*top_k/);
  }
});

test('every question releases its place, however it ends', async () => {
  // More questions than there are places.
  for (let round = 0; round < 70; round++) {
    const { status } = await send(server, 'POST', '/v1/reason', {
      query: 'node 1',
      top_k: round % 2 === 0 ? 20 : 200,
      rules: [],
    });
    expect(status).toBe(round % 2 === 0 ? 200 : 422);
  }
  for (let round = 0; round < 70; round++) {
    const leaves = await fetch(`${server.url}/v1/reason`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '', top_k: 100, rules: [] }),
    });
    expect(leaves.status).toBe(200);
    await leaves.body!.cancel();
  }
});

test('the number of places is limited', () => {
  const room = new ReasoningRoom(2);
  const [first, second] = [room.enter(), room.enter()];
  expect(() => room.enter()).toThrow(
    expect.objectContaining({ code: 'overloaded', message: expect.stringContaining('Try again') }),
  );
  first();
  first();
  expect(room.running).toBe(1);
  room.enter();
  expect(() => room.enter()).toThrow();
  second();
  expect(room.running).toBe(1);
});
