// Tests measures over HTTP: formats, order of errors, streams and refusals. The tests of streams
// from a thread need dist/ (npm run build).

import { existsSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HedgerowClient } from '../../src/client/index.ts';
import { startServer, type TestServer } from '../http/support.ts';
import { insertAll, naivePairs, type TestEdge } from './edges.ts';

const BUILT = existsSync(new URL('../../dist/analytics/worker.js', import.meta.url));

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  const { database } = server;
  await insertAll(database.table(), [
    { event_ts: 10, members: [1, 2, 3], weight: 2 },
    { event_ts: 20, members: [2, 3], weight: null },
    { event_ts: 30, members: [4], weight: 1 },
  ]);
  await database.createTable({ name: 'Empty' });
});
afterAll(() => server.close());

interface Answered {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the tests read fields of bodies of every form.
  json: any;
}

async function post(path: string, body?: unknown): Promise<Answered> {
  const response = await fetch(`${server.url}/v1/analytics/${path}`, {
    method: 'POST',
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  return { status: response.status, headers: response.headers, json: await response.json() };
}

test('an answer contains measure, table, result, definition, basis, parameters and log position', async () => {
  const { status, headers, json } = await post('HYPEREDGES/node_degree', {
    params: { weighted: true, end_ts: 25 },
    more: 1,
  });
  expect(status).toBe(200);
  expect(headers.get('x-hedgerow-lsn')).toBe(String(server.database.lastLsn));
  expect(Object.keys(json)).toEqual(['measure', 'table', 'result', 'definition', 'basis', 'params']);
  expect(json).toMatchObject({
    measure: 'node_degree',
    table: 'hyperedges',
    result: { 1: 2, 2: 3, 3: 3 },
    basis: 'events',
    params: { weighted: true, end_ts: 25 },
  });
});

test('a limit puts the largest value first, even if there are fewer values', async () => {
  const keysOf = async (measure: string, params: object) => {
    const response = await fetch(`${server.url}/v1/analytics/hyperedges/${measure}`, {
      method: 'POST',
      body: JSON.stringify({ params }),
      headers: { 'content-type': 'application/json' },
    });
    // JSON.parse would put keys that are integers in ascending order.
    return [.../"(\d+)":/g[Symbol.matchAll]((await response.text()).split('"definition"')[0]!)].map(([, key]) => key);
  };
  for (const limit of [2, 3, 4, 1000])
    expect(await keysOf('node_degree', { limit })).toEqual(['2', '3', '1', '4'].slice(0, limit));
  expect(await keysOf('node_degree', {})).toEqual(['1', '2', '3', '4']);
  for (const limit of [2, 3, 4]) expect(await keysOf('edge_size', { limit })).toEqual(['1', '2', '3'].slice(0, limit));
});

test('a body may be left out, and params may be null', async () => {
  const without = await post('hyperedges/edge_size');
  expect(without.json.result).toEqual({ 1: 3, 2: 2, 3: 1 });
  expect((await post('hyperedges/edge_size', {})).json).toEqual(without.json);
  expect((await post('hyperedges/edge_size', { params: null })).json).toEqual(without.json);
  expect((await post('hyperedges/edge_size', { params: { start_ts: null } })).json).toEqual(without.json);
});

test('measures are listed with parameters, results and sources', async () => {
  const listed = (await (await fetch(`${server.url}/v1/analytics`)).json()) as Record<string, unknown>[];
  expect(listed).toHaveLength(25);
  for (const item of listed) {
    expect(Object.keys(item)).toEqual(['measure', 'about', 'source', 'params', 'result']);
    expect(item.params).toMatchObject({ type: 'object', properties: { start_ts: { type: ['integer', 'string'] } } });
  }
});

describe('the analytics route refuses', () => {
  test('an unknown measure, even if the table is unknown too, and lists the known measures', async () => {
    for (const table of ['hyperedges', 'nope']) {
      const { status, json } = await post(`${table}/densty`, {});
      expect(status).toBe(400);
      expect(json.detail).toMatch(/density.*temporal_coreness/s);
    }
  });

  test('an unknown table with 404, even if the parameters are wrong too', async () => {
    for (const body of [{}, { params: { nope: 1 } }, { start_ts: 1 }]) {
      const { status, json } = await post('nope/density', body);
      expect([status, json.code]).toEqual([404, 'table_not_found']);
    }
  });

  test.each([
    ['density', { knd: 'edges' }, 'knd'],
    ['density', { kind: 'fancy' }, 'kind'],
    ['density', { kind: 'uniform' }, 'k'],
    ['density', { start_ts: '5' }, 'start_ts'],
    ['density', { start_ts: 1.5 }, 'start_ts'],
    ['s_adjacency', { s: 0 }, 's'],
    ['s_adjacency', { on: 'both' }, 'on'],
    ['pagerank', { alpha: 0 }, 'alpha'],
    ['pagerank', { alpha: 1 }, 'alpha'],
    ['pagerank', { weighted: 'yes' }, 'weighted'],
    ['s_distance', { source: 77 }, 'source'],
    ['modularity', { partition: [1, 2] }, 'partition'],
  ])('a wrong parameter for %s: %j', async (measure, params, name) => {
    const { status, json } = await post(`hyperedges/${measure}`, { params });
    expect(status).toBe(400);
    expect(json.errors[0].loc).toEqual(['body', 'params', name]);
    expect(json.detail).toContain(name);
  });

  test('parameters that are beside `params` instead of inside it, and names them', async () => {
    const { status, json } = await post('hyperedges/pagerank', { start_ts: 1, alpha: 0.5, note: 'ignored' });
    expect(status).toBe(400);
    expect(json.errors.map(({ loc }: { loc: unknown }) => loc)).toEqual([
      ['body', 'start_ts'],
      ['body', 'alpha'],
    ]);
    expect(json.detail).toContain('params');
  });

  test('params that are not an object', async () => {
    for (const params of [[], 5, 'a']) expect((await post('hyperedges/density', { params })).status).toBe(400);
  });
});

test('an empty table and an empty window have answers', async () => {
  for (const [path, params] of [
    ['Empty', {}],
    ['hyperedges', { start_ts: 1000 }],
    ['hyperedges', { start_ts: 20, end_ts: 10 }],
  ] as const) {
    expect((await post(`${path}/node_degree`, { params })).json.result).toEqual({});
    expect((await post(`${path}/s_adjacency`, { params })).json.result).toEqual([]);
    expect((await post(`${path}/density`, { params })).json.result).toBe(0);
    expect((await post(`${path}/spectral_gap`, { params })).json.result).toBeNull();
  }
});

test('a node or an edge outside the window gives an empty result', async () => {
  for (const [measure, params] of [
    ['node_degree', { node_id: 77 }],
    ['node_degree', { node_id: 4, end_ts: 25 }],
    ['closeness', { node_id: 77 }],
    ['pagerank', { node_id: 77 }],
    ['redundancy', { node_id: 77 }],
    ['redundancy', { variant: 'latapy_edges', edge_id: 77 }],
    ['betweenness', { projection: 'line', edge_id: 77 }],
    ['edge_size', { edge_id: 77 }],
    ['edge_size', { edge_id: 77, basis: 'distinct' }],
    ['edge_size', { edge_id: 3, end_ts: 25 }],
    ['temporal_burstiness', { node_id: 77 }],
    ['temporal_coreness', { node_id: 77 }],
  ] as const) {
    const { status, json } = await post(`hyperedges/${measure}`, { params });
    expect([measure, status, json.result]).toEqual([measure, 200, {}]);
  }
});

describe('sums of weights beyond the finite numbers', () => {
  beforeAll(async () => {
    const { database } = server;
    await database.createTable({ name: 'Heavy' });
    await insertAll(database.table('Heavy'), [
      { event_ts: 10, members: [1, 2], weight: 1e308 },
      { event_ts: 20, members: [2, 3], weight: 1e308 },
      { event_ts: 30, members: [2, 3], weight: 1 },
    ]);
    await database.createTable({ name: 'HeavySet' });
    await insertAll(database.table('HeavySet'), [
      { event_ts: 10, members: [1, 2], weight: 1e308 },
      { event_ts: 20, members: [1, 2], weight: 1e308 },
    ]);
  });
  const weighted = async (path: string, params = {}) => {
    const { status, json } = await post(path, { params: { weighted: true, ...params } });
    return [status, json.result];
  };

  test('are null in node_degree, for the nodes that have such sums', async () => {
    expect(await weighted('Heavy/node_degree')).toEqual([200, { 1: 1e308, 2: null, 3: 1e308 }]);
    expect(await weighted('Heavy/node_degree', { top: 2 })).toEqual([200, { 1: 1e308, 3: 1e308 }]);
    expect(await weighted('HeavySet/node_degree', { basis: 'distinct' })).toEqual([200, { 1: null, 2: null }]);
  });

  test('make spectral_gap null', async () => {
    expect(await weighted('Heavy/spectral_gap')).toEqual([200, null]);
    expect(await weighted('HeavySet/spectral_gap')).toEqual([200, null]);
  });

  test('do not arise when the total weight is very large or very small, but finite', async () => {
    await server.database.createTable({ name: 'OneLarge' });
    await server.database.createTable({ name: 'Small' });
    await insertAll(server.database.table('OneLarge'), [{ event_ts: 10, members: [1, 2], weight: 1e308 }]);
    await insertAll(server.database.table('Small'), [
      { event_ts: 10, members: [1, 2], weight: 1e-307 },
      { event_ts: 20, members: [1, 2], weight: 1e-307 },
    ]);
    for (const table of ['OneLarge', 'Small']) {
      // When every edge joins the same two nodes, the normalized Laplacian has the eigenvalues 0
      // and 1, whatever the weights are.
      const [, gap] = await weighted(`${table}/spectral_gap`);
      expect(gap).toBeCloseTo(1, 9);
      for (const walk of ['hyperedge', 'nonlazy', 'clique_count']) {
        const [, ranks] = await weighted(`${table}/pagerank`, { walk });
        expect(ranks[1]).toBeCloseTo(0.5, 9);
        expect(ranks[2]).toBeCloseTo(0.5, 9);
      }
    }
  });

  test.each(['hyperedge', 'nonlazy', 'clique_count'])('make pagerank null, walk %s', async (walk) => {
    expect(await weighted('Heavy/pagerank', { walk })).toEqual([200, { 1: null, 2: null, 3: null }]);
    expect(await weighted('HeavySet/pagerank', { walk })).toEqual([200, { 1: null, 2: null }]);
  });

  test('have no effect on measures that ignore weights', async () => {
    expect((await post('Heavy/node_degree', { params: {} })).json.result).toEqual({ 1: 1, 2: 3, 3: 2 });
    expect((await post('Heavy/spectral_gap', { params: {} })).json.result).toBeGreaterThan(0);
  });
});

/** Returns `count` edges, each with 60 of `nodes` nodes. */
function wideEdges(count: number, nodes: number): TestEdge[] {
  return Array.from({ length: count }, (_, edge) => ({
    event_ts: edge,
    members: Array.from({ length: 60 }, (_, at) => (edge * 7 + at * 3) % nodes).sort((a, b) => a - b),
    weight: null,
  }));
}

test("large answers computed in the server's own thread are streamed", async () => {
  const table = await server.database.createTable({ name: 'wide' });
  const edges = wideEdges(50, 400);
  await insertAll(table, edges);
  const { headers, json } = await post('wide/s_adjacency', {});
  expect(headers.get('content-length')).toBeNull();
  expect(json.result).toEqual(naivePairs(edges));
});

describe.skipIf(!BUILT)('measures computed in a worker thread', () => {
  const edges = wideEdges(400, 2000);
  let client: HedgerowClient;
  beforeAll(async () => {
    await insertAll(await server.database.createTable({ name: 'wider' }), edges);
    client = new HedgerowClient({ url: server.url, maxAttempts: 1, readYourWrites: true });
  });

  test("stream large answers at the client's pace", async () => {
    const pairs = naivePairs(edges);
    const { result } = await client.analytics.run('wider', 's_adjacency');
    expect(result).toEqual(pairs);
    const response = await fetch(`${server.url}/v1/analytics/wider/s_adjacency`, { method: 'POST' });
    const reader = response.body!.getReader();
    expect((await reader.read()).value!.length).toBeGreaterThan(0);
    await reader.cancel();
    const { result: size } = await client.analytics.run('wider', 'uniformity');
    expect(size).toMatchObject({ is_uniform: true, k: 60 });
  });

  test('see a write that precedes the call, and return the log position', async () => {
    const before = await client.analytics.run('wider', 'node_degree', { node_id: 3 });
    const { members } = await client.hyperedges.insert({ table: 'wider', event_ts: 9, members: [3, 5000] });
    expect(members).toEqual([3, 5000]);
    const after = await client.analytics.run('wider', 'node_degree', { node_id: 3 });
    expect(after.result).toEqual({ 3: (before.result as Record<string, number>)[3]! + 1 });
    expect(client.lastLsn).toBe(server.database.lastLsn);
  });
});

test('a call that exceeds the time limit is answered with 504', async () => {
  const hurried = await startServer({ queryTimeoutMs: 1 });
  try {
    await insertAll(hurried.database.table(), wideEdges(200, 2000));
    const response = await fetch(`${hurried.url}/v1/analytics/hyperedges/betweenness`, { method: 'POST' });
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({ code: 'timeout' });
  } finally {
    await hurried.close();
  }
});
