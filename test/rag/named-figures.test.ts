// Tests figures of questions about named tables, which statements and measures compute.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { Analytics } from '../../src/analytics/index.ts';
import type { Database } from '../../src/engine/index.ts';
import type { Reasoning } from '../../src/rag/index.ts';
import { reasoningOf } from '../support/rooms.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';

let database: Database;
let analytics: Analytics;
let reasoning: Reasoning;
beforeAll(async () => {
  database = await openSim(simDisk(), { core: 'release', segmentRows: 65_536, memoryBudgetBytes: 2 ** 26 });
  await database.nodes.createTable({ name: 'Person', key: { name: 'name', type: 'TEXT' } });
  await database.nodes.createTable({ name: 'Room', key: { name: 'number', type: 'INTEGER' } });
  const meetings = await database.createTable({ name: 'meetings', memberTables: ['Person'] });
  const given = [['Ada', "O'Brien"], ['ada', 'Cy'], ['Cy', 'Ada'], ['Cy']];
  for (const [at, members] of given.entries()) await meetings.insert({ event_ts: 100 + at, members });
  const visits = await database.createTable({ name: 'visits', memberTables: ['Person', 'Room'] });
  for (const key of [7, 7, 8]) {
    const members = [
      { kind: 'Person', key: 'Ada' },
      { kind: 'Room', key },
    ];
    await visits.insert({ event_ts: key, members });
  }
  analytics = new Analytics({ database });
  reasoning = reasoningOf(database, {}, analytics);
});
afterAll(async () => {
  await analytics.close();
  await database.close();
});

test.each<[string, string, string]>([
  ['How many meetings did Ada attend?', 'meetings', '3 hyperedges match in table meetings.'],
  ["How many meetings of O'Brien?", 'meetings', '1 hyperedge matches in table meetings.'],
  ['Which node is most often with Ada?', 'meetings', 'Node "Cy" is in the most hyperedges of table meetings'],
  ['Which node is most often in meetings?', 'meetings', 'Node "Cy" is in the most hyperedges of table meetings: 3.'],
  ['How many visits of Ada in room 7?', 'visits', '2 hyperedges match in table visits.'],
  ['Which node is most often with room 8?', 'visits', 'Node "Person:Ada" is in the most hyperedges of table visits'],
])('%s', async (query, table, expected) => {
  const { result } = await reasoning.reason({ query, table, topK: 10, requireProof: false, rules: [] });
  expect(result.answer).toContain(expected);
  expect(result.computed_by).not.toBeNull();
});
