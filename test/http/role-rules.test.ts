// Tests rules and questions over a table with roles: the base fact `role`, retrieved edges, and
// claims about roles.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { edgeLine } from '../../src/rag/context.ts';
import { knownOfEdges } from '../../src/rules/index.ts';
import { type Answer, send, startServer, type TestServer } from './support.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await post('/v1/tables', { name: 'mail', roles: ['sender', 'recipient'] });
  for (const [n, members] of [{ sender: [1], recipient: [2, 3] }, { sender: [2], recipient: [1] }, [4, 5]].entries())
    await post('/v1/hyperedges', { table: 'mail', event_ts: 1_700_000_000 + n, members });
});
afterAll(() => server.close());

const post = (path: string, body: unknown): Promise<Answer> => send(server, 'POST', path, body);

const WROTE = {
  id: 'rule:wrote',
  if: [
    { pred: 'role', args: ['?E', '?A', 'sender'] },
    { pred: 'role', args: ['?E', '?B', 'recipient'] },
  ],
  then: { pred: 'wrote', args: ['?A', '?B'] },
};
const UNMARKED = {
  id: 'rule:unmarked',
  if: [
    { pred: 'member', args: ['?E', '?A'] },
    { not: { pred: 'role', args: ['?E', '?A', 'sender'] } },
    { not: { pred: 'role', args: ['?E', '?A', 'recipient'] } },
  ],
  then: { pred: 'unmarked', args: ['?A'] },
};

describe('the base fact role', () => {
  test('holds for the members with the role, in premises and under negation', async () => {
    const { status, json } = await post('/v1/reason', {
      query: 'what happened with nodes 1, 2, 3, 4 and 5?',
      table: 'mail',
      rules: [WROTE, UNMARKED],
    });
    expect(status).toBe(200);
    expect(json.derived_facts.map(({ fact }: { fact: string }) => fact).sort()).toEqual([
      'unmarked(4)',
      'unmarked(5)',
      'wrote(1, 2)',
      'wrote(1, 3)',
      'wrote(2, 1)',
    ]);
    const [edge] = json.all_edges.filter(({ edge_id }: { edge_id: number }) => edge_id === 1);
    expect(edge.roles).toEqual({ sender: [1], recipient: [2, 3] });
    const known = knownOfEdges(json.all_edges);
    expect([
      known('role', [1, 1, 'sender']),
      known('role', [1, 1, 'recipient']),
      known('role', [1, 1, 'toString']),
    ]).toEqual(['given', 'false', 'false']);
  });

  test('cannot be a head', async () => {
    const rule = { ...WROTE, then: { pred: 'role', args: ['?E', '?A', 'x'] } };
    expect((await post('/v1/reason', { query: 'node 1', table: 'mail', rules: [rule] })).status).toBe(422);
  });

  test('never holds in a table without roles', async () => {
    await post('/v1/hyperedges', { event_ts: 1, members: [1, 2] });
    const { json } = await post('/v1/reason', { query: 'node 1', rules: [WROTE] });
    expect(json.derived_facts).toEqual([]);
    expect(json.all_edges[0].roles).toBeUndefined();
  });
});

describe('roles in answers', () => {
  test('stand in the line of an edge, and are checked in claims', async () => {
    const edge = (await post('/v1/reason', { query: 'node 3', table: 'mail', rules: [] })).json.all_edges[0];
    expect(edgeLine(edge)).toBe('[HEDGE-1] event_ts=1700000000 members=[1, 2, 3] sender=[1] recipient=[2, 3]');
    const claims = [
      'The sender was sender 1.',
      'The message came from sender 2.',
      'role(1, 2, recipient) holds.',
      'role(1, 2, sender) holds.',
    ];
    const { json } = await post('/v1/rag/check', { table: 'mail', edge_ids: [1], claims });
    expect(json.results.map(({ supported }: { supported: boolean }) => supported)).toEqual([true, false, true, false]);
  });
});
