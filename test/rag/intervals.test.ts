// Tests rules, retrieved edges and the firewall on a table with intervals: the fact until(E, ts),
// and ends in answers and claims.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, send, startServer, type TestServer } from '../http/support.ts';

let server: TestServer;
const DAY = 86_400;

const post = (path: string, body: unknown): Promise<Answer> => send(server, 'POST', path, body);

beforeAll(async () => {
  server = await startServer();
  await post('/v1/tables', { name: 'jobs', intervals: true, columns: [{ name: 'title', type: 'TEXT' }] });
  for (const [members, start, end, title] of [
    [[1, 70], 17_000, 19_000, 'clerk'],
    [[2, 70], 18_000, null, 'driver'],
  ] as const)
    await post('/v1/hyperedges', {
      table: 'jobs',
      event_ts: start * DAY,
      members,
      end_ts: end === null ? null : end * DAY,
      title,
    });
});
afterAll(() => server.close());

const RULE = {
  id: 'rule:ended',
  if: [
    { pred: 'member', args: ['?E', '?A'] },
    { pred: 'until', args: ['?E', '?T'] },
  ],
  then: { pred: 'ended', args: ['?A', '?T'] },
};

test('rules see the end of an edge that has one', async () => {
  const { json } = await post('/v1/reason', { query: 'node 70', table: 'jobs', rules: [RULE], times: 'iso' });
  expect(json.derived_facts.map(({ fact }: { fact: string }) => fact)).toEqual([`ended(70, ${19_000 * DAY})`]);
  const edges = json.all_edges as { edge_id: number; end_ts: unknown; properties: object }[];
  const ends = edges.sort((a, b) => a.edge_id - b.edge_id).map(({ end_ts, properties }) => [end_ts, properties]);
  expect(ends).toEqual([
    ['2022-01-08T00:00:00Z', { title: 'clerk' }],
    [null, { title: 'driver' }],
  ]);
  const plain = await post('/v1/reason', { query: 'node 70', rules: [] });
  for (const edge of plain.json.all_edges) expect(edge).not.toHaveProperty('end_ts');
});

test('the firewall knows the end as it knows the time of the edge', async () => {
  const claims = [
    'The job ended on 2022-01-08 [HEDGE-1].',
    'The job began on 2016-07-18 [HEDGE-1].',
    'The job ended on 2022-01-09 [HEDGE-1].',
    `until(1, ${19_000 * DAY}) holds [HEDGE-1].`,
    `until(1, ${19_001 * DAY}) holds [HEDGE-1].`,
  ];
  const { json } = await post('/v1/rag/check', { claims, table: 'jobs', edge_ids: [1] });
  expect(json.results.map(({ supported }: { supported: boolean }) => supported)).toEqual([
    true,
    true,
    false,
    true,
    false,
  ]);
});
