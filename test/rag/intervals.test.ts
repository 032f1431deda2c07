// Tests rules, retrieved edges and the firewall on a table with intervals: the fact until(E, ts),
// and ends in answers and claims.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, send, startServer, type TestServer } from '../http/support.ts';

let server: TestServer;
const DAY = 86_400;
/** 2020-09-13. */
const BASE_TS = 1_600_000_000;

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

test.each([
  ['node 70 in 2017', [1]],
  ['node 70 in 2020', [1, 2]],
  ['node 70 on 2022-01-07', [1, 2]],
  ['node 70 on 2022-01-08', [2]],
  ['node 70 since 2022-01-08', [2]],
  ['node 70 before 2019-04-14', [1]],
  ['node 70 in 2010', []],
  ['jobs in 2020', [1, 2]],
  ['jobs with title = clerk in 2020', [1]],
  ['jobs with title = driver in 2018', []],
])('a window means the edges that hold in it: %s', async (query, ids) => {
  const { json } = await post('/v1/reason', { query, table: 'jobs', rules: [] });
  expect(json.all_edges.map(({ edge_id }: { edge_id: number }) => edge_id).sort()).toEqual(ids);
});

test.each([
  ['How many jobs are there in 2020?', '2 hyperedges match'],
  ['How many jobs are there in 2023?', '1 hyperedge matches'],
  ['How many jobs does node 1 have in 2018?', '1 hyperedge matches'],
  ['How many nodes are in jobs in 2023?', '2 different nodes are'],
  ['Which node has the most jobs in 2020?', 'Node 70 is in the most hyperedges of table jobs: 2.'],
])('a figure is that of the edges that hold in the window: %s', async (query, text) => {
  const { json } = await post('/v1/rag/query', { query, table: 'jobs', mode: 'symbolic' });
  expect(json.answer).toContain(text);
});

test('a relative window is kept when an edge holds in it, and dropped when none does', async () => {
  const asked = async (query: string) => (await post('/v1/reason', { query, table: 'jobs', rules: [] })).json;
  // The newest edge began in April 2019.
  expect((await asked('node 70 in January')).understood.window).not.toBeNull();
  await post('/v1/tables', { name: 'leases', intervals: true });
  for (const [start, end] of [
    [100, 110],
    [500, 510],
  ] as const)
    await post('/v1/hyperedges', { table: 'leases', event_ts: start * DAY, end_ts: end * DAY, members: [1, 2] });
  const { json } = await post('/v1/reason', { query: 'node 1 a year ago', table: 'leases', rules: [] });
  expect(json.understood.window).toBeNull();
});

const timeText = (ts: number): string => new Date(ts * 1000).toISOString().replace('.000Z', 'Z');

test('windows over random intervals mean the same edges as a scan of all of them', async () => {
  let state = 7;
  const below = (most: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % most;
  };
  await post('/v1/tables', { name: 'stays', intervals: true });
  const edges: { event_ts: number; end_ts: number | null; members: number[] }[] = [];
  for (let index = 0; index < 400; index++) {
    const event_ts = BASE_TS + below(1000);
    const end_ts = below(10) === 0 ? null : event_ts + (below(4) === 0 ? below(900) : below(20));
    edges.push({ event_ts, end_ts, members: [below(5), 10 + below(5)] });
  }
  const body = edges.map((edge) => JSON.stringify(edge)).join('\n');
  await send(server, 'POST', '/v1/hyperedges?table=stays', body, { 'content-type': 'application/x-ndjson' });
  for (let round = 0; round < 60; round++) {
    const start_ts = BASE_TS + below(1100);
    const end_ts = start_ts + below(200);
    const node = round % 3 === 0 ? undefined : below(5);
    const what = node === undefined ? 'hyperedges' : `node ${node}`;
    const query = `${what} between ${timeText(start_ts)} and ${timeText(end_ts)}`;
    const { json } = await post('/v1/reason', { query, table: 'stays', rules: [], top_k: 1000 });
    expect(json.understood.window).toEqual({ start_ts, end_ts });
    const wanted = edges.flatMap((edge, index) => {
      const isHeld = edge.event_ts >= start_ts || edge.end_ts === null || edge.end_ts > start_ts;
      const isMeant = edge.event_ts <= end_ts && isHeld;
      return isMeant && (node === undefined || edge.members.includes(node)) ? [index + 1] : [];
    });
    const found = json.all_edges.map(({ edge_id }: { edge_id: number }) => edge_id);
    expect([round, found.sort((a: number, b: number) => a - b)]).toEqual([round, wanted]);
  }
});
