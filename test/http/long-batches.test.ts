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

test('a batch over many tables, of which one is dropped meanwhile, is answered as one that failed', async () => {
  const tables = Array.from({ length: 150 }, (_, place) => `many${place}`);
  const run = (query: string) => send(server, 'POST', '/v1/query', { query });
  const make = (name: string) => run(`CREATE HYPEREDGE TABLE ${name} () PROPERTIES (n INTEGER)`);
  for (const name of tables) await make(name);
  for (let round = 0; round < 12; round++) {
    // Several at once: all but the first wait for each other before they are committed.
    const batches = [1, 2, 3].map((n) => {
      const inserts = tables.flatMap((table) =>
        [1, 2, 3, 4].map(() => ({ type: 'insert', table, event_ts: 1, members: [1], n })),
      );
      return send(server, 'POST', '/v1/batch', { operations: inserts });
    });
    for (let turn = 0; turn < 10 * round; turn++) await new Promise((resolve) => setImmediate(resolve));
    const dropped = tables.slice(40 + round, 43 + round);
    const drops = await Promise.all(dropped.map((name) => run(`DROP HYPEREDGE TABLE ${name}`)));
    expect(drops.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const { status, json } of await Promise.all(batches)) {
      expect(status, JSON.stringify(json).slice(0, 200)).toBe(200);
      expect(json.ops_total).toBe(600);
      if (!json.committed) expect(json.error).toMatch(/many4\d|many5\d/);
    }
    for (const name of dropped) await make(name);
  }
  const counts = await Promise.all(
    ['many0', 'many149'].map(async (name) => (await run(`MATCH (e:${name}) RETURN COUNT(*) AS n`)).json.rows[0].n),
  );
  expect(counts[0]).toBe(counts[1]);
});
