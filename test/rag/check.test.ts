// Tests POST /v1/rag/check, which gives verdicts on texts and claims that were written elsewhere.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { send, startServer, type TestServer } from '../http/support.ts';
import { CALLS, PEOPLE } from './fifty-questions.ts';
import { insert } from './retrieval-world.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ auth: true });
  const { database } = server;
  await database.createTable({
    name: 'calls',
    columns: [
      { name: 'minutes', type: 'INTEGER' },
      { name: 'topic', type: 'TEXT' },
    ],
  });
  await insert(database.table('calls'), CALLS);
  await database.createTable({ name: 'calls_nodes', columns: [{ name: 'vertex', type: 'TEXT' }] });
  const named = [...PEOPLE].map(([vertex, node]) => ({ event_ts: 0, members: [node], properties: { vertex } }));
  await insert(database.table('calls_nodes'), named);
  await database.createTable({
    name: 'R2',
    columns: [
      { name: 'port', type: 'TEXT' },
      { name: 'cargo', type: 'TEXT' },
    ],
  });
  await insert(database.table('R2'), [
    { event_ts: 1704067200, members: [1, 2], properties: { formation: 'escort', port: 'Rome' } },
    { event_ts: 1704103200, members: [1, 3], properties: { formation: 'escort', port: 'Oslo' } },
    { event_ts: 1704106800, members: [2, 3], properties: { formation: 'convoy', port: 'Rome' } },
    { event_ts: 1704153600, members: [4, 5], properties: { port: 'Open', cargo: 'General' } },
  ]);
  await insert(database.table(), [
    { event_ts: 100, members: [1, 2], properties: { formation: 'The firm paid 42 dollars.' } },
  ]);
});
afterAll(() => server.close());

const check = (body: unknown) => send(server, 'POST', '/v1/rag/check', body, { 'x-api-key': server.keys.readonly });

describe('a check', () => {
  it('returns a verdict on each claim, in the given order', async () => {
    const claims = [
      'The firm paid 42 dollars.',
      'The firm paid 43 dollars.',
      'The firm did not pay 42 dollars.',
      'Nodes 1 and 2 met [HEDGE-1].',
      'Nodes 1 and 2 met [HEDGE-7].',
      'Did they meet?',
    ];
    const { status, json } = await check({ claims, edge_ids: [1] });
    expect(status).toBe(200);
    expect(json.results.map(({ text }: { text: string }) => text)).toEqual(claims);
    expect(json.results.map(({ supported }: { supported: boolean }) => supported)).toEqual([
      true,
      false,
      false,
      true,
      false,
      false,
    ]);
    expect([json.supported, json.total]).toEqual([2, 6]);
    expect(json.results[0]).toEqual({ text: claims[0], supported: true, reasons: [], tags: ['HEDGE-1'] });
    expect(json.results[4].tags).toEqual(['HEDGE-7']);
    for (const { supported, reasons } of json.results) expect(reasons.length > 0).toBe(!supported);
  });

  it('judges each sentence of a text by its own tags', async () => {
    const text = 'Nodes 1 and 2 met [HEDGE-1]. The firm paid 41 dollars [HEDGE-1]. It rained. Why?';
    const { json } = await check({ text, edge_ids: [1], table: 'hyperedges' });
    expect(
      json.results.map(({ supported, reasons }: { supported: boolean; reasons: string[] }) => [supported, reasons]),
    ).toEqual([
      [true, []],
      [false, ['the number 41 is not in what is cited']],
      [false, ['it has no tag']],
    ]);
    expect([json.supported, json.total]).toEqual([1, 3]);
  });

  it('accepts the names of nodes if a table contains them', async () => {
    const claims = [
      'Ada and Linus talked about lunch.',
      'Ada and Ken talked about lunch.',
      'Ada talked for 45 minutes.',
    ];
    const { json } = await check({ claims, edge_ids: [3], table: 'calls' });
    expect(json.results.map(({ supported }: { supported: boolean }) => supported)).toEqual([true, false, true]);
  });

  it('does not support a claim whose values come from different edges', async () => {
    const claims = ['Nodes 101 and 103 met.', 'Nodes 101 and 105 met.', 'Nodes 103 and 104 met.'];
    const { json } = await check({ claims, edge_ids: [3, 10, 6], table: 'calls' });
    expect(json.results.map(({ supported }: { supported: boolean }) => supported)).toEqual([true, true, false]);
  });

  it.each([
    ['The moon is made of cheese.', false],
    ['They met.', false],
    ['They met in Rome.', true],
    ['They met in rome.', true],
    ['It was an escort.', true],
    ['Nodes 1 and 2 met.', true],
    ['It happened on a monday.', true],
    ['It happened in january.', true],
    ['It has no cargo.', true],
    ['Nodes 1 and 2 met. The moon is made of cheese.', false],
    ['The moon is made of cheese [HEDGE-1].', false],
    ['It happened in february [HEDGE-1].', false],
    ['It happened in February [HEDGE-1].', false],
    ['Nodes 1 and 2 met in january [HEDGE-1].', true],
    ['Nodes 1 and 2 met in march.', false],
    ['Nodes 1 and 2 met in may [HEDGE-1].', false],
    ['Nodes 1 and 2 may meet in march formation [HEDGE-1].', true],
    ['Nodes 1 and 2 met on 2 may at noon [HEDGE-1].', false],
    ['Nodes 1 and 2, who may march in the sun, met in Rome.', true],
    ['They met on a tuesday [HEDGE-1].', false],
    ['They met on a Tuesday [HEDGE-1].', false],
    ['They met in oslo [HEDGE-1].', false],
    ['They met in Oslo [HEDGE-1].', false],
    ['Nodes 1 and 2 were in oslo on 2024-01-01.', false],
    ['Nodes 1 and 2 did not meet in oslo [HEDGE-1].', true],
    ['The meeting of nodes 1 and 2 was a convoy [HEDGE-1].', false],
    ['The meeting of nodes 1 and 2 was an ESCORT [HEDGE-1].', true],
    ['Nodes 1 and 2 met in general.', true],
    ['Nodes 1 and 2 met in open water.', true],
    ['They met in Rome [HEDGE-1], and others met in oslo [HEDGE-2].', true],
  ])('of a claim compares words regardless of case: %s', async (claim, isSupported) => {
    const { json } = await check({ claims: [claim], edge_ids: claim.includes('HEDGE-2') ? [1, 2] : [1], table: 'R2' });
    expect(json.results[0].supported).toBe(isSupported);
  });

  it('says that nothing in a claim can be compared', async () => {
    const { json } = await check({ claims: ['The moon is made of cheese.'], edge_ids: [1], table: 'R2' });
    expect(json.results[0].reasons).toEqual(['nothing in it can be compared with the edges']);
  });

  it.each([
    ['neither text nor claims', { edge_ids: [1] }],
    ['both', { edge_ids: [1], text: 'a', claims: ['b'] }],
    ['no edges', { text: 'a' }],
    ['no claim', { claims: [], edge_ids: [1] }],
    ['a claim that is not a text', { claims: [1], edge_ids: [1] }],
    ['an id that is not an integer', { text: 'a', edge_ids: [1.5] }],
    ['too many edges', { text: 'a', edge_ids: Array.from({ length: 201 }, (_, i) => i) }],
    ['too long a text', { text: 'x'.repeat(100_001), edge_ids: [1] }],
  ])('is refused with 422 if the request has %s', async (_, body) => {
    const { status, json } = await check(body);
    expect([status, json.status, typeof json.detail]).toEqual([422, 422, 'string']);
  });

  it('answers 404 for an unknown table, and unknown edges support no claim', async () => {
    expect((await check({ text: 'a', edge_ids: [1], table: 'nope' })).status).toBe(404);
    const { json } = await check({ claims: ['Nodes 1 and 2 met.'], edge_ids: [99] });
    expect(json.results[0]).toMatchObject({ supported: false, reasons: ['it has no tag'] });
    expect((await check({ text: '', edge_ids: [] })).json).toEqual({ results: [], supported: 0, total: 0 });
  });
});
