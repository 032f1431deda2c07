// Tests batches whose answers are written in several steps.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { send, startServer, type TestServer } from './support.ts';

const OPERATIONS = 5000;

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

test('the answer to a long batch has the result of each operation, also if it is kept for retries', async () => {
  const inserts = Array.from({ length: OPERATIONS }, (_, place) => ({
    type: 'insert',
    event_ts: place,
    members: [place, place + 1],
  }));
  const deletes = [{ type: 'delete', event_ts: 7, members: [7, 8] }];
  const body = { operations: [...inserts, ...deletes] };
  for (const [round, headers] of [{}, { 'idempotency-key': 'long' }].entries()) {
    const { status, json } = await send(server, 'POST', '/v1/batch', body, headers);
    expect(status).toBe(200);
    const { results, ...rest } = json;
    expect(rest).toEqual({ committed: true, ops_total: OPERATIONS + 1, ops_success: OPERATIONS + 1 });
    const first = round * OPERATIONS + 1;
    expect(results.slice(0, -1)).toEqual(
      inserts.map((_, op) => ({ op, type: 'insert', success: true, id: first + op })),
    );
    expect(results.at(-1)).toEqual({ op: OPERATIONS, type: 'delete', success: true, matched: 1 });
  }
});
