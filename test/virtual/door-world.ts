// Makes the same trips as a DuckDB file, a Parquet file, a CSV file, a JSON file and a PostgreSQL
// table, with the spec of a graph over each of them.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Documents } from '../../src/engine/catalog/documents.ts';
import { Random } from '../support/random.ts';
import { makeFiles } from './backend-files.ts';

export const BACKENDS = {
  duckdb: { type: 'duckdb', path: 'trips.duckdb' },
  parquet: { type: 'parquet', path: 'trips.parquet' },
  csv: { type: 'csv', path: 'trips.csv' },
  json: { type: 'json', path: 'trips.json' },
  postgres: { type: 'postgres', dsn: 'PG' },
} as const;
export type BackendName = keyof typeof BACKENDS;
export const BACKEND_NAMES = Object.keys(BACKENDS) as BackendName[];

const COLUMNS = `trip INTEGER, ride INTEGER, room VARCHAR, origin INTEGER, target INTEGER, driver VARCHAR, left_at TIMESTAMP, day DATE,
  seen_at TIMESTAMP WITH TIME ZONE, secs BIGINT, price DOUBLE PRECISION, cost DECIMAL(12,2), note VARCHAR, ok BOOLEAN`;

/** Returns the rows of `count` trips. About one value in eight is null, but never the trip's id. */
export function tripRows(count: number, seed: number): string[] {
  const random = new Random(seed);
  const orNull = (text: string) => (random.below(8) === 0 ? 'NULL' : text);
  const two = (number: number) => String(number).padStart(2, '0');
  return Array.from({ length: count }, (_, trip) => {
    const day = `2024-${two(1 + random.below(12))}-${two(1 + random.below(28))}`;
    const clock = `${two(random.below(24))}:${two(random.below(60))}:${two(random.below(60))}`;
    const fraction = random.below(2) === 0 ? '' : `.${two(1 + random.below(98))}`;
    const values = [
      String(trip),
      orNull(String(random.below(12))),
      orNull(`'room ${'abc'[random.below(3)]}'`),
      orNull(String(random.below(20))),
      orNull(String(20 + random.below(20))),
      orNull(`'Dr. ${'KLMN'[random.below(4)]}''s é'`),
      orNull(`TIMESTAMP '${day} ${clock}${fraction}'`),
      orNull(`DATE '${day}'`),
      orNull(`TIMESTAMP WITH TIME ZONE '${day} ${clock}+02:00'`),
      orNull(String(1_700_000_000 + random.below(1000))),
      orNull(String(random.below(1000) / 8)),
      orNull(`${random.below(500)}.${two(random.below(100))}`),
      orNull(`'note ${random.below(5)}, "quoted"'`),
      orNull(random.below(2) === 0 ? 'TRUE' : 'FALSE'),
    ];
    return `(${values.join(', ')})`;
  });
}

export function tripsSql(rows: readonly string[]): string[] {
  return [`CREATE TABLE trips (${COLUMNS})`, `INSERT INTO trips VALUES ${rows.join(',\n')}`];
}

/**
 * SQL that writes times in the form that programs write into JSON. DuckDB detects a column of times
 * only if all its values have the same form.
 */
const ISO_TIMES = `strftime(left_at, '%Y-%m-%dT%H:%M:%S.%fZ') AS left_at, strftime(seen_at AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%SZ') AS seen_at`;

/** Makes a folder for HEDGEROW_VIRTUAL_ROOT that contains the files of the trips. */
export async function makeRoot(rows: readonly string[]): Promise<{ root: string; remove(): Promise<void> }> {
  const root = await mkdtemp(join(tmpdir(), 'hedgerow-door-'));
  await makeFiles(["SET TimeZone = 'UTC'", ...tripsSql(rows)], join(root, 'trips.duckdb'));
  await makeFiles([
    "SET TimeZone = 'UTC'",
    ...tripsSql(rows),
    `COPY trips TO '${join(root, 'trips.parquet')}' (FORMAT parquet)`,
    `COPY trips TO '${join(root, 'trips.csv')}' (HEADER)`,
    `COPY (SELECT * REPLACE (${ISO_TIMES}) FROM trips) TO '${join(root, 'trips.json')}'`,
  ]);
  return { root, remove: () => rm(root, { recursive: true, force: true }) };
}

const rowEdge = (label: string, ts_column: string) => ({
  label,
  shape: 'row',
  table: 'trips',
  ts_column,
  row_member_columns: { origin: 'origin', target: 'target', driver: 'driver' },
  members: [
    { name: 'origin', node_label: 'Place', role: 'src' },
    { name: 'target', node_label: 'Place', role: 'dst' },
    { name: 'driver', node_label: 'Driver', role: 'via' },
  ],
});
const groupEdge = (label: string, ts_column: string, member_column: string, group_columns: readonly string[]) => ({
  label,
  shape: 'group',
  table: 'trips',
  ts_column,
  group_columns: [...group_columns],
  member_column,
  members: [{ name: 'm', node_label: member_column === 'driver' ? 'Driver' : 'Place', role: 'guest' }],
});

/** Edges of both shapes for every type of time. */
export const EDGES = [
  rowEdge('Trip', 'left_at'),
  rowEdge('DayTrip', 'day'),
  rowEdge('ZoneTrip', 'seen_at'),
  rowEdge('SecondTrip', 'secs'),
  groupEdge('Ride', 'left_at', 'driver', ['ride', 'room']),
  groupEdge('DayRide', 'day', 'origin', ['ride']),
  groupEdge('ZoneRide', 'seen_at', 'target', ['room', 'ok']),
  groupEdge('SecondRide', 'secs', 'driver', ['day']),
];

export function specOf(name: BackendName, id: string = name) {
  return {
    id,
    name: `Trips of ${name}`,
    backend: BACKENDS[name],
    nodes: [
      { label: 'Place', table: 'trips', id_column: 'origin' },
      { label: 'Driver', table: 'trips', id_column: 'driver' },
    ],
    edges: EDGES,
  };
}

/** Returns a store of specs in memory. */
export function memoryDocuments(): Pick<Documents, 'get' | 'entries' | 'change'> {
  const stored = new Map<string, unknown>();
  return {
    get: (_store, id) => stored.get(id),
    entries: () => [...stored],
    change: async (changes) => {
      for (const { id, value } of changes) {
        if (value === null) stored.delete(id);
        else stored.set(id, structuredClone(value));
      }
      return 1;
    },
  };
}
