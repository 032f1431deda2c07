// Checks that the same queries on the same trips give the same answers in every backend.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HydratedEdge, VirtualGraphs } from '../../src/virtual/index.ts';
import { startPostgres, type TestPostgres } from '../support/postgres.ts';
import {
  BACKEND_NAMES,
  type BackendName,
  makeRoot,
  memoryDocuments,
  specOf,
  tripRows,
  tripsSql,
} from './door-world.ts';

const TRIP = '{origin:Place, target:Place, driver:Driver}';
const rows = (label: string, where = '') => `MATCH (t:${label})${TRIP} ${where} RETURN t`;
const groups = (label: string, node: string, where = '') => `MATCH (t:${label}){m:${node}} ${where} RETURN t`;

const QUERIES: readonly string[] = [
  rows('Trip'),
  rows('DayTrip'),
  rows('ZoneTrip'),
  rows('SecondTrip'),
  rows('Trip', 'WHERE origin.id = 5'),
  rows('Trip', 'WHERE origin.id <> 5'),
  rows('Trip', 'WHERE origin.id < 5 AND target.id >= 30'),
  rows('Trip', 'WHERE origin.id IN [1, 2, 3, 99]'),
  rows('Trip', "WHERE driver.id = 'Dr. K''s é'"),
  rows('Trip', "WHERE driver.id IN ['Dr. K''s é', 'Dr. M''s é']"),
  rows('Trip', "WHERE driver.id > 'Dr. L'"),
  rows('Trip', 'WHERE t.event_ts > 1717200000'),
  rows('Trip', 'WHERE t.event_ts BETWEEN 1710000000 AND 1720000000'),
  rows('Trip', 'WHERE t.event_ts <= 1710000000 AND size(t) = 3'),
  rows('Trip', 'WHERE size(t) < 3'),
  rows('Trip', 'WHERE size(t) = 0'),
  rows('Trip', 'WHERE t.price >= 100.5'),
  rows('Trip', 'WHERE t.price = 12.5'),
  rows('Trip', 'WHERE t.cost < 100.25'),
  rows('Trip', 'WHERE t.ok = true'),
  rows('Trip', 'WHERE t.ok <> true AND t.ride IN [1, 3]'),
  rows('Trip', 'WHERE t.note = \'note 2, "quoted"\''),
  rows('Trip', "WHERE t.day = '2024-05-05'"),
  rows('Trip', "WHERE t.day >= '2024-11-01'"),
  rows('Trip', "WHERE t.seen_at < '2024-02-01T00:00:00Z'"),
  rows('Trip', "WHERE t.left_at >= '2024-10-01 12:00:00'"),
  rows('DayTrip', 'WHERE t.event_ts >= 1717200000'),
  rows('DayTrip', 'WHERE t.event_ts = 1714867200'),
  rows('ZoneTrip', 'WHERE t.event_ts < 1706745600'),
  rows('SecondTrip', 'WHERE t.event_ts BETWEEN 1700000100 AND 1700000300'),
  `${rows('Trip')} LIMIT 7`,
  `${rows('SecondTrip', 'WHERE size(t) > 1')} LIMIT 25`,
  groups('Ride', 'Driver'),
  groups('DayRide', 'Place'),
  groups('ZoneRide', 'Place'),
  groups('SecondRide', 'Driver'),
  groups('Ride', 'Driver', "WHERE m.id = 'Dr. N''s é'"),
  groups('Ride', 'Driver', "WHERE m.id <> 'Dr. N''s é' AND size(t) > 2"),
  groups('DayRide', 'Place', 'WHERE m.id IN [4, 5]'),
  groups('DayRide', 'Place', 'WHERE m.id < 3 AND t.event_ts < 1711000000'),
  groups('Ride', 'Driver', "WHERE t.room = 'room b'"),
  groups('Ride', 'Driver', 'WHERE t.ride >= 5 AND t.event_ts BETWEEN 1704067200 AND 1714500000'),
  groups('ZoneRide', 'Place', 'WHERE t.ok = false'),
  groups('SecondRide', 'Driver', "WHERE t.day BETWEEN '2024-03-01' AND '2024-06-30' AND size(t) >= 2"),
  groups('SecondRide', 'Driver', 'WHERE size(t) = 0'),
  `${groups('Ride', 'Driver')} LIMIT 5`,
];

const data = tripRows(240, 7);
const postgres: TestPostgres | undefined = await startPostgres();
let graphs: VirtualGraphs;
let remove: () => Promise<void>;
beforeAll(async () => {
  const made = await makeRoot(data);
  remove = made.remove;
  for (const sql of tripsSql(data)) await postgres?.run(`SET TimeZone = 'UTC'; ${sql}`);
  graphs = new VirtualGraphs({
    database: undefined,
    documents: memoryDocuments(),
    root: made.root,
    dsns: postgres === undefined ? {} : { PG: postgres.address },
    cache: false,
    monotonicMs: () => performance.now(),
  });
  for (const name of BACKEND_NAMES) await graphs.create(specOf(name));
});
afterAll(async () => {
  await graphs.close();
  await postgres?.stop();
  await remove();
});

async function answer(name: BackendName, query: string, ordered = true) {
  const running = await graphs.query(name, { query, capturedAt: 9, ordered }, {});
  const edges: HydratedEdge[] = [];
  for await (const batch of running.batches()) edges.push(...batch);
  const told = edges.map(({ provenance, ...edge }) => {
    expect(provenance).toEqual({ graph: name, spec_version: 1, captured_at: 9 });
    return edge;
  });
  return { edges: told, skipped: running.skipped, plan: (await graphs.compile(name, query, {})).plan };
}

const others = BACKEND_NAMES.filter((name) => name !== 'duckdb' && (name !== 'postgres' || postgres !== undefined));

describe('in every backend', () => {
  it.each(QUERIES)('the answer to this query is the same: %s', async (query) => {
    const wanted = await answer('duckdb', query);
    for (const name of others) expect([name, await answer(name, query)]).toEqual([name, wanted]);
  });

  it('the edges are the same, in any order, when no order is requested', async () => {
    const texts = async (name: BackendName) => {
      const { edges, skipped } = await answer(name, rows('Trip'), false);
      return [skipped, ...edges.map((edge) => JSON.stringify(edge)).sort()];
    };
    const wanted = await texts('duckdb');
    for (const name of others) expect([name, await texts(name)]).toEqual([name, wanted]);
  });
});

it('almost all queries match some edges', async () => {
  const counts = await Promise.all(QUERIES.map(async (query) => (await answer('duckdb', query)).edges.length));
  expect(counts.filter((count) => count > 0).length).toBeGreaterThanOrEqual(QUERIES.length - 6);
  expect((await answer('duckdb', rows('Trip'))).skipped).toBeGreaterThan(0);
});
