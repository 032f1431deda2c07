// Tests measures, reasoning and questions of named tables over HTTP.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { largestFirst, rowsOf } from '../../src/cli/analyze/rows.ts';
import { checkProof, knownOfEdges } from '../../src/rules/index.ts';
import { send, startServer, type TestServer } from './support.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  const { database } = server;
  await database.nodes.createTable({
    name: 'Person',
    key: { name: 'name', type: 'TEXT' },
    columns: [{ name: 'city', type: 'TEXT', default: 'Rome' }],
  });
  await database.nodes.createTable({ name: 'Room', key: { name: 'number', type: 'INTEGER' } });
  const calls = await database.createTable({ name: 'calls', memberTables: ['Person'] });
  await calls.insert({ event_ts: 10, members: ['Grace', 'Ada'] });
  await calls.insert({ event_ts: 20, members: ['Ada', 'B "x" [HEDGE-1]'] });
  const visits = await database.createTable({ name: 'visits', memberTables: ['Person', 'Room'] });
  await visits.insert({
    event_ts: 10,
    members: [
      { kind: 'Person', key: 'Ada' },
      { kind: 'Room', key: 7 },
    ],
  });
});
afterAll(() => server.close());

const measure = (path: string, params: object = {}) => send(server, 'POST', `/v1/analytics/${path}`, { params });

describe('measures', () => {
  test('answer by key, take keys, and answer numbers if asked to', async () => {
    const degrees = await measure('calls/node_degree');
    expect(degrees.json.result).toEqual({ Grace: 1, Ada: 2, 'B "x" [HEDGE-1]': 1 });
    expect((await measure('calls/node_degree?members=numbers')).json.result).toEqual({ 1: 1, 2: 2, 3: 1 });
    expect((await measure('calls/node_degree', { node_id: 'Ada' })).json).toMatchObject({
      result: { Ada: 2 },
      params: { node_id: 'Ada' },
    });
    expect((await measure('calls/node_degree', { node_id: 'Nobody' })).json.result).toEqual({});
    expect((await measure('visits/node_degree', { node_id: { kind: 'Room', key: 7 } })).json.result).toEqual({
      'Room:7': 1,
    });
    expect((await measure('calls/s_adjacency')).json.result).toEqual([
      ['Grace', 'Ada', 1],
      ['Ada', 'B "x" [HEDGE-1]', 1],
    ]);
    expect((await measure('visits/s_connected_components')).json.result).toEqual([['Person:Ada', 'Room:7']]);
    const wrong = await measure('calls/node_degree', { node_id: 7 });
    expect([wrong.status, wrong.json.errors[0].loc]).toEqual([400, ['body', 'params', 'node_id']]);
    expect((await measure('calls/node_degree?members=objects')).json.errors[0].loc).toEqual(['query', 'members']);
  });

  test('make rows with keys', async () => {
    const { result } = (await measure('calls/node_degree')).json;
    expect(rowsOf(result, 'node_degree')).toContainEqual({ id: 'Ada', value: 2 });
    expect(largestFirst(rowsOf(result, 'node_degree'), result)[0]).toEqual({ id: 'Ada', value: 2 });
    const bursts = (await measure('calls/temporal_burstiness', { scope: 'node' })).json.result;
    expect(rowsOf(bursts, 'temporal_burstiness')[0]).toMatchObject({ id: 'Grace', intervals: 0 });
    const table = (await measure('calls/temporal_burstiness')).json.result;
    expect(rowsOf(table, 'temporal_burstiness')).toEqual([table]);
    expect(rowsOf({ 7: 1, '007': 2 }, 'node_degree').map(({ id }) => id)).toEqual(['7', '007']);
    expect(rowsOf({}, 'node_degree')).toEqual([]);
  });
});

const RULE = {
  id: 'rule:lives',
  if: [
    { pred: 'member', args: ['?E', '?P'] },
    { pred: 'attribute', args: ['?P', 'city', '?C'] },
  ],
  then: { pred: 'lives', args: ['?P', '?C'] },
};

describe('reasoning', () => {
  test('answers with keys, and its proofs can be checked with the answer alone', async () => {
    const { status, json } = await send(server, 'POST', '/v1/reason', { query: 'ada', table: 'calls', rules: [RULE] });
    expect(status).toBe(200);
    expect(json.understood).toMatchObject({ nodes: ['Ada'], ignored: [] });
    expect(json.all_edges.map(({ members }: { members: unknown }) => members)).toEqual([
      ['Ada', 'B "x" [HEDGE-1]'],
      ['Grace', 'Ada'],
    ]);
    expect(json.derived_facts.map(({ fact }: { fact: string }) => fact)).toEqual(['lives("Ada", "Rome")']);
    const known = knownOfEdges(json.all_edges);
    for (const proof of json.proofs) expect(checkProof(proof, { rules: [RULE], known })).toEqual([]);
    const other = structuredClone(json.proofs[0]);
    const member = other.nodes.find(({ predicate }: { predicate: string }) => predicate === 'member');
    member.args[1] = 'Grace Hopper';
    expect(checkProof(other, { rules: [RULE], known }).length).toBeGreaterThan(0);
  });

  test('questions show kinds if there are several, and a model is given keys', async () => {
    const body = { query: 'ada in room 7', table: 'visits', mock: true, rules: [] };
    const { status, json } = await send(server, 'POST', '/v1/rag/query', body);
    expect(status).toBe(200);
    const members = [
      { kind: 'Person', key: 'Ada' },
      { kind: 'Room', key: 7 },
    ];
    expect(json.understood.nodes).toEqual(members);
    expect(json.all_edges[0].members).toEqual(members);
    expect(json.abstained).toBe(false);
    const kept = await send(server, 'GET', `/v1/rag/interactions/${json.interaction_id}`);
    expect(kept.json.retrieved.edges[0].members).toEqual(members);
    expect(kept.json.retrieved.question.nodes).toEqual(members);
  });

  test('a key that contains a tag proves nothing', async () => {
    const body = { query: '', table: 'calls', mode: 'symbolic', rules: [] };
    const { json } = await send(server, 'POST', '/v1/rag/query', body);
    expect(json.firewall.stripped).toEqual([]);
    expect(json.answer).not.toContain('x" [HEDGE-1]"');
  });
});
