// Tests answers over virtual graphs that are sent as a whole although their rows arrived in several
// batches. The memory of a batch is reused for the next batch.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { send, startServer, type TestServer } from './support.ts';

const ROWS = 40_000;
const PLACES = 200;

const root = mkdtempSync(join(tmpdir(), 'hedgerow-batches-'));
let server: TestServer;
beforeAll(async () => {
  const lines = Array.from({ length: ROWS }, (_, row) => `${row},p${row % PLACES},d${row % 7}`);
  writeFileSync(join(root, 'trips.csv'), `secs,place,driver\n${lines.join('\n')}\n`);
  server = await startServer({ virtualRoot: root });
  const spec = {
    id: 'trips',
    name: 'Trips',
    backend: { type: 'csv', path: 'trips.csv' },
    nodes: [
      { label: 'Place', table: 'trips', id_column: 'place' },
      { label: 'Driver', table: 'trips', id_column: 'driver' },
    ],
    edges: [
      {
        label: 'Trip',
        shape: 'row',
        table: 'trips',
        ts_column: 'secs',
        row_member_columns: { place: 'place', driver: 'driver' },
        members: [
          { name: 'place', node_label: 'Place', role: 'at' },
          { name: 'driver', node_label: 'Driver', role: 'by' },
        ],
      },
    ],
  };
  expect((await send(server, 'POST', '/v1/virtual/graphs', spec)).status).toBe(201);
});
afterAll(async () => {
  await server.close();
  rmSync(root, { recursive: true, force: true });
});

test.each([3, 77, 199])('every row of place %i is in the answer once, whatever batch it arrived in', async (place) => {
  const query = `MATCH (t:Trip){place:Place, driver:Driver} WHERE place.id = 'p${place}' RETURN t`;
  const { status, json } = await send(server, 'POST', '/v1/virtual/graphs/trips/query', { query, refresh: true });
  expect(status).toBe(200);
  const times = (json.hyperedges as { event_ts: number }[]).map(({ event_ts }) => event_ts).sort((a, b) => a - b);
  expect(times).toEqual(Array.from({ length: ROWS / PLACES }, (_, index) => index * PLACES + place));
  expect(json.count).toBe(ROWS / PLACES);
});
