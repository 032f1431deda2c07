// Tests that a question for a figure is answered with the right figure or not at all. A condition
// that is not understood must never be dropped, because the figure would answer another question.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { send, startServer, type TestServer } from '../http/support.ts';
import { insert } from './retrieval-world.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ auth: true });
  const { database } = server;
  await database.createTable({ name: 'R2', columns: [{ name: 'port', type: 'TEXT' }] });
  await insert(database.table('R2'), [
    { event_ts: 1704067200, members: [1, 2], properties: { formation: 'escort', port: 'Rome' } },
    { event_ts: 1704103200, members: [1, 3], properties: { formation: 'escort', port: 'Oslo' } },
    { event_ts: 1704106800, members: [2, 3], properties: { formation: 'convoy', port: 'Rome' } },
    { event_ts: 1704153600, members: [4, 5], properties: { port: 'Lima', weight: 0.9 } },
    { event_ts: 1704240000, members: [4, 5], properties: { weight: 0.1 } },
  ]);
  await database.createTable({ name: 'R2_nodes', columns: [{ name: 'vertex', type: 'TEXT' }] });
  const named = ['Ada', 'Grace', 'Ken', 'Linus', 'Barbara'];
  await insert(
    database.table('R2_nodes'),
    named.map((vertex, at) => ({ event_ts: 0, members: [at + 1], properties: { vertex } })),
  );
});
afterAll(() => server.close());

interface Answer {
  answer: string;
  abstained: boolean;
  computed_by: string | null;
  all_edges: unknown[];
  understood: { ignored: { text: string }[] };
}

async function ask(query: string, path = '/v1/reason'): Promise<Answer> {
  const body = { query, table: 'R2', rules: [], ...(path === '/v1/reason' ? {} : { mode: 'symbolic' }) };
  return (await send(server, 'POST', path, body, { 'x-api-key': server.keys.readonly })).json;
}

/** The questions whose condition is certain, with their counts. */
const COUNTED: readonly [string, number][] = [
  ['How many events are there?', 5],
  ['How many events in Rome?', 2],
  ['how many events in rome?', 2],
  ['How many events with node 1?', 2],
  ['How many events of node 1 or node 4?', 4],
  ['How many events of Ada or Linus?', 4],
  ['How many events of Ada and Grace?', 1],
  ['How many events in Rome or Oslo?', 3],
  ['How many events were in Rome, Oslo or Lima?', 4],
  ['How many events in either oslo or lima?', 2],
  ['How many events of node 1 in Rome or Oslo?', 2],
  ['How many events have no port?', 1],
  ['How many events have no formation?', 2],
  ['How many events without formation?', 2],
  ['How many events without a port are there?', 1],
  ['How many events lack a port?', 1],
  ['How many events are missing a port?', 1],
  ["How many events don't have a port?", 1],
  ['How many events do not have a formation?', 2],
  ['How many events have a port?', 4],
  ['How many events with a formation are there?', 3],
  ['How many events with no weight?', 3],
  ['How many events were not in Oslo?', 3],
  ["How many events weren't in Oslo?", 3],
  ['How many events outside Oslo?', 3],
  ['How many events except in Oslo?', 3],
  ['How many events were never in Oslo?', 3],
  ['How many events were not escort?', 1],
  ['How many events of node 3 were not in Rome?', 1],
  ['How many events where port is not Oslo?', 3],
  ['How many events are there on 2024-01-01 between 10:00 and 12:00?', 2],
  ['How many events between 10:00 and 12:00 on 2024-01-01?', 2],
  ['How many events from 10:00 to 10:30 on 1 January 2024?', 1],
  ['How many events in January?', 5],
  ['How many events in February 2024?', 0],
  ['How many escort events?', 2],
  ['How many Rome events?', 2],
  ['How many escort events in Oslo are there?', 1],
  ['How many events on 2024-01-01?', 3],
  ['How many events are not escorts?', 1],
  ['How many of the events were in Rome?', 2],
  ['total number of events', 5],
  ['How many events before 10:00 on 2024-01-01?', 1],
  ['How many events since 10:00 on 2024-01-01?', 4],
  ['How many events at 10:00 on 2024-01-01?', 1],
  ['How many events have no port and no formation?', 1],
  ['How many events have formation escort or convoy?', 3],
  ['How many Rome or Oslo events?', 3],
  ['How many nodes are there?', 5],
  ['How many different nodes in Rome?', 3],
];

/** The questions that are not answered, each with a word that is listed as ignored. */
const ABSTAINED: readonly [string, string][] = [
  ['How many events not with node 1?', 'not'],
  ['How many events do not include node 1?', 'not'],
  ["How many events don't include node 1?", "don't"],
  ['How many events other than those of node 1?', 'other than'],
  ['How many events exclude node 1?', 'exclude'],
  ['How many events lack node 1?', 'lack'],
  ['How many events with neither node 1 nor node 2?', 'neither'],
  ['How many events without node 1?', 'without'],
  ['How many events of Ada but not Grace?', 'not'],
  ['How many events without Ada?', 'without'],
  ['How many events with nobody but Ada?', 'nobody'],
  ['How many events not in Rome or Oslo?', 'not'],
  ['How many events not in Rome and not in Oslo?', 'not'],
  ['How many events were not escort in Rome?', 'not'],
  ['How many escort events not in February?', 'not'],
  ['How many events were not on 2024-01-01?', 'not'],
  ['How many events outside Tokyo?', 'outside'],
  ['How many events in Rome or with node 4?', 'or'],
  ['How many escort or Rome events?', 'or'],
  ['How many events of Ada with Grace or Ken?', 'or'],
  ['How many events in Rome or Tokyo?', 'or'],
  ['How many events in tokyo?', 'tokyo'],
  ['How many purple events?', 'purple'],
  ['How many events between 10:00 and 12:00?', '10:00'],
  ['How many events in the first hour?', 'hour'],
  ['How many events after 10:00?', '10:00'],
  ['How many events in the morning?', 'morning'],
  ['How many events in February?', 'February'],
  ['How many events in february?', 'february'],
  ['How many events per day?', 'per'],
  ['How many events per node?', 'per'],
  ['How many events each day?', 'each'],
  ['How many events by port?', 'by'],
  ['How many events every hour?', 'every'],
  ['How many events for each port?', 'each'],
  ['How many hours between the first and last event?', 'hours'],
  ['How many days since the last event?', 'days'],
  ['How long between the first and last event?', 'How long'],
  ['How many events with 3 members?', '3'],
  ['How many events with more than two members?', 'more'],
  ['How many events in Rome on average?', 'average'],
  ['How many events in Rome and Oslo?', 'Rome'],
  ['How many non-Rome events?', 'non'],
  ['How many events happened far from Rome?', 'far'],
  ['How many more events in Rome than in Oslo?', 'more'],
  ['How many ports are there?', 'ports'],
  ['How many events have a port and formation?', 'formation'],
  ['How many events in Rome of node 2 with node 1 or node 3?', 'or'],
  ['What was the last event per node?', 'per'],
  ['What was the last event in February?', 'February'],
  ['top 1 events by weight', 'weight'],
  ['top 2 events by lowest weight', 'weight'],
];

describe('a count', () => {
  it.each(COUNTED)('is right: %s', async (question, count) => {
    for (const path of ['/v1/reason', '/v1/rag/query']) {
      const { answer, computed_by } = await ask(question, path);
      expect([answer.split(' ')[0], computed_by !== null]).toEqual([String(count), true]);
    }
  });

  it.each(ABSTAINED)('is not given: %s', async (question, word) => {
    for (const path of ['/v1/reason', '/v1/rag/query']) {
      const { abstained, computed_by, all_edges, understood } = await ask(question, path);
      expect([abstained, computed_by, all_edges]).toEqual([true, null, []]);
      expect(understood.ignored.map(({ text }) => text.toLowerCase()).join(' ')).toContain(word.toLowerCase());
    }
  });

  it('of edges with another value says how many edges have no value', async () => {
    expect((await ask('How many events were not in Oslo?')).answer).toBe(
      '3 hyperedges match in table R2, not counting 1 hyperedge without port.',
    );
  });

  it('shows conditions on words as conditions on the column', async () => {
    expect((await ask('How many events in Rome or Oslo?')).understood).toMatchObject({
      filters: [{ column: 'port', op: 'in', value: ['Rome', 'Oslo'] }],
      keywords: [],
      ignored: [],
    });
    expect((await ask('How many events outside Rome?')).understood).toMatchObject({
      filters: [{ column: 'port', op: '!=', value: 'Rome' }],
    });
    expect((await ask('How many events have no port?')).understood).toMatchObject({
      filters: [{ column: 'port', op: '=', value: null }],
    });
  });
});
