// Files for tests of virtual graphs on the command line: the same trips as CSV and as a DuckDB
// file, and specs of graphs over them.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NewVirtualGraph } from '../../src/client/index.ts';
import { openDuckDb } from '../support/duckdb.ts';

/** Trip 3 has no target. Trip 4 has neither end, so it is not an edge. */
const TRIPS =
  'trip_id,left_at,origin_id,target_id,fare\n1,1700000000,5,7,2.5\n2,1700000060,7,9,\n3,1700000120,9,,1\n4,1700000180,,,3\n';

/**
 * Writes two files below `root`: `trips.csv`, and `trips.duckdb` with the tables `trips` and
 * `rides`. The rows of `rides` with the same `ride_id` form one edge.
 */
export async function writeTrips(root: string): Promise<void> {
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, 'trips.csv'), TRIPS);
  const duckdb = await openDuckDb();
  if (duckdb === undefined) return;
  const file = join(root, 'trips.duckdb').replaceAll("'", "''");
  await duckdb.run(`ATTACH '${file}' AS made`);
  const csv = join(root, 'trips.csv').replaceAll("'", "''");
  await duckdb.run(`CREATE TABLE made.trips AS SELECT * FROM read_csv('${csv}')`);
  await duckdb.run('CREATE TABLE made.rides (ride_id INTEGER, rider VARCHAR, began TIMESTAMP)');
  await duckdb.run(
    "INSERT INTO made.rides VALUES (1, 'ann', '2024-01-01 10:00:00'), (1, 'bob', '2024-01-01 10:00:05'), (2, 'ann', '2024-01-02 10:00:00')",
  );
  await duckdb.run('DETACH made');
  duckdb.close();
}

const TRIP_EDGE: NewVirtualGraph['edges'][number] = {
  label: 'Trip',
  shape: 'row',
  table: 'trips',
  ts_column: 'left_at',
  row_member_columns: { origin: 'origin_id', target: 'target_id' },
  members: [
    { name: 'origin', node_label: 'Place', role: 'src' },
    { name: 'target', node_label: 'Place', role: 'dst' },
  ],
};

export const CSV_TRIPS: NewVirtualGraph = {
  id: 'trips',
  name: 'Trips',
  backend: { type: 'csv', path: 'trips.csv' },
  nodes: [{ label: 'Place', table: 'trips', id_column: 'origin_id' }],
  edges: [TRIP_EDGE],
};

export const DUCKDB_TRIPS: NewVirtualGraph = {
  id: 'bank',
  backend: { type: 'duckdb', path: 'trips.duckdb' },
  nodes: [
    { label: 'Place', table: 'trips', id_column: 'origin_id' },
    { label: 'Rider', table: 'rides', id_column: 'rider' },
  ],
  edges: [
    TRIP_EDGE,
    {
      label: 'Ride',
      shape: 'group',
      table: 'rides',
      ts_column: 'began',
      group_columns: ['ride_id'],
      member_column: 'rider',
      members: [{ name: 'rider', node_label: 'Rider', role: 'rider' }],
    },
  ],
};
