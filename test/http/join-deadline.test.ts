// Tests that a join with too many combinations to count ends at the deadline of statements.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { send, startServer, type TestServer } from './support.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ queryTimeoutMs: 400 });
  const lines = Array.from({ length: 4000 }, (_, row) => JSON.stringify({ event_ts: row, members: [1, 2 + row] }));
  await send(server, 'POST', '/v1/hyperedges', `${lines.join('\n')}\n`, { 'content-type': 'application/x-ndjson' });
});
afterAll(() => server.close());

test.each(['COUNT(*) AS n', 'c.event_ts AS t, COUNT(*) AS n', 'MIN(a.event_ts) AS t, COUNT(DISTINCT b.id) AS n'])(
  'a join of three patterns that returns %s ends with 504, and the service continues',
  async (items) => {
    const query = `MATCH (a:hyperedges), (b:hyperedges), (c:hyperedges) WHERE shared(a, b) >= 1 AND shared(b, c) >= 1 RETURN ${items}`;
    const { status, json } = await send(server, 'POST', '/v1/query', { query });
    expect([status, json.code]).toEqual([504, 'timeout']);
    const after = await send(server, 'POST', '/v1/query', { query: 'MATCH (e:hyperedges) RETURN COUNT(*) AS n' });
    expect(after.json.rows).toEqual([{ n: 4000 }]);
  },
);
